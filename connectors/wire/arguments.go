package wire

import (
	"encoding/json"
)

// Arguments is how arguments look to schemas and predicates.
func Arguments(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage(`{}`), nil
	}
	return Plain(args)
}

package mcpserver

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/connectors/wire"
)

// ordinary is a value as models read it: a bigint is its digits, bytes are base64.
func ordinary(value json.RawMessage) json.RawMessage {
	if plain, err := wire.Plain(value); err == nil {
		return plain
	}
	return value
}

package validate

import (
	"encoding/json"
	"strings"

	"github.com/temporal-codemode/codemode/connectors/wire"
)

// Schema says why a JSON Schema cannot be used; nil when it can.
func Schema(schema json.RawMessage) error {
	_, err := Compile(schema)
	return err
}

// Value says what is wrong with a value, given as wire JSON, by a JSON
// Schema; empty when nothing is. Without a schema, or with one that cannot be
// used, nothing ever is.
func Value(schema, value json.RawMessage) string {
	compiled, err := Compile(schema)
	if compiled == nil || err != nil {
		return ""
	}
	plain, err := wire.Arguments(value)
	if err != nil {
		return "it is " + err.Error()
	}
	problems := Problems(compiled, plain)
	return strings.Join(problems[:min(len(problems), MaxProblems)], "; ")
}

package connectors

import (
	"encoding/json"
	"strings"
)

// CheckSchema says why a JSON Schema cannot be used; nil when it can.
func CheckSchema(schema json.RawMessage) error {
	_, err := compileSchema(schema)
	return err
}

// CheckValue says what is wrong with a value, given as wire JSON, by a JSON
// Schema; empty when nothing is. Without a schema, or with one that cannot be
// used, nothing ever is.
func CheckValue(schema, value json.RawMessage) string {
	compiled, err := compileSchema(schema)
	if compiled == nil || err != nil {
		return ""
	}
	plain, err := plainArguments(value)
	if err != nil {
		return "it is " + err.Error()
	}
	problems := validate(compiled, plain)
	return strings.Join(problems[:min(len(problems), maxProblems)], "; ")
}

package conformance

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
)

// The methods of store that need no record.

func publish(connectors.Context, json.RawMessage) (any, error) {
	return map[string]bool{"ok": true}, nil
}

func fails(message string) execute {
	return func(connectors.Context, json.RawMessage) (any, error) { return nil, errors.New(message) }
}

func longText(_ connectors.Context, args json.RawMessage) (any, error) {
	return strings.Repeat("x", get[struct{ N int }](args).N), nil
}

func whoami(ctx connectors.Context, _ json.RawMessage) (any, error) {
	return map[string]string{"executionId": ctx.ExecutionID}, nil
}

func odd(_ connectors.Context, args json.RawMessage) (any, error) {
	switch get[struct{ Kind string }](args).Kind {
	case "date":
		return "1970-01-01T00:00:00.000Z", nil // a JavaScript Date in JSON; Go's own has no milliseconds
	case "marker":
		return json.RawMessage(`{"__codemode_control__":"pause"}`), nil
	}
	return nil, nil
}

// typeOf names what arrived in JavaScript's words.
func typeOf(_ connectors.Context, args json.RawMessage) (any, error) {
	if args == nil {
		return "undefined", nil
	}
	switch v := get[any](args).(type) {
	case nil:
		return "null", nil
	case []any:
		return "array", nil
	case bool:
		return "boolean", nil
	case float64:
		return "number", nil
	case map[string]any:
		if _, tagged := v["__codemode_bigint_v1__"]; tagged {
			return "bigint", nil
		}
		return "object", nil
	}
	return "string", nil
}

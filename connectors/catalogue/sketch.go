package catalogue

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

const (
	// sketchBudget bounds the arguments of a call as search shows them, in tokens; required ones are shown in any case.
	sketchBudget = 60
	// sketchDepth is how deep objects are shown: the body of an OpenAPI operation is one level down.
	sketchDepth = 2
	// maxChoices are values that are spelled out instead of their type.
	maxChoices = 5
	// maxRequired bounds even required arguments.
	maxRequired = 12
)

// sketch is how a method is called in one line: arguments by name and type, those that a call needs first. Describe
// has the whole.
func sketch(m *connectors.Bound) string {
	schema := m.InputSchema
	if m.Arguments != nil {
		schema = m.Arguments()
	}
	call := types.Callee(m)
	schema = bytes.TrimSpace(schema)
	if !json.Valid(schema) || !rawjson.IsObject(schema) {
		return call + "(input)"
	}
	room := sketchBudget
	return call + "(" + strings.TrimSuffix(members(schema, sketchDepth, &room), "{}") + ")"
}

// members writes an object's properties while there is room.
func members(schema []byte, depth int, room *int) string {
	required := map[string]bool{}
	for _, name := range rawjson.Texts(rawjson.Member(schema, "required")) {
		required[name] = true
	}
	var list []string
	properties, left := rawjson.Entries(rawjson.Member(schema, "properties")), false
	for _, needed := range []bool{true, false} {
		for _, p := range properties {
			if required[p.Key] != needed {
				continue
			}
			if len(list) >= maxRequired || !needed && *room <= 0 {
				left = true
				break
			}
			mark := "?: "
			if needed {
				mark = ": "
			}
			text := memberName(p.Key) + mark + typeSketch(p.Value, depth-1, room)
			*room -= tokens.Count(text)
			list = append(list, text)
		}
	}
	switch {
	case left:
		list = append(list, "…")
	case len(list) == 0:
		return "{}"
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

func memberName(name string) string {
	if types.IsIdentifier(name) {
		return name
	}
	return string(rawjson.Quote(name))
}

// typeSketch names a property's type in a word or two.
func typeSketch(schema []byte, depth int, room *int) string {
	schema = bytes.TrimSpace(schema)
	if list := rawjson.Texts(rawjson.Member(schema, "enum")); len(list) > 0 && len(list) <= maxChoices {
		quoted := make([]string, len(list))
		for i, value := range list {
			quoted[i] = string(rawjson.Quote(value))
		}
		return strings.Join(quoted, " | ")
	}
	switch kind, _ := rawjson.String(rawjson.Member(schema, "type")); kind {
	case "string", "boolean", "number":
		return kind
	case "integer":
		return "number"
	case "array":
		element := typeSketch(rawjson.Member(schema, "items"), 0, room)
		if strings.Contains(element, " ") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case "object":
		if depth > 0 && rawjson.IsObject(rawjson.Member(schema, "properties")) {
			return members(schema, depth, room)
		}
		return "object"
	}
	return "any"
}

package openapi

import (
	"slices"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// jsonKinds is the set of types that a schema lets through.
type jsonKinds struct{ text, number, boolean bool }

const maxKindDepth = 8

// kinds looks only at what says it plainly; where nothing does, all are let through.
func (n apiNode) kinds(depth int) jsonKinds {
	n = n.resolved()
	all := jsonKinds{true, true, true}
	if depth > maxKindDepth || !rawjson.IsObject(n.raw) {
		return all
	}
	if types := n.types(); len(types) > 0 {
		return jsonKinds{
			text:    slices.Contains(types, "string") || slices.Contains(types, "file"),
			number:  slices.Contains(types, "number") || slices.Contains(types, "integer"),
			boolean: slices.Contains(types, "boolean"),
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list := rawjson.Member(n.raw, key); rawjson.IsArray(list) && string(list) != "[]" {
			return kindsOfList(apiNode{n.doc, list}, key == "allOf", depth)
		}
	}
	if enum := rawjson.Member(n.raw, "enum"); enum != nil {
		return kindsOfValues(enum)
	}
	return all
}

func (n apiNode) types() []string {
	raw := rawjson.Member(n.raw, "type")
	if rawjson.IsText(raw) {
		return []string{rawjson.Text(raw)}
	}
	return rawjson.Texts(raw)
}

func kindsOfList(n apiNode, every bool, depth int) jsonKinds {
	sum := jsonKinds{every, every, every}
	for raw := range rawjson.Elements(n.raw) {
		k := apiNode{n.doc, raw}.kinds(depth + 1)
		if every {
			sum = jsonKinds{sum.text && k.text, sum.number && k.number, sum.boolean && k.boolean}
		} else {
			sum = jsonKinds{sum.text || k.text, sum.number || k.number, sum.boolean || k.boolean}
		}
	}
	return sum
}

func kindsOfValues(enum []byte) (k jsonKinds) {
	for raw := range rawjson.Elements(enum) {
		k.text = k.text || rawjson.IsText(raw)
		k.number = k.number || rawjson.IsNumber(raw)
		k.boolean = k.boolean || isBoolean(raw)
	}
	return k
}

func isBoolean(raw []byte) bool { return rawjson.IsTrue(raw) || string(raw) == "false" }

package connectors

import "slices"

// jsonKinds is the set of types that a schema lets through.
type jsonKinds struct{ text, number, boolean bool }

const maxKindDepth = 8

// kinds looks only at what says it plainly; where nothing does, all are let through.
func (n apiNode) kinds(depth int) jsonKinds {
	n = n.resolved()
	all := jsonKinds{true, true, true}
	if depth > maxKindDepth || !isObject(n.raw) {
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
		if list := jsonMember(n.raw, key); isArray(list) && string(list) != "[]" {
			return kindsOfList(apiNode{n.doc, list}, key == "allOf", depth)
		}
	}
	if enum := jsonMember(n.raw, "enum"); enum != nil {
		return kindsOfValues(enum)
	}
	return all
}

func (n apiNode) types() []string {
	raw := jsonMember(n.raw, "type")
	if isText(raw) {
		return []string{jsonText(raw)}
	}
	return jsonTexts(raw)
}

func kindsOfList(n apiNode, every bool, depth int) jsonKinds {
	sum := jsonKinds{every, every, every}
	for raw := range jsonElements(n.raw) {
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
	for raw := range jsonElements(enum) {
		k.text = k.text || isText(raw)
		k.number = k.number || isNumber(raw)
		k.boolean = k.boolean || isBoolean(raw)
	}
	return k
}

func isBoolean(raw []byte) bool { return isTrue(raw) || string(raw) == "false" }

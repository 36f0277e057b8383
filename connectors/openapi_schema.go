package connectors

import (
	"bytes"
	"slices"
	"strings"
)

// apiKeyword is what the value of a schema keyword has to be.
type apiKeyword int

const (
	anyValue apiKeyword = iota + 1
	textValue
	numberValue
	positiveValue
	countValue
	boolValue
	enumValue
	requiredValue
	typeValue
	schemaValue
	schemaOrBool
	itemsValue
	schemaList
	schemaMap
)

// apiKeywords are the keywords that mean the same in a JSON Schema. All others
// are left out: those of OpenAPI alone, examples, extensions, and what refers to
// places that are elsewhere then.
var apiKeywords = map[string]apiKeyword{
	"title": textValue, "description": textValue, "format": textValue, "pattern": textValue,
	"contentEncoding": textValue, "contentMediaType": textValue,
	"default": anyValue, "const": anyValue, "enum": enumValue, "type": typeValue, "required": requiredValue,
	"deprecated": boolValue, "uniqueItems": boolValue,
	"minimum": numberValue, "maximum": numberValue, "exclusiveMinimum": numberValue, "exclusiveMaximum": numberValue, "multipleOf": positiveValue,
	"minLength": countValue, "maxLength": countValue, "minItems": countValue, "maxItems": countValue,
	"minProperties": countValue, "maxProperties": countValue, "minContains": countValue, "maxContains": countValue,
	"items": itemsValue, "additionalProperties": schemaOrBool, "additionalItems": schemaOrBool,
	"unevaluatedProperties": schemaOrBool, "unevaluatedItems": schemaOrBool,
	"not": schemaValue, "if": schemaValue, "then": schemaValue, "else": schemaValue, "contains": schemaValue, "propertyNames": schemaValue,
	"allOf": schemaList, "anyOf": schemaList, "oneOf": schemaList, "prefixItems": schemaList,
	"properties": schemaMap, "patternProperties": schemaMap, "dependentSchemas": schemaMap,
}

// schemaWriter makes JSON Schemas of a document's schemas.
type schemaWriter struct {
	names *definitionNames
	// hidden marks the properties that do not go this way: readOnly or writeOnly.
	// Where it is empty both are shown, with their marks.
	hidden string
	// defs collects what the schema refers to, nil where that is elsewhere.
	defs *schemaDefs
	// owner is the definition whose value is being described, see endless.
	owner *byte
}

const (
	asInput  = "readOnly"
	asOutput = "writeOnly"
	asBoth   = ""
)

// write gives the schema of a node; hidden names the properties that those
// around it keep out.
func (w *schemaWriter) write(n apiNode, hidden []string) []byte {
	switch {
	case isBoolean(n.raw):
		return n.raw
	case !isObject(n.raw):
		return []byte("{}")
	case isText(jsonMember(n.raw, "$ref")):
		return w.writeReference(n)
	}
	s := &schemaParts{w: w, n: n}
	s.hidden = append(slices.Clone(hidden), w.hiddenNames(n)...)
	return s.write()
}

// writeDefinition gives the schema of a node that has a name.
func (w *schemaWriter) writeDefinition(n apiNode) []byte {
	if len(n.raw) > 0 {
		w.owner = &n.raw[0]
	}
	defer func() { w.owner = nil }()
	return w.write(n, nil)
}

// writeReference keeps what may stand beside a reference.
func (w *schemaWriter) writeReference(n apiNode) []byte {
	var o jsonObject
	target, ref, ok := n.schemaTarget()
	if n.doc.modern {
		rest := schemaParts{w: w, n: apiNode{n.doc, without(n.raw, "$ref")}}
		if written := rest.write(); len(written) > 2 {
			o.raw = append([]byte{','}, written[1:len(written)-1]...)
		}
	} else if text := n.text("description"); text != "" {
		o.add("description", quoteJSON(text))
	}
	if !ok || w.endless(target) {
		return o.bytes()
	}
	name := w.names.name(target, ref)
	if w.defs != nil {
		w.defs.add(name, target)
	}
	o.add("$ref", quoteJSON("#/$defs/"+name))
	if !n.doc.modern && isNullable(n.raw) {
		return orNull(o.bytes())
	}
	return o.bytes()
}

func isNullable(raw []byte) bool {
	return isTrue(jsonMember(raw, "nullable")) || isTrue(jsonMember(raw, "x-nullable"))
}

func orNull(schema []byte) []byte {
	var o jsonObject
	o.add("anyOf", jsonArray([][]byte{schema, []byte(`{"type":"null"}`)}))
	return o.bytes()
}

// hiddenNames are the properties of a schema, and of those it is composed of,
// that do not go this way.
func (w *schemaWriter) hiddenNames(n apiNode) (names []string) {
	for name, raw := range jsonMembers(jsonMember(n.raw, "properties")) {
		if isTrue(jsonMember(raw, w.hidden)) {
			names = append(names, name)
		}
	}
	for raw := range jsonElements(jsonMember(n.raw, "allOf")) {
		if isObject(raw) {
			part := apiNode{n.doc, raw}.resolved()
			for name, property := range jsonMembers(jsonMember(part.raw, "properties")) {
				if isTrue(jsonMember(property, w.hidden)) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// schemaParts is one schema on its way.
type schemaParts struct {
	w        *schemaWriter
	n        apiNode
	hidden   []string
	out      jsonObject
	nullable bool
	types    []string
}

var compositions = []string{"$ref", "allOf", "anyOf", "oneOf", "not"}

func (s *schemaParts) write() []byte {
	s.types = knownTypes(s.n.types())
	composed := false
	for key := range jsonMembers(s.n.raw) {
		composed = composed || slices.Contains(compositions, key)
	}
	nullable := isNullable(s.n.raw)
	s.nullable = nullable && !composed
	for key, raw := range jsonMembers(s.n.raw) {
		if value := s.value(key, raw); value != nil {
			s.out.add(s.keyword(key), value)
		}
	}
	if s.n.text("type") == "file" && jsonMember(s.n.raw, "format") == nil {
		s.out.add("format", quoteJSON("binary"))
	}
	if nullable && composed {
		return orNull(s.out.bytes())
	}
	return s.out.bytes()
}

// keyword is the newer spelling of what older documents say otherwise.
func (s *schemaParts) keyword(key string) string {
	switch {
	case key == "items" && isArray(jsonMember(s.n.raw, key)):
		return "prefixItems"
	case key == "minimum" && isTrue(jsonMember(s.n.raw, "exclusiveMinimum")):
		return "exclusiveMinimum"
	case key == "maximum" && isTrue(jsonMember(s.n.raw, "exclusiveMaximum")):
		return "exclusiveMaximum"
	}
	return key
}

// value is what a keyword becomes, nil for one that is left out.
func (s *schemaParts) value(key string, raw []byte) []byte {
	if w := s.w.hidden; w == asBoth && (key == asInput || key == asOutput) && isTrue(raw) {
		return raw
	}
	switch kind := apiKeywords[key]; kind {
	case typeValue:
		return s.typeValue()
	case enumValue:
		return s.enumValue(raw)
	case requiredValue:
		return s.requiredValue(raw)
	case schemaValue, schemaOrBool, itemsValue, schemaList, schemaMap:
		return s.subschemas(key, kind, raw)
	default:
		if plainValue(kind, raw) {
			return raw
		}
		return nil
	}
}

// plainValue tells whether a value is one that its keyword can have.
func plainValue(kind apiKeyword, raw []byte) bool {
	switch kind {
	case anyValue:
		return !hasHugeNumber(raw)
	case textValue:
		return isText(raw)
	case boolValue:
		return isBoolean(raw)
	case numberValue:
		return isNumber(raw) && !hasHugeNumber(raw)
	case positiveValue:
		return isNumber(raw) && !hasHugeNumber(raw) && bytes.ContainsAny(raw, "123456789") && raw[0] != '-'
	case countValue:
		return isDigits(raw)
	}
	return false
}

func knownTypes(types []string) (known []string) {
	for _, t := range types {
		if t == "file" {
			t = "string"
		}
		switch t {
		case "string", "number", "integer", "boolean", "array", "object", "null":
			if !slices.Contains(known, t) {
				known = append(known, t)
			}
		}
	}
	return known
}

func (s *schemaParts) typeValue() []byte {
	types := s.types
	if s.nullable && len(types) > 0 && !slices.Contains(types, "null") {
		types = append(slices.Clone(types), "null")
	}
	switch len(types) {
	case 0:
		return nil
	case 1:
		return quoteJSON(types[0])
	}
	return textArray(types)
}

func (s *schemaParts) enumValue(raw []byte) []byte {
	var list [][]byte
	null := false
	for element := range jsonElements(raw) {
		null = null || isNull(element)
		list = append(list, element)
	}
	if len(list) == 0 || hasHugeNumber(raw) {
		return nil
	}
	if s.nullable && !null {
		list = append(list, []byte("null"))
	}
	return jsonArray(list)
}

func (s *schemaParts) requiredValue(raw []byte) []byte {
	var names []string
	for _, name := range jsonTexts(raw) {
		if !slices.Contains(names, name) && !slices.Contains(s.hidden, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return textArray(names)
}

func (s *schemaParts) subschemas(key string, kind apiKeyword, raw []byte) []byte {
	defer s.w.enter(key)()
	switch {
	case isBoolean(raw) && (kind == schemaOrBool || s.n.doc.modern && kind != schemaList && kind != schemaMap):
		return raw
	case kind == schemaMap && isObject(raw):
		return s.schemaMap(key, raw)
	case isArray(raw) && (kind == schemaList || kind == itemsValue):
		return s.schemaList(key, raw)
	case isObject(raw) && kind != schemaList && kind != schemaMap:
		return s.w.write(apiNode{s.n.doc, raw}, nil)
	}
	return nil
}

// schemaMap keeps hidden properties where no others are allowed: sending back
// what was read would be refused.
func (s *schemaParts) schemaMap(key string, raw []byte) []byte {
	var o jsonObject
	closed := string(jsonMember(s.n.raw, "additionalProperties")) == "false"
	for name, value := range jsonMembers(raw) {
		if key == "properties" && !closed && slices.Contains(s.hidden, name) {
			continue
		}
		if isObject(value) || isBoolean(value) {
			o.add(name, s.w.write(apiNode{s.n.doc, value}, nil))
		}
	}
	return o.bytes()
}

// schemaList hands on what is kept out only to parts of the same object.
func (s *schemaParts) schemaList(key string, raw []byte) []byte {
	var hidden []string
	if key == "allOf" {
		hidden = s.hidden
	}
	var list [][]byte
	for element := range jsonElements(raw) {
		if isObject(element) || isBoolean(element) {
			list = append(list, s.w.write(apiNode{s.n.doc, element}, hidden))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return jsonArray(list)
}

// describeSchema adds a description to a schema that has none.
func describeSchema(schema []byte, description string, deprecated bool) []byte {
	if !isObject(schema) {
		return schema
	}
	o := jsonObject{}
	if len(schema) > 2 {
		o.raw = append([]byte{','}, schema[1:len(schema)-1]...)
	}
	if description = strings.TrimSpace(description); description != "" && jsonMember(schema, "description") == nil {
		o.add("description", quoteJSON(description))
	}
	if deprecated && jsonMember(schema, "deprecated") == nil {
		o.add("deprecated", []byte("true"))
	}
	return bytes.Clone(o.bytes())
}

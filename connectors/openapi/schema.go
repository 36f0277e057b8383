package openapi

import (
	"bytes"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/rawjson"
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
	case !rawjson.IsObject(n.raw):
		return []byte("{}")
	case rawjson.IsText(rawjson.Member(n.raw, "$ref")):
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
	var o rawjson.Object
	target, ref, ok := n.schemaTarget()
	if n.doc.modern {
		rest := schemaParts{w: w, n: apiNode{n.doc, without(n.raw, "$ref")}}
		if written := rest.write(); len(written) > 2 {
			o.Raw = append([]byte{','}, written[1:len(written)-1]...)
		}
	} else if text := n.text("description"); text != "" {
		o.Add("description", rawjson.Quote(text))
	}
	if !ok || w.endless(target) {
		return o.Bytes()
	}
	name := w.names.name(target, ref)
	if w.defs != nil {
		w.defs.add(name, target)
	}
	o.Add("$ref", rawjson.Quote("#/$defs/"+name))
	if !n.doc.modern && isNullable(n.raw) {
		return orNull(o.Bytes())
	}
	return o.Bytes()
}

func isNullable(raw []byte) bool {
	return rawjson.IsTrue(rawjson.Member(raw, "nullable")) || rawjson.IsTrue(rawjson.Member(raw, "x-nullable"))
}

func orNull(schema []byte) []byte {
	var o rawjson.Object
	o.Add("anyOf", rawjson.Array([][]byte{schema, []byte(`{"type":"null"}`)}))
	return o.Bytes()
}

// hiddenNames are the properties of a schema, and of those it is composed of,
// that do not go this way.
func (w *schemaWriter) hiddenNames(n apiNode) (names []string) {
	for name, raw := range rawjson.Members(rawjson.Member(n.raw, "properties")) {
		if rawjson.IsTrue(rawjson.Member(raw, w.hidden)) {
			names = append(names, name)
		}
	}
	for raw := range rawjson.Elements(rawjson.Member(n.raw, "allOf")) {
		if rawjson.IsObject(raw) {
			part := apiNode{n.doc, raw}.resolved()
			for name, property := range rawjson.Members(rawjson.Member(part.raw, "properties")) {
				if rawjson.IsTrue(rawjson.Member(property, w.hidden)) {
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
	out      rawjson.Object
	nullable bool
	types    []string
}

var compositions = []string{"$ref", "allOf", "anyOf", "oneOf", "not"}

func (s *schemaParts) write() []byte {
	s.types = knownTypes(s.n.types())
	composed := false
	for key := range rawjson.Members(s.n.raw) {
		composed = composed || slices.Contains(compositions, key)
	}
	nullable := isNullable(s.n.raw)
	s.nullable = nullable && !composed
	for key, raw := range rawjson.Members(s.n.raw) {
		if value := s.value(key, raw); value != nil {
			s.out.Add(s.keyword(key), value)
		}
	}
	if s.n.text("type") == "file" && rawjson.Member(s.n.raw, "format") == nil {
		s.out.Add("format", rawjson.Quote("binary"))
	}
	if nullable && composed {
		return orNull(s.out.Bytes())
	}
	return s.out.Bytes()
}

// keyword is the newer spelling of what older documents say otherwise.
func (s *schemaParts) keyword(key string) string {
	switch {
	case key == "items" && rawjson.IsArray(rawjson.Member(s.n.raw, key)):
		return "prefixItems"
	case key == "minimum" && rawjson.IsTrue(rawjson.Member(s.n.raw, "exclusiveMinimum")):
		return "exclusiveMinimum"
	case key == "maximum" && rawjson.IsTrue(rawjson.Member(s.n.raw, "exclusiveMaximum")):
		return "exclusiveMaximum"
	}
	return key
}

// value is what a keyword becomes, nil for one that is left out.
func (s *schemaParts) value(key string, raw []byte) []byte {
	if w := s.w.hidden; w == asBoth && (key == asInput || key == asOutput) && rawjson.IsTrue(raw) {
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
		return !rawjson.HasHugeNumber(raw)
	case textValue:
		return rawjson.IsText(raw)
	case boolValue:
		return isBoolean(raw)
	case numberValue:
		return rawjson.IsNumber(raw) && !rawjson.HasHugeNumber(raw)
	case positiveValue:
		return rawjson.IsNumber(raw) && !rawjson.HasHugeNumber(raw) && bytes.ContainsAny(raw, "123456789") && raw[0] != '-'
	case countValue:
		return rawjson.IsDigits(raw)
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
		return rawjson.Quote(types[0])
	}
	return rawjson.TextArray(types)
}

func (s *schemaParts) enumValue(raw []byte) []byte {
	var list [][]byte
	null := false
	for element := range rawjson.Elements(raw) {
		null = null || rawjson.IsNull(element)
		list = append(list, element)
	}
	if len(list) == 0 || rawjson.HasHugeNumber(raw) {
		return nil
	}
	if s.nullable && !null {
		list = append(list, []byte("null"))
	}
	return rawjson.Array(list)
}

func (s *schemaParts) requiredValue(raw []byte) []byte {
	var names []string
	for _, name := range rawjson.Texts(raw) {
		if !slices.Contains(names, name) && !slices.Contains(s.hidden, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return rawjson.TextArray(names)
}

func (s *schemaParts) subschemas(key string, kind apiKeyword, raw []byte) []byte {
	defer s.w.enter(key)()
	switch {
	case isBoolean(raw) && (kind == schemaOrBool || s.n.doc.modern && kind != schemaList && kind != schemaMap):
		return raw
	case kind == schemaMap && rawjson.IsObject(raw):
		return s.schemaMap(key, raw)
	case rawjson.IsArray(raw) && (kind == schemaList || kind == itemsValue):
		return s.schemaList(key, raw)
	case rawjson.IsObject(raw) && kind != schemaList && kind != schemaMap:
		return s.w.write(apiNode{s.n.doc, raw}, nil)
	}
	return nil
}

// schemaMap keeps hidden properties where no others are allowed: sending back
// what was read would be refused.
func (s *schemaParts) schemaMap(key string, raw []byte) []byte {
	var o rawjson.Object
	closed := string(rawjson.Member(s.n.raw, "additionalProperties")) == "false"
	for name, value := range rawjson.Members(raw) {
		if key == "properties" && !closed && slices.Contains(s.hidden, name) {
			continue
		}
		if rawjson.IsObject(value) || isBoolean(value) {
			o.Add(name, s.w.write(apiNode{s.n.doc, value}, nil))
		}
	}
	return o.Bytes()
}

// schemaList hands on what is kept out only to parts of the same object.
func (s *schemaParts) schemaList(key string, raw []byte) []byte {
	var hidden []string
	if key == "allOf" {
		hidden = s.hidden
	}
	var list [][]byte
	for element := range rawjson.Elements(raw) {
		if rawjson.IsObject(element) || isBoolean(element) {
			list = append(list, s.w.write(apiNode{s.n.doc, element}, hidden))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rawjson.Array(list)
}

// describeSchema adds a description to a schema that has none.
func describeSchema(schema []byte, description string, deprecated bool) []byte {
	if !rawjson.IsObject(schema) {
		return schema
	}
	o := rawjson.Object{}
	if len(schema) > 2 {
		o.Raw = append([]byte{','}, schema[1:len(schema)-1]...)
	}
	if description = strings.TrimSpace(description); description != "" && rawjson.Member(schema, "description") == nil {
		o.Add("description", rawjson.Quote(description))
	}
	if deprecated && rawjson.Member(schema, "deprecated") == nil {
		o.Add("deprecated", []byte("true"))
	}
	return bytes.Clone(o.Bytes())
}

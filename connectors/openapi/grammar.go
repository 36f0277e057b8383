package openapi

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// shape is what a place of a document has to hold. It gives what is kept of a
// value, nil for one that is left out.
type shape func(r *repair, f *apiFile, raw []byte) []byte

func is(test func(raw []byte) bool) shape {
	return func(_ *repair, _ *apiFile, raw []byte) []byte {
		if test(raw) {
			return raw
		}
		return nil
	}
}

var (
	textShape     = is(rawjson.IsText)
	flagShape     = is(isBoolean)
	anyShape      = is(func(raw []byte) bool { return !rawjson.HasHugeNumber(raw) })
	numberShape   = is(isDouble)
	positiveShape = is(func(raw []byte) bool { return isDouble(raw) && bytes.ContainsAny(raw, "123456789") && raw[0] != '-' })
	countShape    = is(func(raw []byte) bool { return rawjson.IsDigits(raw) && len(raw) < len("9999999999999999999") })
)

func isBoolean(raw []byte) bool { return rawjson.IsTrue(raw) || string(raw) == "false" }

func isDouble(raw []byte) bool {
	_, err := strconv.ParseFloat(string(raw), 64)
	return rawjson.IsNumber(raw) && err == nil && !rawjson.HasHugeNumber(raw)
}

// scalarShape takes a number or a boolean for the text that its author meant.
func scalarShape(_ *repair, _ *apiFile, raw []byte) []byte {
	switch {
	case rawjson.IsText(raw):
		return raw
	case rawjson.IsNumber(raw), isBoolean(raw):
		return rawjson.Quote(string(raw))
	}
	return nil
}

func textsShape(_ *repair, _ *apiFile, raw []byte) []byte {
	if !rawjson.IsArray(raw) {
		return nil
	}
	return rawjson.TextArray(append([]string{}, rawjson.Texts(raw)...))
}

// scopesShape keeps a security scheme whatever stands for its scopes.
func scopesShape(_ *repair, _ *apiFile, raw []byte) []byte {
	return rawjson.TextArray(append([]string{}, rawjson.Texts(raw)...))
}

func list(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsArray(raw) {
			return nil
		}
		var kept [][]byte
		for element := range rawjson.Elements(raw) {
			if value := of(r, f, element); value != nil {
				kept = append(kept, value)
			}
		}
		return rawjson.Array(kept)
	}
}

// named is an object whose members' names the author chose.
func named(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsObject(raw) {
			return nil
		}
		var o rawjson.Object
		for name, member := range rawjson.Members(raw) {
			if value := of(r, f, member); value != nil {
				o.Add(name, value)
			}
		}
		return o.Bytes()
	}
}

// orderKey is the extension in which the names of a map travel through
// kin-openapi, whose maps are Go's and have no order. A model that reads a type
// gets its members as the author of the document lined them up.
const orderKey = "x-order"

// object keeps of an object what methods need. The order of the members of one
// of them, if it is named, is kept beside it.
func object(members map[string]shape, ordered string) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsObject(raw) {
			return nil
		}
		var o rawjson.Object
		for key, member := range rawjson.Members(raw) {
			of, known := members[key]
			if !known {
				continue
			}
			value := of(r, f, member)
			if value == nil {
				continue
			}
			o.Add(key, value)
			if key == ordered {
				addOrder(&o, value)
			}
		}
		return o.Bytes()
	}
}

func addOrder(o *rawjson.Object, of []byte) {
	var names []string
	for name := range rawjson.Members(of) {
		names = append(names, name)
	}
	if !slices.IsSorted(names) {
		o.Add(orderKey, rawjson.TextArray(names))
	}
}

func joined(tables ...map[string]shape) map[string]shape {
	all := map[string]shape{}
	for _, table := range tables {
		for key, of := range table {
			all[key] = of
		}
	}
	return all
}

// grammar names what methods need of a document. All else, such as examples, is
// left out before kin-openapi sees it: it decodes a document once for every level
// of its depth, and refuses the whole for any value that is not as it should be.
type grammar struct {
	schema, pathItem            map[string]shape
	operation, swagger, openapi shape
}

func newGrammar() *grammar {
	g := &grammar{}
	value := map[string]shape{
		"description": textShape, "format": textShape, "pattern": textShape, "default": anyShape, "enum": enumShape, "type": typeShape,
		"uniqueItems": flagShape, "x-nullable": flagShape, "items": schemaShape,
		"minimum": numberShape, "maximum": numberShape, "multipleOf": positiveShape, "exclusiveMinimum": boundShape, "exclusiveMaximum": boundShape,
		"minLength": countShape, "maxLength": countShape, "minItems": countShape, "maxItems": countShape,
	}
	g.schema = joined(value, map[string]shape{
		"title": textShape, "contentEncoding": textShape, "contentMediaType": textShape, "const": anyShape, "required": textsShape,
		"deprecated": flagShape, "nullable": flagShape, "readOnly": flagShape, "writeOnly": flagShape,
		"minProperties": countShape, "maxProperties": countShape, "minContains": countShape, "maxContains": countShape,
		"additionalProperties": openShape, "unevaluatedProperties": openShape, "unevaluatedItems": openShape,
		"not": schemaShape, "if": schemaShape, "then": schemaShape, "else": schemaShape, "contains": schemaShape, "propertyNames": schemaShape,
		"allOf": list(schemaShape), "anyOf": list(schemaShape), "oneOf": list(schemaShape), "prefixItems": list(schemaShape),
		"properties": named(schemaShape), "patternProperties": named(schemaShape), "dependentSchemas": named(schemaShape),
	})
	encoding := object(map[string]shape{"contentType": textShape, "style": textShape, "explode": flagShape, "allowReserved": flagShape}, "")
	content := named(object(map[string]shape{"schema": schemaShape, "encoding": named(encoding)}, ""))
	parameter := unlessSchema(object(joined(value, map[string]shape{
		"name": textShape, "in": textShape, "style": textShape, "required": flagShape, "deprecated": flagShape, "explode": flagShape,
		"allowReserved": flagShape, "x-multi-segment": flagShape, "schema": apartShape, "content": content, "collectionFormat": textShape,
	}), ""))
	body := object(map[string]shape{"description": textShape, "required": flagShape, "content": content}, "content")
	response := object(map[string]shape{"content": content, "schema": apartShape}, "content")
	variable := object(map[string]shape{"default": scalarShape}, "")
	servers := list(object(map[string]shape{"url": textShape, "variables": named(variable)}, ""))
	security := list(named(scopesShape))
	parameters := list(referable("parameters", parameter))
	g.operation = object(map[string]shape{
		"operationId": textShape, "summary": textShape, "description": textShape, "tags": textsShape, "security": security, "servers": servers,
		"parameters": parameters, "requestBody": referable("requestBodies", body), "responses": successes(referable("responses", response)),
		"consumes": textsShape, "produces": textsShape,
	}, "")
	g.pathItem = map[string]shape{"parameters": parameters, "servers": servers}
	for _, verb := range apiVerbs {
		g.pathItem[verb] = operationShape
	}
	scheme := referable("", object(map[string]shape{
		"type": textShape, "name": textShape, "in": textShape, "scheme": textShape, "flow": textShape, "tokenUrl": textShape,
		"flows": object(map[string]shape{"clientCredentials": object(map[string]shape{"tokenUrl": textShape}, "")}, ""),
	}, ""))
	top := map[string]shape{
		"info": object(map[string]shape{"title": scalarShape, "description": scalarShape}, ""), "security": security, "paths": pathsShape,
	}
	g.swagger = object(joined(top, map[string]shape{
		"host": textShape, "basePath": textShape, "schemes": textsShape, "consumes": textsShape, "produces": textsShape,
		"securityDefinitions": named(scheme),
	}), "paths")
	g.openapi = object(joined(top, map[string]shape{
		"openapi": textShape, "servers": servers,
		"components": object(map[string]shape{
			"parameters": named(referable("", parameter)), "requestBodies": named(referable("", body)),
			"responses": named(referable("", response)), "securitySchemes": named(scheme),
		}, ""),
	}), "paths")
	return g
}

package openapi

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	positiveShape = is(isPositive)
	countShape    = is(func(raw []byte) bool { return rawjson.IsDigits(raw) && len(raw) < len("9999999999999999999") })
)

func isBoolean(raw []byte) bool { return rawjson.IsTrue(raw) || string(raw) == "false" }

func isDouble(raw []byte) bool {
	_, err := strconv.ParseFloat(string(raw), 64)
	return rawjson.IsNumber(raw) && err == nil && !rawjson.HasHugeNumber(raw)
}

func isPositive(raw []byte) bool {
	return isDouble(raw) && bytes.ContainsAny(raw, "123456789") && raw[0] != '-'
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
func object(table members, ordered string) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsObject(raw) {
			return nil
		}
		var o rawjson.Object
		for key, member := range rawjson.Members(raw) {
			of, known := table[key]
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

// members is a table of names, several to a shape.
type members map[string]shape

func (m members) of(names string, of shape) members {
	m = maps.Clone(m)
	for name := range strings.FieldsSeq(names) {
		m[name] = of
	}
	return m
}

// grammar names what methods need of a document. All else, such as examples, is
// left out before kin-openapi sees it: it decodes a document once for every level
// of its depth, and refuses the whole for any value that is not as it should be.
type grammar struct {
	schema, pathItem            members
	operation, swagger, openapi shape
}

func newGrammar() *grammar {
	g := &grammar{}
	value := members{"enum": enumShape, "type": typeShape, "items": schemaShape, "default": anyShape}.
		of("description format pattern", textShape).of("uniqueItems x-nullable", flagShape).
		of("minimum maximum", numberShape).of("multipleOf", positiveShape).of("exclusiveMinimum exclusiveMaximum", boundShape).
		of("minLength maxLength minItems maxItems", countShape)
	g.schema = value.of("title contentEncoding contentMediaType", textShape).of("const", anyShape).of("required", textsShape).
		of("deprecated nullable readOnly writeOnly", flagShape).
		of("minProperties maxProperties minContains maxContains", countShape).
		of("additionalProperties unevaluatedProperties unevaluatedItems", openShape).
		of("not if then else contains propertyNames", schemaShape).
		of("allOf anyOf oneOf prefixItems", list(schemaShape)).
		of("properties patternProperties dependentSchemas", named(schemaShape))
	parameter, body, response := g.parts(value)
	parameters, servers := list(referable("parameters", parameter)), serversShape()
	operation := members{"parameters": parameters, "servers": servers, "security": list(named(scopesShape))}.
		of("operationId summary description", textShape).of("tags consumes produces", textsShape).
		of("requestBody", referable("requestBodies", body)).of("responses", successes(referable("responses", response)))
	g.operation = object(operation, "")
	g.pathItem = members{"parameters": parameters, "servers": servers}.of(strings.Join(apiVerbs, " "), operationShape)
	top := members{"paths": pathsShape, "security": list(named(scopesShape))}.
		of("info", object(members{}.of("title description", scalarShape), ""))
	g.swagger = object(top.of("host basePath", textShape).of("schemes consumes produces", textsShape).
		of("securityDefinitions", named(schemeShape())), "paths")
	components := members{"securitySchemes": named(schemeShape())}.of("parameters", named(referable("", parameter))).
		of("requestBodies", named(referable("", body))).of("responses", named(referable("", response)))
	g.openapi = object(top.of("openapi", textShape).of("servers", servers).of("components", object(components, "")), "paths")
	return g
}

// parts are the shapes of what operations consist of.
func (g *grammar) parts(value members) (parameter, body, response shape) {
	encoding := object(members{}.of("contentType style", textShape).of("explode allowReserved", flagShape), "")
	content := named(object(members{"schema": schemaShape, "encoding": named(encoding)}, ""))
	flags := "required deprecated explode allowReserved x-multi-segment"
	parameter = unlessSchema(object(value.of("name in style collectionFormat", textShape).of(flags, flagShape).
		of("schema", apartShape).of("content", content), ""))
	body = object(members{"description": textShape, "required": flagShape, "content": content}, "content")
	response = object(members{"content": content, "schema": apartShape}, "content")
	return parameter, body, response
}

func serversShape() shape {
	variable := object(members{"default": scalarShape}, "")
	return list(object(members{"url": textShape, "variables": named(variable)}, ""))
}

func schemeShape() shape {
	grant := object(members{"tokenUrl": textShape}, "")
	return referable("", object(members{"flows": object(members{"clientCredentials": grant}, "")}.
		of("type name in scheme flow tokenUrl", textShape), ""))
}

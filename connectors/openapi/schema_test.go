package openapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/validate"
)

// written is what a schema becomes in a method's arguments.
func written(t *testing.T, version, schema string) string {
	t.Helper()
	data := `{"openapi":"` + version + `","paths":{"/x":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":` + schema + `}}}}}},
		"components":{"schemas":{"A":{"type":"string"},"Loop":{"$ref":"#/components/schemas/Loop2"},"Loop2":{"$ref":"#/components/schemas/Loop"},"a/b c":{"type":"integer"}}}}`
	methods, err := New("api", Options{Data: []byte(data)}).Methods(t.Context())
	require.NoError(t, err)
	err = validate.Schema(methods[0].InputSchema)
	require.NoError(t, err)
	return string(rawjson.Path(methods[0].InputSchema, "properties", "body"))
}

func TestOpenAPISchemaDialects(t *testing.T) {
	const old, modern = "3.0.3", "3.1.0"
	for _, c := range []struct{ name, version, schema, want string }{
		{"nullable", old, `{"type":"string","nullable":true}`, `{"type":["string","null"]}`},
		{"nullable enum", old, `{"type":"string","nullable":true,"enum":["a"]}`,
			`{"type":["string","null"],"enum":["a",null]}`},
		{"nullable enum with null", old, `{"type":"string","nullable":true,"enum":["a",null]}`,
			`{"type":["string","null"],"enum":["a",null]}`},
		{"nullable composition", old, `{"nullable":true,"allOf":[{"$ref":"#/components/schemas/A"}]}`,
			`{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`},
		{"nullable reference", old, `{"nullable":true,"$ref":"#/components/schemas/A","description":"d"}`,
			`{"anyOf":[{"description":"d","$ref":"#/$defs/A"},{"type":"null"}]}`},
		{"nullable without type", old, `{"nullable":true}`, `{}`},
		{"x-nullable", old, `{"type":"object","x-nullable":true}`, `{"type":["object","null"]}`},
		{"exclusive limits", old,
			`{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}`,
			`{"type":"number","exclusiveMinimum":1,"maximum":2}`},
		{"exclusive numbers", modern, `{"exclusiveMinimum":1,"exclusiveMaximum":2}`,
			`{"exclusiveMinimum":1,"exclusiveMaximum":2}`},
		{"siblings do not count", old, `{"$ref":"#/components/schemas/A","maxLength":3}`, `{"$ref":"#/$defs/A"}`},
		{"siblings count", modern, `{"$ref":"#/components/schemas/A","maxLength":3,"description":"d"}`,
			`{"maxLength":3,"description":"d","$ref":"#/$defs/A"}`},
		{"type list", modern, `{"type":["string","null"]}`, `{"type":["string","null"]}`},
		{"boolean schemas", modern, `{"properties":{"a":true,"b":false},"items":true,"not":false}`,
			`{"properties":{"a":true,"b":false},"items":true,"not":false}`},
		{"tuple", modern, `{"prefixItems":[{"type":"string"}],"items":false}`,
			`{"prefixItems":[{"type":"string"}],"items":false}`},
		{"old tuple", old, `{"items":[{"type":"string"}]}`, `{"prefixItems":[{"type":"string"}]}`},
		{"const", modern, `{"const":{"a":[1]}}`, `{"const":{"a":[1]}}`},
		{"conditions", modern,
			`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"properties":{}},"dependentSchemas":{"a":{"minProperties":2}},"patternProperties":{"^x":{"type":"string"}},"propertyNames":{"pattern":"a"},"contains":{},"unevaluatedProperties":false}`,
			`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{},"dependentSchemas":{"a":{"minProperties":2}},"patternProperties":{"^x":{"type":"string"}},"propertyNames":{"pattern":"a"},"contains":{},"unevaluatedProperties":false}`},
		{"OpenAPI's own are left out", old,
			`{"type":"object","xml":{},"discriminator":{},"externalDocs":{},"example":1,"examples":[1],"x-y":1,"$id":"http://h/","$schema":"x","$anchor":"a","$defs":{},"title":"t","default":{},"deprecated":true,"format":"f"}`,
			`{"type":"object","title":"t","default":{},"deprecated":true,"format":"f"}`},
		{"properties of these names stay", old,
			`{"properties":{"example":{"type":"string"},"x-y":{},"$ref":{"type":"string"},"readOnly":{},"type":{"type":"string"}}}`,
			`{"properties":{"example":{"type":"string"},"x-y":{},"$ref":{"type":"string"},"readOnly":{},"type":{"type":"string"}}}`},
		{"file", old, `{"type":"file"}`, `{"type":"string","format":"binary"}`},
		{"unknown types", old, `{"type":"float"}`, `{}`},
		{"unknown among known", modern, `{"type":["any","string","string"]}`, `{"type":"string"}`},
		{"wrong kinds", old,
			`{"required":true,"enum":"a","minimum":"1","minLength":-1,"maxLength":1.5,"multipleOf":0,"properties":[],"items":"x","additionalProperties":"false","allOf":{},"anyOf":[],"oneOf":[3],"pattern":3,"format":{},"uniqueItems":"true","description":7,"title":null}`, `{}`},
		{"required twice", old, `{"required":["a","a",3]}`, `{"required":["a"]}`},
		{"huge numbers", old, `{"minimum":1e9999,"default":1e9999,"enum":[1e9999],"multipleOf":1e9999}`, `{}`},
		{"circle of references", old, `{"$ref":"#/components/schemas/Loop"}`, `{}`},
		{"broken reference", old, `{"$ref":"#/components/schemas/None","description":"d"}`, `{"description":"d"}`},
		{"broken reference with siblings", modern, `{"$ref":"#/components/schemas/None","type":"string"}`,
			`{"type":"string"}`},
		{"reference to the web", old, `{"$ref":"http://127.0.0.1:1/x.json"}`, `{}`},
		{"name to be escaped", old, `{"$ref":"#/components/schemas/a~1b%20c"}`, `{"$ref":"#/$defs/a_b_c"}`},
		{"pattern of JavaScript", old, `{"type":"string","pattern":"^(?!a)\\d+$"}`,
			`{"type":"string","pattern":"^(?!a)\\d+$"}`},
		{"not an object", old, `"x"`, `{}`},
	} {
		assert.JSONEq(t, c.want, written(t, c.version, c.schema), c.name)
	}
}

// A reference to what is a reference itself keeps what is said on the way.
func TestOpenAPIChainsOfReferences(t *testing.T) {
	for version, want := range map[string]string{
		"3.0.0": `{"C":{"type":"string"}}`,
		"3.1.0": `{"A":{"maxLength":2,"$ref":"#/$defs/C"},"C":{"type":"string"}}`,
	} {
		data := `{"openapi":"` + version + `","paths":{"/x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}},
			"components":{"schemas":{"A":{"$ref":"#/components/schemas/B","maxLength":2},"B":{"$ref":"#/components/schemas/C"},"C":{"type":"string"}}}}`
		methods, err := New("api", Options{Data: []byte(data)}).Methods(t.Context())
		require.NoError(t, err)
		assert.JSONEq(t, want, string(rawjson.Member(methods[0].InputSchema, "$defs")))
	}
}

// Schemas that consist of themselves would refuse every value.
func TestOpenAPIEndlessSchemas(t *testing.T) {
	for _, schema := range []string{
		`{"allOf":[{"$ref":"#/components/schemas/A"},{"required":["a"]}]}`,
		`{"anyOf":[{"$ref":"#/components/schemas/A"},{"required":["a"]}]}`,
		`{"allOf":[{"$ref":"#/components/schemas/B"}],"required":["a"]}`,
		`{"required":["a"],"allOf":[{"allOf":[{"anyOf":[{"$ref":"#/components/schemas/B"}]}]}]}`,
		`{"required":["a"],"properties":{"a":{"$ref":"#/components/schemas/A"}},"allOf":[{"$ref":"#/components/schemas/C"}]}`,
	} {
		set := openAPISet(t, Options{BaseURL: record(t, nil).URL, Data: apiOf(`"components":{"schemas":{"A":` + schema + `,"B":{"oneOf":[{"$ref":"#/components/schemas/A"}]},"C":{}}},
			"paths":{"/x":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}`)})
		mustCallAPI(t, set, "op", `{"body":{"a":{"a":{"a":1}}}}`)
	}
}

// Composition that ends is kept, however deep.
func TestOpenAPIComposedSchemas(t *testing.T) {
	set := openAPISet(t, Options{BaseURL: record(t, nil).URL, Data: apiOf(`"components":{"schemas":{"A":{"allOf":[{"$ref":"#/components/schemas/B"},{"if":{},"then":{"$ref":"#/components/schemas/D"}}]},
		"B":{"anyOf":[{"oneOf":[{"$ref":"#/components/schemas/C"}]}],"not":{"$ref":"#/components/schemas/E"}},"C":{"required":["c"]},"D":{"required":["d"]},"E":{"required":["e"]}}},
		"paths":{"/x":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}`)})
	mustCallAPI(t, set, "op", `{"body":{"c":1,"d":1}}`)
	for _, body := range []string{`{"c":1}`, `{"d":1}`, `{"c":1,"d":1,"e":1}`} {
		_, err := callAPI(t, set, "op", `{"body":`+body+`}`)
		assert.Error(t, err, body)
	}
}

func TestOpenAPIReferencesIntoLists(t *testing.T) {
	c := New("api", Options{Data: apiOf(`"paths":{"/a":{"get":{"operationId":"a","parameters":[{"name":"p","in":"query"},{"name":"q","in":"query","schema":{"type":"integer"}}]}},
		"/b":{"get":{"operationId":"b","parameters":[{"$ref":"#/paths/~1a/get/parameters/1"},{"$ref":"#/paths/~1a/get/parameters/2"},{"$ref":"#/paths/~1a/get/parameters/x"}]}}}`)})
	assert.JSONEq(t, `{"q":{"type":"integer"}}`, string(rawjson.Member(complete(t, c, "b").InputSchema, "properties")))
}

func TestOpenAPIOutputSchemas(t *testing.T) {
	for _, c := range []struct{ name, responses, want string }{
		{"first with a body",
			`"204":{},"404":{"content":{"application/json":{"schema":{"type":"object"}}}},"201":{"content":{"application/json":{"schema":{"type":"string"}}}}`, `{"type":"string"}`},
		{"a range", `"2XX":{"content":{"application/hal+json":{"schema":{"type":"integer"}}}}`, `{"type":"integer"}`},
		{"JSON of several", `"200":{"content":{"text/html":{"schema":{}},"application/json":{"schema":{"type":"null"}}}}`, `{"type":"null"}`},
		{"text", `"200":{"content":{"text/csv":{"schema":{"type":"object"}}}}`, `{"type":"string"}`},
		{"bytes", `"200":{"content":{"image/png":{}}}`, `{"type":"string","format":"binary"}`},
		{"by reference", `"200":{"$ref":"#/components/responses/R"}`, `{"type":"array"}`},
		{"no schema", `"200":{"content":{"application/json":{}}}`, `{}`},
		{"nothing", `"204":{}`, ``},
		{"none of success", `"default":{"content":{"application/json":{"schema":{}}}}`, ``},
	} {
		data := apiOf(`"components":{"responses":{"R":{"content":{"application/json":{"schema":{"type":"array"}}}}}},"paths":{"/x":{"get":{"responses":{` + c.responses + `}}}}`)
		methods, err := New("api", Options{Data: data}).Methods(t.Context())
		require.NoError(t, err)
		assert.Equal(t, c.want, string(methods[0].OutputSchema), c.name)
	}
}

func TestOpenAPISameNamesInDifferentPlaces(t *testing.T) {
	data := apiOf(`"components":{"schemas":{"User":{"type":"string"}},"responses":{"User":{"content":{"application/json":{"schema":{"type":"integer"}}}}},
		"parameters":{"User":{"name":"u","in":"query","schema":{"type":"boolean"}}}},
		"paths":{"/x":{"post":{"operationId":"op","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{
			"a":{"$ref":"#/components/schemas/User"},"b":{"$ref":"#/components/responses/User/content/application~1json/schema"},"c":{"$ref":"#/components/parameters/User/schema"},
			"d":{"$ref":"#/paths/~1x/post/requestBody/content/application~1json/schema/properties/a"}}}}}}}}}`)
	methods, err := New("api", Options{Data: data}).Methods(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `{"User":{"type":"string"},"schema":{"type":"integer"},"schema_2":{"type":"boolean"}}`,
		string(rawjson.Member(methods[0].InputSchema, "$defs")))
}

// What is too deep for a complete schema is unknown in it, and nothing else changes.
func TestOpenAPISchemasAreCut(t *testing.T) {
	var defs []string
	for i := range 400 {
		defs = append(defs, `"S`+decimal(i)+`":{"type":"object","description":"`+strings.Repeat("x", 1000)+
			`","properties":{"next":{"$ref":"#/components/schemas/S`+decimal(i+1)+`"}}}`)
	}
	data := apiOf(`"components":{"schemas":{` + strings.Join(defs, ",") +
		`}},"paths":{"/x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}`)
	c := New("api", Options{Data: data}).(connectors.LargeConnector)
	large, err := c.Large(t.Context())
	require.NoError(t, err)
	arguments := large.Methods[0].Arguments()
	assert.Less(t, len(arguments), maxInputDefs+2000)
	require.NoError(t, validate.Schema(arguments))
	assert.Empty(t, validate.Value(arguments, json.RawMessage(`{"body":{"next":{"next":{}}}}`)))
	assert.NotEmpty(t, validate.Value(arguments, json.RawMessage(`{"body":{"next":{"next":{"next":1}}}}`)))
	assert.NotNil(t, rawjson.Path(large.Definitions(), "$defs", "S399"))
}

func TestOpenAPIBodySchemas(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"differing types", `"application/json":{"schema":{"type":"object"}},"application/xml":{"schema":{"type":"object"}}`,
			`{"anyOf":[{"type":"object"},{"type":"string","description":"Text of the type application/xml"}]}`},
		{"the same twice", `"application/json":{"schema":{"type":"object"}},"application/x-www-form-urlencoded":{"schema":{"type":"object"}}`, `{"type":"object"}`},
		{"unknown among them", `"application/json":{},"application/xml":{"schema":{"type":"string"}}`, `{}`},
	} {
		methods, err := New("api",
			Options{Data: operation("post", "/x", `"requestBody":{"content":{`+c.content+`}}`)}).Methods(t.Context())
		require.NoError(t, err)
		assert.Equal(t, c.want, string(rawjson.Path(methods[0].InputSchema, "properties", "body")), c.name)
		assert.NotNil(t, rawjson.Path(methods[0].InputSchema, "properties", "Content-Type"), c.name)
	}
}

func TestOpenAPIPathItemsBesideReferences(t *testing.T) {
	set := openAPISet(t, Options{Data: apiOf(`"paths":{"/a":{"get":{"operationId":"a"},"put":{"operationId":"b"}},
		"/b":{"$ref":"#/paths/~1a","put":{"operationId":"own"}}}`)})
	assert.Equal(t, []string{"a", "b", "a_2", "own"}, connectorstest.MethodNames(set, "api"))
}

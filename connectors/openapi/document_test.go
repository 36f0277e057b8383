package openapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/internal/words"
)

func TestOpenAPIDocumentsThatAreNone(t *testing.T) {
	for data, want := range map[string]string{
		`{`:                        "it is not valid JSON",
		`[]`:                       "it is not an OpenAPI document",
		`{}`:                       `it has neither "openapi" nor "swagger": "2.0"`,
		`{"openapi":"4.0.0"}`:      "it is of OpenAPI version 4.0.0, but only 2.0, 3.0 and 3.1 are known",
		`{"swagger":"1.2"}`:        `it has neither "openapi" nor "swagger": "2.0"`,
		`{"openapi":3}`:            `it has neither "openapi" nor "swagger": "2.0"`,
		"a: [":                     "it is neither valid JSON nor valid YAML",
		"just text":                "it is not an OpenAPI document",
		"# nothing":                "it is empty",
		"? [a]\n: b":               "a key that is not text",
		"a: &a\n  b: *a":           "its YAML is nested too deeply",
		"a: &a\n  <<: *a":          "its YAML is nested too deeply",
		"a: &a {<<: [*a, *a, *a]}": "its YAML",
		"a:\n  <<: 5":              "merges what is not a mapping",
		billionLaughs():            "its YAML aliases make it too large",
	} {
		_, err := New("api", Options{Data: []byte(data)}).Methods(t.Context())
		require.Error(t, err, data)
		assert.Contains(t, err.Error(), "its OpenAPI document cannot be used: ")
		assert.Contains(t, err.Error(), want, words.Shorten(data, 40))
	}
}

func billionLaughs() string {
	text := "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return text
}

func TestOpenAPIVersions(t *testing.T) {
	for _, version := range []string{`"openapi":"3.0.0"`, `"openapi":"3.0"`, `"openapi":"3.1.1"`, `"openapi":"3.2.0"`,
		`"swagger":"2.0"`, `"swagger":2.0`} {
		set := openAPISet(t, Options{Data: []byte(`{` + version + `,"paths":{"/x":{"get":{}}}}`)})
		assert.Equal(t, []string{"get_x"}, connectorstest.MethodNames(set, "api"), version)
	}
	set := openAPISet(t, Options{Data: []byte("\uFEFF\n{\"openapi\":\"3.0.0\"}")})
	assert.Empty(t, set.Methods("api"), "no paths at all")
}

func TestOpenAPIYAML(t *testing.T) {
	got, err := yamlToJSON([]byte(`
base: &base {x: 1, y: 2}
other: &other {y: 3, w: 4}
merged: {<<: [*base, *other], y: 9}
a: 12345678901234567890
hex: 0x1F
octal: 0o17
under: 1_000
float: 1.50
short: .5
exponent: 1e3
infinity: .inf
nan: .nan
yes: yes
true: TRUE
null: ~
empty:
date: 2024-01-02
list: [1, *base]
200: ok
`))
	require.NoError(t, err)
	assert.Equal(t, `{"base":{"x":1,"y":2},"other":{"y":3,"w":4},"merged":{"y":9,"x":1,"w":4},"a":12345678901234567890,"hex":31,"octal":15,`+
		`"under":1000,"float":1.50,"short":0.5,"exponent":1e3,"infinity":".inf","nan":".nan","yes":"yes","true":true,"null":null,"empty":null,`+
		`"date":"2024-01-02","list":[1,{"x":1,"y":2}],"200":"ok"}`, string(got))
}

func TestOpenAPIFromURL(t *testing.T) {
	var handler http.HandlerFunc
	server := record(t, func(w http.ResponseWriter, r *http.Request) { handler(w, r) })
	set := func() (*connectors.Set, error) {
		set := connectorstest.NewSet(t, nil,
			New("api", Options{Document: server.URL + "/docs/api.json",
				DocumentHeaders: map[string]string{"X-Key": "s3cr3t-doc"}}))
		return set, set.Err("api")
	}
	handler = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/docs/api.json" {
			http.Redirect(w, r, "/docs/v2/api.json", http.StatusFound)
			return
		}
		io.WriteString(w, `{"openapi":"3.0.0","servers":[{"url":"../api"}],"paths":{"/x":{"get":{"operationId":"op"}}}}`)
	}
	s, err := set()
	require.NoError(t, err)
	assert.Equal(t, "s3cr3t-doc", server.last(t).Header.Get("X-Key"))
	handler = answerWith("application/json", "{}")
	mustCallAPI(t, s, "op", `{}`)
	assert.Equal(t, "/api/x", server.last(t).Path, "relative to the document")

	handler = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }
	_, err = set()
	assert.ErrorContains(t, err,
		"its OpenAPI document cannot be fetched: "+strings.TrimPrefix(server.URL, "http://")+" answered 403 Forbidden")
	handler = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.com/", http.StatusFound)
	}
	_, err = set()
	assert.ErrorContains(t, err, "answered 302 Found")
	handler = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }
	_, err = set()
	assert.ErrorContains(t, err, "redirects without end")
	handler = func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }
	_, err = set()
	assert.ErrorContains(t, err, "cannot be fetched from "+strings.TrimPrefix(server.URL, "http://")+": EOF")
}

func TestOpenAPIFileThatIsMissing(t *testing.T) {
	_, err := New("api", Options{Document: "testdata/none.json"}).Methods(t.Context())
	assert.EqualError(t, err, "its OpenAPI document testdata/none.json cannot be read: no such file or directory")
	_, err = New("api", Options{Document: "testdata"}).Methods(t.Context())
	assert.ErrorContains(t, err, "its OpenAPI document testdata cannot be read")
}

func TestOpenAPISeveralFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("secret.json", `{"title":"outside"}`)
	write("api/openapi.yaml", `
openapi: 3.0.0
paths:
  /users/{id}: {$ref: "paths/user%20item.yaml#/item"}
components:
  schemas:
    Id: {type: integer}
`)
	write("api/paths/user item.yaml", `
item:
  parameters:
    - $ref: "../openapi.yaml#/components/parameters/None"
    - {name: id, in: path, required: true, schema: {$ref: "../openapi.yaml#/components/schemas/Id"}}
  post:
    operationId: op
    requestBody:
      content: {application/json: {schema: {$ref: "../schemas.json#/User"}}}
    responses:
      "200": {content: {application/json: {schema: {$ref: "#/local"}}}}
local: {type: object, properties: {outside: {$ref: "../../secret.json"}, web: {$ref: "https://example.com/x.json"}}}
`)
	write("api/schemas.json",
		`{"User":{"type":"object","properties":{"id":{"$ref":"openapi.yaml#/components/schemas/Id"},"boss":{"$ref":"#/User"}}}}`)
	c := New("api", Options{Document: filepath.Join(folder, "api", "openapi.yaml")})
	op := complete(t, c, "op")
	assert.JSONEq(t, `{"type":"object","properties":{"id":{"$ref":"#/$defs/Id"},"body":{"$ref":"#/$defs/User"}},"required":["id"],
		"$defs":{"Id":{"type":"integer"},"User":{"type":"object","properties":{"id":{"$ref":"#/$defs/Id"},"boss":{"$ref":"#/$defs/User"}}}}}`, string(op.InputSchema))
	assert.JSONEq(t, `{"$ref":"#/$defs/local","$defs":{"local":{"type":"object","properties":{"outside":{},"web":{}}}}}`, string(op.OutputSchema))
	assert.Contains(t, c.(connectors.Warner).Warnings(),
		`OpenAPI connector "api": POST /users/{id}: a parameter is left out: its reference "../openapi.yaml#/components/parameters/None" leads nowhere`)

	write("api/schemas.json", `{"User":{"type":"string"}}`)
	assert.JSONEq(t, `{"type":"string"}`, string(rawjson.Path(complete(t, c, "op").InputSchema, "$defs", "User")),
		"further files are read again, too")
}

func TestOpenAPIExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "openapi", "examples", "*", "*.*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		c := New("api", Options{Document: file})
		large, err := c.(connectors.LargeConnector).Large(t.Context())
		require.NoError(t, err, file)
		methods, err := c.Methods(t.Context())
		require.NoError(t, err, file)
		defs := rawjson.Member(large.Definitions(), "$defs")
		require.Len(t, large.Methods, len(methods))
		for i, m := range large.Methods {
			name := file + " " + m.Name
			assert.Regexp(t, words.Identifier, m.Name, name)
			assert.Equal(t, methods[i].Name, m.Name)
			for _, raw := range []json.RawMessage{m.Arguments(), methods[i].InputSchema, methods[i].OutputSchema,
				withDefs(m.InputSchema, defs), withDefs(m.OutputSchema, defs)} {
				err := validate.Schema(raw)
				assert.NoError(t, err, "%s %s", name, raw)
			}
		}
		if twin := strings.TrimSuffix(file, ".yaml") + ".json"; strings.HasSuffix(file, ".yaml") {
			assert.Equal(t, schemasOf(t, twin), schemasOf(t, file), "the same in YAML and JSON")
		} else {
			assert.Len(t, methods, countOperations(t, file), file)
		}
	}
}

func withDefs(schema, defs []byte) json.RawMessage {
	if !rawjson.IsObject(schema) {
		return schema
	}
	return withMember(schema, "$defs", defs)
}

func schemasOf(t *testing.T, file string) (texts []string) {
	methods, err := New("api", Options{Document: file}).Methods(t.Context())
	require.NoError(t, err)
	for _, m := range methods {
		texts = append(texts, m.Name+" "+m.Description+" "+string(m.InputSchema)+" "+string(m.OutputSchema))
	}
	return texts
}

// countOperations counts without any of the code under test.
func countOperations(t *testing.T, file string) (n int) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	for _, item := range doc.Paths {
		var ref string
		_ = json.Unmarshal(item["$ref"], &ref)
		if path, ok := strings.CutPrefix(ref, "#/paths/"); ok {
			item = doc.Paths[strings.ReplaceAll(path, "~1", "/")]
		}
		for key := range item {
			switch key {
			case "get", "put", "post", "delete", "patch", "options", "head":
				n++
			}
		}
	}
	return n
}

package openapi

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

// The scenario api-01 of the conformance file: mapping, references, raw request.
func TestOpenAPIScenario01(t *testing.T) {
	set, _ := fixtureAPI(t)
	assert.JSONEq(t, `{"got":{"path":"/users/a%2Fb%20c","method":"GET","params":{"verbose":true},"headers":{"X-Trace":"7"}}}`,
		mustCallAPI(t, set, "get_user", `{"id":"a/b c","verbose":true,"X-Trace":7}`))
	assert.JSONEq(t, `{"got":{"path":"/users/1","method":"PUT","body":{"name":"n"}}}`,
		mustCallAPI(t, set, "put_usersid", `{"id":1,"body":{"name":"n"}}`))
	assert.JSONEq(t, `{"got":{"path":"/raw","method":"DELETE","params":{"a":1}}}`,
		mustCallAPI(t, set, "request", `{"path":"/raw","method":"DELETE","params":{"a":1}}`))
}

// The scenario api-05: parameters of the path item.
func TestOpenAPIScenario05(t *testing.T) {
	set, _ := fixtureAPI(t)
	assert.JSONEq(t, `{"got":{"path":"/users/1","method":"GET","params":{"tenant":"t"}}}`,
		mustCallAPI(t, set, "get_user", `{"id":"1","tenant":"t"}`))
	assert.JSONEq(t, `{"type":"string"}`,
		string(rawjson.Path(largeAPI(t, "get_user").InputSchema, "properties", "tenant")))
}

// The scenario api-06: a missing path parameter is refused before anything is sent.
func TestOpenAPIScenario06(t *testing.T) {
	set, server := fixtureAPI(t)
	_, err := callAPI(t, set, "get_user", `{}`)
	assert.EqualError(t, err, "Invalid arguments for api.get_user: id: required, but missing")
	b, err := set.Lookup("api", "get_user")
	require.NoError(t, err)
	_, err = b.Invoke(connectorstest.CallContext(), json.RawMessage(`{"id":null}`))
	assert.EqualError(t, err, "Invalid arguments for api.get_user: id: required, but missing")
	assert.Empty(t, server.all())
}

func largeFixture(t testing.TB) *connectors.LargeCatalogue {
	t.Helper()
	large, err := New("api", Options{
		Document: filepath.Join("testdata", "openapi", "api.json"), RawRequest: true, ExposeSpec: true,
	}).(connectors.LargeConnector).Large(t.Context())
	require.NoError(t, err)
	return large
}

func largeAPI(t testing.TB, name string) connectors.Method {
	t.Helper()
	for _, m := range largeFixture(t).Methods {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no method "+name)
	return connectors.Method{}
}

func TestOpenAPICatalogue(t *testing.T) {
	set, _ := fixtureAPI(t)
	assert.Equal(t, []string{"request", "get_user", "put_usersid", "get_users", "request_2", "get_user_2", "sendForm",
		"putTree"}, connectorstest.MethodNames(set, "api"))
	for name, want := range map[string]struct {
		origin, description string
		class               connectors.Class
	}{
		"get_user":    {"get-user", "Get a user", connectors.Read},
		"put_usersid": {"PUT /users/{id}", "Replace.", connectors.Idempotent},
		"get_users":   {"GET /users", "GET /users", connectors.Read},
		"request_2":   {"request", "POST /users", connectors.Write},
		"get_user_2":  {"get_user", "GET /dup", connectors.Read},
		"request":     {"", "Send any request to the API, where no other method fits.", connectors.Write},
	} {
		b, err := set.Lookup("api", name)
		require.NoError(t, err)
		assert.Equal(t, want.origin, b.Origin, name)
		assert.Equal(t, want.description, b.Description, name)
		assert.Equal(t, want.class, b.Class, name)
	}
}

func TestOpenAPIWarnings(t *testing.T) {
	c := New("api", Options{Data: readTestdata(t, "api.json")})
	assert.Empty(t, c.(connectors.Warner).Warnings(), "before it is loaded")
	_, err := c.Methods(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{
		`OpenAPI connector "api": POST /users is named "request_2", since "request" is reserved`,
		`OpenAPI connector "api": GET /dup is named "get_user_2", since GET /users/{id} is named "get_user" already`,
		`OpenAPI connector "api": the reference "other.json#/X" leads nowhere: what it stands for is unknown`,
		`OpenAPI connector "api": the reference "#/components/schemas/Nowhere" leads nowhere: what it stands for is unknown`,
	}, c.(connectors.Warner).Warnings())
}

func TestOpenAPISchemas(t *testing.T) {
	get := largeAPI(t, "get_user")
	assert.Equal(t, `{"type":"object","properties":{"tenant":{"type":"string"},"id":{"type":"string"},`+
		`"verbose":{"type":"boolean","description":"More detail"},"X-Trace":{"type":"string"},"sid":{"type":"string"},"page":{"type":"integer"}},"required":["id"]}`,
		string(get.InputSchema))
	assert.Equal(t, `{"$ref":"#/$defs/User"}`, string(get.OutputSchema))

	put := largeAPI(t, "put_usersid")
	assert.Equal(t, `{"type":"object","properties":{"tenant":{"type":"string"},"id":{"type":"string"},"body":{"$ref":"#/$defs/User"}},"required":["id","body"]}`,
		string(put.InputSchema))
	user := `{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"boss":{"$ref":"#/$defs/User"},"ext":{},"missing":{}}}`
	assert.JSONEq(t, user, string(rawjson.Path(put.Arguments(), "$defs", "User")), "complete")
	assert.JSONEq(t, `{"$defs":{"User":`+
		user+`,"Node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`,
		string(largeFixture(t).Definitions()))
	var names []string
	for name := range rawjson.Members(rawjson.Path(largeFixture(t).Definitions(), "$defs", "User", "properties")) {
		names = append(names, name)
	}
	assert.Equal(t, []string{"name", "boss", "ext", "missing"}, names, "as the author lined them up")
}

func TestOpenAPIWithoutBody(t *testing.T) {
	set, _ := fixtureAPI(t)
	assert.JSONEq(t, `{"got":{"path":"/users/1","method":"GET","body":{"a":1}}}`,
		mustCallAPI(t, set, "get_user", `{"id":1,"body":{"a":1}}`), "sent although none is declared")
}

func TestOpenAPIUnknownParameters(t *testing.T) {
	set, server := fixtureAPI(t)
	for args, want := range map[string]string{
		`{"id":1,"verbos":true}`: "Invalid arguments for api.get_user: verbos: not a known parameter, did you mean " +
			"verbose?",
		`{"id":1,"zzzzz":true}`: "Invalid arguments for api.get_user: zzzzz: not a known parameter",
		`{"id":1,"page":"x"}`:   "Invalid arguments for api.get_user: page: expected integer, but got string",
		`[]`:                    "Invalid arguments for api.get_user: expected object, but got array",
	} {
		_, err := callAPI(t, set, "get_user", args)
		assert.EqualError(t, err, want)
	}
	_, err := callAPI(t, set, "putTree", `{"kids":[]}`)
	assert.EqualError(t, err,
		"Invalid arguments for api.putTree: kids: not a known parameter; the members of the body go into the "+
			"property body")
	assert.Empty(t, server.all())
}

func TestOpenAPISpec(t *testing.T) {
	set := openAPISet(t, Options{Data: readTestdata(t, "api.json"), ExposeSpec: true, RawRequest: true})
	assert.Equal(t, []string{"spec", "request"}, connectorstest.MethodNames(set, "api")[:2])
	assert.JSONEq(t, string(readTestdata(t, "api.json")), mustCallAPI(t, set, "spec", ``))
	b, err := set.Lookup("api", "spec")
	require.NoError(t, err)
	assert.Equal(t, connectors.Read, b.Class)
	assert.NotContains(t, connectorstest.MethodNames(openAPISet(t, Options{Data: readTestdata(t, "api.json")}), "api"),
		"request")
}

func TestOpenAPIRawRequest(t *testing.T) {
	set, server := fixtureAPI(t)
	for args, want := range map[string]seen{
		`{"path":"/a b/%41?x=1&y=a b","params":{"n":[1,2],"o":{"k":{"z":true}},"no":null}}`: {
			Method: "GET", Path: "/a%20b/%41", Query: "x=1&y=a%20b&n=1&n=2&o%5Bk%5D%5Bz%5D=true"},
		`{"path":"/p","method":"post","body":"text","headers":{"content-type":"text/plain","X-N":1}}`: {
			Method: "POST", Path: "/p", Body: "text"},
		`{"path":"/p","method":"PATCH","body":{"n":{"__codemode_bigint_v1__":"12345678901234567890"}}}`: {
			Method: "PATCH", Path: "/p", Body: `{"n":12345678901234567890}`},
		`{"path":"/p","method":"PUT","body":{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}}`: {
			Method: "PUT", Path: "/p", Body: "\x01\x02\x03"},
		`{"path":"//evil.example/x"}`: {Method: "GET", Path: "//evil.example/x"},
	} {
		mustCallAPI(t, set, "request", args)
		got := server.last(t)
		assert.Equal(t, want, seen{Method: got.Method, Path: got.Path, Query: got.Query, Body: got.Body}, args)
	}
	sent := len(server.all())
	for args, want := range map[string]string{
		`{"path":"http://evil.example"}`:                 `path: must begin with "/", it is taken below the API's base URL`,
		`{"path":"/a/../b"}`:                             `the path would hold ".."`,
		`{"path":"/a/%2e%2E/b"}`:                         `the path would hold "%2e%2E"`,
		`{"path":"/","method":"CONNECT"}`:                `method: not one that can be sent`,
		`{"path":"/","method":"G T"}`:                    `method: not one that can be sent`,
		`{"path":"/","headers":{"Host":"evil"}}`:         `headers: Host cannot be sent`,
		`{"path":"/","headers":{"X":"a\nb"}}`:            `headers: X cannot be sent`,
		`{"path":"/","headers":{"content-length":"99"}}`: `headers: content-length cannot be sent`,
	} {
		_, err := callAPI(t, set, "request", args)
		assert.EqualError(t, err, "Invalid arguments for api.request: "+want, args)
	}
	assert.Len(t, server.all(), sent)
}

func TestOpenAPIOptionsAreChecked(t *testing.T) {
	data := readTestdata(t, "api.json")
	for want, opts := range map[string]Options{
		`OpenAPI connector "api" needs either a Document or Data.`:                                                            {},
		`OpenAPI connector "api" needs either a Document or Data`:                                                             {Data: data, Document: "x"},
		`OpenAPI connector "api" cannot use its document: a document is fetched by https only, unless it is on this machine.`: {Document: "http://example.com/api.json"},
		`OpenAPI connector "api" cannot use its document: it does not begin with http:// or https://.`:                        {Document: "ftp://example.com/api.json"},
		`OpenAPI connector "api" has an unusable BaseURL: it does not begin with http:// or https://.`:                        {Data: data, BaseURL: "example.com"},
		`OpenAPI connector "api" has an unusable BaseURL: it names no host.`:                                                  {Data: data, BaseURL: "http:///x"},
		`OpenAPI connector "api" has the header "X-Y", which HTTP cannot carry.`:                                              {Data: data, Headers: map[string]string{"X-Y": "a\nb"}},
	} {
		_, err := New("api", opts).Methods(t.Context())
		var config *connectors.ConfigError
		require.ErrorAs(t, err, &config, want)
		assert.Contains(t, err.Error(), want)
	}
}

func TestOpenAPIInstructions(t *testing.T) {
	data := []byte(`{"openapi":"3.1.0","info":{"title":"Trains","description":"Book them.\n\nAt length.","version":"1"},"paths":{}}`)
	assert.Equal(t, "Trains\n\nBook them.", openAPISet(t, Options{Data: data}).Instructions("api"))
	assert.Equal(t, "own", openAPISet(t, Options{Data: data, Instructions: "own"}).Instructions("api"))
}

func TestOpenAPINames(t *testing.T) {
	data := apiOf(`"paths":{
		"/a":{"get":{"operationId":"x"},"put":{"operationId":"x_2"},"post":{"operationId":"x"},"delete":{"operationId":"then"},"head":{"operationId":""},"options":{"operationId":"class"},"trace":{}},
		"/b":{"patch":{"operationId":"spec"},"get":{"operationId":"日本"},"post":{"operationId":"日"}},
		"/c":{"get":{"operationId":"issues/list-for-repo"}},
		"x-ext":{"get":{}},
		"/broken":{"get":[]},
		"/worse":7,
		"/gone":{"$ref":"#/nowhere"}}`)
	c := New("api", Options{Data: data})
	set := connectorstest.NewSet(t, nil, c)
	require.NoError(t, set.Err("api"))
	assert.Equal(t, []string{"x", "x_2", "x_3", "then_2", "class_", "head_a", "_", "__2", "spec_2",
		"issues_list_for_repo"},
		connectorstest.MethodNames(set, "api"))
	assert.Equal(t, []string{
		`OpenAPI connector "api": GET /broken is left out: it is not an object`,
		`OpenAPI connector "api": the path /worse is left out: it is not an object`,
		`OpenAPI connector "api": the path /gone is left out: its reference "#/nowhere" leads nowhere`,
		`OpenAPI connector "api": POST /a is named "x_3", since GET /a is named "x" already`,
		`OpenAPI connector "api": DELETE /a is named "then_2", since "then" is reserved`,
		`OpenAPI connector "api": POST /b is named "__2", since GET /b is named "_" already`,
		`OpenAPI connector "api": PATCH /b is named "spec_2", since "spec" is reserved`,
		`OpenAPI connector "api": the reference "#/nowhere" leads nowhere: what it stands for is unknown`,
	}, c.(connectors.Warner).Warnings())
}

func TestOpenAPIRulesMatchOrigins(t *testing.T) {
	yes := true
	set, err := connectors.NewSet(t.Context(),
		[]connectors.Connector{New("api", Options{Data: readTestdata(t, "api.json")})},
		map[string][]connectors.Rule{"api": {{Pattern: "PUT /users/*", RequiresApproval: &yes},
			{Pattern: "get-user", Rename: "user"}}})
	require.NoError(t, err)
	put, err := set.Lookup("api", "put_usersid")
	require.NoError(t, err)
	assert.True(t, put.MayNeedApproval())
	_, err = set.Lookup("api", "user")
	assert.NoError(t, err)
}

func TestOpenAPIKeepsWhatDidNotChange(t *testing.T) {
	server := record(t, func(w http.ResponseWriter, r *http.Request) { w.Write(readTestdata(t, "api.json")) })
	c := New("api", Options{Document: server.URL + "/api.json"}).(*openAPIConnector)
	_, err := c.Methods(t.Context())
	require.NoError(t, err)
	first := c.latest()
	_, err = c.Large(t.Context())
	require.NoError(t, err)
	assert.Same(t, first, c.latest())
	assert.Len(t, server.all(), 2, "read again each time")
}

func TestOpenAPIVerbs(t *testing.T) {
	set := connectorstest.NewSet(t, nil,
		New("api", Options{Data: readTestdata(t, "api.json"), Verbs: []string{"GET", "put"}}))
	assert.Equal(t, []string{"get_user", "put_usersid", "get_users", "get_user_2"},
		connectorstest.MethodNames(set, "api"))
}

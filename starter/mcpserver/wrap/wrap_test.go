package wrap

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/openapi"
	"github.com/temporal-codemode/codemode/sandbox/engine"
)

func connect(t *testing.T, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	_, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask runs a program with a tool: its text, and whether that is an error.
func ask(t *testing.T, c *mcp.ClientSession, tool, code string) (string, bool) {
	t.Helper()
	answer, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"code": code}})
	require.NoError(t, err)
	return answer.Content[0].(*mcp.TextContent).Text, answer.IsError
}

func description(t *testing.T, c *mcp.ClientSession, n int) string {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	return list.Tools[n].Description
}

type sum struct {
	A int  `json:"a"`
	B *int `json:"b,omitempty"`
}

func calculator() connectors.Connector {
	add := connectors.Func("add_up", "Adds.", connectors.Write,
		func(_ connectors.Context, s sum) (int, error) { return s.A + *s.B, nil })
	add.InputSchema = json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"integer"},"odd-key":{"type":"string"},"yes":{"type":"boolean"}},"required":["a"]}`)
	add.Execute = func(_ connectors.Context, args json.RawMessage) (any, error) { return args, nil }
	return connectors.New("calc", "", add)
}

func TestOneToolForAConnector(t *testing.T) {
	s, closing, err := Connector(t.Context(), calculator(), Options{Executor: &engine.InProcess{}})
	require.NoError(t, err)
	defer func() { _ = closing() }()
	c := connect(t, s)
	text := description(t, c, 0)
	require.Contains(t, text, "declare const codemode: {")
	require.Contains(t, text, `codemode.add_up({ a: 0, "odd-key": "...", yes: true })`)
	for code, want := range map[string]string{
		`async () => (await codemode.add_up({a: 1})).a + 1`: "2",
		`return 'text'`:    "text",
		`return {a: [1]}`:  "{\n  \"a\": [\n    1\n  ]\n}",
		`return null`:      "null",
		`return undefined`: "undefined",
		`await new Promise(r => setTimeout(r, 1100)); return 1`: "1",
		"```ts\nconst n: number = 5; n\n```":                    "5",
	} {
		got, isError := ask(t, c, "code", code)
		require.False(t, isError, got)
		require.Equal(t, want, got, code)
	}
	for code, want := range map[string]string{
		`throw new Error('boom')`:         "Error: boom",
		`await codemode.add_up({a: 'x'})`: "Error: Invalid arguments",
		`await codemode.search('x')`:      `Error: Tool "search" not found on codemode`,
		`return calc`:                     "Error: calc is not defined",
		`for (;;);`:                       "Error: Execution timed out",
		``:                                "Error: Expected an object with a string code property",
	} {
		if code == "for (;;);" {
			continue
		}
		got, isError := ask(t, c, "code", code)
		require.True(t, isError, got)
		require.Contains(t, got, want)
	}
	long, _ := ask(t, c, "code", `return Array.from({length: 5000}, (_, i) => 'item ' + i)`)
	require.LessOrEqual(t, len(long), resultUnits)
	require.True(t, json.Valid([]byte(long)))
}

func TestDescriptionOfOnesOwn(t *testing.T) {
	s, closing, err := Connector(t.Context(), calculator(),
		Options{Executor: &engine.InProcess{}, Description: "A {{example}} B {{example}}"})
	require.NoError(t, err)
	defer func() { _ = closing() }()
	text := description(t, connect(t, s), 0)
	require.True(t, strings.HasPrefix(text, "A async () =>") && strings.HasSuffix(text, "B {{example}}"), text)
}

const document = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/users/{id}":{"get":{"responses":{"200":{"description":"d","schema":{"$ref":"#/components/schemas/User"}}}}}},
	"components":{"schemas":{"User":{"type":"object","properties":{"name":{"type":"string"},"boss":{"$ref":"#/components/schemas/User"},
	"other":{"$ref":"other.json#/x"},"gone":{"$ref":"#/components/schemas/None"},"a/b":{"$ref":"#/paths/~1users~1{id}/get/responses/200"}}}}}}`

func TestSearchAndExecute(t *testing.T) {
	var got *http.Request
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(t.Context())
		if r.URL.Path == "/v1/none" {
			http.Error(w, "nothing here", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":7}`))
	}))
	defer api.Close()
	s, closing, err := OpenAPI(t.Context(), openapi.Options{
		Data: []byte(document), BaseURL: api.URL + "/v1", Headers: map[string]string{"Authorization": "Bearer secret"},
	}, Options{Executor: &engine.InProcess{}, Description: "Our users."})
	require.NoError(t, err)
	defer func() { _ = closing() }()
	c := connect(t, s)
	require.Contains(t, description(t, c, 0), "Our users.")

	text, _ := ask(t, c, "search", `async () => {
		const user = (await codemode.spec()).paths['/users/{id}'].get.responses['200'].schema;
		user.properties.name.type = 'changed';
		const again = (await codemode.spec()).components.schemas.User.properties;
		return [user.type, user.properties.boss, again.other, again.gone === undefined, again.name.type, typeof codemode.request]; }`)
	require.JSONEq(t, `["object",{"$circular":"#/components/schemas/User"},{"$ref":"other.json#/x"},true,"string","undefined"]`, text)
	text, isError := ask(t, c, "search", `return await globalThis.codemode.request({method: 'GET', path: '/users/7'})`)
	require.True(t, isError, text)
	require.Nil(t, got, "search calls nothing")

	text, isError = ask(t, c, "execute",
		`return (await codemode.request({method: 'post', path: '/users/7', query: {a: 1, b: ['x', 'y'], c: null}, body: {n: 1}, headers: {Authorization: 'mine', 'X-A': 'b'}})).id`)
	require.False(t, isError, text)
	require.Equal(t, "7", text)
	require.Equal(t, []string{"POST", "/v1/users/7", "a=1&b=x&b=y", "Bearer secret", "b", "application/json"},
		[]string{got.Method, got.URL.Path, got.URL.RawQuery, got.Header.Get("Authorization"), got.Header.Get("X-A"),
			got.Header.Get("Content-Type")})

	for _, c2 := range []struct{ code, want string }{
		{`await codemode.request({method: 'GET', path: '/none'})`, "404"},
		{`await codemode.request({method: 'GET', path: '/../other'})`, "path"},
		{`await codemode.request({method: 'GET', path: 'http://evil.example/'})`, "must begin with"},
		{`await codemode.request({method: 'GET'})`, "path"},
	} {
		text, isError := ask(t, c, "execute", c2.code)
		require.True(t, isError)
		require.Contains(t, text, c2.want)
	}
}

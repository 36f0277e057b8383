package tracker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/testenv/tracker"
)

// serveState makes the test binary a tracker on that file.
const serveState = "CODEMODE_TEST_TRACKER_STATE"

func TestMain(m *testing.M) {
	if path := os.Getenv(serveState); path != "" {
		if err := tracker.Serve(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newState(t *testing.T) string { return filepath.Join(t.TempDir(), "tracker.json") }

func connect(t *testing.T, path string) (*client.Client, *mcp.InitializeResult) {
	t.Helper()
	c, err := client.NewStdioMCPClient(os.Args[0], []string{serveState + "=" + path})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	hello, err := c.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: mcp.LATEST_PROTOCOL_VERSION,
		ClientInfo:      mcp.Implementation{Name: "test", Version: "1"},
	}})
	require.NoError(t, err)
	return c, hello
}

func call(t *testing.T, c *client.Client, tool, args string) *mcp.CallToolResult {
	t.Helper()
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{
		Name: tool, Arguments: json.RawMessage(args),
	}})
	require.NoError(t, err)
	return result
}

// structured is the structured content of a call that must succeed, as JSON.
func structured(t *testing.T, c *client.Client, tool, args string) string {
	t.Helper()
	result := call(t, c, tool, args)
	require.False(t, result.IsError, "%s: %v", tool, result.Content)
	content, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	return string(content)
}

func load(t *testing.T, path string) tracker.State {
	t.Helper()
	state, err := tracker.Load(path)
	require.NoError(t, err)
	return state
}

func TestDescribesItself(t *testing.T) {
	c, hello := connect(t, newState(t))
	require.Contains(t, hello.Instructions, "Issue tracker of the demo.")
	listed, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)

	hints := map[string]string{}
	for _, tool := range listed.Tools {
		require.NotEmpty(t, tool.Description)
		require.Equal(t, "object", tool.InputSchema.Type)
		require.Equal(t, "object", tool.OutputSchema.Type)
		a := tool.Annotations
		hints[tool.Name] = fmt.Sprint(*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint)
	}
	require.Equal(t, map[string]string{
		"list_issues":   "true false true",
		"get_issue":     "true false true",
		"list_comments": "true false true",
		"create_issue":  "false false false",
		"delete_issue":  "false true true",
		"close_issue":   "false false true",
	}, hints)
}

func TestReads(t *testing.T) {
	path := newState(t)
	c, _ := connect(t, path)

	require.JSONEq(t, `{"id":5,"title":"Explain the rate limits","body":"The documentation names no numbers.",
		"state":"open","labels":["docs"]}`, structured(t, c, "get_issue", `{"id":5}`))
	require.JSONEq(t, `{"comments":[{"issue":4,"author":"jon","body":"I think this is the same as issue 1."}]}`,
		structured(t, c, "list_comments", `{"id":4}`))
	require.JSONEq(t, `{"comments":[]}`, structured(t, c, "list_comments", `{"id":3}`))
	for args, want := range map[string]int{`{}`: 8, `{"state":"open"}`: 6, `{"state":"closed"}`: 2} {
		var answer struct{ Issues []tracker.Issue }
		require.NoError(t, json.Unmarshal([]byte(structured(t, c, "list_issues", args)), &answer))
		require.Len(t, answer.Issues, want, args)
	}
	require.Empty(t, load(t, path).Effects)
}

func TestWritesAreCounted(t *testing.T) {
	path := newState(t)
	c, _ := connect(t, path)

	require.JSONEq(t, `{"id":9,"title":"New","body":"","state":"open","labels":[]}`,
		structured(t, c, "create_issue", `{"title":"New"}`))
	require.JSONEq(t, `{"id":10,"title":"Other","body":"why","state":"open","labels":["bug"]}`,
		structured(t, c, "create_issue", `{"title":"Other","body":"why","labels":["bug"]}`))
	require.JSONEq(t, `{"id":9,"title":"New","body":"","state":"closed","labels":[]}`,
		structured(t, c, "close_issue", `{"id":9}`))
	require.JSONEq(t, `{"id":4,"deleted":true}`, structured(t, c, "delete_issue", `{"id":4}`))
	require.JSONEq(t, `{"id":4,"deleted":false}`, structured(t, c, "delete_issue", `{"id":4}`))

	state := load(t, path)
	require.Len(t, state.Issues, 9)
	require.Len(t, state.Comments, 7)
	require.Equal(t, 2, state.Count("create_issue"))
	require.Equal(t, 2, state.Count("delete_issue"))
	require.Equal(t, 1, state.Count("close_issue"))
	require.JSONEq(t, `{"title":"New"}`, string(state.Effects[0].Args))
}

func TestKeepsTheIdempotencyKey(t *testing.T) {
	path := newState(t)
	c, _ := connect(t, path)
	for _, name := range []string{"idempotencyKey", "example.com/idempotencyKey", "somethingElse"} {
		_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{
			Name:      "create_issue",
			Arguments: map[string]any{"title": name},
			Meta:      &mcp.Meta{AdditionalFields: map[string]any{name: "key of " + name}},
		}})
		require.NoError(t, err)
	}
	var keys []string
	for _, effect := range load(t, path).Effects {
		keys = append(keys, effect.Key)
	}
	require.Equal(t, []string{"key of idempotencyKey", "key of example.com/idempotencyKey", ""}, keys)
}

func TestErrorsAreForTheModel(t *testing.T) {
	path := newState(t)
	c, _ := connect(t, path)
	for _, wrong := range []struct{ tool, args, want string }{
		{"get_issue", `{"id":99}`, "there is no issue 99; list_issues shows"},
		{"list_comments", `{"id":99}`, "there is no issue 99"},
		{"close_issue", `{"id":99}`, "there is no issue 99"},
		{"get_issue", `{}`, "id"},
		{"get_issue", `{"id":"five"}`, "integer"},
		{"create_issue", `{"title":""}`, "/title"},
		{"create_issue", `{"title":"x","colour":"red"}`, "colour"},
		{"list_issues", `{"state":"done"}`, "open"},
	} {
		result := call(t, c, wrong.tool, wrong.args)
		require.True(t, result.IsError, "%s %s", wrong.tool, wrong.args)
		require.Contains(t, result.Content[0].(mcp.TextContent).Text, wrong.want)
	}
	require.Empty(t, load(t, path).Effects)
}

// TestSeveralProcesses writes through three servers at once: none may lose what another wrote.
func TestSeveralProcesses(t *testing.T) {
	const servers, each = 3, 10
	path := newState(t)
	var running sync.WaitGroup
	for range servers {
		c, _ := connect(t, path)
		running.Go(func() {
			for range each {
				_, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{
					Name: "create_issue", Arguments: map[string]any{"title": "one of many"},
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()

	state := load(t, path)
	require.Equal(t, servers*each, state.Count("create_issue"))
	require.Len(t, state.Issues, 8+servers*each)
	require.Equal(t, 9+servers*each, state.NextID)
}

func TestDamagedState(t *testing.T) {
	path := newState(t)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err := tracker.Load(path)
	require.ErrorContains(t, err, "delete it to start anew")
	require.ErrorContains(t, tracker.Serve(t.Context(), path), path)
}

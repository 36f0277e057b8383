package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
)

// changingServer tells of progress, and gets another tool by its tool "grow".
func changingServer() *server.MCPServer {
	s := server.NewMCPServer("changing", "1", server.WithToolCapabilities(true))
	answer := func(text string) server.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text), nil
		}
	}
	s.AddTool(mcp.NewTool("grow"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(mcp.NewTool("grown"), answer("here"))
		return mcp.NewToolResultText("ok"), nil
	})
	s.AddTool(mcp.NewTool("shrink"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.DeleteTools("grow", "grown")
		return mcp.NewToolResultText("ok"), nil
	})
	s.AddTool(mcp.NewTool("work"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, token := range []any{"another's", r.Params.Meta.ProgressToken} {
			_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": token, "progress": 1, "total": 4, "message": "half way with " + secret})
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return s
}

// mcpWays are all ways to a server, each with what it takes to end it.
func mcpWays(t *testing.T) map[string]Options {
	t.Helper()
	guarded := func(h http.Handler) *httptest.Server {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodDelete && r.Header.Get("Authorization") != "Bearer "+secret {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(func() {
			web.CloseClientConnections()
			web.Close()
		})
		return web
	}
	headers := map[string]string{"Authorization": "Bearer " + secret}
	stdio, _ := mcpServer(t, "changing")
	return map[string]Options{
		"stdio":           stdio,
		"streamable HTTP": {URL: guarded(server.NewStreamableHTTPServer(changingServer())).URL, Headers: headers},
		"SSE": {URL: guarded(server.NewSSEServer(changingServer())).URL + "/sse", Headers: headers,
			SSE: true},
		"in process": {Secrets: []string{secret}, Client: func(context.Context) (*client.Client, error) {
			return client.NewInProcessClient(changingServer())
		}},
	}
}

func TestMCPToolsChange(t *testing.T) {
	for way, opts := range mcpWays(t) {
		t.Run(way, func(t *testing.T) {
			set := mcpSet(t, opts)
			require.NoError(t, set.Err("mcp"))
			before := set.Version()
			// Over HTTP the stream for what the server tells opens beside the first requests.
			assert.Eventually(t, func() bool {
				mustInvoke(t, set, "grow", ``)
				_, err := set.Lookup("mcp", "grown")
				return err == nil
			}, 30*time.Second, 10*time.Millisecond)
			assert.Equal(t, `"here"`, mustInvoke(t, set, "grown", ``))
			assert.Greater(t, set.Version(), before)
			mustInvoke(t, set, "shrink", ``)
			assert.Eventually(t, func() bool { return len(set.Methods("mcp")) == 2 }, 30*time.Second,
				10*time.Millisecond)
		})
	}
}

func TestMCPProgress(t *testing.T) {
	for way, opts := range mcpWays(t) {
		t.Run(way, func(t *testing.T) {
			b, err := mcpSet(t, opts).Lookup("mcp", "work")
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			call := connectorstest.CallContext()
			call.Context = ctx
			var heard []connectors.Progress
			call.Progress = func(p connectors.Progress) {
				heard = append(heard, p)
				cancel() // the call ends as it is cancelled
			}
			_, err = b.Invoke(call, nil)
			require.Error(t, err)
			assert.Equal(t, []connectors.Progress{{Done: 1, Total: 4, Message: "half way with [redacted]"}}, heard)
		})
	}
}

func TestMCPByURL(t *testing.T) {
	for way, opts := range mcpWays(t) {
		if opts.URL == "" {
			continue
		}
		t.Run(way+" without its header", func(t *testing.T) {
			opts.Headers = map[string]string{"X-Token": "wrong-" + secret}
			set := mcpSet(t, opts)
			require.ErrorContains(t, set.Err("mcp"),
				`Connector "mcp" is not available: the MCP server at its URL did not start: `)
			assert.NotContains(t, set.Err("mcp").Error(), secret)
		})
	}
}

func TestMCPHeadersStayWithTheirHost(t *testing.T) {
	var reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer elsewhere.Close()
	web := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer web.Close()
	set := mcpSet(t, Options{URL: web.URL, Headers: map[string]string{"X-Token": secret}})
	assert.ErrorContains(t, set.Err("mcp"), "the server redirects to another one (")
	assert.False(t, reached.Load())
}

func TestMCPURLs(t *testing.T) {
	for _, bad := range []string{"localhost:1", "ftp://x", "/mcp", "http://"} {
		_, err := connectors.NewSet(t.Context(), []connectors.Connector{New("mcp", Options{URL: bad})}, nil)
		assert.EqualError(t, err, `the URL of MCP connector "mcp" is not one of a web server`, bad)
	}
	opts := Options{URL: "http://127.0.0.1:1/mcp?key=" + secret}
	err := mcpSet(t, opts).Err("mcp")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), secret)
}

// A lost stream is a lost server, which may come back.
func TestMCPOverSSEReconnects(t *testing.T) {
	serve := server.NewSSEServer(trackerServer())
	web := httptest.NewServer(serve)
	t.Cleanup(web.Close) // after the set, whose stream it would wait for
	set := mcpSet(t, Options{URL: web.URL + "/sse", SSE: true})
	assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", ``))
	lost := make(chan error, 1)
	go func() {
		_, err := invoke(t.Context(), t, set, "slow", `{"ms":60000}`)
		lost <- err
	}()
	require.Eventually(t, func() bool { return mustInvoke(t, set, "waits", ``) == `{"cancelled":[],"running":1}` },
		30*time.Second, 10*time.Millisecond)
	web.CloseClientConnections()
	var unknown *connectors.OutcomeUnknownError
	require.ErrorAs(t, <-lost, &unknown)
	assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", ``))
}

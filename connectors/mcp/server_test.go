package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
)

// The test binary is its own MCP server: started with this variable it serves
// in the given way instead of running tests.
const (
	serveEnv  = "CODEMODE_TEST_MCP"
	startsEnv = "CODEMODE_TEST_STARTS"
	secretEnv = "TRACKER_TOKEN"
	secret    = "hunter2-token"
)

func TestMain(m *testing.M) {
	serve, ok := map[string]func(){
		"tracker":  serveTracker,
		"changing": func() { serveStdio(changingServer()) },
		"collide":  func() { serveStdio(collidingServer()) },
		"raw":      func() { serveLines(rawAnswer) },
		"strict":   func() { serveLines(strictAnswer) },
		"modern":   func() { serveLines(modernAnswer) },
		"loop":     func() { serveLines(loopingAnswer) },
		"huge":     serveHuge,
		"mute":     func() { serveLines(func(string, json.RawMessage) any { return nil }) },
		"dies":     serveDying,
		"deaf":     serveDeaf,
	}[os.Getenv(serveEnv)]
	if !ok {
		os.Exit(m.Run())
	}
	noteStart()
	serve()
}

// mcpServer gives options for a server of the test binary, and a function that
// counts how often it was started.
func mcpServer(t *testing.T, kind string) (Options, func() int) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	starts := filepath.Join(t.TempDir(), "starts")
	opts := Options{
		Command: binary,
		Env: map[string]string{serveEnv: kind, startsEnv: starts, secretEnv: secret,
			"GORACE": "atexit_sleep_ms=0", "GOCOVERDIR": t.TempDir()},
	}
	return opts, func() int {
		text, _ := os.ReadFile(starts)
		return strings.Count(string(text), "\n")
	}
}

func noteStart() int {
	path := os.Getenv(startsEnv)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid())
	f.Close()
	text, _ := os.ReadFile(path)
	return strings.Count(string(text), "\n")
}

func serveStdio(s *server.MCPServer) {
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func serveTracker() { serveStdio(trackerServer()) }

// trackerServer has the tools of the scenarios and some that misbehave. Its
// pages hold three tools.
func trackerServer() *server.MCPServer {
	s := server.NewMCPServer("tracker", "1", server.WithInstructions("server words"), server.WithPaginationLimit(3))
	add := func(tool mcp.Tool, handle server.ToolHandlerFunc) { s.AddTool(tool, handle) }
	result := func(r mcp.CallToolResult) server.ToolHandlerFunc {
		return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return &r, nil }
	}
	text := mcp.NewTextContent
	image := mcp.NewImageContent("iVBORw0KGgo=", "image/png")

	add(mcp.NewTool("list-prs", mcp.WithDescription("List pull requests"), mcp.WithReadOnlyHintAnnotation(true),
		mcp.WithIdempotentHintAnnotation(true)),
		result(mcp.CallToolResult{Content: []mcp.Content{text(`[{"n":1}]`)}}))
	listed := mcp.NewToolWithRawSchema("upsert", "",
		json.RawMessage(
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"anyOf":[{"type":"number"},{"type":"null"}]}},"x-kept":9007199254740993}`))
	listed.RawOutputSchema = json.RawMessage(`{"type":"object","properties":{"y":{},"b":{}}}`)
	idempotent := true
	listed.Annotations.IdempotentHint = &idempotent
	add(listed, result(mcp.CallToolResult{Content: []mcp.Content{text("done")}}))
	add(mcp.NewTool("txt"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	add(mcp.NewTool("err"), result(mcp.CallToolResult{IsError: true, StructuredContent: map[string]int{"a": 1},
		Content: []mcp.Content{text("line1"), image, text("line2")}}))
	add(mcp.NewTool("err0"), result(mcp.CallToolResult{IsError: true}))
	add(mcp.NewTool("leak"),
		result(mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("bad token " + secret)}}))
	add(mcp.NewTool("fail"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("refused %s", secret)
	})
	add(mcp.NewTool("structured"),
		result(mcp.CallToolResult{StructuredContent: map[string]int{"a": 1}, Content: []mcp.Content{text("ignored")}}))
	add(mcp.NewTool("mixed"), result(mcp.CallToolResult{Content: []mcp.Content{text("t"), image}}))
	add(mcp.NewTool("empty"), result(mcp.CallToolResult{}))
	add(mcp.NewTool("multi"), result(mcp.CallToolResult{Content: []mcp.Content{text("one"), text("two")}}))
	add(mcp.NewTool("bigint"), result(mcp.CallToolResult{Content: []mcp.Content{text(`{"id":12345678901234567890}`)}}))
	add(mcp.NewTool("bigint-structured"),
		result(mcp.CallToolResult{RawStructuredContent: json.RawMessage(`{"id":9007199254740993}`)}))
	add(mcp.NewTool("echo"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("got " + string(r.Params.RawArguments)), nil
	})
	add(mcp.NewTool("meta"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.Meta == nil {
			return mcp.NewToolResultText("none"), nil
		}
		return mcp.NewToolResultStructuredOnly(r.Params.Meta.AdditionalFields), nil
	})
	add(mcp.NewTool("env"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		dir, _ := os.Getwd()
		return mcp.NewToolResultStructuredOnly(map[string]any{"env": os.Environ(), "dir": dir}), nil
	})
	addSlow(add)
	add(mcp.NewTool("crash"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintf(os.Stderr, "fatal: lost %s\n", os.Getenv(secretEnv))
		os.Exit(3)
		return nil, nil
	})
	return s
}

// addSlow adds a tool that waits, and one that tells how waiting went.
func addSlow(add func(mcp.Tool, server.ToolHandlerFunc)) {
	var mu sync.Mutex
	cancelled, running := []string{}, 0
	add(mcp.NewTool("slow"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := r.GetString("id", "")
		mu.Lock()
		running++
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			if running--; ctx.Err() != nil {
				cancelled = append(cancelled, id)
			}
		}()
		select {
		case <-time.After(time.Duration(r.GetInt("ms", 0)) * time.Millisecond):
		case <-ctx.Done():
		}
		return mcp.NewToolResultText(id), nil
	})
	add(mcp.NewTool("waits"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		return mcp.NewToolResultStructuredOnly(map[string]any{"cancelled": slices.Clone(cancelled),
			"running": running}), nil
	})
}

func collidingServer() *server.MCPServer {
	s := server.NewMCPServer("dup", "1")
	for _, name := range []string{"foo-bar", "foo_bar"} {
		s.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name), nil
		})
	}
	return s
}

// serveLines speaks JSON-RPC by hand, for what mcp-go's server never says. An
// answer of nil is no answer, an error one of JSON-RPC's.
func serveLines(answer func(method string, params json.RawMessage) any) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": request.ID}
		switch a := answer(request.Method, request.Params).(type) {
		case nil:
			continue
		case error:
			reply["error"] = map[string]any{"code": mcp.METHOD_NOT_FOUND, "message": a.Error()}
		default:
			reply["result"] = a
		}
		out, _ := json.Marshal(reply)
		fmt.Println(string(out))
	}
}

func initialized() any {
	return map[string]any{"protocolVersion": mcp.LATEST_LEGACY_PROTOCOL_VERSION,
		"serverInfo":   map[string]any{"name": "raw", "version": "1"},
		"capabilities": map[string]any{"tools": map[string]any{}}}
}

func rawAnswer(method string, _ json.RawMessage) any {
	switch method {
	case "initialize":
		return initialized()
	case "tools/list":
		return json.RawMessage(`{"tools":[{"name":"compat","inputSchema":{"type":"object"}},{"name":"plain"}]}`)
	case "tools/call":
		return json.RawMessage(`{"toolResult":{"old":true,"id":9007199254740993},"isError":true}`)
	}
	return fmt.Errorf("no %s", method)
}

// strictAnswer ends when anything but initialize comes first, as some servers do.
func strictAnswer(method string, params json.RawMessage) any {
	if method != "initialize" && method != "tools/list" {
		os.Exit(9)
	}
	if method == "tools/list" {
		return fmt.Errorf("no tools here")
	}
	return initialized()
}

// modernAnswer has no handshake and wants the protocol version in each request.
func modernAnswer(method string, params json.RawMessage) any {
	var p struct {
		Meta map[string]any `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || p.Meta[mcp.MetaKeyProtocolVersion] != mcp.LATEST_PROTOCOL_VERSION {
		return fmt.Errorf("no %s without a version", method)
	}
	switch method {
	case "server/discover":
		return map[string]any{"resultType": "complete", "supportedVersions": []string{mcp.LATEST_PROTOCOL_VERSION},
			"capabilities": map[string]any{"tools": map[string]any{}}, "instructions": "modern words"}
	case "tools/list":
		return json.RawMessage(`{"tools":[{"name":"key"}]}`)
	case "tools/call":
		return map[string]any{"content": []any{map[string]any{"type": "text",
			"text": p.Meta["codemode/idempotencyKey"]}}}
	}
	return fmt.Errorf("no %s", method)
}

func loopingAnswer(method string, _ json.RawMessage) any {
	if method == "initialize" {
		return initialized()
	}
	return json.RawMessage(`{"tools":[],"nextCursor":"again"}`)
}

func serveDying() {
	fmt.Fprintf(os.Stderr, "cannot log in with %s\n", os.Getenv(secretEnv))
	os.Exit(7)
}

// serveDeaf stops reading after the handshake when it runs for the first time.
func serveDeaf() {
	text, _ := os.ReadFile(os.Getenv(startsEnv))
	first := strings.Count(string(text), "\n") == 1
	serveLines(func(method string, params json.RawMessage) any {
		if method == "tools/call" && first {
			select {}
		}
		return rawAnswer(method, params)
	})
}

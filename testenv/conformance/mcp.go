package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/temporal-codemode/codemode/connectors"
)

// mcpServer is an MCP server on pipes inside the worker process. It keeps what it was asked.
type mcpServer struct {
	server *server.MCPServer

	mu    sync.Mutex
	calls []toolCall
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

func newMCPServer() *mcpServer {
	s := server.NewMCPServer("fixture", "1", server.WithInstructions("server words"))
	m := &mcpServer{server: s, calls: []toolCall{}}
	text, image := mcp.NewTextContent, mcp.NewImageContent(onePixel, "image/png")
	results := []struct {
		name, description string
		result            mcp.CallToolResult
	}{
		{"list-prs", "List pull requests", mcp.CallToolResult{Content: []mcp.Content{text(`[{"n":1}]`)}}},
		{"err", "", mcp.CallToolResult{
			IsError: true, StructuredContent: map[string]int{"a": 1}, Content: []mcp.Content{text("line1"), image, text("line2")},
		}},
		{"err0", "", mcp.CallToolResult{IsError: true, Content: []mcp.Content{}}},
		{"structured", "", mcp.CallToolResult{StructuredContent: map[string]int{"a": 1}, Content: []mcp.Content{text("ignored")}}},
		{"mixed", "", mcp.CallToolResult{Content: []mcp.Content{text("text"), image}}},
		{"empty", "", mcp.CallToolResult{Content: []mcp.Content{}}},
		{"compat", "", mcp.CallToolResult{}}, // answered by compat
		{"multi", "", mcp.CallToolResult{Content: []mcp.Content{text("one"), text("two")}}},
	}
	for _, r := range results {
		s.AddTool(mcp.NewTool(r.name, mcp.WithDescription(r.description)),
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return &r.result, nil })
	}
	s.AddTool(mcp.NewTool("txt"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	return m
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func (m *mcpServer) connector() connectors.Connector {
	return connectors.MCP("mcp", connectors.MCPOptions{Instructions: "own words", Client: m.connect})
}

func (m *mcpServer) connect(context.Context) (*client.Client, error) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	go m.serve(serverIn, serverOut)
	return client.NewClient(transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader("")))), nil
}

func (m *mcpServer) serve(in io.Reader, out io.WriteCloser) {
	defer out.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if answer := m.answer(line); answer != nil {
			if json.NewEncoder(out).Encode(answer) != nil {
				return
			}
		}
	}
}

func (m *mcpServer) answer(line []byte) any {
	var call struct {
		ID     json.RawMessage
		Method string
		Params toolCall
	}
	if json.Unmarshal(line, &call) != nil || call.Method != "tools/call" {
		return m.server.HandleMessage(context.Background(), line)
	}
	m.mu.Lock()
	m.calls = append(m.calls, call.Params)
	m.mu.Unlock()
	if call.Params.Name == "compat" {
		return compat(call.ID)
	}
	return m.server.HandleMessage(context.Background(), line)
}

// compat is the result shape of the first protocol version, which mcp-go cannot give.
func compat(id json.RawMessage) any {
	result := map[string]any{"toolResult": map[string]bool{"old": true}, "isError": true}
	return map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
}

func (m *mcpServer) received() []toolCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

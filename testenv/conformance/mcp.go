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
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
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
	tools := fixtureTools()
	// mcp-go sorts tools by name; here they come as the fixture lists them.
	inOrder := server.WithToolFilter(func(_ context.Context, sorted []mcp.Tool) []mcp.Tool {
		position := func(t mcp.Tool) int {
			return slices.IndexFunc(tools, func(f server.ServerTool) bool { return f.Tool.Name == t.Name })
		}
		return slices.SortedFunc(slices.Values(sorted), func(a, b mcp.Tool) int { return position(a) - position(b) })
	})
	s := server.NewMCPServer("fixture", "1", server.WithInstructions("server words"), inOrder)
	s.AddTools(tools...)
	return &mcpServer{server: s, calls: []toolCall{}}
}

func fixtureTools() []server.ServerTool {
	text, image := mcp.NewTextContent, mcp.NewImageContent(onePixel, "image/png")
	txt := func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	}
	structured := map[string]int{"a": 1}
	return []server.ServerTool{
		answers("list-prs", mcp.CallToolResult{Content: []mcp.Content{text(`[{"n":1}]`)}},
			mcp.WithDescription("List pull requests")),
		{Tool: mcp.NewTool("txt"), Handler: txt},
		answers("err", mcp.CallToolResult{
			IsError: true, StructuredContent: structured, Content: []mcp.Content{text("line1"), image, text("line2")},
		}),
		answers("err0", mcp.CallToolResult{IsError: true, Content: []mcp.Content{}}),
		answers("structured",
			mcp.CallToolResult{StructuredContent: structured, Content: []mcp.Content{text("ignored")}}),
		answers("mixed", mcp.CallToolResult{Content: []mcp.Content{text("text"), image}}),
		answers("empty", mcp.CallToolResult{Content: []mcp.Content{}}),
		answers("compat", mcp.CallToolResult{}), // see compat
		answers("multi", mcp.CallToolResult{Content: []mcp.Content{text("one"), text("two")}}),
	}
}

func answers(name string, result mcp.CallToolResult, options ...mcp.ToolOption) server.ServerTool {
	handler := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return &result, nil }
	return server.ServerTool{Tool: mcp.NewTool(name, options...), Handler: handler}
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func (m *mcpServer) connector() connectors.Connector {
	return mcpconnector.New("mcp", mcpconnector.Options{Instructions: "own words", Client: m.connect})
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

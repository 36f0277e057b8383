package connectors_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
)

// An MCP server in the same process, by mcp-go's own client.
func ExampleConnector_inProcess() {
	notes := server.NewMCPServer("notes", "1")
	notes.AddTool(mcp.NewTool("list-notes", mcp.WithReadOnlyHintAnnotation(true)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(`["first"]`), nil
		})
	c := mcpconnector.New("notes", mcpconnector.Options{
		Client: func(context.Context) (*client.Client, error) { return client.NewInProcessClient(notes) },
	})
	set, _ := connectors.NewSet(context.Background(), []connectors.Connector{c}, nil)
	defer set.Close()
	m, _ := set.Lookup("notes", "list_notes")
	result, _ := m.Invoke(connectors.Context{Context: context.Background()}, nil)
	fmt.Println(m.Path(), m.Class, string(result))
	// Output: notes.list_notes read ["first"]
}

// A derived method gets a revert in Go, and every write has to be approved.
func ExampleDecorate() {
	refund := connectors.Func("refund", "Pay an order back.", connectors.Write,
		func(connectors.Context, struct{ ID int }) (string, error) {
			return "done", nil
		})
	shop := connectors.Decorate(connectors.New("shop", "", refund), func(m *connectors.Method) {
		m.RequiresApproval = m.Class == connectors.Write
		m.Revert = func(_ connectors.Context, args, result json.RawMessage) error {
			fmt.Printf("%s took effect with %s and gave %s\n", m.Name, args, result)
			return nil
		}
	})
	set, _ := connectors.NewSet(context.Background(), []connectors.Connector{shop}, nil)
	defer set.Close()
	m, _ := set.Lookup("shop", "refund")
	fmt.Println(m.MayNeedApproval())
	_ = m.Undo(connectors.Context{Context: context.Background()}, json.RawMessage(`{"ID":7}`),
		json.RawMessage(`"done"`))
	// Output:
	// true
	// refund took effect with {"ID":7} and gave "done"
}

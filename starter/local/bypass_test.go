package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/local"
	"github.com/temporal-codemode/codemode/worker/config"
)

// payments is an MCP server as people write them with mcp-go: its schema lets other keys pass, and its decoder ignores
// case.
func payments(t *testing.T) (url string, paid *[]int) {
	t.Helper()
	paid = &[]int{}
	s := server.NewMCPServer("bank", "1")
	type payment struct {
		Amount int `json:"amount"`
	}
	s.AddTool(mcp.NewTool("pay", mcp.WithNumber("amount", mcp.Required())),
		mcp.NewTypedToolHandler(func(_ context.Context, _ mcp.CallToolRequest, p payment) (*mcp.CallToolResult, error) {
			*paid = append(*paid, p.Amount)
			return mcp.NewToolResultText(fmt.Sprint(p.Amount)), nil
		}))
	web := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(web.Close)
	return web.URL + "/mcp", paid
}

// The README's own kind of rule, a server with a schema, and a program that spells an argument twice.
func TestApprovalByArgumentsCannotBeDodged(t *testing.T) {
	url, paid := payments(t)
	file := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
connectors:
  bank: { mcp: { url: "`+url+`" }, tools: { pay: { requiresApproval: "args.amount > 100" } } }
`), 0o600))
	cfg, err := config.Load(file)
	require.NoError(t, err)
	o, err := cfg.Options()
	require.NoError(t, err)
	runner, err := local.New(t.Context(), local.Options{Connectors: o.Connectors, Rules: o.Rules,
		Executor: &engine.InProcess{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, runner.Close()) }()
	for args, want := range map[string]string{
		`{amount: 1000000}`:               "needs a person's approval",
		`{amount: 1, Amount: 1000000}`:    "Amount: not a known property, but amount is: names are case-sensitive",
		`{AMOUNT: 1000000}`:               "AMOUNT: not a known property, but amount is",
		`{amount: 1, "amo\u0055nt": 1e6}`: "not a known property, but amount is",
		`{amount: 1, currency: "EUR"}`:    "currency: not a known property",
	} {
		out, err := runner.Execute(t.Context(), "return await bank.pay("+args+")", codemode.ExecuteOptions{})
		require.NoError(t, err)
		require.Equal(t, signals.Failed, out.Status, args)
		require.Contains(t, out.Error, want, args)
	}
	require.Empty(t, *paid)
	out, err := runner.Execute(t.Context(), "return await bank.pay({amount: 7})", codemode.ExecuteOptions{})
	require.NoError(t, err)
	require.Equal(t, json.RawMessage("7"), out.Result, out.Error)
	require.Equal(t, []int{7}, *paid)
}

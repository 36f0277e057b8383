package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/starter/local"
)

// benchDoors measures starter mcp --surface utcp over standard input and output, as RLM uses it: how long it takes to
// start, and what a program of 0, 1 and 10 reads takes, beside the same program without door and server.
func benchDoors(ctx context.Context, o options, out io.Writer) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	dir, err := os.MkdirTemp("", "codemode-doors-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	starter := filepath.Join(dir, "starter")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", starter,
		"github.com/temporal-codemode/codemode/starter").CombinedOutput(); err != nil {
		return fmt.Errorf("build the starter: %w\n%s", err, text)
	}
	b := &doors{starter: starter, address: s.server.Address(), runs: 20 * o.rounds}
	if b.plain, err = local.New(ctx, local.Options{Connectors: []connectors.Connector{store()}}); err != nil {
		return err
	}
	defer func() { _ = b.plain.Close() }()
	rows, err := b.startUp(ctx)
	if err != nil {
		return err
	}
	more, err := b.chains(ctx)
	if err != nil {
		return err
	}
	return writeSandbox(out, append(rows, more...), o.json)
}

type doors struct {
	starter, address string
	runs             int
	plain            *local.Runner
}

// open starts the door and shakes hands. It gets no more of the environment than RLM passes on.
func (b *doors) open(ctx context.Context) (*client.Client, error) {
	env := []string{"TEMPORAL_ADDRESS=" + b.address, "HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH")}
	stdio := transport.NewStdioWithOptions(b.starter, env, []string{"mcp", "--surface", "utcp"},
		transport.WithCommandFunc(func(ctx context.Context, name string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Env = env
			return cmd, nil
		}))
	if err := stdio.Start(ctx); err != nil {
		return nil, err
	}
	c := client.NewClient(stdio)
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	_, err := c.Initialize(ctx, hello)
	return c, err
}

func (b *doors) startUp(ctx context.Context) ([]sandboxRow, error) {
	var first, whole []float64
	for range max(3, b.runs/5) {
		began := time.Now()
		c, err := b.open(ctx)
		if err != nil {
			return nil, err
		}
		first = append(first, sinceMs(began))
		var search mcp.CallToolRequest
		search.Params.Name, search.Params.Arguments = "search_tools",
			map[string]any{"task_description": "read an item", "limit": 10}
		if _, err := c.CallTool(ctx, search); err != nil {
			return nil, err
		}
		if err := c.Close(); err != nil && !strings.Contains(err.Error(), "exit status") {
			return nil, err
		}
		whole = append(whole, sinceMs(began))
	}
	return []sandboxRow{
		{What: "start and initialize, p50", Value: quantile(first, 0.5), Unit: "ms", Goal: "≤ 300 ms"},
		{What: "start, search_tools, end, p50", Value: quantile(whole, 0.5), Unit: "ms"},
	}, nil
}

// chains interleaves the two ways, so that a busy machine slows both alike.
func (b *doors) chains(ctx context.Context) ([]sandboxRow, error) {
	c, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	var rows []sandboxRow
	for _, calls := range []int{0, 1, 10} {
		var chain, plain []float64
		for i := range b.runs + 3 {
			began := time.Now()
			if err := b.chain(ctx, c, calls); err != nil {
				return nil, err
			}
			through := sinceMs(began)
			began = time.Now()
			if err := b.run(ctx, calls); err != nil {
				return nil, err
			}
			if i >= 3 { // the first ones warm up
				chain, plain = append(chain, through), append(plain, sinceMs(began))
			}
		}
		for name, list := range map[string][]float64{"call_tool_chain over stdio": chain,
			"RunOnce in this process": plain} {
			rows = append(rows,
				sandboxRow{What: fmt.Sprintf("%2d reads, %s, p50", calls, name), Value: quantile(list, 0.5),
					Unit: "ms"},
				sandboxRow{What: fmt.Sprintf("%2d reads, %s, p95", calls, name), Value: quantile(list, 0.95),
					Unit: "ms"})
		}
	}
	slices.SortStableFunc(rows, func(a, b sandboxRow) int { return strings.Compare(a.What, b.What) })
	return rows, nil
}

func chainProgram(calls int) string {
	return fmt.Sprintf("// program %d\nlet sum = 0;\nfor (let i = 0; i < %d; i++) sum += store.read({id: "+
		"i}).id;\nreturn sum;", programs.Add(1), calls)
}

func (b *doors) chain(ctx context.Context, c *client.Client, calls int) error {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = "call_tool_chain",
		map[string]any{"code": chainProgram(calls), "timeout": 30000}
	answer, err := c.CallTool(ctx, request)
	if err != nil {
		return err
	}
	want := fmt.Sprintf(`"nonMcpContentResults":%d,`, calls*(calls-1)/2)
	if text, ok := answer.Content[0].(mcp.TextContent); !ok || !strings.Contains(text.Text, want) {
		return fmt.Errorf("a chain of %d reads answers %v", calls, answer.Content)
	}
	return nil
}

func (b *doors) run(ctx context.Context, calls int) error {
	o, err := b.plain.Execute(ctx, chainProgram(calls), codemode.ExecuteOptions{Synchronous: true})
	if err == nil && string(o.Result) != fmt.Sprint(calls*(calls-1)/2) {
		err = fmt.Errorf("a plain run of %d reads answers %s %s", calls, o.Result, o.Error)
	}
	return err
}

func sinceMs(began time.Time) float64 { return float64(time.Since(began).Microseconds()) / 1000 }

func quantile(list []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/local"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
	"github.com/temporal-codemode/codemode/starter/mcpserver/wrap"
	"github.com/temporal-codemode/codemode/worker/config"
)

// bank is a connector whose tool pay does as the amount says, and keeps what was paid.
type bank struct {
	mu    sync.Mutex
	paid  []int
	busy  int
	most  int // at the same time
	times []time.Time
}

// Amounts that do more than to be paid.
const (
	breaksOff = 13 // nobody knows whether it was paid
	asksAgain = 14
	takesLong = 15
	overlaps  = 16 // waits a little for others that run at the same time
)

func (k *bank) pay(ctx connectors.Context, amount int) (int, error) {
	k.mu.Lock()
	k.paid, k.times = append(k.paid, amount), append(k.times, time.Now())
	k.busy++
	k.most = max(k.most, k.busy)
	k.mu.Unlock()
	defer func() { k.mu.Lock(); k.busy--; k.mu.Unlock() }()
	switch amount {
	case breaksOff:
		return 0, &connectors.OutcomeUnknownError{Err: errors.New("the line went dead")}
	case asksAgain:
		return 0, &connectors.RetryableError{Message: "later", RetryAfter: time.Millisecond}
	case takesLong:
		<-ctx.Done()
		return 0, ctx.Err()
	case overlaps:
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return amount, nil
}

func (k *bank) connector() connectors.Connector {
	pay := connectors.Func("pay", "Pay.", connectors.Write, func(ctx connectors.Context, in struct {
		Amount int    `json:"amount"`
		Memo   string `json:"memo"`
	}) (int, error) {
		return k.pay(ctx, in.Amount)
	})
	pay.InputSchema = json.RawMessage(`{"type":"object","properties":{"amount":{"type":"integer"}}}`)
	undo := connectors.Func("undo", "Undo.", connectors.Write, func(ctx connectors.Context, in struct {
		Amount int `json:"amount"`
	}) (int, error) {
		return k.pay(ctx, -in.Amount)
	})
	return connectors.New("bank", "", pay, undo)
}

// way is one way in. It makes calls, all at once where it can, and tells what became of them.
type way struct {
	name  string
	calls func(t *testing.T, method string, args []string) string
}

// What becomes of calls.
const (
	made    = "made"
	waits   = "waits for a person"
	refused = "refused"
)

// throughMCP calls one tool of a server and tells what became of it.
func throughMCP(t *testing.T, c *mcp.ClientSession, tool string, args any) string {
	t.Helper()
	answer, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		require.ErrorContains(t, err, "unknown tool")
		return refused
	}
	text := answer.Content[0].(*mcp.TextContent).Text
	switch {
	case strings.Contains(text, `"paused"`), strings.Contains(text, "waits for a person"):
		return waits
	case answer.IsError, strings.Contains(text, `"success":false`):
		return refused
	}
	return made
}

func mcpClient(t *testing.T, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	_, err := s.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func program(namespace, method string, args []string, together string) string {
	var list []string
	for _, a := range args {
		list = append(list, fmt.Sprintf("%s.%s(%s)", namespace, method, a))
	}
	return fmt.Sprintf(together, strings.Join(list, ", "))
}

// surfaces are the ways in through the door for models, over a runtime.
func surfaces(t *testing.T, over string, runtime mcpserver.Runtime) (list []way) {
	t.Helper()
	for surface, calls := range map[mcpserver.Surface]func(*testing.T, *mcp.ClientSession, string, []string) string{
		mcpserver.Codemode: func(t *testing.T, c *mcp.ClientSession, method string, args []string) string {
			return throughMCP(t, c, "codemode",
				map[string]any{"code": program("bank", method, args, "return await Promise.all([%s])")})
		},
		mcpserver.UTCP: func(t *testing.T, c *mcp.ClientSession, method string, args []string) string {
			return throughMCP(t, c, "call_tool_chain",
				map[string]any{"code": program("bank", method, args, "return [%s]")})
		},
		mcpserver.Direct: func(t *testing.T, c *mcp.ClientSession, method string, args []string) string {
			results := make([]string, len(args))
			var all sync.WaitGroup
			for n, a := range args {
				all.Go(func() { results[n] = throughMCP(t, c, "bank_"+method, json.RawMessage(a)) })
			}
			all.Wait()
			return results[0]
		},
	} {
		s, err := mcpserver.New(t.Context(), mcpserver.Options{Runtime: runtime, Surface: surface})
		require.NoError(t, err)
		c := mcpClient(t, s.Server)
		list = append(list, way{over + ", " + string(surface), func(t *testing.T, method string, args []string) string {
			return calls(t, c, method, args)
		}})
	}
	return list
}

// rulesOf reads rules as they stand in a codemode.yaml.
func rulesOf(t *testing.T, rule string) []connectors.Rule {
	t.Helper()
	file := t.TempDir() + "/codemode.yaml"
	text := "connectors:\n  bank:\n    mcp: { command: x }\n    tools:\n      pay: { " + rule + " }\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	cfg, err := config.Load(file)
	require.NoError(t, err)
	return cfg.Connectors[0].Rules
}

// onWorker are the ways in that go through Temporal.
func onWorker(t *testing.T, k *bank, rules []connectors.Rule) []way {
	t.Helper()
	b := setUp(t)
	b.options.Connectors, b.options.Executor = []connectors.Connector{k.connector()}, &engine.InProcess{}
	b.options.Rules = map[string][]connectors.Rule{"bank": rules}
	b.worker()
	direct := way{"worker, Go", func(t *testing.T, method string, args []string) string {
		o, err := b.client.Execute(b.context(), program("bank", method, args, "return await Promise.all([%s])"),
			codemode.ExecuteOptions{})
		require.NoError(t, err)
		switch o.Status {
		case signals.Paused:
			return waits
		case signals.Completed:
			return made
		}
		return refused
	}}
	return append(surfaces(t, "worker", b.client), direct)
}

// withoutTemporal are the ways in that make the calls themselves.
func withoutTemporal(t *testing.T, k *bank, rules []connectors.Rule) []way {
	t.Helper()
	runner, err := local.New(t.Context(), local.Options{Connectors: []connectors.Connector{k.connector()},
		Rules: map[string][]connectors.Rule{"bank": rules}, Executor: &engine.InProcess{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, runner.Close()) })
	s, closing, err := wrap.Connector(t.Context(), k.connector(),
		wrap.Options{Executor: &engine.InProcess{}, Rules: rules})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, closing()) })
	c := mcpClient(t, s)
	wrapped := way{"--wrap", func(t *testing.T, method string, args []string) string {
		return throughMCP(t, c, "code",
			map[string]any{"code": program("codemode", method, args, "return await Promise.all([%s])")})
	}}
	return append(surfaces(t, "--config", runner), wrapped)
}

// kept says what becomes of calls under one rule, through Temporal and without, and how often that pays.
type kept struct {
	rule      string
	method    string // pay, if it is empty
	args      []string
	durable   string
	payments  int
	alone     string // without Temporal
	alonePays int
	more      func(t *testing.T, k *bank)
}

func amount(n int) []string { return []string{fmt.Sprintf(`{"amount":%d}`, n)} }

var everyRule = map[string][]kept{
	"class": {{rule: "class: idempotent", args: amount(1), durable: made, payments: 1, alone: made, alonePays: 1}},
	"requiresApproval": {
		{rule: "requiresApproval: true", args: amount(1), durable: waits, alone: refused},
		{rule: "requiresApproval: args.amount > 5", args: amount(6), durable: waits, alone: refused},
		{rule: "requiresApproval: args.amount > 5", args: amount(5), durable: made, payments: 1, alone: made,
			alonePays: 1},
		{rule: "requiresApproval: args.amount > 5", args: []string{`{}`}, durable: refused, alone: refused},
		{rule: "requiresApproval: args.amount > 5", args: []string{`{"amount":1,"Amount":6}`}, durable: refused,
			alone: refused},
	},
	"additional": {
		{rule: "requiresApproval: args.amount > 5", args: []string{`{"amount":1,"memo":"x"}`}, durable: refused,
			alone: refused},
		{rule: "requiresApproval: args.amount > 5, additional: allow", args: []string{`{"amount":1,"memo":"x"}`},
			durable: made, payments: 1, alone: made, alonePays: 1},
	},
	"approvals": {{rule: "approvals: 2", args: amount(1), durable: waits, alone: refused}},
	"approvers": {
		{rule: "approvers: { notRequester: true }", args: amount(1), durable: waits, alone: refused},
		{rule: "approvers: { groups: [finance] }", args: amount(1), durable: waits, alone: refused},
	},
	"resolvedBy": {{rule: "resolvedBy: client", args: amount(1), durable: waits, alone: refused}},
	"unknown": {{rule: "unknown: ask", args: amount(breaksOff), durable: waits, payments: 1, alone: refused,
		alonePays: 1}},
	"preflight": {{rule: "preflight: off", args: amount(1), durable: made, payments: 1, alone: made, alonePays: 1}},
	"learn":     {{rule: "learn: false", args: amount(1), durable: made, payments: 1, alone: made, alonePays: 1}},
	"retry": {{rule: "retry: { attempts: 2, backoff: 1ms }", args: amount(asksAgain), durable: refused, payments: 2,
		alone: refused, alonePays: 2}},
	"timeout": {{rule: "timeout: 50ms", args: amount(takesLong), durable: refused, payments: 1, alone: refused,
		alonePays: 1}},
	"maxConcurrent": {{rule: "maxConcurrent: 1", args: append(amount(overlaps), amount(overlaps)...), durable: made,
		payments: 2, alone: made, alonePays: 2,
		more: func(t *testing.T, k *bank) { require.Equal(t, 1, k.most) }}},
	"ratePerSecond": {{rule: "ratePerSecond: 2", args: append(amount(1), append(amount(2), amount(3)...)...),
		durable: made, payments: 3, alone: made, alonePays: 3,
		more: func(t *testing.T, k *bank) {
			require.Greater(t, k.times[2].Sub(k.times[0]), 300*time.Millisecond)
		}}},
	"hidden": {{rule: "hidden: true", args: amount(1), durable: refused, alone: refused}},
	"rename": {
		{rule: "rename: send", args: amount(1), durable: refused, alone: refused},
		{rule: "rename: send", method: "send", args: amount(1), durable: made, payments: 1, alone: made, alonePays: 1},
	},
	"revert": {{rule: "revert: { tool: undo, args: { amount: args.amount } }", args: amount(1), durable: made,
		payments: 1, alone: made, alonePays: 1}},
	"replay": {{rule: "class: read, replay: reexecute", args: amount(1), durable: made, payments: 1, alone: made,
		alonePays: 1}},
}

// TestEveryDoorKeepsEveryRule: each key of a rule, by each way in.
func TestEveryDoorKeepsEveryRule(t *testing.T) {
	for key, cases := range everyRule {
		for n, c := range cases {
			t.Run(fmt.Sprintf("%s %d", key, n), func(t *testing.T) {
				rules := rulesOf(t, c.rule)
				k := &bank{}
				check := func(ways []way, want string, pays int) {
					for _, w := range ways {
						k.mu.Lock()
						k.paid, k.times, k.most = nil, nil, 0
						k.mu.Unlock()
						method := c.method
						if method == "" {
							method = "pay"
						}
						require.Equal(t, want, w.calls(t, method, c.args), w.name)
						require.Len(t, k.paid, pays, w.name)
						if c.more != nil {
							c.more(t, k)
						}
					}
				}
				check(withoutTemporal(t, k, rules), c.alone, c.alonePays)
				check(onWorker(t, k, rules), c.durable, c.payments)
			})
		}
	}
}

// TestEveryRuleKeyIsInTheTable: the table above has all that the reference lists.
func TestEveryRuleKeyIsInTheTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	require.NoError(t, err)
	_, rules, found := strings.Cut(string(text), "\n## Rules\n")
	require.True(t, found)
	rules, _, _ = strings.Cut(rules, "\n#")
	for line := range strings.Lines(rules) {
		if key, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.HasPrefix(line, "| `") {
			require.Contains(t, everyRule, key)
		}
	}
}

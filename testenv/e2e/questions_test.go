package e2e

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

// askingBank is a runtime whose payments need approval.
func askingBank(t *testing.T) (*bench, *bank) {
	t.Helper()
	b, k := setUp(t), &bank{}
	b.options.Connectors, b.options.Executor = []connectors.Connector{k.connector()}, &engine.InProcess{}
	b.options.Rules = map[string][]connectors.Rule{"bank": rulesOf(t, "requiresApproval: true")}
	b.worker()
	return b, k
}

func (k *bank) payments() []int {
	k.mu.Lock()
	defer k.mu.Unlock()
	paid := append([]int{}, k.paid...)
	k.paid = nil
	return paid
}

const threePayments = `
	const all = await Promise.allSettled([1, 2, 3].map((n) => bank.pay({amount: n})));
	return all.map((r) => r.status === 'fulfilled' ? r.value : r.reason.message)`

// aboutAmount finds out which payment is asked about.
func aboutAmount(t *testing.T, q asking) float64 {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Default any }
	}
	require.NoError(t, json.Unmarshal(q.Schema, &schema), "%s", q.Schema)
	amount, ok := schema.Properties["args.amount"].Default.(float64)
	require.True(t, ok, "%s", q.Schema)
	return amount
}

// mixed approves the first payment, rejects the second, and edits the third.
func mixed(t *testing.T) *person {
	return &person{answer: func(q asking) reply {
		switch aboutAmount(t, q) {
		case 1:
			return reply{"accept", map[string]any{"decision": "approve"}}
		case 2:
			return reply{"accept", map[string]any{"decision": "reject", "note": "too much"}}
		}
		return reply{"accept", map[string]any{"decision": "approve", "args.amount": 33}}
	}}
}

// TestPeopleDecideAtTheirClients: each pending call on its own, at clients of both eras over every transport.
func TestPeopleDecideAtTheirClients(t *testing.T) {
	b, k := askingBank(t)
	eachClient(t, mcpserver.Options{Runtime: b.client}, func(t *testing.T, join func(*person) *user) {
		u := join(mixed(t))
		require.Equal(t, []string{"codemode"}, u.names(t))
		text, isError, err := u.call(t.Context(), map[string]any{"code": threePayments})
		require.NoError(t, err)
		require.False(t, isError, text)
		require.Contains(t, text, `"result":[1,"Action bank.pay rejected by user: too much",33]`)
		require.Len(t, u.person.asked, 3)
		require.ElementsMatch(t, []int{1, 33}, k.payments())

		u.person.answer = func(asking) reply { return reply{action: "decline"} }
		text, isError, err = u.call(t.Context(), map[string]any{"code": "return await bank.pay({amount: 5})"})
		require.NoError(t, err)
		require.True(t, isError)
		require.Contains(t, text, `"status":"rejected"`)

		u.person.answer = func(asking) reply { return reply{action: "cancel"} }
		before := len(u.person.asked)
		text, _, err = u.call(t.Context(), map[string]any{"code": "return await bank.pay({amount: 6})"})
		require.NoError(t, err)
		require.Contains(t, text, `"status":"paused"`)
		require.Len(t, u.person.asked, before+1, "who decided nothing is not asked again")
		require.Empty(t, k.payments())

		u.person.answer = func(asking) reply { return reply{"accept", map[string]any{"decision": "approve"}} }
		text, _, err = u.call(t.Context(), map[string]any{"executionId": executionIn(t, text)})
		require.NoError(t, err)
		require.Contains(t, text, `"result":6`, "asked again by the execution's id")
		require.Equal(t, []int{6}, k.payments())
	})
}

func executionIn(t *testing.T, text string) string {
	t.Helper()
	var out struct{ ExecutionID string }
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	require.True(t, strings.HasPrefix(out.ExecutionID, "exec_"))
	return out.ExecutionID
}

// TestPeopleAreSentToTheConsole: with what they cannot decide at the client, whoever may decide where.
func TestPeopleAreSentToTheConsole(t *testing.T) {
	b, k := askingBank(t)
	runner := func(token string) (mcpserver.Caller, bool) {
		return mcpserver.Caller{Name: token, MayRun: true, MayDecide: token == "ada"}, true
	}
	console := func(id string) string { return "https://console.example/executions/x/" + id }
	for _, how := range []string{"/mcp", "/sse"} { // of today's revision, and an older one
		t.Run(how, func(t *testing.T) {
			s, err := mcpserver.New(t.Context(), mcpserver.Options{Runtime: b.client, Console: console})
			require.NoError(t, err)
			h, err := mcpserver.NewHTTP(s, mcpserver.HTTPOptions{Authenticate: runner, SSE: true})
			require.NoError(t, err)
			web := httptest.NewServer(h)
			t.Cleanup(func() { _ = h.Close(); web.CloseClientConnections(); web.Close() })
			p := &person{answer: func(q asking) reply {
				id := strings.TrimPrefix(q.URL, console(""))
				go func() { _, _ = b.client.Approve(b.context(), id, signals.Approve{By: "somebody there"}) }()
				return reply{action: "accept"}
			}}
			at := reaching{http: web.URL + how, isOlder: how == "/sse", token: "bob"}
			text, _, err := official(t, at, p).call(t.Context(), map[string]any{"code": threePayments})
			require.NoError(t, err)
			require.Contains(t, text, `"result":[1,2,3]`)
			require.Len(t, p.asked, 1, "one page shows all")
			require.NotContains(t, p.asked[0].Message, "amount")
			require.Len(t, k.payments(), 3)

			p.answer = func(asking) reply { return reply{action: "decline"} }
			more := map[string]any{"code": "return await bank.pay({amount: 7})"}
			text, _, err = official(t, at, p).call(t.Context(), more)
			require.NoError(t, err)
			require.Contains(t, text, `"status":"paused"`, "who does not go there has decided nothing")
			require.Empty(t, k.payments())
		})
	}
}

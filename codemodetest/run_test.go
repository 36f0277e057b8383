package codemodetest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/codemodetest"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

func with(c ...connectors.Connector) codemodetest.Options {
	return codemodetest.Options{Options: codemodeworker.Options{Connectors: c}}
}

func TestZeroOptions(t *testing.T) {
	run := codemodetest.Run(t, `return 1 + 1`, codemodetest.Options{})
	require.Equal(t, signals.Completed, run.Outcome.Status, run.Outcome.Error)
	require.Equal(t, "2", string(run.Outcome.Result))
}

func TestReadsWritesAndTheRecord(t *testing.T) {
	shop := codemodetest.NewConnector("shop")
	shop.Read("orders", []int{1, 2})
	shop.Write("note", codemodetest.Answer(func(args json.RawMessage) (any, error) { return args, nil }))
	shop.Write("fail", errors.New("no stock"))
	run := codemodetest.Run(t, `console.log('go'); const list = await shop.orders(); await shop.note({ n: list.length });
try { await shop.fail({}) } catch (e) { return e.message }`, with(shop))
	require.Equal(t, `"no stock"`, string(run.Outcome.Result), run.Outcome.Error)
	require.Equal(t, []string{"go"}, run.Outcome.Logs)
	require.JSONEq(t, `{"n":2}`, string(shop.Calls("note")[0].Args))
	require.Contains(t, shop.Calls("note")[0].IdempotencyKey, ":1:")
	require.Len(t, shop.Calls("orders"), 1, "reads are replayed, not repeated")
	require.Equal(t, []signals.CallState{signals.Applied, signals.Applied, signals.Errored}, states(run.Record.Log))
}

func states(calls []signals.Call) []signals.CallState {
	var list []signals.CallState
	for _, c := range calls {
		list = append(list, c.State)
	}
	return list
}

func TestACorrectedProgramGoesOn(t *testing.T) {
	shop := codemodetest.NewConnector("shop")
	shop.Read("stock", 3)
	shop.Write("order", codemodetest.Answer(func(args json.RawMessage) (any, error) { return args, nil }))
	shop.Write("pay", "paid").RequiresApproval = true
	o := with(shop)
	o.Decide = func(signals.PendingAction) codemodetest.Decision {
		return codemodetest.ApproveWith(json.RawMessage(`{"sum":2}`))
	}
	const begin = `await shop.stock(); await shop.order({ n: Math.random() }); await shop.pay({ sum: 1 });`
	first := codemodetest.Run(t, begin+` await shop.order({ n: 'old' }); nonsense()`, o)
	require.Equal(t, signals.Failed, first.Outcome.Status)
	o.Continues, o.Decide = &first, nil
	second := codemodetest.Run(t, begin+` throw new Error('once more')`, o)
	require.Equal(t, signals.Failed, second.Outcome.Status)
	require.Len(t, second.Outcome.LeftOver, 1)
	o.Continues = &second
	third := codemodetest.Run(t, begin+` return await shop.order({ n: 'new' })`, o)
	require.JSONEq(t, `{"n":"new"}`, string(third.Outcome.Result), third.Outcome.Error)
	require.Len(t, shop.Calls("stock"), 1)
	require.Len(t, shop.Calls("pay"), 1)
	require.Len(t, shop.Calls("order"), 3)
	call := third.Record.Log[2]
	require.Equal(t, signals.CarriedFrom{ExecutionID: first.Record.ID, Seq: 2}, *call.CarriedFrom)
	require.JSONEq(t, `{"sum":2}`, string(call.EditedArgs))
	require.JSONEq(t, `{"n":"old"}`, string(third.Outcome.LeftOver[0].Args))
}

func TestLargeValuesComeBackFromHistory(t *testing.T) {
	big := codemodetest.NewConnector("big")
	big.Write("make", strings.Repeat("x", 100_000))
	run := codemodetest.Run(t, `const a = await big.make(); const b = await big.make(); return a.length + b.length`,
		with(big))
	require.Equal(t, "200000", string(run.Outcome.Result), run.Outcome.Error)
}

func TestDecisions(t *testing.T) {
	cases := []struct {
		name   string
		decide codemodetest.Decide
		status signals.Status
		result string
		calls  int
	}{
		{"approved", codemodetest.ApproveAll, signals.Completed, `{"id":7}`, 1},
		{"edited", func(signals.PendingAction) codemodetest.Decision {
			return codemodetest.ApproveWith(json.RawMessage(`{"id":8}`))
		}, signals.Completed, `{"id":8}`, 1},
		{"rejected", func(signals.PendingAction) codemodetest.Decision { return codemodetest.Reject("no") },
			signals.Rejected, "", 0},
		{"refused", func(signals.PendingAction) codemodetest.Decision { return codemodetest.Refuse("not now") },
			signals.Completed, `"RejectedError"`, 0},
		{"nobody decides", nil, signals.Rejected, "", 0},
		{"nobody wants to decide", func(signals.PendingAction) codemodetest.Decision { return codemodetest.Decision{} },
			signals.Rejected, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			shop := codemodetest.NewConnector("shop")
			shop.Write("refund",
				codemodetest.Answer(func(args json.RawMessage) (any, error) {
					return args,
						nil
				})).RequiresApproval = true
			o := with(shop)
			o.Decide = c.decide
			run := codemodetest.Run(t, `try { return await shop.refund({ id: 7 }) } catch (e) { return e.name }`, o)
			require.Equal(t, c.status, run.Outcome.Status, run.Outcome.Error)
			require.Equal(t, c.result, string(run.Outcome.Result))
			require.Len(t, shop.Calls(), c.calls)
			if c.decide == nil {
				require.InDelta(t, 24*time.Hour, run.Took, float64(time.Minute))
			}
		})
	}
}

func TestDaysPassAtOnce(t *testing.T) {
	run := codemodetest.Run(t, `await codemode.sleep(3 * 86400_000); return 'awake'`, codemodetest.Options{})
	require.Equal(t, `"awake"`, string(run.Outcome.Result), run.Outcome.Error)
	require.InDelta(t, 3*24*time.Hour, run.Took, float64(time.Minute))
}

func TestSnippets(t *testing.T) {
	o := codemodetest.Options{Snippets: map[string]signals.SnippetVersion{"double": {Code: `(input) => input.n * 2`,
		Description: "Doubles.", Version: 1}}}
	run := codemodetest.Run(t,
		`const found = (await codemode.search('double')).results.length; return [found, await codemode.run('double', { n: 4 }), await codemode.run('none', {})]`, o)
	require.JSONEq(t, `[1, 8, {"error": "Snippet \"none\" not found."}]`, string(run.Outcome.Result), run.Outcome.Error)
}

func TestCallersReachConnectorsAndRules(t *testing.T) {
	caller := signals.Caller{StartedBy: "bot", OnBehalfOf: "ada@example.com", Labels: map[string]string{"team": "x"}}
	shop := codemodetest.NewConnector("shop")
	shop.Read("orders", 1)
	shop.Write("note", 2)
	asked := []signals.Caller{}
	shop.Write("pay", 3).ApprovalFor = func(who connectors.Asked, _ json.RawMessage) (bool, error) {
		asked = append(asked, who.Caller)
		return who.StartedBy != "bot", nil
	}
	o := with(shop)
	o.Caller = caller
	run := codemodetest.Run(t, `return await shop.orders() + await shop.note() + await shop.pay()`, o)
	require.Equal(t, "6", string(run.Outcome.Result), run.Outcome.Error)
	require.Equal(t, caller, run.Record.Caller)
	require.NotEmpty(t, asked)
	require.Equal(t, caller, asked[0])
	for _, c := range shop.Calls() {
		require.Equal(t, caller, c.Caller, c.Method)
	}
}

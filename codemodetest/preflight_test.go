package codemodetest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/codemodetest"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// shelves is a connector with declared types.
func shelves() *codemodetest.Connector {
	shop := codemodetest.NewConnector("shop")
	orders := shop.Read("orders", map[string]any{"list": []any{map[string]any{"id": 1}}})
	orders.OutputSchema = json.RawMessage(`{"type":"object","properties":{"list":{"type":"array","items":{
		"type":"object",		"properties":{"id":{"type":"integer"}}}}}}`)
	pay := shop.Write("pay", map[string]any{"ok": true})
	pay.InputSchema = json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"}},
		"required":["amount"]}`)
	return shop
}

func TestACertainMistakeStopsBeforeTheFirstEffect(t *testing.T) {
	shop := shelves()
	run := codemodetest.Run(t, "await shop.pay({ amount: 1 });\nawait shop.payy({ amount: 2 })", with(shop))
	require.Equal(t, signals.Failed, run.Outcome.Status)
	require.Equal(t, `Code execution failed: Tool "payy" not found on shop. Did you mean: pay?`, run.Outcome.Error)
	require.Equal(t, &signals.Position{Line: 2, Column: 7}, run.Outcome.Position)
	require.Empty(t, run.Outcome.Calls)
	require.Empty(t, shop.Calls(), "nothing was made")
	require.Len(t, run.Outcome.Hints, 1)
	require.Equal(t, []string{"pay"}, run.Outcome.Hints[0].Near)
	require.True(t, run.Outcome.Hints[0].Certain)
	require.Equal(t, run.Outcome.Hints, run.Record.Hints)
}

func TestACaughtMistakeDoesNotStop(t *testing.T) {
	shop := shelves()
	run := codemodetest.Run(t, `await shop.pay({ amount: 1 }); try { await shop.payy() } catch { } return "done"`,
		with(shop))
	require.Equal(t, `"done"`, string(run.Outcome.Result), run.Outcome.Error)
	require.Len(t, shop.Calls("pay"), 1)
	require.Len(t, run.Outcome.Hints, 1)
	require.False(t, run.Outcome.Hints[0].Certain)
}

func TestHintsAndFactsAreKept(t *testing.T) {
	run := codemodetest.Run(t, `const { list } = await shop.orders();
		for (const o of list) await shop.pay({ amount: o.idd ? 1 : 2 });
		return list.map((o) => o.ident)`, with(shelves()))
	require.Equal(t, signals.Completed, run.Outcome.Status, run.Outcome.Error)
	require.Len(t, run.Outcome.Hints, 2)
	require.Equal(t, run.Outcome.Hints, run.Record.Hints)
	require.Equal(t, 1, run.Record.Program.WritesInLoops)
	require.Equal(t, []signals.ProgramMethod{
		{Connector: "shop", Method: "orders", Class: signals.Read, Places: 1, AtLeast: 1},
		{Connector: "shop", Method: "pay", Class: signals.Write, Places: 1, Loops: true}}, run.Record.Program.Methods)
}

func TestModesOfPreflight(t *testing.T) {
	const certain, doubtful = `await shop.pay({ amount: 1 }); await shop.payy()`, `shop.pay({ amount: 1 }); return 1`
	for mode, want := range map[signals.PreflightMode][]int{"": {0, 1}, signals.PreflightDeny: {0, 0},
		signals.PreflightHint: {1, 1}, signals.PreflightOff: {1, 1}} {
		for i, code := range []string{certain, doubtful} {
			shop := shelves()
			o := with(shop)
			o.Preflight = mode
			run := codemodetest.Run(t, code, o)
			require.Len(t, shop.Calls("pay"), want[i], "%q %s", mode, code)
			require.Equal(t, mode != signals.PreflightOff, len(run.Outcome.Hints) == 1)
		}
	}
	shop := shelves()
	o := with(shop)
	o.Rules = map[string][]connectors.Rule{"shop": {{Pattern: "pay", Policy: connectors.Policy{Preflight: "deny"}}}}
	run := codemodetest.Run(t, doubtful, o)
	require.Contains(t, run.Outcome.Error, "the program was not run: preflight is deny")
	require.Empty(t, shop.Calls())
}

func TestRulesSeeWhatTheProgramIsAboutToDo(t *testing.T) {
	for code, writes := range map[string]int{`await shop.pay({ amount: 1 })`: 1,
		`await shop.orders(); await shop.pay({ amount: 1 }); await shop.pay({ amount: 2 })`: 2} {
		shop := codemodetest.NewConnector("shop")
		shop.Read("orders", 1)
		var seen []int
		shop.Write("pay", 3).ApprovalFor = func(asked connectors.Asked, _ json.RawMessage) (bool, error) {
			seen = append(seen, asked.Program.Writes)
			return false, nil
		}
		run := codemodetest.Run(t, code, with(shop))
		require.Equal(t, signals.Completed, run.Outcome.Status, run.Outcome.Error)
		require.Len(t, seen, writes)
		require.Equal(t, writes, seen[0])
		require.Equal(t, writes, seen[len(seen)-1], "in later passes, too")
	}
}

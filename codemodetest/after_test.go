package codemodetest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/codemodetest"
	"github.com/temporal-codemode/codemode/signals"
)

// What is told after a run, in the outcome and in the record alike, however many passes it took.
func TestWhatIsToldAfterARun(t *testing.T) {
	shop := codemodetest.NewConnector("shop")
	shop.Read("orders", []int{1, 2})
	shop.Write("order", "ok")
	shop.Write("fail", errors.New("no stock"))
	const warning = "shop.fail at 1:11 failed, and nothing awaited it: no stock"
	run := codemodetest.Run(t, "shop.fail()\nfor (const n of [1, 2, 3]) await shop.order({ n })\n"+
		"\tconst list = await shop.orders(); return list.none.id", with(shop))
	require.Equal(t, signals.Failed, run.Outcome.Status)
	const excerpt = "const list = await shop.orders(); return list.none.id\n" +
		"                                                   ^"
	require.Equal(t, excerpt, run.Outcome.Excerpt)
	require.Equal(t, []string{warning}, run.Outcome.Warnings)
	require.Equal(t, `shop.order ×3 took effect. To go on, run the corrected code with "continues": "`+
		run.Outcome.ExecutionID+`": that is not done again.`, run.Outcome.HowToGoOn())
	require.Equal(t, excerpt, run.Record.Excerpt)
	require.Equal(t, []string{warning}, run.Record.Warnings)

	run = codemodetest.Run(t, "shop.fail()\nawait shop.order()\nreturn { by: new Map([[1, await shop.orders()]]) }",
		with(shop))
	require.Equal(t, `{"by":{}}`, string(run.Outcome.Result), run.Outcome.Error)
	require.Equal(t, []string{"result.by is a Map, which JSON writes as {}: return Object.fromEntries(map).", warning},
		run.Outcome.Warnings)
	require.Equal(t, run.Outcome.Warnings, run.Record.Warnings)
}

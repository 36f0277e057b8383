package lookup_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

func nothing(connectors.Context, json.RawMessage) (any, error) { return nil, nil }

// large is a catalogue of ten connectors with a hundred methods each.
func large(t testing.TB) lookup.Lookups {
	t.Helper()
	var list []connectors.Connector
	for _, name := range strings.Fields("tracker store crm mail c4 c5 c6 c7 c8 c9") {
		var methods []connectors.Method
		for i := range 100 {
			methods = append(methods, connectors.Method{Name: fmt.Sprintf("method_%d", i), Execute: nothing,
				Class: connectors.Read, Description: "Does something with an issue, a customer or an order.",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"},
					"state":{"type":"string",
					"enum":["open","closed"]}},"required":["id"],"additionalProperties":false}`),
				OutputSchema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{
					"type":"object",
					"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}}}}`)})
		}
		list = append(list, connectors.New(name, "", methods...))
	}
	set, err := connectors.NewSet(t.Context(), list, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	return lookup.Lookups{Connectors: set, Catalogue: catalogue.New(set)}
}

func TestHiddenMethodsAreNotSuggested(t *testing.T) {
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{connectors.New("shop", "",
		connectors.Method{Name: "refund_all", Execute: nothing}, connectors.Method{Name: "orders", Execute: nothing})},
		map[string][]connectors.Rule{"shop": {{Pattern: "refund_*", Hidden: true}}})
	require.NoError(t, err)
	l := lookup.Lookups{Connectors: set, Catalogue: catalogue.New(set)}
	checked, err := l.Checked(t.Context(), &engine.InProcess{}, sandbox.Pass{
		Code: "await shop.orders();\nawait shop.refund_al()"}, "")
	require.NoError(t, err)
	text, err := json.Marshal(checked)
	require.NoError(t, err)
	require.NotContains(t, string(text), "refund_all")
	require.Equal(t, `Tool "refund_al" not found on shop. Find it with codemode.search("what it does").`, checked.Error)
	require.Equal(t, &signals.Position{Line: 2, Column: 7}, checked.Position)
}

func TestSignaturesAreShown(t *testing.T) {
	l := large(t)
	checked, err := l.Checked(t.Context(), &engine.InProcess{}, sandbox.Pass{
		Code: `const r = await store.method_7({ id: 1 }); return r.item`}, "")
	require.NoError(t, err)
	require.Len(t, checked.Hints, 1)
	require.Equal(t, "1:53 the result of store.method_7 has no \"item\". Did you mean items? — "+
		l.Catalogue.Describe("store.method_7").Signature, checked.Hints[0].String())
	checked, err = l.Checked(t.Context(), &engine.InProcess{}, sandbox.Pass{Code: `return (`}, "")
	require.NoError(t, err)
	require.Contains(t, checked.Error, "SyntaxError")
}

// Looking at a program takes less than 20 ms in 19 of 20 cases, beside a thousand methods.
func BenchmarkCheck(b *testing.B) {
	l, x := large(b), &engine.InProcess{}
	names, err := filepath.Glob("../../sandbox/preflight/testdata/programs/*.ts")
	require.NoError(b, err)
	var codes []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(b, err)
		codes = append(codes, string(text))
	}
	var times []time.Duration
	for b.Loop() {
		for _, code := range codes {
			began := time.Now()
			_, err := l.Check(b.Context(), x, sandbox.Pass{Code: code}, "")
			require.NoError(b, err)
			times = append(times, time.Since(began))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
}

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// untyped is a connector whose methods say nothing of what they answer.
func untyped() connectors.Connector {
	answer := func(text string) func(connectors.Context, json.RawMessage) (any, error) {
		return func(connectors.Context, json.RawMessage) (any, error) { return json.RawMessage(text), nil }
	}
	return connectors.New("store", "",
		connectors.Method{Name: "item", Class: connectors.Read, Execute: answer(
			`{"id":7,"title":"planted-value","owner":{"login":"planted-login"},"by":{"ada@example.com":1}}`)},
		connectors.Method{Name: "put", Execute: answer(`{"stored":true}`)},
		connectors.Method{Name: "quiet", Class: connectors.Read, Execute: answer(`{"id":7}`)},
		connectors.Method{Name: "typed", Class: connectors.Read, Execute: answer(`{"price":"7","left":null}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"price":{"type":"number"},
				"left":{"type":"number"}}}`)},
	)
}

func (b *bench) types(target string) string {
	b.t.Helper()
	text, err := b.client.Describe(b.context(), target)
	require.NoError(b.t, err)
	var d struct{ Types, Docs string }
	require.NoError(b.t, json.Unmarshal(text, &d))
	return d.Types + "\n" + d.Docs
}

// TestResultTypesAreLearnt: what a method answers is known to all workers of the runtime, outlives them, and history
// holds names and kinds only.
func TestResultTypesAreLearnt(t *testing.T) {
	b := setUp(t)
	b.connect(untyped())
	b.options.Rules = map[string][]connectors.Rule{
		"store": {{Pattern: "quiet", Policy: connectors.Policy{NoLearning: true}}},
	}
	first := b.worker()
	o := b.run(`
		for (let i = 0; i < 3; i++) { await store.item(); await store.quiet(); await store.typed() }
		await store.put({});
		return (await codemode.describe("store.item")).types`)
	require.Contains(t, string(o.Result), "observed in 3 results", "the next look knows: %s", o.Error)
	b.healthy(o.ExecutionID)
	first.Stop() // and tells what it has learnt last

	second := b.worker()
	defer second.Stop()
	types := b.types("store.item")
	require.Contains(t, types, "// observed in 3 results, not declared\ntype ItemOutput = {")
	require.Contains(t, types, "login: string")
	require.Contains(t, types, "by: {\n        [key: string]: number;\n    }")
	require.Contains(t, b.types("store.put"), "stored: boolean")
	require.Contains(t, b.types("store.quiet"), "type QuietOutput = unknown")
	require.Contains(t, b.types("store.typed"), "price?: number", "what is declared stays")
	require.Contains(t, b.types("store.typed"), "Its results differ from the declared type: "+
		"left is null, declared number; price is string, declared number.")

	again := b.run(`await store.item(); return 1`)
	require.Equal(t, "1", string(again.Result), again.Error)
	b.eventually("both workers have told", func() bool {
		return strings.Contains(b.types("store.item"), "observed in 4 results")
	})
	b.holdsNoValues(learnt.WorkflowID(b.runtime, "store"))
	b.healthyWorkflow(learnt.WorkflowID(b.runtime, "store"), "-learnt")
}

// holdsNoValues looks through a workflow's history.
func (b *bench) holdsNoValues(workflowID string) {
	b.t.Helper()
	events := shared.client.GetWorkflowHistory(b.context(), workflowID, "", false, 0)
	signals := 0
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(b.t, err)
		var text strings.Builder
		if s := e.GetWorkflowExecutionSignaledEventAttributes(); s != nil {
			signals++
			for _, p := range s.Input.Payloads {
				text.Write(p.Data)
			}
			require.Contains(b.t, text.String(), `"k":"login"`)
		}
		require.NotContains(b.t, text.String(), "planted")
		require.NotContains(b.t, text.String(), "ada@")
	}
	require.Positive(b.t, signals)
}

// TestNothingIsLearntWhereItIsOff: not even the workflow is there.
func TestNothingIsLearntWhereItIsOff(t *testing.T) {
	b := setUp(t)
	b.connect(untyped())
	b.options.NoLearning = true
	w := b.worker()
	o := b.run(`await store.item(); return (await codemode.describe("store.item")).types`)
	require.Contains(t, string(o.Result), "type ItemOutput = unknown", o.Error)
	w.Stop()
	_, err := shared.client.DescribeWorkflowExecution(b.context(), learnt.WorkflowID(b.runtime, "store"), "")
	require.Error(t, err)
}

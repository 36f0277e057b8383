package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestSnippetPausesAndResumes: a call inside a snippet waits for a person; meanwhile the snippet is replaced and
// deleted and the worker dies. What was looked up before the pause is what goes on.
func TestSnippetPausesAndResumes(t *testing.T) {
	b := setUp(t)
	first := b.process("first")
	saved := b.run(`async (input) => input ? [await lab.read({name: input.name}), await lab.ask({name: input.name})] : 0`)
	_, err := b.client.SaveSnippet(b.context(), "asks first",
		signals.SaveSnippet{From: saved.ExecutionID, Description: "Asks"})
	require.NoError(t, err)
	o := b.run(`
		const found = await codemode.search("asks first");
		const r = await codemode.run("asks first", {name: "x"});
		return [found.results[0].path, r, await codemode.run("asks first", {name: "y"})]`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Len(t, o.Calls, 2, "look-ups are not among the calls")

	b.healthyWorkflow(signals.SnippetWorkflowID(b.runtime, "asks first"), "-snippet")
	require.NoError(t, b.client.DeleteSnippet(b.context(), "asks first"))
	b.signal(first, syscall.SIGKILL)
	b.process("second")
	done := b.approve(o.ExecutionID, signals.Approve{})
	b.completed(`["asks first", ["x", "x"], {"error": "Snippet \"asks first\" not found."}]`, done)
	require.Len(t, b.lab.effects("ask"), 1)
}

package codemodetest

import (
	"testing"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// Rollback undoes what an execution did that has ended, as a client of a server would.
func (r Result) Rollback(t testing.TB) signals.RollbackResult {
	t.Helper()
	plugin, err := codemodeworker.NewPlugin(r.run.options.Options)
	if err != nil {
		t.Fatal(err)
	}
	id := signals.WorkflowID(r.run.options.Runtime, r.run.id)
	undo := &run{t: t, options: r.run.options, id: r.run.id, events: r.run.events}
	undo.setUp(plugin)
	undo.env.SetOnActivityCompletedListener(nil) // of another history
	undo.env.ExecuteWorkflow(signals.RollbackWorkflow, signals.RollbackInput{
		Runtime: r.run.options.Runtime, ExecutionID: r.run.id, WorkflowID: id, N: 1,
		Rollback: signals.Rollback{By: by}, Caller: r.run.options.Caller,
	})
	var result signals.ExecutionResult
	if err := undo.env.GetWorkflowResult(&result); err != nil {
		t.Fatalf("the rollback did not end by itself: %v", err)
	}
	if result.Rollback.Error != "" {
		t.Fatalf("the rollback could not be done: %s", result.Rollback.Error)
	}
	return result.Rollback.Result()
}

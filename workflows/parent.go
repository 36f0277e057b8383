package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// tellParent sends the newest outcome, of a pause, to the parent workflow of an execution that was asked to. Nothing
// waits for it: a parent that has ended is no reason to stop.
func (e *execution) tellParent(ctx workflow.Context) {
	info := workflow.GetInfo(ctx)
	parent := info.ParentWorkflowExecution
	if !e.in.TellParent || parent == nil {
		return
	}
	notice := signals.PausedNotice{WorkflowID: info.WorkflowExecution.ID, Outcome: *e.outcome}
	e.newTask(ctx)
	e.taskBytes += size(notice)
	// Without a run id it reaches the parent that has continued as new.
	sent := workflow.SignalExternalWorkflow(ctx, parent.ID, "", signals.SignalPaused, payload.MustRaw(notice))
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := sent.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("The parent workflow was not told that the execution is paused",
				"parent", parent.ID, "error", err)
		}
	})
}

// ended is how the workflow ends: with its result, or if that was asked for with an error, unless the program
// completed.
func (e *execution) ended(r signals.ExecutionResult) (signals.ExecutionResult, error) {
	kind := signals.EndError(r.Status)
	if !e.in.FailOnError || kind == "" {
		return r, nil
	}
	return signals.ExecutionResult{}, temporal.NewApplicationErrorWithOptions(
		signals.Cut(r.Error, signals.MaxErrorBytes), kind,
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{payload.MustRaw(r)}})
}

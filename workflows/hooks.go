package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// runHook tells the connectors of something. What fails there is in history; it never fails an execution.
func runHook(ctx workflow.Context, name, id string, in signals.HookInput) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: id, StartToCloseTimeout: time.Minute, Summary: string(in.Status),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 3},
	})
	_ = workflow.ExecuteActivity(ctx, name, payload.MustRaw(in)).Get(ctx, nil)
}

// listening reports whether any connector wants to know when a pass leaves the execution at rest, and has not been told
// of the newest.
func (e *execution) listening() bool {
	return e.pinned != nil && e.pinned.Hooks.PassEnd && e.passEndTold < e.passes
}

// passEnd tells the connectors that the newest pass left the execution paused or ended; at gates between it does not.
func (e *execution) passEnd(ctx workflow.Context, status signals.Status) {
	if !e.listening() {
		return
	}
	e.passEndTold = e.passes
	runHook(ctx, signals.PassEndActivity, fmt.Sprintf("pass-end-%d", e.passes),
		signals.HookInput{ExecutionID: e.id, Status: status})
}

// dispose tells the connectors that the execution is over.
func (e *execution) dispose(ctx workflow.Context) {
	if e.pinned == nil || !e.pinned.Hooks.Dispose {
		return
	}
	runHook(ctx, signals.DisposeActivity, "dispose", signals.HookInput{ExecutionID: e.id, Status: e.end.status})
}

package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// PassEnd tells the connectors that a pass left an execution paused or ended.
func (a *Activities) PassEnd(ctx context.Context, in signals.HookInput) (signals.HookOutput, error) {
	a.endPass(ctx)
	return hookOutput(ctx, a.Connectors.PassEnd(ctx, in.ExecutionID, string(in.Status))), nil
}

// Dispose tells the connectors that an execution is over.
func (a *Activities) Dispose(ctx context.Context, in signals.HookInput) (signals.HookOutput, error) {
	a.endPass(ctx)
	return hookOutput(ctx, a.Connectors.Dispose(ctx, in.ExecutionID, string(in.Status))), nil
}

// endPass ends what goes on here of a pass that no longer counts, so that connectors are not called after a hook.
func (a *Activities) endPass(ctx context.Context) {
	a.jobs.drop(ctx, activity.GetInfo(ctx).WorkflowExecution.RunID)
}

// hookOutput keeps what hooks failed with for the record: they never fail an execution.
func hookOutput(ctx context.Context, errs []error) signals.HookOutput {
	var out signals.HookOutput
	for _, err := range errs {
		activity.GetLogger(ctx).Warn("a lifecycle hook failed", "error", err)
		out.Errors = append(out.Errors, signals.Cut(err.Error(), sandbox.MaxMessage))
	}
	return out
}

// hooks says what the workflow has to schedule.
func (a *Activities) hooks() signals.Hooks {
	return signals.Hooks{PassEnd: a.Connectors.HasPassEnd(), Dispose: a.Connectors.HasDispose()}
}

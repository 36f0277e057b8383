package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// expire ends a paused execution; any other it leaves alone.
func (e *execution) expire(ctx workflow.Context, x signals.Expire) signals.Verdict {
	switch {
	case e.end != nil:
		return e.refuse(signals.NotPaused(e.id, e.end.status))
	case e.status != signals.Paused:
		return e.refuse(signals.NotPaused(e.id, e.status))
	case x.Before != 0 && e.pausedAt >= x.Before:
		return e.refuse(fmt.Sprintf("Execution %q has not been paused for so long.", e.id))
	}
	d := signals.Decision{Kind: signals.SignalExpire, Note: "expired", At: workflow.Now(ctx).UnixMilli()}
	e.stop(&ending{status: signals.Rejected, message: signals.ExecutionExpired, decision: &d})
	return e.accept(nil)
}

package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// expire ends a paused execution; any other it leaves alone.
func (e *execution) expire(ctx workflow.Context, x signals.Expire) signals.Verdict {
	if refusal := e.refuseExpiry(x); refusal != "" {
		return e.refuse(refusal)
	}
	d := signals.Decision{Kind: signals.SignalExpire, Note: "expired", At: workflow.Now(ctx).UnixMilli()}
	e.stop(&ending{status: signals.Rejected, message: signals.ExecutionExpired, pending: signals.CallExpired,
		decision: &d})
	return e.accept(nil)
}

func (e *execution) refuseExpiry(x signals.Expire) string {
	switch {
	case e.end != nil:
		return signals.NotPaused(e.id, e.end.status)
	case e.status != signals.Paused:
		return signals.NotPaused(e.id, e.status)
	case x.Before != 0 && e.pausedAt >= x.Before:
		return fmt.Sprintf("Execution %q has not been paused for so long.", e.id)
	}
	return ""
}

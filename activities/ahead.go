package activities

import (
	"context"
	"encoding/json"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// aheadWithin is how long a call that was made waits for the pass that follows it, until it is recorded: a worker that
// is lost meanwhile leaves the call's outcome unknown. Most passes between two writes take a tenth of it.
const aheadWithin = 5 * time.Millisecond

// goOn answers a call that was made. If the execution waits for nothing else, and this worker has what is needed, the
// pass that follows is run here and now, and both are recorded as one. A pass that makes calls, or takes longer, goes
// on by itself, for the workflow's own activity to take over.
func (a *Activities) goOn(ctx context.Context, in signals.CallInput, value json.RawMessage) (converter.RawValue,
	error) {
	out := signals.CallOutput{Value: value}
	next, ok := a.next(ctx, in, value)
	if !ok {
		return payload.Raw(out)
	}
	out.At = next.Given[0].At
	j := a.begin(ctx, next)
	if j.computes(a.patience) {
		if j.err != nil || j.result.End == signals.PassMissing {
			return payload.Raw(out)
		}
		out.Next = &j.result
		if encoded, err := payload.Raw(out); err == nil && len(encoded.Payload().GetData()) <= maxLocalPayload {
			return encoded, nil
		}
	}
	a.jobs.leave(activity.GetInfo(ctx).WorkflowExecution.RunID, j)
	out.Next = nil
	return payload.Raw(out)
}

// next completes what the pass after a call is given; ok is false if it should not run here.
func (a *Activities) next(ctx context.Context, in signals.CallInput, value json.RawMessage) (next signals.PassInput,
	ok bool) {
	if in.Next == nil || a.LocalPass < 0 || ctx.Err() != nil || endsSoon(ctx) {
		return next, false
	}
	info := activity.GetInfo(ctx)
	next, latest, ok := a.memory.input(info.WorkflowExecution.RunID, in.Next.After)
	if !ok || a.checkWorker(next, a.missing(next)) != nil {
		return next, false
	}
	next.Pass = in.Next.Pass
	next.Given = []signals.Given{{
		ID: in.Seq, At: max(latest, time.Now().UnixMilli()), Source: info.ActivityID,
		Attempts: max(1, in.Next.Attempts), Value: value, Carried: true,
	}}
	return next, true
}

// endsSoon reports whether a result that is kept for the pass after it might come too late to count.
func endsSoon(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < 50*aheadWithin
}

// computes waits for a pass that only computes: it is false for one that makes a call, or takes longer than d.
func (j *job) computes(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-j.done:
	case <-j.calls:
	case <-timer.C:
	}
	return isClosed(j.done) && !isClosed(j.calls)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

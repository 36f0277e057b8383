package workflows

import (
	"cmp"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// close waits for the calls that run, since their effects belong to the record, and ends the workflow.
func (e *execution) close(ctx workflow.Context) signals.ExecutionResult {
	_ = workflow.Await(ctx, func() bool { return e.running == 0 })
	if e.end.status == signals.Completed || e.end.status == signals.Failed {
		e.passEnd(ctx, e.end.status)
	}
	rollback := e.undoCalls(ctx)
	e.dispose(ctx)
	ended := e.endCalls()
	e.status, e.answer = e.end.status, nil
	e.setStatus(ctx, e.end.status)
	e.countExecution(e.end.status)
	e.publish(ctx)
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
	r := signals.ExecutionResult{
		Status: e.end.status, ExecutionID: e.id, Error: e.end.message, Position: e.end.position, Passes: e.passes,
		Omitted: e.end.omitted, Ended: ended, EndedAt: workflow.Now(ctx).UnixMilli(),
		Final: e.unfolded(), Rollback: rollback, EndedBy: cmp.Or(e.end.decision, e.end.by),
	}
	if r.Omitted = r.Omitted || len(e.end.value) > signals.ClosingResultBytes; !r.Omitted {
		r.Result = e.end.value
	}
	if e.since(listed) && e.pinned != nil {
		r.Connectors = e.pinned.Connectors
	}
	if e.since(listed) && e.runs > 1 {
		r.StartedAt = e.startedAt
	}
	return r
}

// endCalls gives the calls that never settled their last state: what was never made counts as reverted, the call at
// which the replay differed as failed.
func (e *execution) endCalls() []signals.EndedCall {
	var ended []signals.EndedCall
	for _, c := range e.order {
		if !c.open() {
			continue
		}
		end := signals.EndedCall{Seq: c.rec.Seq, State: signals.Reverted, Ended: e.howEnded(c)}
		if c.interrupted != nil {
			end.State, end.Error, end.Ended = signals.Errored, c.interrupted, ""
		}
		if at := e.end.diverged; at != nil && *at == c.rec.Seq {
			end.State, end.Ended = signals.Errored, ""
		}
		if e.decides(c) {
			d := e.fitDecision(*e.end.decision)
			end.Decision = &d
			e.countWait(c, d)
			c.rec.Decisions = append(c.rec.Decisions, d)
			c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = d.By, d.AssertedBy, d.At, d.Note
		}
		c.enter(over)
		c.rec.State, c.rec.Ended = end.State, end.Ended
		ended = append(ended, end)
	}
	return ended
}

// decides reports whether the decision that ends the execution is about a call.
func (e *execution) decides(c *call) bool {
	return e.end.decision != nil && c.pending() && (e.end.seq == nil || *e.end.seq == c.rec.Seq)
}

func (e *execution) howEnded(c *call) signals.CallEnd {
	switch {
	case c.phase == withdrawn:
		return signals.CallCancelled
	case e.end.pending != "" && c.pending() && (e.end.seq == nil || *e.end.seq == c.rec.Seq):
		return e.end.pending
	}
	return signals.CallNotMade
}

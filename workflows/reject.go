package workflows

import (
	"github.com/temporal-codemode/codemode/signals"
)

// reject finds what a rejection does: it ends the execution, or the program goes on with an error at that call.
func (e *execution) reject(r signals.Reject, now int64) (act, string) {
	d := signals.Decision{Kind: signals.SignalReject, By: r.By, AssertedBy: r.AssertedBy, At: now, Note: r.Reason}
	if r.All {
		return func() []int {
			e.stop(&ending{status: signals.Rejected, message: because(signals.ExecutionRejected, r.Reason),
				pending: signals.CallRejected, decision: &d})
			return nil
		}, ""
	}
	c, refusal := e.rejectable(r)
	if refusal != "" {
		return nil, refusal
	}
	d.ArgsDigest = signals.Digest(c.dispatchArgs())
	return func() []int {
		what := signals.ActionRejected(c.name())
		if !r.Continue {
			e.stop(&ending{status: signals.Rejected, message: because(what, r.Reason), seq: &c.rec.Seq,
				pending: signals.CallRejected, decision: &d})
			return []int{c.rec.Seq}
		}
		message := because(what, e.recordDecision(c, d).Note)
		given := signals.Given{ID: c.rec.Seq, At: now,
			Error: &signals.CallError{Name: signals.RejectedError, Message: message}}
		if c.interrupted != nil { // it may have taken effect, whatever a person says
			given.Error = c.interrupted
		}
		e.settle(c, given)
		e.startPass()
		return []int{c.rec.Seq}
	}, ""
}

func because(message, reason string) string {
	if reason == "" {
		return message
	}
	return message + ": " + reason
}

func (e *execution) rejectable(r signals.Reject) (*call, string) {
	if r.Seq != nil {
		c := e.calls[*r.Seq]
		if c == nil || !c.pending() {
			return nil, e.notPending(*r.Seq)
		}
		return c, ""
	}
	switch list := e.pending(); len(list) {
	case 0:
		return nil, signals.NotPaused(e.id, e.status)
	case 1:
		return list[0], ""
	}
	return nil, "several calls are pending: send the seq of the one to reject"
}

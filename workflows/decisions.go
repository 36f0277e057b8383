package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// pending lists the calls that wait for a person, in seq order.
func (e *execution) pending() []*call {
	var list []*call
	for _, c := range e.order {
		if c.pending() {
			list = append(list, c)
		}
	}
	return list
}

func (e *execution) anyPending() bool {
	for _, c := range e.order {
		if c.pending() {
			return true
		}
	}
	return false
}

// pendingNames tells what is pending in a few words.
func (e *execution) pendingNames() string {
	list := e.pending()
	if len(list) == 1 {
		return list[0].name()
	}
	return fmt.Sprintf("%s and %d more", list[0].name(), len(list)-1)
}

func (e *execution) refuse(message string) signals.Verdict {
	return signals.Verdict{Error: message, Pass: e.passes, Status: e.status}
}

func (e *execution) accept(seqs []int) signals.Verdict {
	return signals.Verdict{Accepted: true, Seqs: seqs, Pass: e.passes, Status: e.status}
}

// approve is behind the signal and the update alike: it records and returns.
func (e *execution) approve(ctx workflow.Context, a signals.Approve) signals.Verdict {
	if err := a.Check(); err != nil {
		return e.refuse(err.Error())
	}
	if e.end != nil {
		return e.refuse(signals.NotPaused(e.id, e.end.status))
	}
	if a.AsOf != 0 && a.AsOf != e.passes {
		return e.refuse(fmt.Sprintf("This approval looks at pass %d of execution %q, which is at pass %d by now: look again.", a.AsOf, e.id, e.passes))
	}
	calls, refusal := e.approvable(a)
	if refusal != "" {
		return e.refuse(refusal)
	}
	now := workflow.Now(ctx).UnixMilli()
	var seqs []int
	for _, c := range calls {
		e.decide(c, signals.Decision{Approved: true, By: a.By, AssertedBy: a.AssertedBy, At: now, Note: a.Note, EditedArgs: a.Args})
		c.approved, c.editedArgs, c.refused = true, a.Args, ""
		seqs = append(seqs, c.rec.Seq)
	}
	e.resume()
	return e.accept(seqs)
}

// approvable finds the calls that an approval covers, or says why it covers none.
func (e *execution) approvable(a signals.Approve) ([]*call, string) {
	var calls []*call
	if len(a.Seqs) == 0 {
		for _, c := range e.pending() {
			if e.pausedSeqs[c.rec.Seq] {
				calls = append(calls, c)
			}
		}
	}
	for _, seq := range a.Seqs {
		c := e.calls[seq]
		if c == nil || !c.pending() {
			return nil, e.notPending(seq)
		}
		calls = append(calls, c)
	}
	switch {
	case len(calls) == 0:
		return nil, signals.NotPaused(e.id, e.status)
	case len(a.Args) > 0 && len(calls) > 1:
		return nil, "args can only be edited for one call, and several are pending: send one seq with them"
	case a.ArgsDigest != "" && len(calls) > 1:
		return nil, "argsDigest belongs to one call, and several are pending: send one seq with it"
	case a.ArgsDigest != "" && a.ArgsDigest != calls[0].rec.ArgsDigest:
		return nil, fmt.Sprintf("argsDigest %q is stale: %s (seq %d) is pending with %q; look at its arguments again.",
			a.ArgsDigest, calls[0].name(), calls[0].rec.Seq, calls[0].rec.ArgsDigest)
	}
	return calls, ""
}

func (e *execution) notPending(seq int) string {
	if !e.anyPending() {
		return signals.NotPaused(e.id, e.status)
	}
	return fmt.Sprintf("Call %d of execution %q is not pending.", seq, e.id)
}

// reject is behind the signal and the update alike.
func (e *execution) reject(ctx workflow.Context, r signals.Reject) signals.Verdict {
	if err := r.Check(); err != nil {
		return e.refuse(err.Error())
	}
	if e.end != nil {
		return e.refuse(signals.NotPaused(e.id, e.end.status))
	}
	if r.All {
		return e.rejectAll(ctx, r)
	}
	c, refusal := e.rejectable(r)
	if refusal != "" {
		return e.refuse(refusal)
	}
	now := workflow.Now(ctx).UnixMilli()
	decision := signals.Decision{By: r.By, AssertedBy: r.AssertedBy, At: now, Note: r.Reason}
	message := fmt.Sprintf("Action %s rejected by user", c.name())
	if r.Reason != "" {
		message += ": " + r.Reason
	}
	if r.Continue {
		e.decide(c, decision)
		e.settle(c, signals.Given{ID: c.rec.Seq, At: now, Error: &signals.CallError{Name: signals.RejectedError, Message: message}})
		e.resume()
	} else {
		e.stop(&ending{status: signals.Rejected, message: message, seq: &c.rec.Seq, decision: &decision})
	}
	return e.accept([]int{c.rec.Seq})
}

func (e *execution) rejectAll(ctx workflow.Context, r signals.Reject) signals.Verdict {
	message := "Execution rejected by user"
	if r.Reason != "" {
		message += ": " + r.Reason
	}
	decision := signals.Decision{By: r.By, AssertedBy: r.AssertedBy, At: workflow.Now(ctx).UnixMilli(), Note: r.Reason}
	e.stop(&ending{status: signals.Rejected, message: message, decision: &decision})
	return e.accept(nil)
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

// decide records a decision for the audit and for the next pass.
func (e *execution) decide(c *call, d signals.Decision) {
	c.decision = &d
	e.countWait(c, d)
	c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = d.By, d.AssertedBy, d.At, d.Note
	if len(d.EditedArgs) <= keptValue {
		c.rec.EditedArgs = d.EditedArgs
	}
	e.decisions = append(e.decisions, signals.Given{Kind: signals.GivenDecision, ID: c.rec.Seq, At: d.At, Decision: &d})
}

// resume lets the main loop start the pass that follows a decision.
func (e *execution) resume() {
	e.status, e.outcome, e.answer = signals.Running, nil, nil
}

const expired = "Expired awaiting approval"

// expire ends a paused execution; any other it leaves alone.
func (e *execution) expire(x signals.Expire) signals.Verdict {
	switch {
	case e.end != nil:
		return e.refuse(signals.NotPaused(e.id, e.end.status))
	case e.status != signals.Paused:
		return e.refuse(signals.NotPaused(e.id, e.status))
	case x.Before != 0 && e.pausedAt >= x.Before:
		return e.refuse(fmt.Sprintf("Execution %q has not been paused for so long.", e.id))
	}
	e.stop(&ending{status: signals.Rejected, message: expired, decision: &signals.Decision{Note: "expired"}})
	return e.accept(nil)
}

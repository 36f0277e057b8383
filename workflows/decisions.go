package workflows

import (
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

func (e *execution) refuse(message string) signals.Verdict {
	return signals.Verdict{Error: message, Pass: e.passes, Status: e.status}
}

func (e *execution) accept(seqs []int) signals.Verdict {
	return signals.Verdict{Accepted: true, Seqs: seqs, Pass: e.passes, Status: e.status}
}

// act is what a decision does once it is known to apply; it returns the calls that it covers.
type act func() []int

// take is behind the signals and the updates alike: it decides about one decision, or several of one message. Of
// several either all apply or none.
func (e *execution) take(ctx workflow.Context, m signals.Message) signals.Verdict {
	if err := m.Check(); err != nil {
		return e.refuse(err.Error())
	}
	if e.end != nil {
		return e.refuse(signals.NotPaused(e.id, e.end.status))
	}
	var acts []act
	for _, one := range m.Each() {
		do, refusal := e.judge(ctx, one)
		if refusal != "" {
			return e.refuse(refusal)
		}
		acts = append(acts, do)
	}
	var seqs []int
	for _, do := range acts {
		seqs = append(seqs, do()...)
	}
	v := e.accept(seqs)
	if e.end == nil && !e.decided { // more people have to approve: no pass follows
		v.Pass, e.answer = v.Pass-1, nil
		if e.status == signals.Paused {
			e.setStatus(ctx, signals.Paused)
			e.publish(ctx)
		}
	}
	return v
}

// judge finds what a decision would do, or says why it does not apply.
func (e *execution) judge(ctx workflow.Context, m signals.Message) (act, string) {
	now := workflow.Now(ctx).UnixMilli()
	switch m := m.(type) {
	case signals.Approve:
		return e.approve(m, now)
	case signals.Reject:
		return e.reject(m, now)
	case signals.Retry:
		return e.retry(m, now)
	case signals.Resolve:
		return e.resolve(m, now)
	}
	return nil, "this is no decision"
}

// decisionBytes is what the decisions of an execution may take in full: they travel with passes and stand in its result.
// Beyond it they are short. No pass is told of more than twice as much.
const decisionBytes = 512 * 1024

// weigh shortens a decision for which there is no room any more.
func (e *execution) weigh(d signals.Decision) signals.Decision {
	size := d.Bytes()
	if e.weighed+size > decisionBytes {
		d = d.Short()
		size = d.Bytes()
	}
	e.weighed += size
	return d
}

// noteDecision keeps a decision for the audit and for the next pass, as far as there is room.
func (e *execution) noteDecision(c *call, d signals.Decision) signals.Decision {
	e.countWait(c, d)
	before := e.weighed
	d = e.weigh(d)
	e.untold += e.weighed - before
	c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = d.By, d.AssertedBy, d.At, d.Note
	c.rec.EditedArgs = small(c.editedArgs)
	kept := d
	kept.EditedArgs = small(d.EditedArgs)
	c.rec.Decisions = append(c.rec.Decisions, kept)
	e.decisions = append(e.decisions, signals.Given{Kind: signals.GivenDecision, ID: c.rec.Seq, At: d.At, Decision: &d})
	return d
}

// small keeps a value for queries if it is.
func small(value json.RawMessage) json.RawMessage {
	if len(value) > keptValue {
		return nil
	}
	return value
}

// resume lets the main loop start the pass that follows a decision.
func (e *execution) resume() {
	e.status, e.outcome, e.answer, e.decided = signals.Running, nil, nil, true
}

// reject finds what a rejection does: it ends the execution, or the program goes on with an error at that call.
func (e *execution) reject(r signals.Reject, now int64) (act, string) {
	d := signals.Decision{Kind: signals.SignalReject, By: r.By, AssertedBy: r.AssertedBy, At: now, Note: r.Reason}
	if r.All {
		return func() []int {
			e.stop(&ending{status: signals.Rejected, message: because("Execution rejected by user", r.Reason), decision: &d})
			return nil
		}, ""
	}
	c, refusal := e.rejectable(r)
	if refusal != "" {
		return nil, refusal
	}
	d.ArgsDigest = signals.Digest(c.dispatchArgs())
	return func() []int {
		what := fmt.Sprintf("Action %s rejected by user", c.name())
		if !r.Continue {
			e.stop(&ending{status: signals.Rejected, message: because(what, r.Reason), seq: &c.rec.Seq, decision: &d})
			return []int{c.rec.Seq}
		}
		message := because(what, e.noteDecision(c, d).Note)
		given := signals.Given{ID: c.rec.Seq, At: now, Error: &signals.CallError{Name: signals.RejectedError, Message: message}}
		if c.unknown != nil { // it may have taken effect, whatever a person says
			given.Error = c.unknown
		}
		e.settle(c, given)
		e.resume()
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

func (e *execution) notPending(seq int) string {
	if !e.anyPending() {
		return signals.NotPaused(e.id, e.status)
	}
	return fmt.Sprintf("Call %d of execution %q is not pending.", seq, e.id)
}

const expired = "Expired awaiting approval"

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
	e.stop(&ending{status: signals.Rejected, message: expired, decision: &d})
	return e.accept(nil)
}

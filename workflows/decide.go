package workflows

import (
	"encoding/json"

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

// decide is behind the signals and the updates alike: it decides about one decision, or several of one message. Of
// several either all apply or none.
func (e *execution) decide(ctx workflow.Context, m signals.Message) signals.Verdict {
	acts, refusal := e.judgeAll(ctx, m)
	if refusal != "" {
		return e.refuse(refusal)
	}
	var seqs []int
	for _, do := range acts {
		seqs = append(seqs, do()...)
	}
	v := e.accept(seqs)
	if e.end == nil && !e.decisionWaits { // more people have to approve: no pass follows
		v.Pass, e.answer = v.Pass-1, nil
		if e.status == signals.Paused {
			e.setStatus(ctx, signals.Paused)
			e.publish(ctx)
			e.tellParent(ctx)
			e.unlisted = e.since(listed)
		}
	}
	return v
}

// judgeAll finds what a message would do, or says why it does not apply. It changes nothing, so that updates are
// refused before they are in history.
func (e *execution) judgeAll(ctx workflow.Context, m signals.Message) ([]act, string) {
	if err := m.Check(); err != nil {
		return nil, err.Error()
	}
	if e.end != nil {
		return nil, signals.NotPaused(e.id, e.end.status)
	}
	var acts []act
	for _, one := range m.Each() {
		do, refusal := e.judge(ctx, one)
		if refusal != "" {
			return nil, refusal
		}
		acts = append(acts, do)
	}
	return acts, ""
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

// maxDecisionBytes is what the decisions of an execution may take in full: they travel with passes and stand in its
// result. Beyond it they are short. No pass is told of more than twice as much.
const maxDecisionBytes = 512 * 1024

// fitDecision shortens a decision for which there is no room any more.
func (e *execution) fitDecision(d signals.Decision) signals.Decision {
	size := d.Bytes()
	if e.decisionBytes+size > maxDecisionBytes {
		d = d.Short()
		size = d.Bytes()
	}
	e.decisionBytes += size
	return d
}

// recordDecision keeps a decision for the audit and for the next pass, as far as there is room.
func (e *execution) recordDecision(c *call, d signals.Decision) signals.Decision {
	e.countWait(c, d)
	before := e.decisionBytes
	d = e.fitDecision(d)
	e.undeliveredBytes += e.decisionBytes - before
	c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = d.By, d.AssertedBy, d.At, d.Note
	c.rec.EditedArgs = held(c.editedArgs)
	kept := d
	kept.EditedArgs = held(d.EditedArgs)
	c.rec.Decisions = append(c.rec.Decisions, kept)
	e.decisions = append(e.decisions, signals.Given{Kind: signals.GivenDecision, ID: c.rec.Seq, At: d.At, Decision: &d})
	return d
}

// held keeps a value for queries if it is.
func held(value json.RawMessage) json.RawMessage {
	if len(value) > maxHeldValue {
		return nil
	}
	return value
}

// startPass lets the main loop start the pass that follows a decision.
func (e *execution) startPass() {
	e.status, e.outcome, e.answer, e.decisionWaits = signals.Running, nil, nil, true
}

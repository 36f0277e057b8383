package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// HeartbeatTimeout bounds how long a dead worker goes unnoticed.
const HeartbeatTimeout = 10 * time.Second

// passBound is only a backstop: a pass keeps its own time, and its heartbeat shows that it lives.
const passBound = time.Hour

// carriedBytes bounds the values that travel to a pass beside references to their events.
const carriedBytes = 512 * 1024

// localBound is a backstop too: a local pass leaves the workflow task long before.
const localBound = 8 * time.Second

// pass runs one pass and takes up its result.
func (e *execution) pass(ctx workflow.Context) {
	timers := e.timers
	input := e.passInput()
	if r, ok := e.takeEarlyPass(input); ok {
		e.applyResult(ctx, r, input.Given, timers)
		return
	}
	ctx, e.cancelPass = workflow.WithCancel(ctx)
	defer func() { e.cancelPass = nil }()
	r, err := e.localPass(ctx, input)
	if err != nil && e.end == nil {
		r, err = e.activityPass(ctx, input, e.passSummary(input))
	}
	if e.since(inOrder) {
		e.drain(ctx) // what history holds before the result counts before it
	}
	if err == nil && (e.end == nil || !e.since(inOrder)) {
		e.applyResult(ctx, r, input.Given, timers)
		return
	}
	e.decisions = append(input.Given, e.decisions...) // what the pass was given is in no result that counts
	if e.end == nil {
		e.fail("Pass %d failed: %s", input.Pass, activityMessage(err))
	}
}

var errNotLocal = errors.New("the pass does not run inside this workflow task")

// localPass tries the pass inside the workflow task: as a local activity, which has the result in history without a
// single event but its marker. A pass that takes longer, or may not run so on this worker, answers that it goes on as
// an activity of its own. What history says decides, never this worker's options, so that any worker replays it.
//
// Of several local passes in one workflow task the results together could exceed what the server takes, so there is
// one.
func (e *execution) localPass(ctx workflow.Context, input signals.PassInput) (r signals.PassResult, err error) {
	task := workflow.GetInfo(ctx).GetCurrentHistoryLength()
	if e.pinned != nil && !e.pinned.LocalPasses || e.continuing || task == e.lastLocalPass {
		return r, errNotLocal
	}
	e.inLocalPass, input.Code = true, e.in.Code
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localBound, Summary: e.passSummary(input),
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err = workflow.ExecuteLocalActivity(ctx, signals.PassActivity, input).Get(ctx, &r)
	e.lastLocalPass, e.inLocalPass = workflow.GetInfo(ctx).GetCurrentHistoryLength(), false
	if err == nil && r.End == signals.PassElsewhere {
		err = errNotLocal
	}
	return r, err
}

func (e *execution) activityPass(ctx workflow.Context, input signals.PassInput,
	summary string) (r signals.PassResult, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: fmt.Sprintf("pass-%d", input.Pass), StartToCloseTimeout: passBound,
		HeartbeatTimeout: HeartbeatTimeout,
		Summary:          summary, // a cancelled pass is not waited for: nothing of it counts
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: 10 * time.Second},
	})
	err = e.results.await(ctx, workflow.ExecuteActivity(ctx, signals.PassActivity, payload.MustRaw(input)), &r)
	return r, err
}

func activityMessage(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return signals.Cut(app.Message(), signals.MaxErrorBytes)
	}
	return signals.Cut(err.Error(), signals.MaxErrorBytes)
}

func (e *execution) passInput() signals.PassInput {
	e.nextPassNow, e.continuing = false, e.nextPassNow
	in := signals.PassInput{
		ExecutionID: e.id, Runtime: e.in.Runtime, Pass: e.passes + 1, After: e.nonce, StartedAt: e.startedAt,
		Decided: e.decisionWaits, Pinned: e.pinned.ForPass(), Synchronous: e.in.Synchronous,
		Given: carry(append(e.decisions, e.settled...)), Caller: e.in.Caller, Version: currentVersion,
		Continues: e.in.Continues != nil && e.passes == 0,
	}
	e.decisions, e.undeliveredBytes, e.decisionWaits, e.settled, e.timers = nil, 0, false, nil, nil
	e.settledBefore = false
	for _, c := range e.order {
		if c.open() {
			if c.phase == decided {
				c.enter(ready)
			}
			in.Open = append(in.Open, signals.OpenCall{Seq: c.rec.Seq, Pending: c.pending()})
		}
	}
	return in
}

// carry turns values into references where they are too many to travel.
func carry(given []signals.Given) []signals.Given {
	total := 0
	for i, g := range given {
		total += len(g.Value)
		if g.Error != nil {
			total += len(g.Error.Message)
		}
		if total > carriedBytes {
			given[i] = g.Reference()
		}
	}
	return given
}

func (e *execution) passSummary(in signals.PassInput) string {
	settled, approved := 0, 0
	for _, c := range e.order {
		if !c.open() {
			settled++
		}
		if c.phase == ready && (c.approved || c.retried || c.resolution != nil) {
			approved++
		}
	}
	text := fmt.Sprintf("pass %d", in.Pass)
	if settled > 0 {
		text += fmt.Sprintf(" · %d calls replayed", settled)
	}
	if approved > 0 {
		text += fmt.Sprintf(", %d approved", approved)
	}
	return text
}

// applyResult takes up the result of a pass that was given what given says.
// timers are those of the program that the pass was to go on with.
func (e *execution) applyResult(ctx workflow.Context, r signals.PassResult, given []signals.Given,
	timers []signals.Timer) {
	e.passes, e.nonce = r.Pass, r.Nonce
	e.countPass(r.End)
	e.updatedAt = workflow.Now(ctx).UnixMilli()
	if r.End == signals.PassMissing {
		if e.since(inOrder) {
			e.timers = timers
		}
		e.missing(ctx, r, given)
		return
	}
	if r.Pinned != nil {
		e.pinned, e.limits, e.attributes = r.Pinned, limitsOf(r.Pinned), e.attributes || r.Pinned.SearchAttributes
		e.setAttributes(ctx)
	}
	for _, entry := range r.Entries {
		e.addInlineCall(entry)
	}
	for _, b := range r.Blocked {
		e.addGatedCall(ctx, b)
	}
	for _, line := range r.Logs {
		e.logs.add(line, len(line))
	}
	e.timers = r.Timers
	e.partial = r.Partial
	e.nextPassNow = r.End == signals.PassMore || r.Partial
	switch r.End {
	case signals.PassCompleted:
		e.stop(&ending{status: signals.Completed, byItself: true, value: r.Value, omitted: r.Omitted != "",
			warnings: r.Warnings})
	case signals.PassFailed:
		f := cmp.Or(r.Failure, &signals.PassFailure{Message: "Code execution failed"})
		e.stop(&ending{status: signals.Failed, byItself: true, message: f.Message, position: f.Position,
			excerpt: f.Excerpt, warnings: r.Warnings, diverged: f.Diverged})
	default:
		e.checkCalls()
	}
}

func (e *execution) checkCalls() {
	if e.inline > e.limits.InlineCalls {
		e.exceed("This execution made more than %d reads and steps (limits.inlineCalls).", e.limits.InlineCalls)
	}
	if e.gated > e.limits.GatedCalls {
		e.exceed("This execution made more than %d writes and approvals (limits.gatedCalls).", e.limits.GatedCalls)
	}
}

// missing undoes the decisions that led to a pass on a worker without the execution's connectors: nothing ran.
func (e *execution) missing(ctx workflow.Context, r signals.PassResult, given []signals.Given) {
	var kept []signals.Given
	for _, g := range given {
		if c := e.calls[g.ID]; g.Kind == signals.GivenDecision {
			e.retract(c, *g.Decision, workflow.Now(ctx).UnixMilli())
		} else if g.Error != nil && g.Error.Name == signals.RejectedError {
			c.askAgain(e, workflow.Now(ctx).UnixMilli())
		} else {
			kept = append(kept, g)
		}
	}
	e.settled = append(kept, e.settled...)
	answer := signals.ErrorOutcome(e.id, cmp.Or(r.Why, signals.MissingConnectors(e.id, r.Missing)))
	answer.Pass = e.passes
	e.answer = &answer
}

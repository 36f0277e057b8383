package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// handle sets up signals, updates and queries. Each decision comes as a signal and as an update of the same name.
func (e *execution) handle(ctx workflow.Context) error {
	return errors.Join(
		handle(ctx, e, signals.SignalApprove, "Let pending calls run. "+approveShape,
			decisionRequest[signals.Approve](e)),
		handle(ctx, e, signals.SignalReject, "Refuse a pending call and end the execution. "+rejectShape,
			decisionRequest[signals.Reject](e)),
		handle(ctx, e, signals.SignalRetry, "Make a call again whose outcome is unknown. "+retryShape,
			decisionRequest[signals.Retry](e)),
		handle(ctx, e, signals.SignalResolve, "Give the result of a pending call. "+resolveShape,
			decisionRequest[signals.Resolve](e)),
		handle(ctx, e, signals.SignalRollback, "Stop the execution and undo what it did. "+rollbackShape,
			request[signals.RollbackMessage]{
				refuses: func(_ workflow.Context, m signals.RollbackMessage) string { return e.refuseRollback(m) },
				take:    e.rollback,
				id:      func(m signals.RollbackMessage) string { return m.RequestID },
			}),
		handle(ctx, e, signals.SignalExpire, "End the execution if it is paused.", request[signals.Expire]{
			refuses: func(_ workflow.Context, x signals.Expire) string { return e.refuseExpiry(x) },
			take:    e.expire,
			id:      func(x signals.Expire) string { return x.RequestID },
		}),
		workflow.SetUpdateHandlerWithOptions(ctx, signals.UpdateWait, e.wait, workflow.UpdateHandlerOptions{
			Description: `The next outcome after a pass: {"after": 0}. Waits for as long as it takes.`,
			Validator:   func(workflow.Context, signals.Wait) error { return e.admitWaiter() },
		}),
		e.handleQueries(ctx),
	)
}

const (
	approveShape  = `All fields are optional: {"seqs": [0], "argsDigest": "…", "args": {…}, "by": "name", "note": "…", "always": false}. Without seqs all that is pending.`
	rejectShape   = `{"seq": 0, "reason": "…", "by": "name", "continue": false}. With continue the program goes on with a RejectedError.`
	retryShape    = `{"seq": 0, "by": "name"}. It has the same idempotency key.`
	resolveShape  = `{"seq": 0, "result": …, "by": "name"}. For calls that clients resolve, and for those whose outcome is unknown.`
	rollbackShape = `{"by": "name", "note": "…"}. Every call that took effect and has a revert is undone, the last one first.`
)

// request is how one kind of message is served: whether it applies, which changes nothing, what it does, and the id
// under which the sender of a signal asks for the verdict.
type request[T any] struct {
	refuses func(workflow.Context, T) string
	take    func(workflow.Context, T) signals.Verdict
	id      func(T) string
}

func decisionRequest[T signals.Message](e *execution) request[T] {
	return request[T]{
		refuses: func(ctx workflow.Context, m T) string { _, refusal := e.judgeAll(ctx, m); return refusal },
		take:    func(ctx workflow.Context, m T) signals.Verdict { return e.decide(ctx, m) },
		id:      func(m T) string { return m.Request() },
	}
}

// handle serves a signal and the update of the same name, which answers whether it applied.
func handle[T any](ctx workflow.Context, e *execution, name, description string, r request[T]) error {
	channel := workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: description})
	e.mailboxes = append(e.mailboxes, mailbox{name, channel, func(ctx workflow.Context, raw converter.RawValue) {
		var m T
		if p := raw.Payload(); p != nil {
			if err := converter.GetDefaultDataConverter().FromPayload(p, &m); err != nil {
				workflow.GetLogger(ctx).Warn("A signal was not understood and changes nothing", "signal", name,
					"error", err)
				return
			}
		}
		e.verdicts.keep(r.id(m), r.take(ctx, m))
	}})
	update := func(ctx workflow.Context, m T) (signals.Verdict, error) {
		e.takeUpResults(ctx)
		if e.since(inOrder) {
			e.drain(ctx) // history has them before it
			e.newTask(ctx)
			e.taskBytes += size(m)
			e.updates++
		}
		return r.take(ctx, m), nil
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, name, update, workflow.UpdateHandlerOptions{
		Description: description,
		Validator: func(ctx workflow.Context, m T) error {
			if refusal := r.refuses(ctx, m); refusal != "" && !e.results.lie() {
				return refusedUpdate(e.refuse(refusal))
			}
			return e.admitUpdate(ctx, size(m))
		},
	})
}

func refusedUpdate(v signals.Verdict) error {
	return temporal.NewApplicationError(v.Error, signals.ErrorRefused, v)
}

// size is about what a message takes.
func size(m any) int {
	text, _ := signals.Marshal(m)
	return len(text)
}

// admitUpdate refuses what would make one workflow task too large: the server wants the text of every update back that
// the task accepts.
func (e *execution) admitUpdate(ctx workflow.Context, bytes int) error {
	taken := 0
	if currentTask(ctx) == e.task {
		taken = e.taskBytes
	}
	if taken > 0 && taken+bytes > maxAccepted {
		return temporal.NewApplicationError("too much came at once: ask again in a moment", signals.ErrorBusy)
	}
	return nil
}

// verdicts are what became of the newest decisions that came as signals, by the id that their sender gave them.
type verdicts struct {
	ids  []string
	byID map[string]signals.Verdict
}

// maxVerdicts is how many are kept: their senders ask at once.
const maxVerdicts = 100

func (v *verdicts) keep(id string, verdict signals.Verdict) {
	if id == "" {
		return
	}
	if v.byID == nil {
		v.byID = map[string]signals.Verdict{}
	}
	if len(v.ids) == maxVerdicts {
		delete(v.byID, v.ids[0])
		v.ids = v.ids[1:]
	}
	v.ids = append(v.ids, id)
	v.byID[id] = verdict
}

// listen serves signals, and the request to cancel, for as long as the workflow runs. One coroutine does it all: the
// SDK resumes every one there is each time that anything happens.
func (e *execution) listen(ctx workflow.Context) {
	workflow.Go(ctx, func(root workflow.Context) {
		ctx, _ := workflow.NewDisconnectedContext(root)
		cancelled := func() bool { return root.Err() != nil && e.end == nil }
		for {
			_ = workflow.Await(ctx, func() bool { return cancelled() || e.signalled() })
			e.drain(ctx)
			if cancelled() { // after what was decided before
				e.stop(&ending{status: signals.Failed, message: signals.ExecutionCancelled})
			}
		}
	})
}

// The server lets ten updates of a run be in flight. Waiters take no more than four places, so that decisions never
// queue behind them; our own clients share one.
const (
	maxWaiters  = 4
	busyMessage = "four clients wait for this execution already: ask again in a moment"
	// waitAtMost is how long an update of an older version waits.
	waitAtMost = 20 * time.Second
)

func (e *execution) admitWaiter() error {
	if e.waiters >= maxWaiters {
		return temporal.NewApplicationError(busyMessage, signals.ErrorBusy)
	}
	return nil
}

// wait answers with the next outcome after a pass.
func (e *execution) wait(ctx workflow.Context, w signals.Wait) (converter.RawValue, error) {
	e.waiters++
	e.updates++
	defer func() { e.waiters-- }()
	return payload.Raw(e.await(ctx, w))
}

func (e *execution) await(ctx workflow.Context, w signals.Wait) signals.Outcome {
	if o := e.answerTo(w); o != nil {
		return *o
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(ctx, func() bool { return e.answerTo(w) != nil || !e.inLocalPass || e.handsOver })
	if e.answerTo(w) == nil && !e.handsOver {
		e.awaitLonger(ctx, w)
	}
	return e.outcomeFor(w)
}

func (e *execution) awaitLonger(ctx workflow.Context, w signals.Wait) {
	if e.waitsWithoutTimer(ctx) {
		_ = workflow.Await(ctx, func() bool { return e.answerTo(w) != nil || e.handsOver })
		return
	}
	timers, cancel := workflow.WithCancel(ctx)
	timeout := workflow.NewTimerWithOptions(timers, waitAtMost, workflow.TimerOptions{Summary: "a client waits"})
	_ = workflow.Await(ctx, func() bool { return e.answerTo(w) != nil || timeout.IsReady() })
	if e.end == nil { // a closing run needs no event to be rid of its timers
		cancel()
	}
}

// outcomeFor is the outcome that a waiter asked for, or that there is none yet.
func (e *execution) outcomeFor(w signals.Wait) signals.Outcome {
	if o := e.answerTo(w); o != nil {
		return *o
	}
	return signals.Outcome{Status: signals.Running, ExecutionID: e.id, Pass: e.passes, Calls: []signals.Call{}}
}

// answerTo is the outcome that a waiter asked for, once there is one.
func (e *execution) answerTo(w signals.Wait) *signals.Outcome {
	if e.answer != nil && w.After == e.answer.Pass-1 && w.After > 0 {
		return e.answer
	}
	if e.outcome != nil && (e.outcome.Status.Terminal() || e.outcome.Pass > w.After) {
		return e.outcome
	}
	return nil
}

func (e *execution) handleQueries(ctx workflow.Context) error {
	return errors.Join(
		query(ctx, signals.QueryState, `The audit record; a page of its calls: {"offset": 0, "limit": 1000}. `+
			`Large values are left out.`, func(p signals.Page) any { return e.record(p) }),
		workflow.SetQueryHandlerWithOptions(ctx, signals.QueryPending,
			func() (converter.RawValue, error) { return payload.Raw(e.actions(pendingBytes, editedBytes)) },
			workflow.QueryHandlerOptions{Description: "The calls that wait for a person."}),
		query(ctx, signals.QueryOutcome, `The newest outcome after a pass, or status "running": {"after": 0}.`,
			func(w signals.Wait) any { return e.outcomeFor(w) }),
		query(ctx, signals.QueryVerdict, `What became of a decision sent as a signal with that id: `+
			`{"requestId": "…"}; null if it is not known.`, func(v signals.VerdictOf) any {
			if known, ok := e.verdicts.byID[v.RequestID]; ok {
				return &known
			}
			return nil
		}),
	)
}

func query[T any](ctx workflow.Context, name, description string, answer func(T) any) error {
	return workflow.SetQueryHandlerWithOptions(ctx, name,
		func(q T) (converter.RawValue, error) { return payload.Raw(answer(q)) },
		workflow.QueryHandlerOptions{Description: description})
}

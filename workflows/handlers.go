package workflows

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// The server lets ten updates of a run be in flight. Waiters take no more than four places, and give theirs back after
// a while, so that decisions never queue behind them.
const (
	maxWaiters  = 4
	waitAtMost  = 20 * time.Second
	busyMessage = "four clients wait for this execution already: ask again in a moment"
)

// handle sets up signals, updates and queries. Each decision comes as a signal and as an update of the same name.
func (e *execution) handle(ctx workflow.Context) error {
	return errors.Join(
		handle(ctx, e, signals.SignalApprove, "Let pending calls run. "+approveShape, decideOne[signals.Approve](e)),
		handle(ctx, e, signals.SignalReject, "Refuse a pending call and end the execution. "+rejectShape,
			decideOne[signals.Reject](e)),
		handle(ctx, e, signals.SignalRetry, "Make a call again whose outcome is unknown. "+retryShape,
			decideOne[signals.Retry](e)),
		handle(ctx, e, signals.SignalResolve, "Give the result of a pending call. "+resolveShape,
			decideOne[signals.Resolve](e)),
		handle(ctx, e, signals.SignalRollback, "Stop the execution and undo what it did. "+rollbackShape, e.rollback),
		handle(ctx, e, signals.SignalExpire, "End the execution if it is paused.", e.expire),
		workflow.SetUpdateHandlerWithOptions(ctx, signals.UpdateWait, e.wait, workflow.UpdateHandlerOptions{
			Description: `The next outcome after a pass: {"after": 0}. Answers with status "running" after 20 s: ask again.`,
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

// handle serves a signal and the update of the same name, which answers whether it applied.
func handle[T any](ctx workflow.Context, e *execution, name, description string,
	take func(workflow.Context, T) signals.Verdict) error {
	channel := workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: description})
	e.mailboxes = append(e.mailboxes, mailbox{channel, func(ctx workflow.Context) {
		for m := (fresh[T]{}); channel.ReceiveAsync(&m); {
			take(ctx, m.value)
		}
	}})
	update := func(ctx workflow.Context, payload T) (signals.Verdict, error) { return take(ctx, payload), nil }
	return workflow.SetUpdateHandlerWithOptions(ctx, name, update,
		workflow.UpdateHandlerOptions{Description: description})
}

// fresh holds nothing of the message before, nor of one that could not be read, which the SDK skips.
type fresh[T any] struct{ value T }

func (f *fresh[T]) UnmarshalJSON(text []byte) error {
	var value T
	err := json.Unmarshal(text, &value)
	f.value = value
	return err
}

// mailbox is where the signals of one name come in.
type mailbox struct {
	workflow.ReceiveChannel
	drain func(workflow.Context)
}

// listen serves signals, and the request to cancel, for as long as the workflow runs. One coroutine does it all: the
// SDK resumes every one there is each time that anything happens.
func (e *execution) listen(ctx workflow.Context) {
	workflow.Go(ctx, func(root workflow.Context) {
		ctx, _ := workflow.NewDisconnectedContext(root)
		cancelled := func() bool { return root.Err() != nil && e.end == nil }
		came := func(m mailbox) bool { return m.Len() > 0 }
		for {
			_ = workflow.Await(ctx, func() bool { return cancelled() || slices.ContainsFunc(e.mailboxes, came) })
			for _, m := range e.mailboxes {
				m.drain(ctx)
			}
			if cancelled() { // after what was decided before
				e.stop(&ending{status: signals.Failed, message: signals.ExecutionCancelled})
			}
		}
	})
}

func decideOne[T signals.Message](e *execution) func(workflow.Context, T) signals.Verdict {
	return func(ctx workflow.Context, m T) signals.Verdict { return e.decide(ctx, m) }
}

func (e *execution) admitWaiter() error {
	if e.waiters >= maxWaiters {
		return temporal.NewApplicationError(busyMessage, signals.ErrorBusy)
	}
	return nil
}

// wait answers with the next outcome after a pass.
func (e *execution) wait(ctx workflow.Context, w signals.Wait) (converter.RawValue, error) {
	e.waiters++
	defer func() { e.waiters-- }()
	return payload.Raw(e.await(ctx, w))
}

func (e *execution) await(ctx workflow.Context, w signals.Wait) signals.Outcome {
	if o := e.answerTo(w); o != nil {
		return *o
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(ctx, func() bool { return e.answerTo(w) != nil || !e.inLocalPass }) // perhaps no timer is needed
	if o := e.answerTo(w); o != nil {
		return *o
	}
	timers, cancel := workflow.WithCancel(ctx)
	timeout := workflow.NewTimerWithOptions(timers, waitAtMost, workflow.TimerOptions{Summary: "a client waits"})
	_ = workflow.Await(ctx, func() bool { return e.answerTo(w) != nil || timeout.IsReady() })
	if e.end == nil { // a closing run needs no event to be rid of its timers
		cancel()
	}
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
		workflow.SetQueryHandlerWithOptions(ctx, signals.QueryState,
			func(p signals.Page) (converter.RawValue, error) { return payload.Raw(e.record(p)) },
			workflow.QueryHandlerOptions{Description: `The audit record; a page of its calls: {"offset": 0, "limit": 1000}. Large values are left out.`}),
		workflow.SetQueryHandlerWithOptions(ctx, signals.QueryPending,
			func() (converter.RawValue, error) { return payload.Raw(e.actions(pendingBytes, editedBytes)) },
			workflow.QueryHandlerOptions{Description: "The calls that wait for a person."}),
	)
}

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

// make runs the call's activity until it settles, or a person has to decide about it again, or the end of the execution
// withdraws it.
func (e *execution) make(ctx workflow.Context, c *call) {
	input := e.callInput(c)
	if c.target != nil && !input.Edited && input.Resolution == nil {
		e.makeByTarget(ctx, c, c.prepared(input.Key))
		return
	}
	unavailable := 0
	for input.Attempt = 1; ; {
		if e.withdraws() {
			c.enter(withdrawn)
			return
		}
		c.scheduled++
		id := signals.CallActivityID(c.rec.Seq, c.scheduled)
		input.Next = e.nextPass(c)
		var out signals.CallOutput
		err := e.results.await(ctx, workflow.ExecuteActivity(e.callOptions(ctx, c, id, input.Next), c.name(),
			payload.MustRaw(input)), &out)
		if e.since(inOrder) && temporal.IsCanceledError(err) {
			c.withdrawn(input.Key)
			return
		}
		if err == nil && out.Prepared != nil {
			e.reserveTaskBytes(ctx, c)
			e.makeByTarget(ctx, c, *out.Prepared)
			return
		}
		kind, delay := failureKind(err)
		repeat := false
		switch {
		case kind == signals.ErrorRetryable && input.Attempt < c.attempts(err):
			repeat = e.backOff(ctx, c, c.retry.Backoff(delay, input.Attempt))
			input.Attempt++
		case kind == signals.ErrorUnavailable:
			unavailable++
			repeat = e.backOff(ctx, c, signals.RetryLimits{}.Backoff(delay, unavailable))
		}
		if !repeat {
			c.rec.Attempts = c.scheduled
			e.settleCall(ctx, c, id, out, err, input.Key)
			return
		}
	}
}

// withdrawn says that the server cancelled the call's activity before a worker began it. An idempotent call may have
// been begun before, by a worker that was lost, since the server itself repeats it.
func (c *call) withdrawn(key string) {
	if c.rec.Class == signals.Idempotent {
		c.interrupted = signals.UnknownOutcome(c.name(), key)
	}
	c.enter(withdrawn)
}

func (e *execution) callInput(c *call) signals.CallInput {
	return signals.CallInput{
		ExecutionID: e.id, Seq: c.rec.Seq, Connector: c.rec.Connector, Method: c.rec.Method, Args: c.sentArgs(),
		Class: c.rec.Class,
		Key: cmp.Or(c.key,
			signals.IdempotencyKey(e.id, c.rec.Seq, c.rec.Connector, c.rec.Method, c.dispatchArgs())),
		Edited: len(c.editedArgs) > 0, Resolution: c.resolution, Caller: e.in.Caller,
	}
}

// backOff waits before a call is made again, which it is not once the execution ends.
func (e *execution) backOff(ctx workflow.Context, c *call, pause time.Duration) (again bool) {
	if e.end == nil {
		_, _ = workflow.AwaitWithTimeout(ctx, pause, func() bool { return e.end != nil })
	}
	e.checkBudgets(ctx)
	e.reserveTaskBytes(ctx, c)
	return e.end == nil
}

// attempts is how often a call is made that asks to be retried.
func (c *call) attempts(err error) int {
	if advice := adviceIn(err); advice.MaxAttempts > 0 {
		return advice.MaxAttempts
	}
	return c.retry.WithDefaults().Attempts
}

func adviceIn(err error) (advice signals.RetryAdvice) {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() {
		_ = app.Details(&advice)
	}
	return advice
}

// defaultCallTimeout bounds a gated call whose method names no timeout.
const defaultCallTimeout = 10 * time.Minute

func (e *execution) callOptions(ctx workflow.Context, c *call, id string, next *signals.NextPass) workflow.Context {
	limits := c.retry.WithDefaults()
	policy := &temporal.RetryPolicy{MaximumAttempts: 1}
	switch {
	case c.resolution != nil: // to check a result changes nothing
		policy = &temporal.RetryPolicy{MaximumAttempts: 10,
			NonRetryableErrorTypes: []string{signals.ErrorRetryable, signals.ErrorUnavailable}}
	case c.rec.Class != signals.Write: // for lost workers and timeouts; the workflow itself repeats what asks for it
		policy = &temporal.RetryPolicy{
			InitialInterval: limits.Backoff(0, 1), BackoffCoefficient: 2, MaximumInterval: limits.Backoff(0, 100),
			MaximumAttempts: int32(limits.Attempts), NonRetryableErrorTypes: []string{signals.ErrorRetryable},
		}
	}
	timeout := c.timeout
	if timeout <= 0 {
		timeout = defaultCallTimeout
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: id, TaskQueue: c.queue, StartToCloseTimeout: timeout, HeartbeatTimeout: HeartbeatTimeout,
		RetryPolicy: policy, WaitForCancellation: e.since(inOrder),
		Summary: c.summary(next),
	})
}

// summary tells what the call is made with, and which pass may follow in the same activity.
func (c *call) summary(next *signals.NextPass) string {
	text := fmt.Sprintf("#%d %s", c.rec.Seq, signals.Summary(c.dispatchArgs(), 100))
	if c.resolution != nil {
		text = fmt.Sprintf("#%d result given by %s", c.rec.Seq, cmp.Or(c.rec.DecidedBy, "a client"))
	}
	text = signals.Cut(text, 120)
	if next != nil {
		text += fmt.Sprintf(" → pass %d", next.Pass)
	}
	return text
}

// failureKind names the application error of a call activity: "" for success, and for every failure that is not one of
// ours, whose outcome is unknown.
func failureKind(err error) (kind string, delay time.Duration) {
	var app *temporal.ApplicationError
	var lost *temporal.TimeoutError // it holds what the attempt before the lost one answered
	if errors.As(err, &lost) || !errors.As(err, &app) {
		return "", 0
	}
	switch app.Type() {
	case signals.ErrorConnector, signals.ErrorRetryable, signals.ErrorInvalid, signals.ErrorUnavailable,
		signals.ErrorTooLarge:
		return app.Type(), time.Duration(adviceIn(err).AfterMs) * time.Millisecond
	}
	return "", 0
}

// settleCall records how a call ended.
func (e *execution) settleCall(ctx workflow.Context, c *call, activityID string, out signals.CallOutput, err error,
	key string) {
	kind, _ := failureKind(err)
	e.answered(c, out)
	given := signals.Given{ID: c.rec.Seq, At: workflow.Now(ctx).UnixMilli(), Attempts: c.rec.Attempts}
	switch {
	case err == nil:
		e.earlyPass = out.Next
		given.At, given.Source = cmp.Or(out.At, given.At), activityID
		if len(out.Value) <= signals.InlineValueBytes {
			given.Value, given.Carried = out.Value, true
		}
	case kind == signals.ErrorInvalid && (c.rec.RequiresApproval || c.resolution != nil):
		c.askAgain(e, given.At)
		c.refused = activityMessage(err)
		return
	case kind == "" && c.resolution != nil: // it was only to be checked, so that nothing is unknown
		c.askAgain(e, given.At)
		c.refused = "The given result could not be checked: " + activityMessage(err)
		return
	case kind == signals.ErrorTooLarge:
		given.Error = &signals.CallError{Message: activityMessage(err)}
		e.fail("%s", activityMessage(err))
	case kind == "" && c.askUnknown && e.end == nil:
		c.askAboutUnknown(e, signals.UnknownOutcome(c.name(), key), given.At)
		return
	case kind == "":
		given.Error = signals.UnknownOutcome(c.name(), key)
	default:
		given.Source, given.Carried = activityID, true
		given.Error = &signals.CallError{Message: activityMessage(err)}
	}
	e.settle(c, given)
	e.hold(&c.rec, nil, out.Value)
}

// askAboutUnknown leaves a call whose outcome is unknown to a person.
func (c *call) askAboutUnknown(e *execution, what *signals.CallError, now int64) {
	c.interrupted, c.requestedAt = what, now
	c.askAgain(e, now)
	c.rec.Error, c.rec.ErrorName = what.Message, what.Name
}

func (e *execution) settle(c *call, given signals.Given) {
	rejected := given.Error != nil && given.Error.Name == signals.RejectedError
	c.enter(settled)
	c.resolution, c.interrupted = nil, nil
	if !rejected { // a rejection may be taken back
		c.args, c.editedArgs = nil, nil
	}
	c.rec.SettledAt, c.rec.State = given.At, signals.Applied
	defer func() { e.countCall(c.rec) }()
	if given.Error != nil {
		c.rec.State, c.rec.Error, c.rec.ErrorName = signals.Errored, signals.Cut(given.Error.Message, maxHeldValue),
			signals.Cut(given.Error.Name, signals.MaxNameBytes)
	}
	if rejected {
		c.rec.State, c.rec.Ended = signals.Reverted, signals.CallRejected
		e.decisions = append(e.decisions, given)
		return
	}
	if given.Error == nil && c.rec.Class != signals.Read {
		e.effects++
	}
	e.settled = append(e.settled, given)
}

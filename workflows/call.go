package workflows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// call is what the workflow knows of one call of the program.
//
// A gated call that has not settled either waits for a person (pending: for approval, for its result, or for what to do
// about an unknown outcome), or runs (dispatched), or waits for the pass that issues it again, after which it is
// dispatched. What was decided about a call is taken back (dropDecision) if it led to nothing.
type call struct {
	rec          signals.Call // args and result only if small
	args         json.RawMessage
	timeout      time.Duration
	queue        string // empty is the workflow's own
	requestedAt  int64
	unsettled    bool // gated and not settled
	approved     bool
	dispatchable bool // the newest pass was told that it may be dispatched
	dispatched   bool
	editedArgs   json.RawMessage
	refused      string // why the last approval or result could not be used
	scheduled    int    // activities scheduled so far
	retry        signals.RetryLimits

	approvalsNeeded int      // people who have to approve
	people          string   // how they are told apart
	approvers       []string // who have approved the arguments that it would be dispatched with
	client          bool     // never made here: a client gives the result
	resolution      *signals.Resolution
	askUnknown      bool
	unknown         *signals.CallError // it was interrupted while it ran
	retried         bool               // a person wants it made again
}

func (c *call) name() string { return c.rec.Connector + "." + c.rec.Method }

// dispatchArgs are the arguments that the connector gets.
func (c *call) dispatchArgs() json.RawMessage {
	if len(c.editedArgs) > 0 {
		return c.editedArgs
	}
	return c.args
}

// sentArgs are the arguments that the call's activity gets. One that only checks a given result can do without, if both
// together are too large.
func (c *call) sentArgs() json.RawMessage {
	args := c.dispatchArgs()
	if c.resolution != nil && len(args)+len(c.resolution.Value) > maxResolutionBytes {
		return nil
	}
	return args
}

// maxResolutionBytes is what a given result and the arguments of its call may take together.
const maxResolutionBytes = 1 << 20

// Bytes of call values held for queries: in one value, and in all.
const (
	maxHeldValue = 1024
	maxHeldBytes = 64 * 1024
)

// hold returns values for the record if they are small enough to hold.
func (e *execution) hold(rec *signals.Call, args, result json.RawMessage) {
	size := len(args) + len(result)
	if len(args) > maxHeldValue || len(result) > maxHeldValue || e.heldBytes+size > maxHeldBytes {
		rec.Omitted = true
		return
	}
	e.heldBytes += size
	if len(args) > 0 {
		rec.Args = args
	}
	if !rec.Ephemeral && len(result) > 0 {
		rec.Result = result
	}
}

// add keeps the calls in seq order; most come in it.
func (e *execution) add(c *call) {
	at, known := slices.BinarySearchFunc(e.order, c, func(a, b *call) int { return a.rec.Seq - b.rec.Seq })
	if known {
		e.order[at] = c
	} else {
		e.order = slices.Insert(e.order, at, c)
	}
	e.calls[c.rec.Seq] = c
}

func (e *execution) addInlineCall(entry signals.Entry) {
	if entry.Timer || entry.Ephemeral && e.calls[entry.ID] != nil {
		return
	}
	if entry.Internal() {
		e.inline++
		return
	}
	c := &call{rec: signals.Call{
		Seq: entry.ID, Connector: entry.Connector, Method: entry.Method, State: signals.Applied, Class: entry.Class,
		Ephemeral: entry.Ephemeral, Position: entry.Position, SettledAt: entry.At, Revertable: entry.Revertable,
	}}
	if entry.Error != nil {
		c.rec.State, c.rec.Error, c.rec.ErrorName = signals.Errored, signals.Cut(entry.Error.Message, maxHeldValue),
			signals.Cut(entry.Error.Name, signals.MaxNameBytes)
	}
	e.hold(&c.rec, entry.Args, entry.Value)
	e.inline++
	e.add(c)
	e.countCall(c.rec)
}

func (e *execution) addGatedCall(ctx workflow.Context, b signals.Blocked) {
	c := &call{
		rec: signals.Call{
			Seq: b.Seq, Connector: b.Connector, Method: b.Method, State: signals.Executing, Class: b.Class,
			RequiresApproval: b.Approval, Position: b.Position, ArgsDigest: signals.Digest(b.Args),
			Revertable: b.Revertable,
		},
		args: b.Args, timeout: time.Duration(b.TimeoutMs) * time.Millisecond, queue: b.Queue, unsettled: true,
		dispatchable: true,
		requestedAt:  workflow.Now(ctx).UnixMilli(),
	}
	c.people = b.Approvers
	c.approvalsNeeded, c.client, c.askUnknown = max(1, b.Approvals), b.Client, b.AskUnknown
	if b.Retry != nil {
		c.retry = *b.Retry
	}
	if b.Approval || b.Client {
		c.rec.State = signals.Pending
	}
	e.hold(&c.rec, b.Args, nil)
	e.gated++
	e.add(c)
	e.approveRemembered(c, c.requestedAt)
}

// make runs the call's activity until it settles or is pending again.
func (e *execution) make(ctx workflow.Context, c *call) {
	input := signals.CallInput{
		ExecutionID: e.id, Seq: c.rec.Seq, Connector: c.rec.Connector, Method: c.rec.Method, Args: c.sentArgs(),
		Class:  c.rec.Class,
		Key:    signals.IdempotencyKey(e.id, c.rec.Seq, c.rec.Connector, c.rec.Method, c.dispatchArgs()),
		Edited: len(c.editedArgs) > 0, Resolution: c.resolution,
	}
	unavailable := 0
	for input.Attempt = 1; ; {
		c.scheduled++
		id := signals.CallActivityID(c.rec.Seq, c.scheduled)
		input.Next = e.nextPass(c)
		var out signals.CallOutput
		err := workflow.ExecuteActivity(e.callOptions(ctx, c, id, input.Next), c.name(),
			payload.MustRaw(input)).Get(ctx, &out)
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
		RetryPolicy: policy,
		Summary:     c.summary(next),
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
	given := signals.Given{ID: c.rec.Seq, At: workflow.Now(ctx).UnixMilli(), Attempts: c.rec.Attempts}
	switch {
	case err == nil:
		e.earlyPass = out.Next
		given.At, given.Source = cmp.Or(out.At, given.At), activityID
		if len(out.Value) <= signals.InlineValueBytes {
			given.Value, given.Carried = out.Value, true
		}
	case kind == signals.ErrorInvalid && (c.rec.RequiresApproval || c.resolution != nil):
		c.makePending()
		c.refused = activityMessage(err)
		return
	case kind == "" && c.resolution != nil: // it was only to be checked, so that nothing is unknown
		c.makePending()
		c.refused = "The given result could not be checked: " + activityMessage(err)
		return
	case kind == signals.ErrorTooLarge:
		given.Error = &signals.CallError{Message: activityMessage(err)}
		e.fail("%s", activityMessage(err))
	case kind == "" && c.askUnknown && e.end == nil:
		c.askAboutUnknown(unknownOutcome(c.name(), key), given.At)
		return
	case kind == "":
		given.Error = unknownOutcome(c.name(), key)
	default:
		given.Source, given.Carried = activityID, true
		given.Error = &signals.CallError{Message: activityMessage(err)}
	}
	e.settle(c, given)
	e.hold(&c.rec, nil, out.Value)
}

func unknownOutcome(name, key string) *signals.CallError {
	return &signals.CallError{Name: signals.OutcomeUnknown, Key: key, Message: fmt.Sprintf(
		"The outcome of %s is unknown: it was interrupted while it ran and may or may not have taken effect. Check "+
			"before you repeat it.", name)}
}

func (e *execution) settle(c *call, given signals.Given) {
	c.unsettled = false
	c.resolution, c.unknown = nil, nil
	if given.Error == nil || given.Error.Name != signals.RejectedError { // a rejection may be taken back
		c.args, c.editedArgs = nil, nil
	}
	c.rec.SettledAt, c.rec.State = given.At, signals.Applied
	defer func() { e.countCall(c.rec) }()
	if given.Error != nil {
		c.rec.State, c.rec.Error, c.rec.ErrorName = signals.Errored, signals.Cut(given.Error.Message, maxHeldValue),
			signals.Cut(given.Error.Name, signals.MaxNameBytes)
	}
	if given.Error != nil && given.Error.Name == signals.RejectedError {
		c.rec.State = signals.Reverted
		e.decisions = append(e.decisions, given)
		return
	}
	e.settled = append(e.settled, given)
}

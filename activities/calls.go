package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// host answers the calls of one pass.
type host struct {
	*Activities
	in      signals.PassInput
	lookups lookup.Lookups
	job     *job
	shelf   *signals.Shelf // nil if nothing is carried
	program *signals.Program
	teller  client.Client
}

// Admit looks a call up, checks its arguments, and says whether it is made inline.
func (h *host) Admit(c sandbox.Call) sandbox.Admission {
	if c.Connector == sandbox.PlatformConnector {
		return lookup.Admit(c.Method)
	}
	asked := connectors.Asked{Caller: h.in.Caller, Program: h.program}
	method, approval, err := h.Connectors.Check(asked, c.Connector, c.Method, c.Args)
	if a, carried := h.carry(c, method, err); carried {
		return a
	}
	if err != nil {
		return sandbox.Refuse(err)
	}
	target, err := method.TargetOf(c.Args)
	if err != nil {
		return sandbox.Refuse(err)
	}
	elsewhere := target != nil || h.queue("", c.Connector) != "" // a pass has only what its own worker can make
	gated := approval || method.Class != connectors.Read || elsewhere || method.ResolvedByClient ||
		method.Timeout > longestInline
	if gated && method.Class != connectors.Read {
		h.shelf.Acts()
	}
	return sandbox.Admission{
		Gated:     gated,
		EveryCall: !gated && !method.MayNeedApproval() && !h.shelf.Has(c.Connector, c.Method),
		Approval:  approval || method.ResolvedByClient, // it waits for a person
		Class:     method.Class,
		Ephemeral: method.Reexecute && !elsewhere, Timeout: method.Timeout,
	}
}

// queue is the task queue of a connector's calls, empty for the runtime's.
func (a *Activities) queue(runtime, connector string) string {
	if slices.Contains(a.OwnQueues, connector) {
		return signals.ConnectorTaskQueue(runtime, connector)
	}
	return ""
}

// longestInline is the longest timeout of a read that a pass makes itself: passes have an end, see passBound.
const longestInline = 30 * time.Minute

// Call makes an inline read. One that asks for another attempt becomes a gated call with Temporal's retries. One that
// takes long goes on, up to the timeout of its method: the pass holds nothing scarce meanwhile.
func (h *host) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	h.job.call()
	ctx, span := startSpan(ctx, h.in.ExecutionID, c)
	settled := h.settle(ctx, c)
	endSpan(span, settled)
	return settled
}

func (h *host) settle(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Connector == sandbox.PlatformConnector {
		return h.lookUp(ctx, c)
	}
	method, err := h.Connectors.Lookup(c.Connector, c.Method)
	if err != nil {
		return sandbox.Fail(err)
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if method.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, method.Timeout)
	}
	defer cancel()
	told, done := h.job.reads.begin(c.Seq, c.Connector+"."+c.Method)
	defer done()
	value, err := method.Invoke(connectors.Context{
		Context: limited, ExecutionID: h.in.ExecutionID, Seq: c.Seq, Attempt: 1, // a read needs no idempotency key
		Caller: h.in.Caller, Progress: told,
	}, c.Args)
	if err == nil {
		h.learner.Saw(h.teller, method, value)
		return sandbox.Settlement{Value: value}
	}
	var retryable *connectors.RetryableError
	var unknown *connectors.OutcomeUnknownError
	var waiting *connectors.WaitingError
	switch {
	case errors.As(err, &waiting):
		return sandbox.Settlement{Escalate: true}
	case limited.Err() != nil && ctx.Err() == nil:
		message := fmt.Sprintf("%s.%s took longer than its timeout of %s.", c.Connector, c.Method, method.Timeout)
		return sandbox.Settlement{Err: &signals.CallError{Name: timeoutError, Message: message}}
	case errors.As(err, &retryable), errors.As(err, &unknown):
		return sandbox.Settlement{Escalate: true}
	}
	return sandbox.Fail(err)
}

// timeoutError is the name of the error of a read that took too long, as AbortSignal.timeout names its own.
const timeoutError = "TimeoutError"

// lookUpTimeout bounds what a program asks codemode itself.
const lookUpTimeout = 10 * time.Second

func (h *host) lookUp(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	limited, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	return h.lookups.Call(limited, c)
}

// Call is the activity of every gated call, and of every undoing of one; its type in history is <connector>.<method>
// or <connector>.<method>.revert.
func (a *Activities) Call(ctx context.Context, args converter.EncodedValues) (converter.RawValue, error) {
	var in signals.CallInput
	var missing *payload.KeyError
	err := args.Get(&in)
	if errors.As(err, &missing) {
		return converter.RawValue{}, retryableError(signals.ErrorUnavailable, missing.Error(), 0, 0)
	}
	if err != nil {
		return converter.RawValue{}, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("%s takes a codemode call: %v", activity.GetInfo(ctx).ActivityType.Name, err),
			signals.ErrorConnector, nil)
	}
	pulse := beat(ctx)
	defer pulse.stop()
	made := ctx
	if in.Class == signals.Write {
		var done context.CancelFunc
		made, done = untilLost(ctx)
		defer done()
	}
	if prepared, err := a.prepare(ctx, in); err != nil || prepared != nil {
		if err != nil {
			return converter.RawValue{}, err
		}
		return payload.Raw(signals.CallOutput{Prepared: prepared})
	}
	value, err := a.call(made, in, pulse.told)
	if err != nil && in.Class == signals.Read && cancelRequested(ctx) {
		return converter.RawValue{}, temporal.NewCanceledError() // nothing is unknown about a read
	}
	if err != nil {
		return converter.RawValue{}, err
	}
	return a.goOn(ctx, in, value)
}

// untilLost is the context of a write that runs: it goes on when the execution no longer wants it, since its effect
// belongs to the record; it ends with the worker, at its deadline, or when the server has given it up.
func untilLost(ctx context.Context) (context.Context, context.CancelFunc) {
	write, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !cancelRequested(ctx) {
			cancel(context.Cause(ctx))
		}
	})
	bounded, end := write, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		bounded, end = context.WithDeadline(write, deadline)
	}
	return bounded, func() { stop(); end(); cancel(nil) }
}

// cancelRequested reports whether an activity's context ended because the workflow asked for it.
func cancelRequested(ctx context.Context) bool {
	var canceled *temporal.CanceledError
	return ctx.Err() != nil && errors.As(context.Cause(ctx), &canceled)
}

func (a *Activities) call(ctx context.Context, in signals.CallInput,
	progress func(connectors.Progress)) (json.RawMessage, error) {
	if !a.Connectors.Has(in.Connector) {
		return nil, retryableError(signals.ErrorUnavailable,
			fmt.Sprintf("connector %q is not configured on this worker", in.Connector), 0, 0)
	}
	method, err := a.Connectors.Lookup(in.Connector, in.Method)
	var unavailable *connectors.UnavailableError
	switch {
	case errors.As(err, &unavailable): // it was there when the call was issued: another worker may have it
		return nil, retryableError(signals.ErrorUnavailable, err.Error(), 0, 0)
	case err != nil:
		return nil, applicationError(signals.ErrorConnector, err.Error(), false, 0)
	}
	if in.Revert != nil {
		return nil, a.revert(ctx, in, method)
	}
	if in.Resolution != nil {
		return checkGiven(method, in.Resolution.Value)
	}
	if err := a.checkEdited(method, in); err != nil {
		return nil, err
	}
	value, err := method.Invoke(connectors.Context{
		Context: ctx, ExecutionID: in.ExecutionID, Seq: in.Seq, IdempotencyKey: in.Key, Attempt: attempt(ctx, in),
		Progress: progress, Caller: in.Caller,
	}, in.Args)
	if err != nil {
		return nil, a.failure(ctx, in, err)
	}
	if message := signals.CheckSizeWithin(fmt.Sprintf("The result of %s.%s", in.Connector, in.Method), value,
		payload.MaxValueBytes(a.DataConverter)); message != "" {
		return nil, applicationError(signals.ErrorTooLarge, message, false, 0)
	}
	a.learner.Saw(teller(ctx), method, value)
	return value, nil
}

// attempt counts from 1: those that the workflow makes, and Temporal's repetitions of the one that runs.
func attempt(ctx context.Context, in signals.CallInput) int {
	return max(in.Attempt, 1) - 1 + int(activity.GetInfo(ctx).Attempt)
}

// checkEdited validates arguments that a person wrote; the program's own were validated when they were issued.
func (a *Activities) checkEdited(method *connectors.Bound, in signals.CallInput) error {
	if !in.Edited {
		return nil
	}
	if err := method.Validate(in.Args); err != nil {
		return applicationError(signals.ErrorInvalid, err.Error(), false, 0)
	}
	return nil
}

// checkGiven validates a result that a client gave.
func checkGiven(method *connectors.Bound, value json.RawMessage) (json.RawMessage, error) {
	if err := method.ValidateResult(value); err != nil {
		return nil, applicationError(signals.ErrorInvalid, err.Error(), false, 0)
	}
	return value, nil
}

// callFailure types what the connector answered. Anything that is not the connector's own answer leaves the outcome
// unknown, which for writes is final.
func callFailure(ctx context.Context, err error) error {
	var retryable *connectors.RetryableError
	var unknown *connectors.OutcomeUnknownError
	var result *connectors.ResultError
	var waiting *connectors.WaitingError
	switch {
	case errors.As(err, &waiting):
		return retryableError(signals.ErrorUnavailable, err.Error(), 0, 0)
	case errors.As(err, &result):
		return applicationError(signals.ErrorTooLarge, err.Error(), false, 0)
	case errors.As(err, &retryable):
		return retryableError(signals.ErrorRetryable, err.Error(), retryable.RetryAfter, 0)
	case errors.As(err, &unknown), ctx.Err() != nil:
		return applicationError(signals.OutcomeUnknown, err.Error(), true, 0)
	}
	return applicationError(signals.ErrorConnector, err.Error(), false, 0)
}

func applicationError(kind, message string, retryable bool, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(signals.Cut(message, sandbox.MaxMessage), kind,
		temporal.ApplicationErrorOptions{
			NonRetryable: !retryable, NextRetryDelay: delay, Category: temporal.ApplicationErrorCategoryBenign,
		})
}

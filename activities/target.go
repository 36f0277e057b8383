package activities

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// prepare answers a call that a team's own activity or workflow makes, and its undoing: what that is called with. It is
// nil where an activity of ours makes the call, or only checks a given result.
func (a *Activities) prepare(ctx context.Context, in signals.CallInput) (*signals.Prepared, error) {
	if in.Revert != nil {
		return a.prepareRevert(ctx, in)
	}
	method, err := a.Connectors.Lookup(in.Connector, in.Method)
	if err != nil || method.Target == nil || in.Resolution != nil {
		return nil, nil // whoever makes the call says what is wrong
	}
	if err := a.checkEdited(method, in); err != nil {
		return nil, err
	}
	return preparedFor(method, in.Args, in.Key)
}

func preparedFor(method *connectors.Bound, args []byte, key string) (*signals.Prepared, error) {
	t, err := method.TargetOf(args)
	if err != nil {
		return nil, applicationError(signals.ErrorInvalid, err.Error(), false, 0)
	}
	return &signals.Prepared{Target: *t, Path: method.Path(), Args: args, Key: key, Class: method.Class,
		TimeoutMs: method.Timeout.Milliseconds(), Retry: wireRetry(method.Retry)}, nil
}

// wireRetry is nil where nothing is said.
func wireRetry(r connectors.RetryLimits) *signals.RetryLimits {
	if r == (connectors.RetryLimits{}) {
		return nil
	}
	return &signals.RetryLimits{Attempts: r.Attempts, InitialMs: r.Backoff.Milliseconds(),
		MaxMs: r.MaxBackoff.Milliseconds()}
}

// noStandalone remembers that the server has no standalone activities.
type noStandalone struct{ atomic.Bool }

// readsByTarget reports whether a pass can have a team's own activity make a read. Otherwise the workflow does.
func (h *host) readsByTarget(t *signals.Target) bool {
	return t.Workflow == "" && h.teller != nil && !h.noStandalone.Load()
}

// targetTimeout bounds a read by a team's own activity whose method names no timeout.
const targetTimeout = 10 * time.Minute

// readByTarget makes a read by a team's own activity, as a standalone one. Where the server has none, the workflow makes
// the call.
func (h *host) readByTarget(ctx context.Context, c sandbox.Call, method *connectors.Bound) sandbox.Settlement {
	t, err := method.TargetOf(c.Args)
	if err != nil {
		return sandbox.Fail(err)
	}
	key := signals.IdempotencyKey(h.in.ExecutionID, c.Seq, c.Connector, c.Method, c.Args)
	args, err := payload.TargetArguments(*t, c.Args, key)
	if err != nil {
		return sandbox.Fail(err)
	}
	handle, err := h.teller.ExecuteActivity(ctx, h.standalone(t, method, c), t.Activity, args...)
	if rpcerr.Unimplemented(err) {
		h.noStandalone.Store(true)
	}
	if err != nil {
		return sandbox.Settlement{Escalate: true}
	}
	defer context.AfterFunc(ctx, func() { cancelStandalone(handle) })()
	var raw converter.RawValue
	if err := handle.Get(ctx, &raw); err != nil {
		return failedRead(method, err)
	}
	value, unreadable := payload.TargetValue(method.Path(), raw)
	if unreadable != nil {
		return sandbox.Settlement{Err: unreadable}
	}
	h.learner.Saw(h.teller, method, value)
	return sandbox.Settlement{Value: value}
}

func (h *host) standalone(t *signals.Target, method *connectors.Bound, c sandbox.Call) client.StartActivityOptions {
	limits := signals.RetryLimits{}
	if r := wireRetry(method.Retry); r != nil {
		limits = *r
	}
	timeout := method.Timeout
	if timeout <= 0 {
		timeout = targetTimeout
	}
	return client.StartActivityOptions{
		// A pass that is made again makes its reads again, and may run beside one that comes too late.
		ID:        fmt.Sprintf("codemode/%s/%s/call-%d/%s", h.in.Runtime, h.in.ExecutionID, c.Seq, rand.Text()[:8]),
		TaskQueue: t.Queue, StartToCloseTimeout: timeout, ScheduleToCloseTimeout: 4 * timeout,
		HeartbeatTimeout: time.Duration(t.HeartbeatMs) * time.Millisecond,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: limits.Backoff(0, 1), BackoffCoefficient: 2,
			MaximumInterval: limits.Backoff(0, 100), MaximumAttempts: int32(limits.WithDefaults().Attempts)},
		Summary: signals.Cut(fmt.Sprintf("#%d %s", c.Seq, signals.Summary(c.Args, 100)), 120),
	}
}

// cancelStandalone tells the team's worker that nobody waits any more.
func cancelStandalone(handle client.ActivityHandle) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = handle.Cancel(ctx, client.CancelActivityOptions{Reason: "the pass has ended"})
}

// failedRead is how a read by a team's own activity failed.
func failedRead(method *connectors.Bound, err error) sandbox.Settlement {
	var app *temporal.ApplicationError
	var late *temporal.TimeoutError
	switch {
	case errors.As(err, &late) && late.TimeoutType() != 0:
		return sandbox.Settlement{Err: &signals.CallError{Name: timeoutError,
			Message: method.Path() + " took longer than its timeout."}}
	case !errors.As(err, &app):
		return sandbox.Fail(err)
	}
	failure := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{}).ErrorToFailure(app)
	failed := payload.TargetError(failure, func(_ *commonpb.Payloads, into ...any) error { return app.Details(into...) })
	if failed == nil {
		return sandbox.Fail(err)
	}
	return sandbox.Settlement{Err: failed}
}

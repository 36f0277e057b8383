package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// failure types a failed attempt, and asks the policy, if there is one, whether the call is made again.
func (a *Activities) failure(ctx context.Context, in signals.CallInput, err error) error {
	typed := callFailure(ctx, err)
	var away *connectors.UnavailableError
	if errors.As(err, &away) && in.Class == signals.Idempotent && attempt(ctx, in) > 1 {
		// The attempt before may have taken effect and been lost with the server; only another answer would tell.
		typed = applicationError(signals.OutcomeUnknown, err.Error(), true, 0)
	}
	var app *temporal.ApplicationError
	if a.RetryPolicy == nil || !errors.As(typed, &app) || app.Type() == signals.ErrorTooLarge {
		return typed
	}
	unknown := app.Type() == signals.OutcomeUnknown
	if unknown && in.Class == signals.Write {
		return typed
	}
	d, failed := a.judge(ctx, connectors.FailedAttempt{
		ExecutionID: in.ExecutionID, Connector: in.Connector, Method: in.Method, Seq: in.Seq, Class: in.Class,
		Attempt: attempt(ctx, in), Err: err, Unknown: unknown,
		Retryable: unknown || app.Type() == signals.ErrorRetryable,
	})
	switch {
	case failed != nil:
		return applicationError(signals.ErrorConnector, fmt.Sprintf("%v (%v)", err, failed), false, 0)
	case d.Retry:
		return retryableError(signals.ErrorRetryable, err.Error(), d.After, d.Attempts)
	case unknown:
		return applicationError(signals.OutcomeUnknown, err.Error(), false, 0)
	}
	return applicationError(signals.ErrorConnector, err.Error(), false, 0)
}

// judge asks the policy. One that panics, or asks for what is not allowed, ends the call.
func (a *Activities) judge(ctx context.Context, f connectors.FailedAttempt) (d connectors.RetryDecision, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the retry policy panicked: %v", r)
		}
	}()
	d = a.RetryPolicy(ctx, f)
	return d, d.Check()
}

// retryableError asks for another attempt. The advice is for the workflow, which does not see the delay that Temporal
// itself goes by.
func retryableError(kind, message string, after time.Duration, attempts int) error {
	advice := signals.RetryAdvice{MaxAttempts: attempts, AfterMs: after.Milliseconds()}
	return temporal.NewApplicationErrorWithOptions(signals.Cut(message, sandbox.MaxMessage), kind,
		temporal.ApplicationErrorOptions{
			NextRetryDelay: after, Category: temporal.ApplicationErrorCategoryBenign, Details: []any{advice},
		})
}

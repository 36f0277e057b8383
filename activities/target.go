package activities

import (
	"cmp"
	"context"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
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

// targetOf is what makes a gated call. The pass settles a workflow's id, so that a replay under another id of the
// execution starts the same one.
func targetOf(method *connectors.Bound, executionID string, b sandbox.BlockedCall, earlier *signals.Offer) (
	*signals.Target, error) {
	t, err := method.TargetOf(b.Args)
	if t == nil || t.Workflow == "" || t.ID != "" {
		return t, err
	}
	if earlier != nil && earlier.Error != nil {
		t.ID = earlier.Error.Key
	}
	t.ID = cmp.Or(t.ID, signals.IdempotencyKey(executionID, b.Seq, b.Connector, b.Method, b.Args))
	return t, nil
}

func preparedFor(method *connectors.Bound, args []byte, key string) (*signals.Prepared, error) {
	t, err := method.TargetOf(args)
	if err != nil {
		return nil, applicationError(signals.ErrorInvalid, err.Error(), false, 0)
	}
	if t.Workflow != "" {
		t.ID = cmp.Or(t.ID, key)
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

// learnFrom learns what a team's own activities and workflows answered, which no activity of ours has seen.
func (a *Activities) learnFrom(ctx context.Context, given []signals.Given, log *signals.Log) {
	for _, g := range given {
		b, issued := log.Blocked[g.ID]
		if !issued || b.Target == nil || b.Target.NoWait || g.Kind != "" || g.Error != nil {
			continue
		}
		if method, err := a.Connectors.Lookup(b.Connector, b.Method); err == nil {
			a.learner.Saw(teller(ctx), method, g.Value)
		}
	}
}

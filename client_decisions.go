package codemode

import (
	"context"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// Approve lets pending calls run and waits for the outcome after that: where more people have to approve, that is the
// paused one. An approval that does not apply changes nothing and is an error outcome.
func (c *Client) Approve(ctx context.Context, id string, a signals.Approve) (signals.Outcome, error) {
	return c.sendAndWait(ctx, id, a)
}

// Retry makes a call again whose outcome is unknown, with the same idempotency key, and waits for the outcome after
// that. A retry that does not apply changes nothing and is an error outcome.
func (c *Client) Retry(ctx context.Context, id string, r signals.Retry) (signals.Outcome, error) {
	return c.sendAndWait(ctx, id, r)
}

// Resolve gives the result of a call that clients resolve, or whose outcome is unknown, and waits for the outcome after
// that. A result that does not match the method's output schema leaves the call pending; the outcome tells why.
func (c *Client) Resolve(ctx context.Context, id string, r signals.Resolve) (signals.Outcome, error) {
	return c.sendAndWait(ctx, id, r)
}

// Reject refuses a pending call. It answers false where nothing was to be rejected; Decide tells why. Without Continue
// it returns when the execution has ended.
func (c *Client) Reject(ctx context.Context, id string, r signals.Reject) (bool, error) {
	v, err := c.Decide(ctx, id, r)
	if err != nil || !v.Accepted {
		return false, err
	}
	if !r.Continue {
		_, err = c.Wait(ctx, id, v.Pass)
	}
	return true, err
}

// Decide sends a decision of any kind, or several in one message, and answers at once, without waiting for what
// follows: whether it applied, or why not.
func (c *Client) Decide(ctx context.Context, id string, m signals.Message) (signals.Verdict, error) {
	return c.decide(ctx, id, m.Signal(), m)
}

func (c *Client) sendAndWait(ctx context.Context, id string, m signals.Message) (signals.Outcome, error) {
	v, err := c.Decide(ctx, id, m)
	switch {
	case err != nil:
		return signals.Outcome{}, err
	case !v.Accepted:
		return signals.ErrorOutcome(id, v.Error), nil
	}
	return c.Wait(ctx, id, v.Pass)
}

// decide sends a decision as an update. For a closed execution the answer is made here, in the same words.
func (c *Client) decide(ctx context.Context, id, name string, decision any) (signals.Verdict, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	var v signals.Verdict
	err := c.update(guarded, id, name, decision, &v)
	if !rpcerr.NotFound(err) {
		return v, guardError(guarded, err)
	}
	record, err := c.Show(ctx, id)
	if err != nil {
		return signals.Verdict{}, err
	}
	return signals.Verdict{Error: signals.NotPaused(id, record.Status), Status: record.Status}, nil
}

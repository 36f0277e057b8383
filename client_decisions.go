package codemode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
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
// that. A result that does not match the method's output schema changes nothing and is an error outcome.
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
// follows: whether it applied, or why not. Edited arguments and given results that do not match their schema are
// refused before they are sent, where a worker of the runtime answers within a second.
func (c *Client) Decide(ctx context.Context, id string, m signals.Message) (signals.Verdict, error) {
	if problem := c.check(ctx, id, m); problem != "" {
		return signals.Verdict{Error: problem, Status: signals.Paused, Invalid: true}, nil
	}
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

// decide sends a decision. For a closed execution the answer is made here, in the same words.
func (c *Client) decide(ctx context.Context, id, name string, decision any) (signals.Verdict, error) {
	v, err := c.send(ctx, id, name, decision)
	if !rpcerr.NotFound(err) {
		return v, err
	}
	record, err := c.Show(ctx, id)
	if err != nil {
		return signals.Verdict{}, err
	}
	return signals.Verdict{Error: signals.NotPaused(id, record.Status), Status: record.Status}, nil
}

// send sends a decision as an update, or where the run takes no more of those, as a signal.
func (c *Client) send(ctx context.Context, id, name string, decision any) (signals.Verdict, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	var v signals.Verdict
	err := c.update(guarded, id, name, decision, &v)
	if why, ok := refused(err); ok {
		return why, nil
	}
	if rpcerr.NoMoreUpdates(err) {
		v, err = c.signal(guarded, id, name, decision)
	}
	return v, guardError(guarded, err)
}

// signal sends a decision as a signal, and asks for the verdict.
func (c *Client) signal(ctx context.Context, id, name string, decision any) (signals.Verdict, error) {
	request := signals.VerdictOf{RequestID: rand.Text()}
	workflowID := signals.WorkflowID(c.runtime, id)
	message, err := under(decision, request.RequestID)
	if err == nil {
		err = c.temporal.SignalWorkflow(ctx, workflowID, "", name, payload.MustRaw(message))
	}
	if err != nil {
		return signals.Verdict{}, err
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var v *signals.Verdict
		if err := c.query(ctx, id, signals.QueryVerdict, &v, request); err != nil {
			return signals.Verdict{}, err
		}
		if v != nil {
			return *v, nil
		}
		if err := wait.For(ctx, pause); err != nil {
			return signals.Verdict{}, err
		}
	}
}

// under is a decision with the id under which its verdict can be asked for.
func under(decision any, requestID string) (map[string]any, error) {
	text, err := signals.Marshal(decision)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	message := map[string]any{"requestId": requestID}
	for name, value := range fields {
		message[name] = value
	}
	return message, nil
}

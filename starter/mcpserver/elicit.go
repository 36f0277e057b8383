package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/signals"
)

// decided asks the person at the client about pending calls, one after the other, until the execution goes on to an
// outcome that no decision here changes.
func (s *session) decided(ctx context.Context, out signals.Outcome, err error) (signals.Outcome, error) {
	for err == nil && s.canAsk && out.Status == signals.Paused && len(out.Pending) > 0 && ctx.Err() == nil {
		var done bool
		if out, done, err = s.ask(ctx, out); done {
			break
		}
	}
	return out, err
}

// ask puts one pending call to the person and does as told. It is done when nothing was decided. A decision that comes
// in elsewhere meanwhile ends the question.
func (s *session) ask(ctx context.Context, out signals.Outcome) (next signals.Outcome, done bool, err error) {
	action := out.Pending[0]
	f := newForm(action, s.schemaOf(ctx, action), s.HowToDecide(out.ExecutionID))
	type reply struct {
		*mcp.ElicitationResult
		err error
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.report(ctx, fmt.Sprintf("execution %s waits for a person to decide about %s.%s", out.ExecutionID,
		action.Connector, action.Method))()
	replies, elsewhere := make(chan reply, 1), make(chan signals.Outcome, 1)
	go func() {
		r, err := s.mcp.RequestElicitation(asking, f.request())
		replies <- reply{r, err}
	}()
	go func() {
		durable, ok := s.Runtime.(Durable)
		if !ok {
			return
		}
		if o, err := durable.Wait(asking, out.ExecutionID, out.Pass); err == nil {
			elsewhere <- o
		}
	}()
	select {
	case o := <-elsewhere:
		return o, false, nil
	case <-ctx.Done():
		return out, true, nil
	case r := <-replies:
		if r.err != nil {
			return out, true, nil // the client could not ask after all: the outcome says how else to decide
		}
		return s.act(ctx, out, f, r.ElicitationResult)
	}
}

func (s *session) act(ctx context.Context, out signals.Outcome, f *form, r *mcp.ElicitationResult) (signals.Outcome,
	bool, error) {
	chosen, err := f.read(r)
	durable, lasts := s.Runtime.(Durable)
	switch {
	case !lasts: // nothing of it can be pending
		return out, true, nil
	case err != nil:
		f.action.Refused = err.Error()
		out.Pending[0] = f.action
		return out, false, nil // ask again and say why
	case chosen.decision == approve:
		next, err := s.await(ctx, out.ExecutionID, func(ctx context.Context) (signals.Outcome, error) {
			return durable.Approve(ctx, out.ExecutionID, signals.Approve{
				Seqs: []int{f.action.Seq}, ArgsDigest: f.action.ArgsDigest, Args: chosen.args, Note: chosen.note,
				By: s.by(),
			})
		})
		// it did not apply: somebody else was faster
		if err == nil && next.Status == signals.Failed && len(next.Calls) == 0 {
			next, err = s.latest(ctx, out.ExecutionID)
		}
		return next, false, err
	case chosen.decision == reject:
		_, err := durable.Reject(ctx, out.ExecutionID,
			signals.Reject{Seq: &f.action.Seq, Reason: chosen.note, By: s.by()})
		if err != nil {
			return out, true, err
		}
		next, err := s.latest(ctx, out.ExecutionID)
		return next, false, err
	}
	return out, true, nil
}

// by is the claim that a decision carries: at the client of whom it was taken. The client answers for the person; no
// door has authenticated anybody, even where the client came with a token.
func (s *session) by() string {
	name := cmp.Or(s.owner, s.By)
	switch {
	case name != "" && s.client != "":
		return name + " (at " + s.client + ")"
	case s.client != "":
		return "the user of " + s.client
	}
	return name
}

func (s *session) schemaOf(ctx context.Context, a signals.PendingAction) json.RawMessage {
	m, err := s.Runtime.Method(ctx, a.Connector, a.Method)
	if err != nil {
		return nil // the worker that makes the call checks what a person writes, in any case
	}
	return m.InputSchema
}

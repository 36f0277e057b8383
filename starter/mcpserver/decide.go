package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// decided is what a person decided about one call.
type decided struct {
	key      string
	decision signals.OneDecision
}

func (d decided) message() signals.Message {
	if d.decision.Reject != nil {
		return *d.decision.Reject
	}
	return *d.decision.Approve
}

// take takes what people answered, each call on its own, and gives the outcome that follows.
func (s *session) take(ctx context.Context, id string, calls []askedCall, given answers) (signals.Outcome, error) {
	durable, ok := s.Runtime.(Durable)
	if !ok {
		return signals.ErrorOutcome(id, signals.NoExecution(id)), nil
	}
	pending, err := durable.Pending(ctx, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	list := s.decisions(ctx, pending, calls, given)
	pass, err := s.send(ctx, durable, id, list)
	switch {
	case err != nil:
		return signals.Outcome{}, err
	case pass > 0:
		return s.next(ctx, id, pass)
	case s.went(given):
		return s.elsewhereDecided(ctx, id)
	}
	return s.latest(ctx, id)
}

// decisions are what answers say about calls that still wait for them.
func (s *session) decisions(ctx context.Context, pending []signals.PendingAction, calls []askedCall, given answers,
) []decided {
	var list []decided
	rejected := 0
	schemas := map[string]json.RawMessage{}
	for _, c := range calls {
		r, at := given[c.Key], slices.IndexFunc(pending, func(a signals.PendingAction) bool {
			return a.Seq == c.Seq && a.ArgsDigest == c.Digest
		})
		if r == nil || at < 0 { // not answered, or decided elsewhere
			continue
		}
		f := newForm(pending[at], s.schemaOf(ctx, pending[at], schemas), s.HowToDecide(pending[at].ExecutionID),
			s.groups()...)
		d, ok := s.decisionOf(f, c, r)
		if !ok {
			continue
		}
		list = append(list, d)
		if d.decision.Reject != nil {
			rejected++
		}
	}
	if rejected > 0 && rejected == len(pending) { // nothing is left for which the program would go on
		list = list[:1]
		list[0].decision.Reject.Continue = false
	}
	return list
}

// maxTries is how often a person is asked again whose answers cannot be used.
const maxTries = 5

// decisionOf is what an answer says about a call. A rejected one throws, so that what is decided about others counts.
func (s *session) decisionOf(f *form, c askedCall, r *mcp.ElicitResult) (decided, bool) {
	chosen, err := f.read(r)
	delete(s.refused, c.Key)
	switch {
	case err != nil:
		s.askAgain(c.Key, err.Error())
	case chosen.decision == approve:
		a := &signals.Approve{Seqs: []int{c.Seq}, ArgsDigest: c.Digest, Args: chosen.args, Note: chosen.note,
			By: s.by()}
		s.sign(a, f.action.ApproverRule)
		return decided{c.Key, signals.OneDecision{Approve: a}}, true
	case chosen.decision == reject:
		return decided{c.Key, signals.OneDecision{Reject: &signals.Reject{Seq: &c.Seq, Reason: chosen.note,
			Continue: true, By: s.by(), AssertedBy: s.asserted()}}}, true
	default:
		s.left[c.Key] = true
	}
	return decided{}, false
}

// askAgain leaves a question open whose answer cannot be used, for some tries.
func (s *session) askAgain(key, why string) {
	if s.asked[key]++; s.asked[key] < maxTries {
		s.refused[key] = why
	} else {
		s.left[key] = true
	}
}

// send sends decisions, in one message where they apply together. It gives the pass after which their outcome comes; 0
// if nothing applied.
func (s *session) send(ctx context.Context, durable Durable, id string, list []decided) (pass int, err error) {
	if len(list) > 1 {
		var mixed signals.Mixed
		for _, d := range list {
			mixed = append(mixed, d.decision)
		}
		v, err := durable.Decide(ctx, id, signals.Approve{Decisions: mixed})
		if err != nil || v.Accepted {
			return v.Pass, err
		}
	}
	for _, d := range list { // one of them does not apply, which is no reason against the others
		v, err := durable.Decide(ctx, id, d.message())
		switch {
		case err != nil:
			return 0, err
		case v.Accepted:
			pass = v.Pass
		case v.Invalid:
			s.askAgain(d.key, v.Error)
		default:
			s.left[d.key] = true
		}
	}
	return pass, nil
}

// went reports whether a person went to the console, who is not sent there again.
func (s *session) went(given answers) (went bool) {
	for key, r := range given {
		if strings.HasPrefix(key, pagePrefix) {
			s.left[key] = true
			went = went || r.Action == accepted
		}
	}
	return went
}

// elsewhereDecided waits for a while for what a person decides in the console.
func (s *session) elsewhereDecided(ctx context.Context, id string) (signals.Outcome, error) {
	out, err := s.latest(ctx, id)
	if err != nil || out.Status != signals.Paused {
		return out, err
	}
	next, err := s.next(ctx, id, out.Pass)
	if err != nil || next.Status == signals.Running {
		return out, err
	}
	return next, nil
}

var _ Durable = (*codemode.Client)(nil)

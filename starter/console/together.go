package console

import (
	"context"
	"slices"

	"github.com/temporal-codemode/codemode/signals"
)

// mostTogether is how many decisions one message takes.
const mostTogether = 500

// together says that a decision can share a message with others about its execution: it is about one call and does not
// end the execution.
func (d decision) together() bool {
	switch d.Action {
	case actionApprove, actionRetry, actionResolve:
		return true
	case actionReject:
		return d.Continue
	}
	return false
}

// stretches cuts decisions about one execution into those that one message takes.
func stretches(list []decision, numbers []int) [][]int {
	var all [][]int
	for at, n := range numbers {
		last := len(all) - 1
		if at > 0 && list[n].together() && list[numbers[at-1]].together() && len(all[last]) < mostTogether {
			all[last] = append(all[last], n)
			continue
		}
		all = append(all, []int{n})
	}
	return all
}

// decideTogether sends decisions about one execution in one message, so that one pass follows and not one for each.
// What no longer waits as it was shown keeps nobody from deciding about the rest.
func (c *Console) decideTogether(ctx context.Context, who Identity, list []decision) []error {
	errs := make([]error, len(list))
	r, err := c.runtime(list[0].Runtime)
	if err != nil {
		return slices.Repeat([]error{err}, len(list))
	}
	looked := Runtime{Name: r.Name, Client: &lookedOnce{Client: r.Client}, Inbox: r.Inbox}
	var mixed signals.Mixed
	var sent []int
	for n, d := range list {
		m, err := c.checked(ctx, looked, who, d)
		if errs[n] = err; err == nil {
			mixed, sent = append(mixed, oneOf(m)), append(sent, n)
		}
	}
	switch len(sent) {
	case 0:
		return errs
	case 1:
		errs[sent[0]] = c.send(ctx, r, who, list[sent[0]])
		return errs
	}
	verdict, err := r.Client.Decide(ctx, list[0].Execution, signals.Approve{Decisions: mixed})
	if err == nil && !verdict.Accepted { // one of them does not apply: who knows which
		for _, n := range sent {
			errs[n] = c.send(ctx, r, who, list[n])
		}
		return errs
	}
	for _, n := range sent {
		errs[n] = refusal(verdict.Accepted, verdict.Error, err)
	}
	return errs
}

// checked words a decision, or says why it cannot apply any more.
func (c *Console) checked(ctx context.Context, r Runtime, who Identity, d decision) (signals.Message, error) {
	if d.Action == actionApprove { // others are compared when they are worded
		if err := c.stillPending(ctx, r, d.key); err != nil {
			return nil, err
		}
	}
	by, asserted := d.names(who)
	m, err := c.message(ctx, r, d, by, asserted)
	if err == nil {
		if problem := m.Check(); problem != nil {
			err = badRequest("%v", problem)
		}
	}
	return m, err
}

func oneOf(m signals.Message) signals.OneDecision {
	switch m := m.(type) {
	case signals.Approve:
		return signals.OneDecision{Approve: &m}
	case signals.Reject:
		return signals.OneDecision{Reject: &m}
	case signals.Retry:
		return signals.OneDecision{Retry: &m}
	case signals.Resolve:
		return signals.OneDecision{Resolve: &m}
	}
	return signals.OneDecision{}
}

// lookedOnce is a client that asks once what waits in an execution.
type lookedOnce struct {
	Client
	asked   bool
	actions []signals.PendingAction
	err     error
}

func (l *lookedOnce) Pending(ctx context.Context, id string) ([]signals.PendingAction, error) {
	if !l.asked {
		l.asked = true
		l.actions, l.err = l.Client.Pending(ctx, id)
	}
	return l.actions, l.err
}

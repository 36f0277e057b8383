package learner

import (
	"context"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/learnt"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// When what is learnt is sent.
const (
	// sendSoon gathers what comes together.
	sendSoon = 500 * time.Millisecond
	// sendNews and sendCounts are how often at most, for what is new and for counts alone.
	sendNews   = 10 * time.Second
	sendCounts = time.Minute
	// sendWithin bounds one attempt, closeWithin the last.
	sendWithin  = 5 * time.Second
	closeWithin = 2 * time.Second
	// mostPause is the longest before another attempt after several failed.
	mostPause = 10 * time.Minute
)

// sendAt has what is fresh sent, at that time or before. It is called with l.mu held.
func (l *Learner) sendAt(due time.Time) {
	switch {
	case l.closed:
		return
	case l.timer == nil:
		l.timer = time.AfterFunc(time.Until(due), func() { l.send(sendWithin) })
	case due.Before(l.due):
		l.timer.Reset(time.Until(due))
	default:
		return
	}
	l.due = due
}

// send tells the workflows what this worker has learnt.
func (l *Learner) send(within time.Duration) {
	l.sending.Lock()
	defer l.sending.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	l.mu.Lock()
	c, spaces := l.client, map[string]*space{}
	l.timer, l.lastSent = nil, time.Now()
	for name, s := range l.spaces {
		l.batches(s)
		spaces[name] = s
	}
	l.mu.Unlock()
	if c == nil {
		return
	}
	failed := false
	for name, s := range spaces {
		failed = l.sendAll(ctx, c, name, s) != nil || failed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !failed {
		l.failures = 0
		return
	}
	l.failures++
	l.sendAt(time.Now().Add(min(mostPause, sendNews<<min(l.failures, 10))))
}

func (l *Learner) sendAll(ctx context.Context, c client.Client, connector string, s *space) error {
	for {
		l.mu.Lock()
		unsent := s.unsent
		l.mu.Unlock()
		if len(unsent) == 0 {
			return nil
		}
		id := learnt.WorkflowID(l.runtime, connector)
		_, err := c.SignalWithStartWorkflow(ctx, id, learnt.SignalLearn, payload.MustRaw(unsent[0]),
			client.StartWorkflowOptions{
				ID: id, TaskQueue: signals.TaskQueue(l.runtime),
				StaticSummary: signals.Cut("what results of "+connector+" look like", 200),
			}, learnt.Workflow, payload.MustRaw(learnt.State{}))
		if err != nil {
			return err
		}
		l.mu.Lock()
		s.known.Add(unsent[0])
		s.unsent = s.unsent[1:]
		l.mu.Unlock()
	}
}

// Close sends what was not sent, and learns nothing more.
func (l *Learner) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	waits := l.timer != nil && l.timer.Stop()
	l.closed = true
	l.mu.Unlock()
	if waits {
		l.send(closeWithin)
	}
}

const (
	// askEvery is how often the workflow of a connector is asked at most.
	askEvery = 2 * time.Second
	// askWithin bounds how long a look-up waits for it.
	askWithin = time.Second
	// askAgain is when it is asked again that did not answer.
	askAgain = 15 * time.Second
)

// Results tells what is known of the results of a connector's methods, by this worker and by the others.
func (l *Learner) Results(ctx context.Context, c client.Client, connector string) func(method string) *learnt.Shape {
	if l == nil {
		return func(string) *learnt.Shape { return nil }
	}
	l.mu.Lock()
	s := l.space(connector)
	l.mu.Unlock()
	l.ask(ctx, c, connector, s)
	return func(method string) *learnt.Shape {
		l.mu.Lock()
		defer l.mu.Unlock()
		shape := learnt.Merge(s.known.Of(method), s.fresh[method])
		for _, b := range s.unsent {
			for _, m := range b.Methods {
				if m.Name == method {
					shape = learnt.Merge(shape, m.Result)
				}
			}
		}
		return shape
	}
}

// ask brings a connector up to date, unless that was done just now.
func (l *Learner) ask(ctx context.Context, c client.Client, connector string, s *space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil || time.Now().Before(s.asked.Add(askEvery)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	state, err := l.read(ctx, c, connector, s.version)
	s.asked = time.Now()
	if err != nil {
		s.asked = s.asked.Add(askAgain)
		return
	}
	if state.Version == s.version && len(state.Methods) == 0 {
		return
	}
	s.version = state.Version
	l.mu.Lock()
	defer l.mu.Unlock()
	s.known = state
}

func (l *Learner) read(ctx context.Context, c client.Client, connector string, have int) (state learnt.State,
	err error) {
	answer, err := c.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: learnt.WorkflowID(l.runtime, connector), QueryType: learnt.Query, Args: []any{have},
		QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	switch {
	case rpcerr.NotFound(err):
		return state, nil
	case err != nil:
		return state, err
	case answer.QueryRejected != nil:
		return state, nil
	}
	return state, answer.QueryResult.Get(&state)
}

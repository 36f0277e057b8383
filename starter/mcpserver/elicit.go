package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/signals"
)

// elicit puts the questions of a round to the person at a client that servers still ask themselves, one after the
// other. A decision that comes in elsewhere meanwhile ends the round. A client that cannot ask after all leaves the
// rest undecided: the outcome says how else to decide.
func (s *session) elicit(ctx context.Context, r round) answers {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	defer s.report.during(ctx, "execution "+r.id+" waits for a person to decide", nothingNew)()
	elsewhere := make(chan signals.Outcome, 1)
	go s.watch(asking, r, elsewhere)
	given := answers{}
	for _, c := range r.calls {
		question := r.question(c.Key)
		reply := make(chan *mcp.ElicitResult, 1)
		go func() { reply <- s.put(asking, question) }()
		select {
		case <-elsewhere:
			return given
		case <-ctx.Done():
			return given
		case a := <-reply:
			if a == nil {
				s.left[c.Key] = true
				continue
			}
			given[c.Key] = a
		}
	}
	return given
}

// question is what is asked under a key.
func (r round) question(key string) *mcp.ElicitParams {
	if key == r.pageKey {
		page := *r.page
		page.ElicitationID = key
		return &page
	}
	for _, f := range r.forms {
		if f.key == key {
			return f.request()
		}
	}
	return nil
}

// watch tells when something was decided elsewhere.
func (s *session) watch(ctx context.Context, r round, elsewhere chan<- signals.Outcome) {
	durable, ok := s.Runtime.(Durable)
	if !ok {
		return
	}
	if out, err := durable.Wait(ctx, r.id, r.pass); err == nil {
		elsewhere <- out
	}
}

// put asks one question; nil is no answer.
func (s *session) put(ctx context.Context, question *mcp.ElicitParams) *mcp.ElicitResult {
	var raw *mcp.ElicitResult
	answer, err := s.request.Session.Elicit(context.WithValue(ctx, rawKey{}, &raw), question)
	switch {
	case raw != nil: // as it came: what is wrong with it is told to the person, who is asked again
		return raw
	case err != nil:
		return nil
	}
	return answer
}

// rawKey is where an answer is left before it is checked.
type rawKey struct{}

// keepingAnswers keeps what clients answer to questions.
func keepingAnswers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if kept, ok := ctx.Value(rawKey{}).(**mcp.ElicitResult); ok {
			if answer, ok := result.(*mcp.ElicitResult); ok && err == nil {
				*kept = answer
			}
		}
		return result, err
	}
}

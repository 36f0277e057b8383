package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/signals"
)

// round is what people are asked about one outcome: a form for each pending call, and one address for all that cannot
// be decided at the client.
type round struct {
	id    string
	pass  int
	forms []keyed
	// page is the question that sends people to the console, under pageKey; nil sends nobody.
	page    *mcp.ElicitParams
	pageKey string
	calls   []askedCall
}

// keyed is a form under the key of its question.
type keyed struct {
	key string
	*form
}

func (r round) isEmpty() bool { return len(r.forms) == 0 && r.page == nil }

// pagePrefix begins the key of the question that sends people to the console.
const pagePrefix = "console-"

// maxAsked is how many calls are asked about at a time; what else is pending comes in the next round.
const maxAsked = 20

// round collects what there is to ask about an outcome. It is empty where nobody can be asked.
func (s *session) round(ctx context.Context, out signals.Outcome) round {
	r := round{id: out.ExecutionID, pass: out.Pass}
	if out.Status != signals.Paused {
		return r
	}
	ask := s.who == nil || s.who.MayDecide
	ask = ask && s.Elicit != ElicitNever && s.client.form
	send := s.client.url && s.Console != nil && s.Elicit != ElicitNever
	schemas := map[string]json.RawMessage{}
	var away []askedCall
	for _, action := range out.Pending {
		key := keyOf(action, out.Pass)
		if s.left[key] {
			continue
		}
		if why := s.refused[key]; why != "" {
			action.Refused = why
		}
		f := newForm(action, s.schemaOf(ctx, action, schemas), s.HowToDecide(out.ExecutionID),
			s.groups()...)
		call := askedCall{key, action.Seq, action.ArgsDigest}
		switch {
		case send && (!ask || f.why != ""):
			away = append(away, call)
		case ask && len(r.forms) < maxAsked:
			r.forms, r.calls = append(r.forms, keyed{key, f}), append(r.calls, call)
		}
	}
	s.sendAway(&r, away)
	return r
}

// keyOf names the question about a call. A call whose approval could not be used is asked about anew.
func keyOf(a signals.PendingAction, pass int) string {
	key := fmt.Sprintf("%d-%s", a.Seq, a.ArgsDigest)
	if a.Refused != "" {
		key += fmt.Sprintf("-%d", pass)
	}
	return key
}

// sendAway adds the question that sends people to the console about calls.
func (s *session) sendAway(r *round, calls []askedCall) {
	if len(calls) == 0 {
		return
	}
	keys, _ := signals.Marshal(calls)
	key := pagePrefix + signals.Digest(keys)
	if s.left[key] {
		return
	}
	r.calls, r.pageKey = append(r.calls, askedCall{Key: key, Seq: -1}), key
	r.page = &mcp.ElicitParams{Mode: "url", URL: s.Console(r.id),
		Message: fmt.Sprintf("A program waits for a decision about %d of its calls, which is taken in the console. "+
			"Execution %s.", len(calls), r.id)}
}

// schemaOf is that of a call's method, once for each.
func (s *session) schemaOf(ctx context.Context, a signals.PendingAction, known map[string]json.RawMessage,
) json.RawMessage {
	path := a.Connector + "." + a.Method
	if _, ok := known[path]; !ok {
		known[path] = nil // where it is not to be had, the worker that makes the call checks what a person writes
		if m, err := s.Runtime.Method(ctx, a.Connector, a.Method); err == nil {
			known[path] = m.InputSchema
		}
	}
	return known[path]
}

// requests are the questions as a client is given them.
func (r round) requests() mcp.InputRequestMap {
	all := mcp.InputRequestMap{}
	for _, f := range r.forms {
		all[f.key] = f.request()
	}
	if r.page != nil {
		all[r.pageKey] = r.page
	}
	return all
}

// askByResult answers with questions, as clients of today take them.
func (s *session) askByResult(r round) (*mcp.CallToolResult, error) {
	state, err := s.seal.close(asked{Execution: r.id, Calls: r.calls, Left: slices.Sorted(maps.Keys(s.left)),
		Principal: s.principal(), Request: s.digest(), Expires: time.Now().Add(questionTime).UnixMilli()})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{InputRequests: r.requests(), RequestState: state}, nil
}

// answers are what people answered, by the keys of the questions.
type answers map[string]*mcp.ElicitResult

// answersOf are those to questions that were asked; a client that answers none leaves all open.
func answersOf(given mcp.InputResponseMap, calls []askedCall) answers {
	all := answers{}
	for _, c := range calls {
		if a, ok := given[c.Key].(*mcp.ElicitResult); ok {
			all[c.Key] = a
		}
	}
	return all
}

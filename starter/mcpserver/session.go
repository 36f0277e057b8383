package mcpserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// session is one tool call of a client: who it is from, what its client can do, and how far it has come.
type session struct {
	*door
	request *mcp.CallToolRequest
	client  client
	who     *Caller // whom the door authenticated; nil where everybody comes in who has the key
	report  reporter

	left    map[string]bool   // keys of the questions that the person did not decide
	refused map[string]string // why answers to questions could not be used
	asked   map[string]int    // how often answers to a question could not be used
	resumed string            // the execution that the client brings answers for
}

func (d *door) session(ctx context.Context, request *mcp.CallToolRequest) *session {
	return &session{door: d, request: request, client: clientOf(request), who: caller(ctx),
		report: newReporter(request), left: map[string]bool{}, refused: map[string]string{},
		asked: map[string]int{}}
}

// answerer gives an outcome to the client, in the way of a surface.
type answerer func(signals.Outcome, error) *mcp.CallToolResult

// run runs a program and answers with its outcome, after what people decide about it at the client.
func (s *session) run(ctx context.Context, code string, o codemode.ExecuteOptions, answer answerer) (
	*mcp.CallToolResult, error) {
	o.ID, o.Caller = signals.NewExecutionID(time.Now()), s.caller(ctx)
	over, err := s.admit(ctx, o.ID)
	if err != nil {
		return answer(signals.ErrorOutcome("", err.Error()), nil), nil
	}
	if !s.durable() {
		defer over()
	}
	defer func() { s.stopIfCancelled(ctx, cmp.Or(s.resumed, o.ID)) }()
	if durable, ok := s.Runtime.(Durable); ok && s.givesTasks && takesTasks(s.request) &&
		s.request.Params.RequestState == "" {
		return s.runTask(ctx, durable, code, o, answer)
	}
	return s.settle(ctx, answer, func() (signals.Outcome, error) {
		return s.await(ctx, o.ID,
			func(ctx context.Context) (signals.Outcome, error) { return s.Runtime.Execute(ctx, code, o) })
	})
}

// goOn runs a program that may correct an earlier one.
func (s *session) goOn(ctx context.Context, code, continues string, fresh bool, o codemode.ExecuteOptions,
	answer answerer) (*mcp.CallToolResult, error) {
	if err := signals.CheckExecutionID(continues); continues != "" && err != nil {
		return answer(signals.ErrorOutcome("", "continues: "+err.Error()), nil), nil
	}
	o.Continues, o.Fresh, o.Approver = continues, fresh && continues != "", s.who != nil && s.who.MayDecide
	return s.run(ctx, code, o, answer)
}

// look answers with the outcome of an execution that exists already.
func (s *session) look(ctx context.Context, id string, answer answerer) (*mcp.CallToolResult, error) {
	return s.settle(ctx, answer, func() (signals.Outcome, error) {
		if err := signals.CheckExecutionID(id); err != nil {
			return signals.ErrorOutcome(id, err.Error()), nil
		}
		if mine, err := s.maySee(ctx, id); !mine || err != nil {
			return signals.ErrorOutcome(id, signals.NoExecution(id)), err
		}
		return s.latest(ctx, id)
	})
}

// maySee reports whether an execution is the caller's own, or may be seen by who sees all. Others need not be told that
// there is one.
func (s *session) maySee(ctx context.Context, id string) (bool, error) {
	durable, ok := s.Runtime.(Durable)
	if s.who == nil || s.who.MayLook || !ok {
		return true, nil
	}
	at, err := durable.Standing(ctx, id)
	if errors.Is(err, codemode.ErrNotFound) {
		return false, nil
	}
	return at.Caller.StartedAs == s.who.Name, err
}

// settle begins, or goes on where the client brings answers, and asks about what is pending until no answer here
// changes anything any more.
func (s *session) settle(ctx context.Context, answer answerer, begin func() (signals.Outcome, error)) (
	*mcp.CallToolResult, error) {
	out, err := s.beginOrResume(ctx, begin)
	if broken := (*refusal)(nil); errors.As(err, &broken) {
		return nil, broken.error
	}
	for err == nil && ctx.Err() == nil {
		r := s.round(ctx, out)
		if r.isEmpty() {
			break
		}
		if s.client.modern {
			return s.askByResult(r)
		}
		out, err = s.take(ctx, r.id, r.calls, s.elicit(ctx, r))
	}
	return answer(out, err), nil
}

// refusal is a request that breaks the protocol, which is told to the client and not to its model.
type refusal struct{ error }

func (s *session) beginOrResume(ctx context.Context, begin func() (signals.Outcome, error)) (signals.Outcome, error) {
	state := s.request.Params.RequestState
	if state == "" {
		return begin()
	}
	a, err := s.seal.open(state, s.principal(), s.digest(), time.Now())
	if err != nil {
		return signals.Outcome{}, &refusal{err}
	}
	for _, key := range a.Left {
		s.left[key] = true
	}
	s.resumed = a.Execution
	return s.take(ctx, a.Execution, a.Calls, answersOf(s.request.Params.InputResponses, a.Calls))
}

// principal is whom a question and its answer have to come from.
func (s *session) principal() string {
	if s.who != nil {
		return "authenticated " + s.who.Name
	}
	return "by " + s.By
}

// digest names the request that a question belongs to.
func (s *session) digest() string {
	sum := sha256.Sum256([]byte(s.request.Params.Name + "\n" + signals.Digest(arguments(s.request))))
	return hex.EncodeToString(sum[:])
}

// caller is who starts an execution: whom the token says, else a claim. The session, where the transport has one,
// stands for the conversation, by a digest: whoever knows its id could take part in it.
func (s *session) caller(ctx context.Context) signals.Caller {
	who := signals.Caller{StartedBy: s.By}
	if s.who != nil {
		who = signals.Caller{StartedAs: s.who.Name, StartedSubject: s.who.Subject}
	}
	if id := cmp.Or(s.request.Session.ID(), streamOf(ctx)); id != "" {
		sum := sha256.Sum256([]byte(id))
		who.Conversation = "mcp-" + hex.EncodeToString(sum[:8])
	}
	return who
}

// latest is the newest outcome of an execution. One that did not outlive its call is not found.
func (s *session) latest(ctx context.Context, id string) (signals.Outcome, error) {
	return s.next(ctx, id, 0)
}

// next is the outcome after a pass.
func (s *session) next(ctx context.Context, id string, after int) (signals.Outcome, error) {
	return s.await(ctx, id, func(ctx context.Context) (signals.Outcome, error) {
		durable, ok := s.Runtime.(Durable)
		if !ok {
			return signals.Outcome{}, codemode.ErrNotFound
		}
		return durable.Wait(ctx, id, after)
	})
}

// await does something that takes long, tells the client so, and gives up waiting in time for the client to be told.
func (s *session) await(ctx context.Context, id string,
	do func(context.Context) (signals.Outcome, error)) (signals.Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	defer s.report.during(ctx, "execution "+id+" is running", s.doing(id))()
	out, err := do(limited)
	var none *codemode.NoWorkerError
	switch {
	case errors.Is(err, codemode.ErrNotFound):
		return signals.ErrorOutcome(id, signals.NoExecution(id)), nil
	case err != nil && overdue(limited) && !errors.As(err, &none):
		return signals.Outcome{Status: signals.Running, ExecutionID: id, Calls: []signals.Call{}}, nil
	}
	return out, err
}

// overdue reports whether the time of ctx is up, or will be in a moment: the server may see a deadline pass before we
// do.
func overdue(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < 200*time.Millisecond
}

// by is the claim that a decision carries: at the client of whom it was taken. The client answers for the person.
func (s *session) by() string {
	name := s.By
	if s.who != nil {
		name = s.who.Name
	}
	switch {
	case name != "" && s.client.name != "":
		return fmt.Sprintf("%s (at %s)", name, s.client.name)
	case s.client.name != "":
		return "the user of " + s.client.name
	}
	return name
}

// asserted is who has decided, where whoever it is signed in at the authorization server. A token of the door's own
// says whose client it is, which may be software that nobody attends to.
func (s *session) asserted() string {
	if s.who == nil || !s.who.SignedIn {
		return ""
	}
	return s.who.Name
}

// sign says on an approval who gives it, and of the groups of that person those that its rule asks for.
func (s *session) sign(a *signals.Approve, rule *signals.ApproverRule) {
	if a.AssertedBy = s.asserted(); a.AssertedBy != "" && rule != nil {
		a.AssertedSubject, a.AssertedGroups = s.who.Subject, rule.Of(s.who.Groups)
	}
}

// groups are those of whom is asked, as far as they were asserted.
func (s *session) groups() []string {
	if s.asserted() == "" {
		return nil
	}
	return s.who.Groups
}

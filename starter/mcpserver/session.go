package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// session is one tool call of a client: who it is from, and how far it has come.
type session struct {
	*door
	token    mcp.ProgressToken // nil: the client wants no progress
	progress float64
	canAsk   bool // the client asks people
	client   string
	owner    string // whose token the client came with
	decides  bool   // and it lets them decide
	mu       sync.Mutex
}

func (d *door) session(ctx context.Context, request mcp.CallToolRequest) *session {
	s := &session{door: d}
	who := caller(ctx)
	if who != nil {
		s.owner, s.decides = who.Name, who.MayDecide
	}
	if request.Params.Meta != nil {
		s.token = request.Params.Meta.ProgressToken
	}
	if with, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		s.client = signals.Cut(signals.Visible(with.GetClientInfo().Name), maxClientName)
		_, asks := with.(server.SessionWithElicitation)
		form := with.GetClientCapabilities().Elicitation
		s.canAsk = s.Elicit != ElicitNever && asks && form != nil && (form.Form != nil || form.URL == nil) &&
			(who == nil || who.MayDecide)
	}
	return s
}

// maxClientName bounds what a client calls itself in records.
const maxClientName = 64

// caller is who starts an execution: whom the token says, else a claim. The session, where the transport has one,
// stands for the conversation, by a digest: whoever knows its id could take part in it.
func (s *session) caller(ctx context.Context) signals.Caller {
	who := signals.Caller{StartedAs: s.owner}
	if s.owner == "" {
		who.StartedBy = s.By
	}
	if in := server.ClientSessionFromContext(ctx); in != nil && in.SessionID() != "" && in.SessionID() != stdioSession {
		sum := sha256.Sum256([]byte(in.SessionID()))
		who.Conversation = "mcp-" + hex.EncodeToString(sum[:8])
	}
	return who
}

// stdioSession is the id of every session on standard input and output.
const stdioSession = "stdio"

// execute runs a program and answers with its outcome, after what a person decides about it at the client.
func (s *session) execute(ctx context.Context, code string, o codemode.ExecuteOptions) (signals.Outcome, error) {
	o.ID, o.Caller = signals.NewExecutionID(time.Now()), s.caller(ctx)
	out, err := s.await(ctx,
		o.ID, func(ctx context.Context) (signals.Outcome, error) { return s.Runtime.Execute(ctx, code, o) })
	return s.decided(ctx, out, err)
}

// goOn runs a program that may correct an earlier one.
func (s *session) goOn(ctx context.Context, code, continues string, fresh bool,
	o codemode.ExecuteOptions) (signals.Outcome, error) {
	if err := signals.CheckExecutionID(continues); continues != "" && err != nil {
		return signals.ErrorOutcome("", "continues: "+err.Error()), nil
	}
	o.Continues, o.Fresh, o.Approver = continues, fresh && continues != "", s.decides
	return s.execute(ctx, code, o)
}

// outcome is that of an execution that exists already.
func (s *session) outcome(ctx context.Context, id string) (signals.Outcome, error) {
	if err := signals.CheckExecutionID(id); err != nil {
		return signals.ErrorOutcome(id, err.Error()), nil
	}
	out, err := s.latest(ctx, id)
	return s.decided(ctx, out, err)
}

// latest is the newest outcome of an execution. One that did not outlive its call is not found.
func (s *session) latest(ctx context.Context, id string) (signals.Outcome, error) {
	return s.await(ctx, id, func(ctx context.Context) (signals.Outcome, error) {
		durable, ok := s.Runtime.(Durable)
		if !ok {
			return signals.Outcome{}, codemode.ErrNotFound
		}
		return durable.Wait(ctx, id, 0)
	})
}

// await does something that takes long, tells the client so, and gives up waiting in time for the client to be told.
func (s *session) await(ctx context.Context, id string,
	do func(context.Context) (signals.Outcome, error)) (signals.Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	defer s.report(ctx, "execution "+id+" is running")()
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

// progressEvery is often enough for clients that give up on a server that is silent for some seconds.
const progressEvery = 5 * time.Second

// report sends progress at once and then now and again, until the function that it returns is called.
func (s *session) report(ctx context.Context, what string) (stop func()) {
	if s.token == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		began, ticker := time.Now(), time.NewTicker(progressEvery)
		defer ticker.Stop()
		for text := what; ; text = fmt.Sprintf("%s (%s)", what, time.Since(began).Round(time.Second)) {
			s.notify(ctx, text)
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func (s *session) notify(ctx context.Context, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress++
	// A client that takes no notifications misses nothing that it needs.
	_ = s.mcp.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": s.token, "progress": s.progress, "message": message,
	})
}

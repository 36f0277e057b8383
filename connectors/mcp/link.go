package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

const (
	firstRestartPause = 250 * time.Millisecond
	maxRestartPause   = 10 * time.Second
)

// mcpLink keeps one session with an MCP server for everyone and replaces it
// after it was lost.
type link struct {
	connect func(life context.Context) (*session, error)
	life    context.Context
	end     context.CancelFunc

	mu       sync.Mutex
	attempt  *attempt
	failures int // sessions lost or refused since a request was last answered
}

// mcpAttempt is a session, there or under way. The fields are set before done is closed.
type attempt struct {
	done    chan struct{}
	session *session
	err     error
}

func newLink(connect func(life context.Context) (*session, error)) *link {
	life, end := context.WithCancel(context.Background())
	return &link{connect: connect, life: life, end: end}
}

// request sends one request. When the session proves lost before the request
// went out it is sent again, once, over a new one.
func (l *link) request(ctx context.Context, method string, params map[string]any,
	progress func(connectors.Progress)) (json.RawMessage, error) {
	for again := true; ; again = false {
		s, err := l.session(ctx)
		if err != nil {
			return nil, err
		}
		raw, err := s.request(ctx, method, params, progress)
		var refused *serverError
		if err == nil || errors.As(err, &refused) {
			l.answered()
		}
		var unsent *web.UnsentError
		if again && errors.As(err, &unsent) && s.over() {
			continue
		}
		return raw, err
	}
}

// session waits for the session that everyone shares.
func (l *link) session(ctx context.Context) (*session, error) {
	a := l.current()
	select {
	case <-a.done:
		return a.session, a.err
	case <-ctx.Done():
		// Not %w: this call never began, so its outcome is known.
		return nil, &web.UnsentError{Text: fmt.Sprintf("its MCP server was not ready in time: %v", ctx.Err())}
	}
}

func (l *link) current() *attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempt != nil {
		if !l.attempt.over() {
			return l.attempt
		}
		l.failures++
	}
	l.attempt = &attempt{done: make(chan struct{})}
	go l.try(l.attempt, restartPause(l.failures))
	return l.attempt
}

// restartPause is nothing for the first restart and doubles from the second on.
func restartPause(failures int) time.Duration {
	if failures < 2 {
		return 0
	}
	return min(firstRestartPause<<min(failures-2, 16), maxRestartPause)
}

// try runs on the link's time, not on that of the caller who happened to be
// first: others wait for the same session.
func (l *link) try(a *attempt, pause time.Duration) {
	defer close(a.done)
	select {
	case <-time.After(pause):
	case <-l.life.Done():
	}
	if l.life.Err() != nil {
		a.err = errors.New("the connector is closed")
		return
	}
	a.session, a.err = l.connect(l.life)
}

func (a *attempt) over() bool {
	select {
	case <-a.done:
		return a.err != nil || a.session.over()
	default:
		return false
	}
}

func (l *link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = 0
}

// close ends the session. Requests in flight fail.
func (l *link) close() error {
	l.end()
	l.mu.Lock()
	a := l.attempt
	l.mu.Unlock()
	if a == nil {
		return nil
	}
	<-a.done
	if a.session != nil {
		a.session.close()
	}
	return nil
}

package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// sessions are those of callers over HTTP. Each belongs to the caller that began it: who learns another's id can do
// nothing with it, in particular not answer what the other's client is asked.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*callerSession
}

type callerSession struct {
	caller string
	used   time.Time
	busy   int // requests and streams that are open
}

const (
	// sessionIdle is how long a session is kept that nothing uses.
	sessionIdle = 12 * time.Hour
	// maxSessions of one caller, and maxAllSessions of all; beyond that the one that was used least recently goes.
	maxSessions    = 100
	maxAllSessions = 1000
)

var errNoSession = errors.New("there is no such session")

func newSessions() *sessions { return &sessions{byID: map[string]*callerSession{}} }

// begin makes a session.
func (s *sessions) begin(caller string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(caller, time.Now())
	id := rand.Text()
	s.byID[id] = &callerSession{caller: caller, used: time.Now()}
	return id
}

func (s *sessions) makeRoom(caller string, now time.Time) {
	own := 0
	var oldest, oldestOwn string
	older := func(id, than string) bool { return than == "" || s.byID[id].used.Before(s.byID[than].used) }
	for id, session := range s.byID {
		if session.busy == 0 && now.Sub(session.used) > sessionIdle {
			delete(s.byID, id)
			continue
		}
		if older(id, oldest) {
			oldest = id
		}
		if session.caller == caller {
			own++
			if older(id, oldestOwn) {
				oldestOwn = id
			}
		}
	}
	switch {
	case own >= maxSessions:
		delete(s.byID, oldestOwn)
	case len(s.byID) >= maxAllSessions:
		delete(s.byID, oldest)
	}
}

// use marks the session that a request names as used until leave. It is refused if it is not the caller's.
func (s *sessions) use(r *http.Request, caller string) (leave func(), ok bool) {
	id := r.Header.Get(server.HeaderKeySessionID)
	if id == "" {
		id = r.URL.Query().Get("sessionId")
	}
	if id == "" {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.byID[id]
	if session == nil || session.caller != caller {
		return nil, false
	}
	session.busy++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		session.busy--
		session.used = time.Now()
	}, true
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// ResolveSessionIdManager gives the sessions of who makes the request; without one they are the server's own.
//
//lint:ignore ST1003 the library names it so
func (s *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return callersSessions{sessions: s}
	}
	return callersSessions{s, nameOf(r.Context())}
}

// callersSessions are the sessions of one caller.
type callersSessions struct {
	*sessions
	caller string
}

// Generate begins a session.
func (s callersSessions) Generate() string { return s.begin(s.caller) }

// Validate finds a session.
func (s callersSessions) Validate(id string) (terminated bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.byID[id]; session == nil || session.caller != s.caller {
		return false, errNoSession
	}
	return false, nil
}

// Terminate ends a session.
func (s callersSessions) Terminate(id string) (notAllowed bool, err error) {
	s.end(id)
	return false, nil
}

// idKey is where a stream leaves the id of its session, so that it ends with the stream.
type idKey struct{}

// generate begins the session of a stream of the older transport.
func (s *sessions) generate(ctx context.Context, _ *http.Request) (string, error) {
	id := s.begin(nameOf(ctx))
	if kept, ok := ctx.Value(idKey{}).(*string); ok {
		*kept = id
	}
	return id, nil
}

// closing ends the session of a stream with the stream.
func closing(s *sessions, stream http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := ""
		defer func() { s.end(id) }()
		stream.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), idKey{}, &id)))
	})
}

// privateAnswer keeps a page of another site from reading a stream: the older transport invites all of them.
type privateAnswer struct{ http.ResponseWriter }

// WriteHeader takes the invitation back.
func (w privateAnswer) WriteHeader(status int) {
	w.Header().Del("Access-Control-Allow-Origin")
	w.ResponseWriter.WriteHeader(status)
}

// Write is the answer's first sign where no status is set.
func (w privateAnswer) Write(text []byte) (int, error) {
	w.Header().Del("Access-Control-Allow-Origin")
	return w.ResponseWriter.Write(text)
}

// Flush passes on what is written.
func (w privateAnswer) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for what else a response can do.
func (w privateAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

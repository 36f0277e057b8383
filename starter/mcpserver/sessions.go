package mcpserver

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// sessions are those of callers over HTTP. Each belongs to the caller that began it: who learns another's id can do
// nothing with it, in particular not answer what the other's client is asked.
type sessions struct {
	mu     sync.Mutex
	byID   map[string]*callerSession
	closed func(id string) // a session was ended for want of room
}

type callerSession struct {
	caller string // with all that the caller may do; zero where everybody comes in who has the key
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

func newSessions() *sessions {
	return &sessions{byID: map[string]*callerSession{}, closed: func(string) {}}
}

// begin makes a session.
func (s *sessions) begin(who *Caller) string {
	id := rand.Text()
	s.add(id, who)
	return id
}

// add takes a session that somebody has begun.
func (s *sessions) add(id string, who *Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := of(who)
	s.makeRoom(caller, time.Now())
	s.byID[id] = &callerSession{caller: caller, used: time.Now()}
}

// of is all that is known of a caller, to compare: whose rights have changed begins a new session.
func of(who *Caller) string {
	if who == nil {
		return ""
	}
	return fmt.Sprintf("%#v", *who)
}

func (s *sessions) makeRoom(caller string, now time.Time) {
	own := 0
	var oldest, oldestOwn string
	older := func(id, than string) bool { return than == "" || s.byID[id].used.Before(s.byID[than].used) }
	for id, session := range s.byID {
		if session.busy == 0 && now.Sub(session.used) > sessionIdle {
			s.drop(id)
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
		s.drop(oldestOwn)
	case len(s.byID) >= maxAllSessions:
		s.drop(oldest)
	}
}

func (s *sessions) drop(id string) {
	delete(s.byID, id)
	go s.closed(id)
}

// use marks the session that a request names as used until leave. It is refused if it is not the caller's.
func (s *sessions) use(r *http.Request, who *Caller) (leave func(), ok bool) {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		id = r.URL.Query().Get("sessionId")
	}
	if id == "" {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.byID[id]
	if session == nil || session.caller != of(who) {
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

// beginning is an answer that may begin a session, which is then its caller's before the caller learns of it.
type beginning struct {
	http.ResponseWriter
	began func(id string)
	once  sync.Once
}

func (w *beginning) begin() {
	w.once.Do(func() {
		if id := w.Header().Get(sessionHeader); id != "" {
			w.began(id)
		}
	})
}

// WriteHeader is the answer's first sign, or else Write or Flush is.
func (w *beginning) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// Write is the answer's first sign where no status is set.
func (w *beginning) Write(text []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(text)
}

// Flush passes on what is written.
func (w *beginning) Flush() {
	w.begin()
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for what else a response can do.
func (w *beginning) Unwrap() http.ResponseWriter { return w.ResponseWriter }

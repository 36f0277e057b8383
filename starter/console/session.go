package console

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

// session is one browser that came in.
type session struct {
	who     Identity
	csrf    string // every form and script request that changes something carries it
	expires time.Time
	results []result // of the last decisions, until a page has told of them
}

// sessions are kept in memory: a restart asks people to come in again.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
	// secure reports whether a request came by TLS, to us or to a proxy in front.
	secure func(r *http.Request) bool
}

const (
	cookieName    = "codemode_console"
	sessionLength = 12 * time.Hour
	maxSessions   = 2_000
)

func newSessions(secure func(r *http.Request) bool) *sessions {
	return &sessions{byID: map[string]*session{}, secure: secure}
}

// begin makes a session and gives its id. Where there are too many the oldest goes.
func (s *sessions) begin(who Identity, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := ""
	for id, other := range s.byID {
		if now.After(other.expires) {
			delete(s.byID, id)
		} else if oldest == "" || other.expires.Before(s.byID[oldest].expires) {
			oldest = id
		}
	}
	if len(s.byID) >= maxSessions {
		delete(s.byID, oldest)
	}
	id := rand.Text()
	s.byID[id] = &session{who: who, csrf: rand.Text(), expires: now.Add(sessionLength)}
	return id
}

// sessionID is what the cookie says.
func (s *sessions) sessionID(r *http.Request) string {
	cookie, err := r.Cookie(s.cookie(r))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// cookie is the name of a request's cookie. Over TLS it is one that no neighbouring domain can give a cookie.
func (s *sessions) cookie(r *http.Request) string {
	if s.secure(r) {
		return "__Host-" + cookieName
	}
	return cookieName
}

func (s *sessions) find(r *http.Request, now time.Time) *session {
	id := s.sessionID(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID[id]
	if found == nil || now.After(found.expires) {
		return nil
	}
	return found
}

func (s *sessions) end(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, s.sessionID(r))
}

// tell keeps what came of decisions for the next page.
func (s *sessions) tell(to *session, results []result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.results = results
}

// told gives what the next page tells, once.
func (s *sessions) told(to *session) []result {
	s.mu.Lock()
	defer s.mu.Unlock()
	results := to.results
	to.results = nil
	return results
}

// crossSite reports whether a request of a session lacks the session's token, which pages of other sites cannot know
// (CSRF).
func (s *session) crossSite(r *http.Request) bool {
	given := r.Header.Get("X-CSRF-Token")
	if given == "" {
		given = r.PostFormValue("csrf")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(s.csrf)) != 1
}

// setCookie gives the browser its session. Lax, since people come in by links from chats; what changes something is
// guarded by tokens and by where it comes from.
func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, id string) {
	cookie := &http.Cookie{Name: c.sessions.cookie(r), Value: id, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: c.secure(r)}
	if id == "" {
		cookie.MaxAge = -1
	} else {
		cookie.MaxAge = int(sessionLength / time.Second)
	}
	http.SetCookie(w, cookie)
}

// secure reports whether people come by TLS, to us or to a proxy in front.
func (c *Console) secure(r *http.Request) bool {
	return r.TLS != nil || c.base != nil && c.base.Scheme == "https"
}

// limiter counts failed sign-ins of each address. After ten within a minute the address has to wait, unless it brings
// what is right.
type limiter struct {
	mu       sync.Mutex
	failures map[string]int
	since    time.Time
}

const (
	maxFailures  = 10
	failureReset = time.Minute
)

func newLimiter() *limiter { return &limiter{failures: map[string]int{}} }

func (l *limiter) blocked(address string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) > failureReset {
		l.failures, l.since = map[string]int{}, now
	}
	return l.failures[address] >= maxFailures
}

func (l *limiter) failed(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures[address]++
}

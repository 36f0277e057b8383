package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/starter/guard"
)

// Caller is whom the front door authenticated.
type Caller struct {
	Name string
	// MayRun lets programs be run. Who may not is turned away.
	MayRun bool
	// MayLook lets executions be seen that others have started, MayDecide says that elicitation asks at this caller's
	// clients about approvals.
	MayLook, MayDecide bool
	// SignedIn says that the token is of the authorization server: decisions are asserted then, by this name, with the
	// groups and the digest of who it is there.
	SignedIn bool
	Groups   []string
	Subject  string
	// Quota bounds what is started.
	Quota Quota
}

// Authenticate finds out who a bearer token belongs to.
type Authenticate func(token string) (who Caller, ok bool)

// HTTPOptions say who may come in over HTTP. One of Authenticate, SignIn and Key is needed.
type HTTPOptions struct {
	// Authenticate knows callers by their tokens.
	Authenticate Authenticate
	// SignIn takes access tokens; nil takes none.
	SignIn *SignIn
	// Key lets everybody in who has it, where nobody is authenticated.
	Key guard.Key
	// Site is how the door is reached.
	Site guard.Site
	// SSE also serves the transport that streamable HTTP has replaced.
	SSE bool
}

// HTTP serves streamable HTTP at /mcp, and if asked for the older transport at /sse and /message.
type HTTP struct {
	HTTPOptions
	mux      *http.ServeMux
	public   http.Handler // how to sign in; nil without
	server   *Server
	sessions *sessions
	arrivals *arrivals
	streams  sync.Map // of the older transport, by the ids of their sessions
	origins  *http.CrossOriginProtection
	bodies   chan struct{} // a place for each request that is being read
	calls    chan struct{} // and for each call of a tool that is being answered
	life     context.Context
	end      context.CancelFunc
}

// Bounds of what callers may take.
const (
	// maxBody has room for the longest program, escaped.
	maxBody = 8 << 20
	// bodyTime is how long a caller may take to send it.
	bodyTime  = 30 * time.Second
	maxBodies = 32
	maxCalls  = 256
)

// NewHTTP makes the handler of a server.
func NewHTTP(s *Server, o HTTPOptions) (*HTTP, error) {
	if o.Authenticate == nil && o.SignIn == nil && o.Key == "" {
		return nil, errors.New("MCP over HTTP needs to know who may come in: give tokens, a sign-in or a key")
	}
	h := &HTTP{HTTPOptions: o, mux: http.NewServeMux(), server: s, sessions: newSessions(), arrivals: &arrivals{},
		origins: http.NewCrossOriginProtection(), bodies: make(chan struct{}, maxBodies),
		calls: make(chan struct{}, maxCalls)}
	if o.Site.Base != nil {
		if err := h.origins.AddTrustedOrigin(o.Site.Base.Scheme + "://" + o.Site.Base.Host); err != nil {
			return nil, err
		}
	}
	if o.SignIn != nil {
		var err error
		if h.public, err = o.SignIn.metadata(); err != nil {
			return nil, err
		}
	}
	h.life, h.end = context.WithCancel(context.Background())
	h.sessions.closed = h.closeSession
	serving(s.Server)
	h.mux.Handle("/mcp", h.streamable())
	if o.SSE {
		h.mux.HandleFunc("GET /sse", h.openStream)
		h.mux.HandleFunc("POST /message", h.message)
	}
	return h, nil
}

// streamable serves both eras at one address: requests of today's revision stand for themselves, older ones belong to
// sessions.
func (h *HTTP) streamable() http.Handler {
	server := func(*http.Request) *mcp.Server { return h.server.Server }
	options := mcp.StreamableHTTPOptions{Logger: slog.New(slog.DiscardHandler), MaxRequestBodyBytes: 2 * maxBody,
		DisableLocalhostProtection: true} // the guard looks at the name, and knows ours
	older := options
	older.SessionTimeout = sessionIdle
	sessions := mcp.NewStreamableHTTPHandler(server, &older)
	options.Stateless, options.PropagateRequestCancellation = true, true
	today := mcp.NewStreamableHTTPHandler(server, &options)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := caller(r.Context())
		defer h.arrivals.add(r, who)()
		if r.Header.Get("Accept") == "" { // who says nothing takes anything
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		at := &place{life: h.life, arrivals: h.arrivals}
		if request, p := h.listeningTo(r); p != nil {
			h.listen(w, r, request, p)
			return
		}
		if ofToday(r) {
			today.ServeHTTP(w, r.WithContext(at.in(r.Context())))
			return
		}
		at.ties = true
		if r.Method == http.MethodDelete { // the library lets what is being answered end first
			h.arrivals.endAll(r.Header.Get(sessionHeader))
		}
		if r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" {
			w = &beginning{ResponseWriter: w, began: func(id string) { h.sessions.add(id, who) }}
		}
		sessions.ServeHTTP(w, r.WithContext(at.in(r.Context())))
	})
}

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// messageKey is where a request's message is, which is read once.
type messageKey struct{}

// message is what the door looks at in a message.
type message struct {
	Method string `json:"method"`
	Params struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	raw []byte
}

// listeningTo reads a request to be told of tasks; nil where it is another, or there are none.
func (h *HTTP) listeningTo(r *http.Request) (*jsonrpc.Request, *listening) {
	m, _ := r.Context().Value(messageKey{}).(message)
	if h.server.tasks == nil || m.Method != listenMethod {
		return nil, nil
	}
	decoded, err := jsonrpc.DecodeMessage(m.raw)
	if err != nil {
		return nil, nil
	}
	return listeningTo(decoded)
}

// ofToday reports whether a request says, in its header or in its message, that it needs no session.
func ofToday(r *http.Request) bool {
	m, _ := r.Context().Value(messageKey{}).(message)
	return r.Header.Get(versionHeader) >= stateless || m.Params.Meta.Version >= stateless
}

// Close ends what is being answered, which cancels no execution, and the open streams.
func (h *HTTP) Close() error {
	h.end()
	for s := range h.server.Sessions() {
		go func() { _ = s.Close() }()
	}
	return nil
}

// closeSession ends a session that nobody may use any more.
func (h *HTTP) closeSession(id string) {
	h.arrivals.endAll(id)
	for s := range h.server.Sessions() {
		if s.ID() == id {
			go func() { _ = s.Close() }() // it waits for what is being answered
		}
	}
}

// ServeHTTP lets a request in that comes from no foreign page and whose caller is known, with its body.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.public != nil && strings.HasPrefix(r.URL.Path, metadataPath) {
		h.public.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	if err := errors.Join(h.Site.CheckHost(r), h.Site.CheckOrigin(r), h.origins.Check(r)); err != nil {
		http.Error(w, "this door is not for web pages: "+err.Error(), http.StatusForbidden)
		return
	}
	ctx, ok := h.enter(w, r)
	if !ok {
		return
	}
	if r.Method == http.MethodPost {
		m, ended, ok := h.take(w, r)
		if !ok {
			return
		}
		defer ended()
		ctx = context.WithValue(ctx, messageKey{}, m)
	}
	leave, ok := h.sessions.use(r, caller(ctx))
	if !ok {
		http.Error(w, "there is no such session: begin a new one", http.StatusNotFound)
		return
	}
	defer leave()
	h.mux.ServeHTTP(w, r.WithContext(ctx))
}

// take reads a message, and finds a place for it if it calls a tool: such an answer may wait for programs and people.
// What a client answers to a question has always a place, since calls wait for it.
func (h *HTTP) take(w http.ResponseWriter, r *http.Request) (m message, ended func(), ok bool) {
	select {
	case h.bodies <- struct{}{}:
	case <-r.Context().Done():
		return m, nil, false
	}
	body, ok := takeBody(w, r)
	m.raw = body
	<-h.bodies
	if !ok || json.Unmarshal(body, &m) != nil || m.Method != "tools/call" {
		return m, func() {}, ok
	}
	select {
	case h.calls <- struct{}{}:
		return m, func() { <-h.calls }, true
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many calls at once: try again", http.StatusServiceUnavailable)
		return m, nil, false
	}
}

// takeBody reads what a caller sends, as much as there may be and in the time that it may take.
func takeBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
		return nil, false
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a writer without deadlines is a test's
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "the request did not come whole", http.StatusBadRequest)
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err == nil
}

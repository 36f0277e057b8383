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
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/temporal-codemode/codemode/starter/guard"
)

// Caller is whom the front door authenticated.
type Caller struct {
	Name string
	// MayRun lets programs be run. Who may not is turned away.
	MayRun bool
	// MayDecide says that elicitation asks at this caller's clients about approvals.
	MayDecide bool
}

// Authenticate finds out who a bearer token belongs to.
type Authenticate func(token string) (who Caller, ok bool)

// HTTPOptions say who may come in over HTTP. One of Authenticate and Key is needed.
type HTTPOptions struct {
	// Authenticate knows callers by their tokens.
	Authenticate Authenticate
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
	sessions *sessions
	origins  *http.CrossOriginProtection
	bodies   chan struct{} // a place for each request that is being read
	calls    chan struct{} // and for each call of a tool that is being answered
	stream   *server.StreamableHTTPServer
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
func NewHTTP(s *server.MCPServer, o HTTPOptions) (*HTTP, error) {
	if o.Authenticate == nil && o.Key == "" {
		return nil, errors.New("MCP over HTTP needs to know who may come in: give tokens or a key")
	}
	h := &HTTP{HTTPOptions: o, mux: http.NewServeMux(), sessions: newSessions(),
		origins: http.NewCrossOriginProtection(), bodies: make(chan struct{}, maxBodies),
		calls: make(chan struct{}, maxCalls)}
	if o.Site.Base != nil {
		if err := h.origins.AddTrustedOrigin(o.Site.Base.Scheme + "://" + o.Site.Base.Host); err != nil {
			return nil, err
		}
	}
	h.stream = server.NewStreamableHTTPServer(s, server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)),
		server.WithSessionIdManagerResolver(h.sessions), server.WithSessionIdleTTL(sessionIdle),
		server.WithDisableLocalhostProtection(true)) // the guard looks at the name, and knows ours
	h.mux.Handle("/mcp", h.stream)
	if o.SSE {
		sse := server.NewSSEServer(s, server.WithSessionIDGenerator(h.sessions.generate),
			server.WithAppendQueryToMessageEndpoint(), server.WithSSEDisableLocalhostProtection(true))
		h.mux.Handle("GET /sse", closing(h.sessions, sse.SSEHandler()))
		h.mux.Handle("POST /message", sse.MessageHandler())
	}
	return h, nil
}

// Close ends the open streams.
func (h *HTTP) Close() error { return h.stream.Shutdown(context.Background()) }

// ServeHTTP lets a request in that comes from no foreign page and whose caller is known, with its body.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
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
		ended, ok := h.take(w, r)
		if !ok {
			return
		}
		defer ended()
	}
	leave, ok := h.sessions.use(r, nameOf(ctx))
	if !ok {
		http.Error(w, "there is no such session: begin a new one", http.StatusNotFound)
		return
	}
	defer leave()
	h.mux.ServeHTTP(privateAnswer{w}, r.WithContext(ctx))
}

// enter finds out who calls.
func (h *HTTP) enter(w http.ResponseWriter, r *http.Request) (context.Context, bool) {
	if h.Authenticate == nil {
		if h.Key.Brings(r) {
			return r.Context(), true
		}
	} else if who, ok := h.Authenticate(guard.Bearer(r)); ok { // none in the address, which gets into logs
		if !who.MayRun {
			http.Error(w, "this token may not run programs: it needs the role runner", http.StatusForbidden)
			return nil, false
		}
		return context.WithValue(r.Context(), callerKey{}, who), true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "send Authorization: Bearer TOKEN, or use the address with the key that the server printed",
		http.StatusUnauthorized)
	return nil, false
}

// take reads a message, and finds a place for it if it calls a tool: such an answer may wait for programs and people.
// What a client answers to a question has always a place, since calls wait for it.
func (h *HTTP) take(w http.ResponseWriter, r *http.Request) (ended func(), ok bool) {
	select {
	case h.bodies <- struct{}{}:
	case <-r.Context().Done():
		return nil, false
	}
	body, ok := takeBody(w, r)
	<-h.bodies
	var message struct {
		Method string `json:"method"`
	}
	if !ok || json.Unmarshal(body, &message) != nil || message.Method != string(mcp.MethodToolsCall) {
		return func() {}, ok
	}
	select {
	case h.calls <- struct{}{}:
		return func() { <-h.calls }, true
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many calls at once: try again", http.StatusServiceUnavailable)
		return nil, false
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

type callerKey struct{}

// caller is who was authenticated; nil where everybody may come in who has the key.
func caller(ctx context.Context) *Caller {
	if who, ok := ctx.Value(callerKey{}).(Caller); ok {
		return &who
	}
	return nil
}

func nameOf(ctx context.Context) string {
	if who := caller(ctx); who != nil {
		return who.Name
	}
	return ""
}

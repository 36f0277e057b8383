package mcpserver

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/server"
)

// ServeStdio serves one client until its input ends.
func ServeStdio(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(io.Discard, "", 0)) // what matters comes back as an answer
	server.WithWorkerPoolSize(32)(stdio)
	err := stdio.Listen(ctx, in, out)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// Caller is whom the front door authenticated.
type Caller struct {
	Name string
	// MayDecide says that elicitation asks this person about approvals.
	MayDecide bool
}

// Authenticate finds out who a bearer token belongs to.
type Authenticate func(token string) (who Caller, ok bool)

// Handler serves streamable HTTP at /mcp, and the older SSE transport at /sse and /message. Without authenticate
// everybody may use it.
func Handler(s *server.MCPServer, authenticate Authenticate) http.Handler {
	sse := server.NewSSEServer(s)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s,
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)), server.WithSessionIdleTTL(sessionsKept)))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	served := bounded(mux)
	if authenticate == nil {
		return served
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		who, ok := authenticate(token)
		if !bearer || !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

type callerKey struct{}

// caller is who was authenticated; nil where everybody may come in.
func caller(ctx context.Context) *Caller {
	if who, ok := ctx.Value(callerKey{}).(Caller); ok {
		return &who
	}
	return nil
}

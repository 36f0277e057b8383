package mcpserver

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
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

// Authenticate finds out who a bearer token belongs to.
type Authenticate func(token string) (name string, ok bool)

// Handler serves streamable HTTP at /mcp, and the older SSE transport at /sse and /message. Without authenticate
// everybody may use it.
func Handler(s *server.MCPServer, authenticate Authenticate) http.Handler {
	sse := server.NewSSEServer(s)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler))))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	if authenticate == nil {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		name, ok := authenticate(token)
		if !bearer || !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, name)))
	})
}

type callerKey struct{}

// caller is who the front door authenticated; empty where it does not.
func caller(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}

// ReadTokens reads a file with a name and a token on each line; empty lines and those that begin with # do not count.
// The file must not be readable by others.
func ReadTokens(path string) (Authenticate, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("the tokens in %s can be read by anybody on this machine: chmod 600 %s", path, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	defer func() { _ = file.Close() }()
	return parseTokens(file, path)
}

// minToken keeps out tokens that can be guessed.
const minToken = 16

func parseTokens(r io.Reader, path string) (Authenticate, error) {
	names := map[[sha256.Size]byte]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case len(fields) != 2:
			return nil, fmt.Errorf("%s, line %d: give a name and a token", path, n)
		case len(fields[1]) < minToken:
			return nil, fmt.Errorf("%s, line %d: the token of %s is shorter than %d characters", path, n, fields[0], minToken)
		}
		names[sha256.Sum256([]byte(fields[1]))] = fields[0]
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no token", path)
	}
	return func(token string) (string, bool) {
		digest, found, who := sha256.Sum256([]byte(token)), 0, ""
		for known, name := range names { // all of them, so that the time tells nothing
			if same := subtle.ConstantTimeCompare(known[:], digest[:]); same == 1 {
				found, who = 1, name
			}
		}
		return who, found == 1
	}, lines.Err()
}

// Loopback tells whether only this machine can reach an address.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

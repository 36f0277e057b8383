package mcpserver

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is more than a program of a million characters takes as JSON: mcp-go reads bodies whole, and before it
	// looks at anything else.
	maxBody = 8 << 20
	// bodyWithin bounds how long a body may take to arrive.
	bodyWithin = time.Minute
	// maxRequests bounds those that are open at once, streams among them.
	maxRequests = 1_000
	// sessionsKept is how long a session is kept that nobody uses.
	sessionsKept = 24 * time.Hour
)

// bounded bounds what clients can make a server keep.
func bounded(next http.Handler) http.Handler {
	places := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, "too many requests are open", http.StatusServiceUnavailable)
			return
		}
		if err := readBody(w, r); err != nil {
			http.Error(w, "the body is too large, or did not arrive in time", http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readBody reads it ahead, so that the time for it is not that for the whole request, which may be minutes.
func readBody(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(bodyWithin))
	defer func() { _ = connection.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

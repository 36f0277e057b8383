package mcpserver

import (
	"context"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// openStream begins a session of the older transport, which lasts as long as its stream.
func (h *HTTP) openStream(w http.ResponseWriter, r *http.Request) {
	who := caller(r.Context())
	id := h.sessions.begin(who)
	defer h.sessions.end(id)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	life, hangUp := context.WithCancel(r.Context())
	defer hangUp()
	defer context.AfterFunc(h.life, hangUp)()
	query := url.Values{}
	for name, values := range r.URL.Query() {
		query[name] = values // the key is among them, without which no message comes in
	}
	query.Set("sessionId", id)
	stream := &mcp.SSEServerTransport{Endpoint: "/message?" + query.Encode(), Response: w,
		MaxRequestBodyBytes: 2 * maxBody}
	at := &place{life: life, stream: id, caller: who}
	h.streams.Store(id, stream) // before the client learns where to send messages
	defer h.streams.Delete(id)
	session, err := h.server.Connect(at.in(r.Context()), stream, nil)
	if err != nil {
		return // the client has gone already
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait()
	}()
	select {
	case <-life.Done():
	case <-ended:
	}
	_ = session.Close() // it waits for what is being answered, which ends with life
}

// message takes a message for the session of a stream.
func (h *HTTP) message(w http.ResponseWriter, r *http.Request) {
	stream, ok := h.streams.Load(r.URL.Query().Get("sessionId"))
	if !ok {
		http.Error(w, "there is no such session: begin a new one", http.StatusNotFound)
		return
	}
	stream.(*mcp.SSEServerTransport).ServeHTTP(w, r)
}

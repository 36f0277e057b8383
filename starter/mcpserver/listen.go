package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/internal/wait"
)

// The library's own subscriptions know nothing of tasks, and it sends no notifications of an extension. So those that
// name tasks are served here, beside it.

const (
	listenMethod = "subscriptions/listen"
	metaVersion  = "io.modelcontextprotocol/protocolVersion"
	metaID       = "io.modelcontextprotocol/subscriptionId"
)

// listening asks to be told of tasks.
type listening struct {
	mcp.ParamsBase
	Notifications struct {
		TaskIDs []string `json:"taskIds"`
	} `json:"notifications"`
}

// listeningTo reads a request to be told of tasks; nil if it asks for none.
func listeningTo(m jsonrpc.Message) (*jsonrpc.Request, *listening) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method != listenMethod || !r.IsCall() {
		return nil, nil
	}
	var p listening
	if err := json.Unmarshal(r.Params, &p); err != nil || len(p.Notifications.TaskIDs) == 0 {
		return nil, nil
	}
	return r, &p
}

// subscription tells a client of its tasks, on the stream of its request.
type subscription struct {
	*session
	id   jsonrpc.ID
	mu   sync.Mutex
	send func(jsonrpc.Message) error
}

// listen tells a client how its tasks stand, until all have ended or the client has enough. It gives the answer to the
// request.
func (d *door) listen(ctx context.Context, r *jsonrpc.Request, p *listening, send func(jsonrpc.Message) error,
) *jsonrpc.Response {
	answer := &jsonrpc.Response{ID: r.ID}
	s, err := about(ctx, d, nil, p)
	if err != nil {
		answer.Error = err
		return answer
	}
	sub := &subscription{session: s, id: r.ID, send: send}
	var known []string
	for _, id := range p.Notifications.TaskIDs {
		if _, err := s.taskOf(ctx, id); err == nil {
			known = append(known, id)
		}
	}
	agreed := map[string]any{}
	if len(known) > 0 {
		agreed["taskIds"] = known
	}
	err = sub.notify("notifications/subscriptions/acknowledged", map[string]any{"notifications": agreed})
	if err != nil {
		answer.Error = err
		return answer
	}
	var all sync.WaitGroup
	for _, id := range known {
		all.Go(func() { sub.follow(ctx, id) })
	}
	all.Wait()
	answer.Result, answer.Error = json.Marshal(map[string]any{"resultType": "complete",
		"_meta": map[string]any{metaID: r.ID.Raw()}})
	return answer
}

// notify sends a notification of the subscription.
func (s *subscription) notify(method string, params any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	fields["_meta"] = map[string]any{metaID: s.id.Raw()}
	if text, err = json.Marshal(fields); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(&jsonrpc.Request{Method: method, Params: text})
}

// follow tells of a task each time that it stands otherwise.
func (s *subscription) follow(ctx context.Context, id string) {
	told := ""
	for ctx.Err() == nil {
		t, err := s.taskOf(ctx, id)
		if err == nil {
			t.ResultType = ""
			text, _ := json.Marshal(t)
			if string(text) != told && s.notify("notifications/tasks", json.RawMessage(text)) != nil {
				return
			}
			if told = string(text); t.isOver {
				return
			}
		}
		s.pause(ctx, id, t)
	}
}

// pause waits for the next outcome. Without a worker there is none, and the task is looked at again in a while.
func (s *subscription) pause(ctx context.Context, id string, t *task) {
	if durable, ok := s.Runtime.(Durable); ok && t != nil {
		if _, err := durable.Wait(ctx, id, t.pass); err == nil || ctx.Err() != nil {
			return
		}
	}
	_ = wait.For(ctx, time.Second) // what ends it is looked at by who called
}

// listen serves a request over HTTP that names tasks.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request, request *jsonrpc.Request, p *listening) {
	if r.Header.Get("Mcp-Method") != listenMethod || r.Header.Get(versionHeader) != p.GetMeta()[metaVersion] {
		writeError(w, request.ID, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch,
			Message: "Mcp-Method and Mcp-Protocol-Version must say what the message says"})
		return
	}
	life, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(h.life, end)()
	begun := false
	send := func(m jsonrpc.Message) error {
		text, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		if !begun {
			begun = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-cache, no-transform")
		}
		if _, err := fmt.Fprintf(w, "event: message\ndata: %s\n\n", text); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	answer := h.server.tasks.listen(life, request, p, send)
	var refused *jsonrpc.Error
	if !begun && errors.As(answer.Error, &refused) {
		writeError(w, request.ID, refused)
		return
	}
	_ = send(answer) // who has gone needs no answer
}

func writeError(w http.ResponseWriter, id jsonrpc.ID, e *jsonrpc.Error) {
	text, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: e})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(text)
}

// listeningTransport serves requests that name tasks, and hands all else to the library.
type listeningTransport struct {
	mcp.Transport
	door *door
	life context.Context
}

// Connect begins to serve.
func (t listeningTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &listeningConnection{Connection: c, door: t.door, life: t.life}, err
}

type listeningConnection struct {
	mcp.Connection
	door *door
	life context.Context
	open sync.Map // what ends a subscription, by its request's id
}

// Read gives the next message for the library.
func (c *listeningConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			c.open.Range(func(_, end any) bool { end.(context.CancelFunc)(); return true })
			return m, err
		}
		if r, p := listeningTo(m); p != nil {
			c.begin(r, p)
			continue
		}
		c.end(m)
		return m, nil
	}
}

func (c *listeningConnection) begin(r *jsonrpc.Request, p *listening) {
	ctx, end := context.WithCancel(c.life)
	c.open.Store(r.ID.Raw(), end)
	go func() {
		defer end()
		answer := c.door.listen(ctx, r, p, func(m jsonrpc.Message) error { return c.Write(c.life, m) })
		c.open.Delete(r.ID.Raw())
		if ctx.Err() == nil {
			_ = c.Write(c.life, answer) // a connection that has ended says so to its reader
		}
	}()
}

// end ends the subscription that a client cancels.
func (c *listeningConnection) end(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method != "notifications/cancelled" {
		return
	}
	var p struct {
		RequestID any `json:"requestId"`
	}
	if json.NewDecoder(bytes.NewReader(r.Params)).Decode(&p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	if end, ok := c.open.Load(id.Raw()); ok {
		end.(context.CancelFunc)()
	}
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/redact"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/version"
)

// mcpSession is one initialized connection. mcp-go's client shakes hands and
// answers what the server asks; requests go over its transport directly, which
// gives the bytes of the answer.
type session struct {
	connector    string
	redact       *redact.Redactor
	stuckLimit   time.Duration
	maxAnswer    int64
	client       *client.Client
	child        *child // nil when the server is no process of ours
	instructions string

	toolsChanged func()
	listeners    sync.Map // of progress, by the token of their request

	ids    atomic.Int64
	lose   sync.Once
	lost   chan struct{} // closed when no request can be sent any more
	closed chan struct{} // closed when the transport is, and its process ended
}

// firstRequestID keeps clear of the ids that the client itself counts from 1.
const firstRequestID = 1_000_000_000

var clientInfo = mcp.Implementation{Name: "codemode", Version: version.Number}

func newSession(c *connector, cli *client.Client, child *child) *session {
	s := &session{
		connector: c.name, redact: c.redact, stuckLimit: c.stuckLimit, maxAnswer: c.maxAnswer(),
		client: cli, child: child,
		toolsChanged: c.toolsChanged, lost: make(chan struct{}), closed: make(chan struct{}),
	}
	s.ids.Store(firstRequestID)
	cli.OnNotification(s.notified)
	cli.OnConnectionLost(func(error) { s.drop() })
	return s
}

// handshake initializes the connection the way that every server in use knows.
// mcp-go would first send server/discover, on which some of them end.
func (s *session) handshake(ctx context.Context) error {
	if s.client.IsInitialized() {
		return nil
	}
	var request mcp.InitializeRequest
	request.Params.ClientInfo = clientInfo
	request.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	answer, err := s.client.Initialize(ctx, request)
	var failed *transport.Error
	if err != nil && !errors.As(err, &failed) {
		request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
		answer, err = s.client.Initialize(ctx, request)
	}
	if err != nil {
		return err
	}
	s.instructions = answer.Instructions
	return nil
}

// mcpError is the server's refusal of a request.
type serverError struct {
	Code    int
	Message string
}

func (e *serverError) Error() string { return fmt.Sprintf("MCP error %d: %s", e.Code, e.Message) }

// request sends one request and gives the result as it came in.
func (s *session) request(ctx context.Context, method string, params map[string]any,
	progress func(connectors.Progress)) (json.RawMessage, error) {
	id := s.ids.Add(1)
	if progress != nil {
		var stop func()
		params, stop = s.follow(id, params, progress)
		defer stop()
	}
	body, err := rawjson.Marshal(s.withProtocol(params))
	if err != nil {
		return nil, err
	}
	out := &outgoing{body: body}
	request := transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(id),
		Method:  method,
		Params:  out,
		Header:  s.headers(method, body),
	}
	ctx, note := withNote(ctx)
	response, err := s.exchange(ctx, request)
	switch {
	case err != nil && note.tooLarge.Load(),
		err == nil && response.Error != nil && response.Error.Code == answerTooLarge:
		if s.child != nil && s.child.flood.Load() { // nothing more is read of it: the next call wants another server
			s.drop()
		}
		return nil, &tooLargeError{s.maxAnswer}
	case err != nil:
		late := out.withdraw()
		if late && ctx.Err() != nil {
			s.cancel(ctx, request.ID)
		}
		return nil, s.failure(ctx, method, late, err)
	case response.Error != nil:
		return nil, &serverError{Code: response.Error.Code, Message: s.redact.Apply(response.Error.Message)}
	}
	return response.Result, nil
}

// outgoing notes when it is marshalled: transports check that they can send
// before that and write after it, so it tells what their errors do not.
type outgoing struct {
	body  json.RawMessage
	state atomic.Int32
}

const (
	waiting int32 = iota
	begun
	withdrawn
)

func (o *outgoing) MarshalJSON() ([]byte, error) {
	o.state.CompareAndSwap(waiting, begun)
	if o.state.Load() == withdrawn {
		return nil, errors.New("nobody waits for this request any more")
	}
	return o.body, nil
}

// withdraw keeps the request from being sent, and tells whether it is too late for that.
func (o *outgoing) withdraw() (late bool) {
	o.state.CompareAndSwap(waiting, withdrawn)
	return o.state.Load() == begun
}

const (
	// cancelGrace is how long a transport may take to notice a cancelled context.
	cancelGrace = 250 * time.Millisecond
	// defaultStuckLimit is how long a request may keep writing to a server that
	// does not read after its caller has gone, before the server is given up.
	defaultStuckLimit = 30 * time.Second
)

type exchanged struct {
	response *transport.JSONRPCResponse
	err      error
}

// exchange returns when the context ends even if the transport does not: a
// write to a full pipe, or a handler in this process, cannot be interrupted.
func (s *session) exchange(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	answer := make(chan exchanged, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answer <- exchanged{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		response, err := s.client.GetTransport().SendRequest(ctx, request)
		if err == nil && response == nil {
			err = errors.New("no response")
		}
		answer <- exchanged{response, err}
	}()
	select {
	case a := <-answer:
		return a.response, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answer:
		return a.response, a.err
	case <-time.After(cancelGrace):
		go s.giveUpUnless(answer)
		return nil, ctx.Err()
	}
}

func (s *session) giveUpUnless(answer <-chan exchanged) {
	select {
	case <-answer:
	case <-s.lost:
	case <-time.After(s.stuckLimit):
		if s.child != nil {
			s.drop()
		}
	}
}

// cancel tells the server to stop. It is best effort and nobody waits for it.
func (s *session) cancel(ctx context.Context, id mcp.RequestId) {
	if _, isHTTP := s.client.GetTransport().(transport.HTTPConnection); isHTTP {
		return // there, closing the request's stream is the cancellation
	}
	note := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	note.Method = string(mcp.MethodNotificationCancelled)
	note.Params.AdditionalFields = map[string]any{"requestId": id, "reason": context.Cause(ctx).Error()}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = s.client.GetTransport().SendNotification(ctx, note)
	}()
}

// failure types what went wrong with a request, and drops the session when it is lost.
func (s *session) failure(ctx context.Context, method string, late bool, err error) error {
	refused := isWriteError(err) || errors.Is(err, transport.ErrSessionTerminated) || isUnauthorized(err)
	gone := refused || errors.Is(err, transport.ErrTransportClosed)
	if gone {
		s.drop()
	}
	if !late || refused || web.IsDialError(err) {
		return &web.UnsentError{Text: s.redact.Apply(fmt.Sprintf("%s could not be sent to the MCP server of "+
			"connector %q: %v", method, s.connector, err))}
	}
	text := fmt.Sprintf("the MCP server of connector %q has not answered %s", s.connector, method)
	switch {
	case gone:
		return &connectors.OutcomeUnknownError{Err: fmt.Errorf("%s: %s", text, s.obituary())}
	case ctx.Err() != nil:
		return &connectors.OutcomeUnknownError{Err: fmt.Errorf("%s: %w", text, ctx.Err())}
	}
	return &connectors.OutcomeUnknownError{Err: errors.New(s.redact.Apply(fmt.Sprintf("%s: %v", text, err)))}
}

// isWriteError tells that a pipe broke before the end of the line, without which
// a server has nothing to act on.
func isWriteError(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Op == "write"
}

func isUnauthorized(err error) bool {
	var missing *transport.AuthorizationRequiredError
	return errors.As(err, &missing)
}

// obituary waits a moment for the process to be collected, since what it wrote
// last says most.
func (s *session) obituary() string {
	select {
	case <-s.closed:
		if last := s.child.lastWords(); last != "" {
			return "it ended: " + last
		}
	case <-time.After(time.Second):
	}
	return "the connection was lost"
}

func (s *session) over() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// drop gives the session up; the rest happens in the background.
func (s *session) drop() {
	s.lose.Do(func() {
		close(s.lost)
		go func() {
			defer close(s.closed)
			s.child.ended(s.client.Close())
		}()
	})
}

// close ends the session and waits until it has.
func (s *session) close() {
	s.drop()
	<-s.closed
}

// withProtocol adds what protocol versions without a handshake want in every
// request. It is for clients that were brought along initialized.
func (s *session) withProtocol(params map[string]any) map[string]any {
	version := s.client.ProtocolVersion()
	if !mcp.IsModernProtocol(version) {
		return params
	}
	meta := map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientCapabilities: s.client.GetClientCapabilities(),
		mcp.MetaKeyClientInfo:         clientInfo,
	}
	if given, ok := params["_meta"].(map[string]any); ok {
		for key, value := range given {
			meta[key] = value
		}
	}
	whole := map[string]any{"_meta": meta}
	for key, value := range params {
		if key != "_meta" {
			whole[key] = value
		}
	}
	return whole
}

func (s *session) headers(method string, body json.RawMessage) http.Header {
	header := http.Header{}
	for name, value := range mcp.StandardHeaders(s.client.ProtocolVersion(), mcp.MCPMethod(method), body) {
		header.Set(name, value)
	}
	return header
}

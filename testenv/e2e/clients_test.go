package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	older "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/starter/guard"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

// asking is a question as a client shows it to a person.
type asking struct {
	Message string
	Schema  json.RawMessage
	URL     string
}

// reply is what the person does.
type reply struct {
	action  string
	content map[string]any
}

// person answers at a client, and keeps what was asked.
type person struct {
	mu     sync.Mutex
	asked  []asking
	answer func(asking) reply
}

func (p *person) decide(q asking) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	return p.answer(q)
}

// user is a client with a person before it.
type user struct {
	person   *person
	names    func(t *testing.T) []string
	call     func(ctx context.Context, args map[string]any) (text string, isError bool, err error)
	progress func() []string
	close    func()
}

const doorKey = guard.Key("the key of the door in tests")

// transports are how a client reaches a door.
type reaching struct {
	name    string
	http    string         // its address, if it is over HTTP
	in      io.Reader      // what the door says, else
	out     io.WriteCloser // and hears
	isOlder bool           // the older transport
	token   string         // whom it comes from, where tokens say that
	// closeDoor ends the door as a signal to its process does, over HTTP.
	closeDoor func()
}

// detach is an argument that tells a client of these tests to say so of its call.
const detach = "detach"

// reach serves a door for one client.
func reach(t *testing.T, how string, o mcpserver.Options) reaching {
	t.Helper()
	s, err := mcpserver.New(t.Context(), o)
	require.NoError(t, err)
	if how == "stdio" {
		toDoor, out := io.Pipe()
		in, fromDoor := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = mcpserver.ServeStdio(ctx, s, toDoor, fromDoor)
			_ = fromDoor.Close()
		}()
		t.Cleanup(func() { _ = out.Close(); cancel(); <-ended })
		return reaching{name: how, in: in, out: out}
	}
	h, err := mcpserver.NewHTTP(s, mcpserver.HTTPOptions{Key: doorKey, SSE: true})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(func() { _ = h.Close(); web.CloseClientConnections(); web.Close() })
	path := map[string]string{"http": "/mcp", "sse": "/sse"}[how]
	closing := func() { _ = h.Close(); web.CloseClientConnections() }
	return reaching{name: how, http: doorKey.In(web.URL + path), isOlder: how == "sse", closeDoor: closing}
}

// official is the official SDK's client, of today's revision where the transport has it.
func official(t *testing.T, to reaching, p *person) *user {
	t.Helper()
	var progress noted
	c := mcp.NewClient(&mcp.Implementation{Name: "official", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			schema, _ := json.Marshal(r.Params.RequestedSchema)
			a := p.decide(asking{r.Params.Message, schema, r.Params.URL})
			return &mcp.ElicitResult{Action: a.action, Content: a.content}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress.add(r.Params.Message)
		},
	})
	var by mcp.Transport = &mcp.StreamableClientTransport{Endpoint: to.http, HTTPClient: bearing(to.token)}
	switch {
	case to.isOlder:
		by = &mcp.SSEClientTransport{Endpoint: to.http, HTTPClient: bearing(to.token)}
	case to.http == "":
		by = &mcp.IOTransport{Reader: io.NopCloser(to.in), Writer: to.out}
	}
	session, err := c.Connect(t.Context(), by, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &user{person: p, progress: progress.all, close: func() { _ = session.Close() },
		names: func(t *testing.T) (names []string) {
			list, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err)
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			return names
		},
		call: func(ctx context.Context, args map[string]any) (string, bool, error) {
			params := &mcp.CallToolParams{Name: "codemode", Arguments: args, Meta: mcp.Meta{}}
			if args[detach] != nil {
				delete(args, detach)
				params.Meta["codemode/detach"] = true
			}
			params.SetProgressToken("p")
			answer, err := session.CallTool(ctx, params)
			if err != nil {
				return "", false, err
			}
			return answer.Content[0].(*mcp.TextContent).Text, answer.IsError, nil
		}}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func bearing(token string) *http.Client { return &http.Client{Transport: bearer(token)} }

// noted are texts that arrive at any time.
type noted struct {
	mu    sync.Mutex
	texts []string
}

func (n *noted) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

func (n *noted) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.texts...)
}

type olderPerson struct{ *person }

func (p olderPerson) Elicit(_ context.Context, r older.ElicitationRequest) (*older.ElicitationResult, error) {
	schema, _ := json.Marshal(r.Params.RequestedSchema)
	a := p.decide(asking{r.Params.Message, schema, r.Params.URL})
	return &older.ElicitationResult{ElicitationResponse: older.ElicitationResponse{
		Action: older.ElicitationResponseAction(a.action), Content: a.content}}, nil
}

// mcpGo is mcp-go's client, of a revision.
func mcpGo(version string) func(t *testing.T, to reaching, p *person) *user {
	return func(t *testing.T, to reaching, p *person) *user {
		t.Helper()
		var by transport.Interface
		var err error
		switch {
		case to.isOlder:
			by, err = transport.NewSSE(to.http)
		case to.http != "":
			by, err = transport.NewStreamableHTTP(to.http)
		default:
			by = transport.NewIO(to.in, to.out, io.NopCloser(&silence{}))
		}
		require.NoError(t, err)
		c := client.NewClient(by, client.WithElicitationHandler(olderPerson{p}))
		require.NoError(t, c.Start(t.Context()))
		t.Cleanup(func() { _ = c.Close() })
		var progress noted
		c.OnNotification(func(n older.JSONRPCNotification) {
			if text, ok := n.Params.AdditionalFields["message"].(string); ok {
				progress.add(text)
			}
		})
		var hello older.InitializeRequest
		hello.Params.ProtocolVersion = version
		hello.Params.ClientInfo = older.Implementation{Name: "mcp-go", Version: "1"}
		_, err = c.Initialize(t.Context(), hello)
		require.NoError(t, err)
		return &user{person: p, progress: progress.all, close: func() { _ = c.Close() },
			names: func(t *testing.T) (names []string) {
				list, err := c.ListTools(t.Context(), older.ListToolsRequest{})
				require.NoError(t, err)
				for _, tool := range list.Tools {
					names = append(names, tool.Name)
				}
				return names
			},
			call: func(ctx context.Context, args map[string]any) (string, bool, error) {
				var r older.CallToolRequest
				r.Params.Name, r.Params.Arguments = "codemode", args
				r.Params.Meta = &older.Meta{ProgressToken: "p"}
				answer, err := c.CallTool(ctx, r)
				if err != nil {
					return "", false, err
				}
				return answer.Content[0].(older.TextContent).Text, answer.IsError, nil
			}}
	}
}

// silence has nothing to read.
type silence struct{}

func (*silence) Read([]byte) (int, error) { return 0, io.EOF }

// goClients are those that run in these tests, with every transport that each has.
var goClients = map[string]func(*testing.T, reaching, *person) *user{
	"official SDK":       official,
	"mcp-go, today's":    mcpGo(older.LATEST_PROTOCOL_VERSION),
	"mcp-go, 2025-11-25": mcpGo(older.LATEST_LEGACY_PROTOCOL_VERSION),
}

// eachClient runs a test with each client over each transport.
func eachClient(t *testing.T, o mcpserver.Options, test func(t *testing.T, join func(*person) *user)) {
	for name, open := range goClients {
		for _, how := range []string{"stdio", "http", "sse"} {
			if how == "sse" && name == "mcp-go, 2025-11-25" {
				continue // it says that it asks people, and takes no question over this transport
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				test(t, func(p *person) *user { return open(t, reach(t, how, o), p) })
			})
		}
	}
}

// What the documentation says was tried is what these tests try.
func TestClientsAreInTheMatrix(t *testing.T) {
	text, err := os.ReadFile("../../docs/clients.md")
	require.NoError(t, err)
	for name := range goClients {
		require.Contains(t, string(text), "\n| "+name)
	}
}

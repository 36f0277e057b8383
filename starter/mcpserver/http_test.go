package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/starter/guard"
)

const key = guard.Key("the key of the door, as printed")

func blank() *Server { return Plain(mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)) }

// served is a server with one tool, and how often that ran, behind the door.
func served(t *testing.T, o HTTPOptions) (url string, h *HTTP, ran *int) {
	t.Helper()
	ran = new(int)
	s := blank()
	s.AddTool(&mcp.Tool{Name: "write", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			*ran++
			return said("written"), nil
		})
	h, err := NewHTTP(s, o)
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(func() { require.NoError(t, h.Close()); web.CloseClientConnections(); web.Close() })
	return web.URL, h, ran
}

func send(t *testing.T, method, address, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(text)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
	"capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"0"}}}`

const write = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write","arguments":{}}}`

func asJSONRequest(more map[string]string) map[string]string {
	header := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for name, value := range more {
		header[name] = value
	}
	return header
}

// begin makes a session.
func begin(t *testing.T, address string, header map[string]string) string {
	t.Helper()
	answer, text := send(t, "POST", address, hello, asJSONRequest(header))
	require.Equal(t, 200, answer.StatusCode, text)
	id := answer.Header.Get(sessionHeader)
	require.NotEmpty(t, id)
	return id
}

// What pages of other sites make browsers send is refused on every path with every method, with the right key even.
func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	address, _, ran := served(t, HTTPOptions{Key: key, SSE: true})
	own := map[string]string{}
	for name, header := range map[string]map[string]string{
		"another origin":       {"Origin": "https://evil.example"},
		"no origin to tell":    {"Origin": "null"},
		"another port":         {"Origin": "http://127.0.0.1:1"},
		"another scheme":       {"Origin": strings.Replace(address, "http:", "https:", 1)},
		"a name of this host":  {"Origin": strings.Replace(address, "127.0.0.1", "localhost", 1)},
		"fetch without origin": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
		"a neighbour":          {"Sec-Fetch-Site": "same-site"},
		"lies in two headers":  {"Origin": address, "Sec-Fetch-Site": "cross-site"},
		"a link":               {"Referer": "https://evil.example/page"},
		"another name":         {"Host": "evil.example"},
		"a rebound name": {"Host": "evil.example", "Origin": "http://evil.example",
			"Sec-Fetch-Site": "same-origin"},
	} {
		for _, path := range []string{"/mcp", "/sse", "/message", "/", "/anything"} {
			for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"} {
				answer, text := send(t, method, key.In(address+path), hello, asJSONRequest(header))
				require.Equal(t, 403, answer.StatusCode, "%s: %s %s: %s", name, method, path, text)
				require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"))
			}
		}
	}
	require.Zero(t, *ran)
	own["Origin"], own["Sec-Fetch-Site"] = address, "same-origin"
	own[sessionHeader] = begin(t, key.In(address+"/mcp"), own)
	answer, text := send(t, "POST", key.In(address+"/mcp"), write, asJSONRequest(own))
	require.Equal(t, 200, answer.StatusCode, text)
	require.Equal(t, 1, *ran)
}

func TestTheDoorWantsItsKeyOrAToken(t *testing.T) {
	_, err := NewHTTP(blank(), HTTPOptions{})
	require.ErrorContains(t, err, "needs to know who may come in")
	address, _, ran := served(t, HTTPOptions{Key: key, SSE: true})
	for _, path := range []string{"/mcp", "/sse", "/message", "/mcp?key=", "/mcp?key=guess", "/nothing"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			answer, text := send(t, method, address+path, write, asJSONRequest(nil))
			require.Equal(t, 401, answer.StatusCode, "%s %s", method, path)
			require.Contains(t, text, "that the server printed")
		}
	}
	require.Zero(t, *ran)
	begin(t, address+"/mcp", map[string]string{"Authorization": "Bearer " + string(key)})
	begin(t, key.In(address+"/mcp"), nil)
}

func TestTheDoorWantsJSON(t *testing.T) {
	address, _, ran := served(t, HTTPOptions{Key: key, SSE: true})
	for _, kind := range []string{"text/plain", "", "application/x-www-form-urlencoded", "x/y; a=application/json"} {
		for _, path := range []string{"/mcp", "/message"} {
			answer, _ := send(t, "POST", key.In(address+path), write, map[string]string{"Content-Type": kind})
			require.Equal(t, 415, answer.StatusCode, "%s %s", path, kind)
		}
	}
	require.Zero(t, *ran)
}

func TestTheOlderTransportIsServedWhenAskedFor(t *testing.T) {
	address, _, _ := served(t, HTTPOptions{Key: key})
	for _, path := range []string{"/sse", "/message"} {
		answer, _ := send(t, "GET", key.In(address+path), "", nil)
		require.Equal(t, 404, answer.StatusCode)
	}
}

// people are known by tokens that are their names.
func people(token string) (Caller, bool) {
	return Caller{Name: token, MayRun: token != "viewer"}, token == "ada" || token == "bob" || token == "viewer"
}

func TestSessionsBelongToTheirCallers(t *testing.T) {
	address, h, ran := served(t, HTTPOptions{Authenticate: people, SSE: true})
	ada, bob := map[string]string{"Authorization": "Bearer ada"}, map[string]string{"Authorization": "Bearer bob"}
	refused, _ := send(t, "POST", address+"/mcp?key=ada", hello, asJSONRequest(nil))
	require.Equal(t, 401, refused.StatusCode, "a token is no part of an address")
	id := begin(t, address+"/mcp", ada)
	for _, method := range []string{"POST", "GET", "DELETE"} {
		bob[sessionHeader] = id
		answer, _ := send(t, method, address+"/mcp", write, asJSONRequest(bob))
		require.Equal(t, 404, answer.StatusCode, method)
	}
	const accepted = `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`
	answer, _ := send(t, "POST", address+"/mcp", accepted, asJSONRequest(bob))
	require.Equal(t, 404, answer.StatusCode, "an answer to what ada's client is asked")
	ada[sessionHeader] = id
	answer, text := send(t, "POST", address+"/mcp", write, asJSONRequest(ada))
	require.Equal(t, 200, answer.StatusCode, text)
	require.Equal(t, 1, *ran)
	ada[sessionHeader] = "made up"
	answer, _ = send(t, "POST", address+"/mcp", write, asJSONRequest(ada))
	require.Equal(t, 404, answer.StatusCode)

	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", address+"/sse", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer ada")
	stream, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	require.Empty(t, stream.Header.Get("Access-Control-Allow-Origin"))
	lines := bufio.NewScanner(stream.Body)
	for range 2 { // the event, and its data
		require.True(t, lines.Scan())
	}
	endpoint := strings.TrimPrefix(lines.Text(), "data: ")
	delete(bob, sessionHeader)
	answer, _ = send(t, "POST", address+endpoint, hello, asJSONRequest(bob))
	require.Equal(t, 404, answer.StatusCode)
	delete(ada, sessionHeader)
	answer, _ = send(t, "POST", address+endpoint, hello, asJSONRequest(ada))
	require.Equal(t, 202, answer.StatusCode)
	cancel()
	u, err := url.Parse(endpoint)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		h.sessions.mu.Lock()
		defer h.sessions.mu.Unlock()
		return h.sessions.byID[u.Query().Get("sessionId")] == nil
	}, 10*time.Second, time.Millisecond, "the session ends with its stream")
}

func TestViewersDoNotRun(t *testing.T) {
	address, _, ran := served(t, HTTPOptions{Authenticate: people, SSE: true})
	viewer := asJSONRequest(map[string]string{"Authorization": "Bearer viewer"})
	for _, path := range []string{"/mcp", "/sse", "/message"} {
		answer, text := send(t, "POST", address+path, write, viewer)
		require.Equal(t, 403, answer.StatusCode)
		require.Contains(t, text, "needs the role runner")
	}
	require.Zero(t, *ran)
}

func TestSessionsAreBounded(t *testing.T) {
	s := newSessions()
	first := s.begin(&Caller{Name: "ada"})
	other := s.begin(&Caller{Name: "bob"})
	for range maxSessions {
		s.byID[s.begin(&Caller{Name: "ada"})].used = time.Now()
	}
	require.NotContains(t, s.byID, first, "the one that was used least recently goes")
	require.Contains(t, s.byID, other, "and none of others")
	for n := range 3 * maxAllSessions {
		s.begin(&Caller{Name: fmt.Sprint("caller ", n)})
	}
	require.LessOrEqual(t, len(s.byID), maxAllSessions)
	for _, session := range s.byID {
		session.used = time.Now().Add(-2 * sessionIdle)
	}
	last := s.begin(&Caller{Name: "ada"})
	require.Len(t, s.byID, 1, "what nobody uses is forgotten")
	require.Contains(t, s.byID, last)
}

func TestBodiesAreBounded(t *testing.T) {
	address, _, ran := served(t, HTTPOptions{Key: key})
	answer, _ := send(t, "POST", key.In(address+"/mcp"), strings.Repeat(" ", maxBody+1), asJSONRequest(nil))
	require.Equal(t, 413, answer.StatusCode)
	large := strings.Replace(write, `"arguments":{}`, `"arguments":{"x":"`+strings.Repeat("x", maxBody/2)+`"}`, 1)
	id := begin(t, key.In(address+"/mcp"), nil)
	answer, _ = send(t, "POST", key.In(address+"/mcp"), large,
		asJSONRequest(map[string]string{sessionHeader: id}))
	require.Equal(t, 200, answer.StatusCode)
	require.Equal(t, 1, *ran)
}

// However many calls wait, clients can answer what they are asked: calls wait for that.
func TestCallsAreBoundedAndAnswersAreNot(t *testing.T) {
	address, h, ran := served(t, HTTPOptions{Key: key})
	id := asJSONRequest(map[string]string{sessionHeader: begin(t, key.In(address+"/mcp"), nil)})
	for range maxCalls {
		h.calls <- struct{}{}
	}
	answer, _ := send(t, "POST", key.In(address+"/mcp"), write, id)
	require.Equal(t, 503, answer.StatusCode)
	require.Equal(t, "1", answer.Header.Get("Retry-After"))
	for _, message := range []string{`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":9,"result":{}}`} {
		answer, text := send(t, "POST", key.In(address+"/mcp"), message, id)
		require.Less(t, answer.StatusCode, 300, text)
	}
	<-h.calls
	answer, _ = send(t, "POST", key.In(address+"/mcp"), write, id)
	require.Equal(t, 200, answer.StatusCode)
	require.Equal(t, 1, *ran)
}

// deadlines notes what a connection is told of deadlines.
type deadlines struct {
	net.Conn
	reads chan time.Time
}

func (d deadlines) SetReadDeadline(at time.Time) error {
	select {
	case d.reads <- at:
	default:
	}
	return d.Conn.SetReadDeadline(at)
}

type noting struct {
	net.Listener
	reads chan time.Time
}

func (n noting) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	return deadlines{c, n.reads}, err
}

// A body has to come in time; the answer, which waits for programs and people, takes what it takes.
func TestBodiesComeInTime(t *testing.T) {
	h, err := NewHTTP(blank(), HTTPOptions{Key: key})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	web := httptest.NewUnstartedServer(h)
	reads := make(chan time.Time, 100)
	web.Listener = noting{web.Listener, reads}
	web.Start()
	defer web.Close()
	begin(t, key.In(web.URL+"/mcp"), nil)
	limited, lifted := false, false
	for len(reads) > 0 {
		at := <-reads
		soon := at.After(time.Now()) && at.Before(time.Now().Add(bodyTime+time.Second))
		lifted = limited && at.IsZero() || lifted
		limited = limited || soon
	}
	require.True(t, limited && lifted)
}

func TestAProxyInFront(t *testing.T) {
	base, err := url.Parse("https://mcp.example.com")
	require.NoError(t, err)
	address, _, _ := served(t, HTTPOptions{Authenticate: people, Site: guard.Site{Base: base, Anywhere: true}})
	header := map[string]string{"Authorization": "Bearer ada", "Host": "mcp.example.com",
		"Origin": "https://mcp.example.com", "Sec-Fetch-Site": "same-origin"}
	begin(t, address+"/mcp", header)
	header["Origin"] = "http://mcp.example.com.evil.example"
	answer, _ := send(t, "POST", address+"/mcp", hello, asJSONRequest(header))
	require.Equal(t, 403, answer.StatusCode)
}

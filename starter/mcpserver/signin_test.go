package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// signIn knows the access tokens "signed in ada", of somebody who may run, and "looker".
func signIn() *SignIn {
	return &SignIn{Resource: "https://mcp.example.com/mcp", Issuer: "https://login.example.com",
		Scopes: []string{"codemode", "codemode.look"}, ToRun: []string{"codemode"},
		Verify: func(_ context.Context, token string) (Caller, error) {
			switch token {
			case "ada-at-the-provider":
				return Caller{Name: "ada", MayRun: true, Subject: "s1"}, nil
			case "looker":
				return Caller{Name: "looker", MayLook: true}, nil
			}
			return Caller{}, errors.New("unknown")
		}}
}

func TestTheDoorTellsHowToSignIn(t *testing.T) {
	address, _, ran := served(t, HTTPOptions{SignIn: signIn(), Authenticate: people})
	for _, path := range []string{metadataPath, metadataPath + "/mcp"} {
		answer, text := send(t, "GET", address+path, "", map[string]string{"Origin": "https://client.example"})
		require.Equal(t, 200, answer.StatusCode)
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
		var m oauthex.ProtectedResourceMetadata
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		require.Equal(t, []any{"https://mcp.example.com/mcp", []string{"https://login.example.com"},
			[]string{"codemode", "codemode.look"}, []string{"header"}},
			[]any{m.Resource, m.AuthorizationServers, m.ScopesSupported, m.BearerMethodsSupported})
	}
	answer, _ := send(t, "GET", address+metadataPath+"/sse", "", nil)
	require.Equal(t, 404, answer.StatusCode)
	const where = `resource_metadata="https://mcp.example.com` + metadataPath + `/mcp"`
	for token, c := range map[string]struct {
		status    int
		challenge string
	}{
		"":                    {401, `Bearer scope="codemode", ` + where},
		"guess":               {401, `Bearer error="invalid_token", scope="codemode", ` + where},
		"looker":              {403, `Bearer error="insufficient_scope", scope="codemode", ` + where},
		"viewer":              {403, ``}, // one of the door's own: no sign-in would help
		"ada-at-the-provider": {200, ``},
		"bob":                 {200, ``},
	} {
		header := map[string]string{}
		if token != "" {
			header["Authorization"] = "Bearer " + token
		}
		answer, text := send(t, "POST", address+"/mcp", hello, asJSONRequest(header))
		require.Equal(t, c.status, answer.StatusCode, token)
		require.Equal(t, c.challenge, answer.Header.Get("WWW-Authenticate"), token)
		if token != "" {
			require.NotContains(t, text, token)
		}
	}
	answer, _ = send(t, "POST", address+"/mcp?access_token=ada-at-the-provider", hello, asJSONRequest(nil))
	require.Equal(t, 401, answer.StatusCode, "a token is no part of an address")
	require.Zero(t, *ran)
	_, err := NewHTTP(blank(), HTTPOptions{SignIn: &SignIn{Resource: "mcp"}})
	require.Error(t, err)
}

// lastingRuntime has executions that go on until they are ended.
type lastingRuntime struct {
	Durable
	started []string
	callers map[string]signals.Caller
	ended   map[string]bool
}

func (r *lastingRuntime) Execute(_ context.Context, _ string, o codemode.ExecuteOptions) (signals.Outcome, error) {
	r.started = append(r.started, o.ID)
	r.callers[o.ID] = o.Caller
	return signals.Outcome{Status: signals.Paused, ExecutionID: o.ID, Pass: 1}, nil
}

func (r *lastingRuntime) Standing(_ context.Context, id string) (codemode.Standing, error) {
	at := codemode.Standing{Outcome: signals.Outcome{Status: signals.Paused, ExecutionID: id}, Caller: r.callers[id]}
	if r.ended[id] {
		at.Status = signals.Completed
	}
	if r.callers[id].StartedAs == "" {
		return at, codemode.ErrNotFound
	}
	return at, nil
}

func (r *lastingRuntime) Wait(_ context.Context, id string, _ int) (signals.Outcome, error) {
	return signals.Outcome{Status: signals.Completed, ExecutionID: id, Result: json.RawMessage(`"secret"`)}, nil
}

func (r *lastingRuntime) Tool(context.Context, codemode.ToolOptions) (signals.Tool, error) {
	return signals.Tool{}, nil
}

// lasting is a door before executions that last, whose callers have a quota.
func lasting(t *testing.T, q Quota) (r *lastingRuntime, ask func(token, call string) string) {
	t.Helper()
	r = &lastingRuntime{callers: map[string]signals.Caller{}, ended: map[string]bool{}}
	s, err := New(t.Context(), Options{Runtime: r})
	require.NoError(t, err)
	h, err := NewHTTP(s, HTTPOptions{SignIn: signIn(), Authenticate: func(token string) (Caller, bool) {
		who, ok := people(token)
		who.Quota, who.MayLook = q, token == "bob"
		return who, ok && token != "viewer" || token == "eve"
	}})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(func() { require.NoError(t, h.Close()); web.CloseClientConnections(); web.Close() })
	return r, func(token, call string) string {
		header := map[string]string{"Authorization": "Bearer " + token}
		header[sessionHeader] = begin(t, web.URL+"/mcp", header)
		answer, text := send(t, "POST", web.URL+"/mcp", call, asJSONRequest(header))
		require.Equal(t, 200, answer.StatusCode, text)
		return text
	}
}

func TestQuotas(t *testing.T) {
	r, ask := lasting(t, Quota{InFlight: 2, PerHour: 3})
	ask("ada", program)
	ask("ada", program)
	refused := ask("ada", program)
	require.Contains(t, refused, "2 executions of yours are in flight, which is the most")
	require.Contains(t, refused, r.started[0])
	require.Len(t, r.started, 2)
	ask("bob", program)
	require.Len(t, r.started, 3, "each caller has a quota of their own")
	r.ended[r.started[0]] = true
	ask("ada", program)
	require.Len(t, r.started, 4, "what has ended is in flight no more")
	r.ended[r.started[1]] = true
	require.Contains(t, ask("ada", program), "you have started 3 executions within an hour, which is the most")
	require.Len(t, r.started, 4)
	require.NotContains(t, ask("ada-at-the-provider", program), "Nothing was started", "others have no quota")
}

// TestAnHourPasses counts what was started within the last one only, and forgets the rest.
func TestAnHourPasses(t *testing.T) {
	var l starts
	now := time.Now()
	q := Quota{PerHour: 1}
	over, err := l.add("ada", "e1", q, now)
	require.NoError(t, err)
	over()
	_, err = l.add("ada", "e2", q, now.Add(50*time.Minute))
	require.ErrorContains(t, err, "Try again in 10m0s")
	_, err = l.add("ada", "e2", q, now.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, l.byCaller["ada"], 1)
}

// TestOthersExecutionsAreNotShown: who runs programs sees outcomes of their own, unless they may look.
func TestOthersExecutionsAreNotShown(t *testing.T) {
	r, ask := lasting(t, Quota{})
	ask("ada", program)
	look := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"codemode","arguments":{"executionId":"` +
		r.started[0] + `"}}}`
	require.Contains(t, ask("ada", look), "secret")
	require.Contains(t, ask("bob", look), "secret", "bob is a viewer")
	require.NotContains(t, ask("eve", look), "secret")
	require.Contains(t, ask("eve", look), "No execution")
}

// TestSignedInDecisionsAreAsserted: by the name that the authorization server knows, and with those groups that the
// rule asks for; a token of the door's own asserts nothing.
func TestSignedInDecisionsAreAsserted(t *testing.T) {
	d := &door{Options: Options{}.withDefaults()}
	rule := &signals.ApproverRule{Groups: []string{"finance"}}
	ada := Caller{Name: "ada", SignedIn: true, Subject: "s1", Groups: []string{"staff", "finance"}}
	var a signals.Approve
	(&session{door: d, who: &ada}).sign(&a, rule)
	require.Equal(t, signals.Approve{AssertedBy: "ada", AssertedSubject: "s1", AssertedGroups: []string{"finance"}}, a)
	ada.SignedIn, a = false, signals.Approve{}
	(&session{door: d, who: &ada}).sign(&a, rule)
	require.Empty(t, a)
	for name, c := range map[string]struct {
		rule    signals.ApproverRule
		groups  []string
		offered bool
	}{
		"of the group":      {*rule, []string{"finance"}, true},
		"not of the group":  {*rule, []string{"staff"}, false},
		"not the requester": {signals.ApproverRule{NotRequester: true}, []string{"finance"}, false},
	} {
		asked := action(`{}`)
		asked.ApproverRule = &c.rule
		require.Equal(t, c.offered, newForm(asked, nil, "", c.groups...).why == "", name)
	}
}

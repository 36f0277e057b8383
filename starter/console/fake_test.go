package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

const secret = "sk-do-not-show"

// fake is a runtime with some calls that wait. It takes what is decided off the list.
type fake struct {
	mu        sync.Mutex
	items     []codemode.InboxItem
	approved  []signals.Approve
	rejected  []signals.Reject
	rollbacks []signals.Rollback
	others    []signals.Message
	err       error
	listed    codemode.ListOptions
	messages  int // that decided something, or tried to
}

func newFake(calls int) *fake {
	f := &fake{}
	for n := range calls {
		args := json.RawMessage(fmt.Sprintf(`{"to":"customer %d","amount":%d,"api_key":%q}`, n, n, secret))
		f.items = append(f.items,
			codemode.InboxItem{Runtime: "default", Purpose: "Pay", PendingAction: signals.PendingAction{
				ExecutionID: fmt.Sprintf("exec_%d", n/4), Seq: n % 4, Connector: "bank", Method: "pay", Args: args,
				ArgsDigest: signals.Digest(args),
				Class:      signals.Write, RequestedAt: 1_000, ExpiresAt: 2_000, Position: &signals.Position{Line: 1, Column: 1},
			}})
	}
	return f
}

func (f *fake) Refresh(context.Context) ([]codemode.InboxItem, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]codemode.InboxItem{}, f.items...), f.err
}

func (f *fake) Changed(string) {}

func (f *fake) Pending(_ context.Context, id string) ([]signals.PendingAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []signals.PendingAction{}
	for _, i := range f.items {
		if i.ExecutionID == id {
			list = append(list, i.PendingAction)
		}
	}
	return list, f.err
}

func (f *fake) take(id string, seq int) bool {
	for n, i := range f.items {
		if i.ExecutionID == id && i.Seq == seq {
			f.items = append(f.items[:n:n], f.items[n+1:]...)
			return true
		}
	}
	return false
}

func (f *fake) Decide(_ context.Context, id string, m signals.Message) (signals.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages++
	for _, one := range m.Each() { // all of them apply, or none
		if !f.waits(id, seqOf(one)) {
			return signals.Verdict{Error: signals.NotPaused(id, signals.Completed)}, nil
		}
	}
	for _, one := range m.Each() {
		f.note(one)
		f.take(id, seqOf(one))
	}
	return signals.Verdict{Accepted: true}, nil
}

func seqOf(m signals.Message) int {
	switch m := m.(type) {
	case signals.Approve:
		return m.Seqs[0]
	case signals.Reject:
		return *m.Seq
	case signals.Retry:
		return m.Seq
	case signals.Resolve:
		return m.Seq
	}
	return -1
}

func (f *fake) note(m signals.Message) {
	switch m := m.(type) {
	case signals.Approve:
		f.approved = append(f.approved, m)
	case signals.Reject:
		f.rejected = append(f.rejected, m)
	default:
		f.others = append(f.others, m)
	}
}

func (f *fake) waits(id string, seq int) bool {
	return slices.ContainsFunc(f.items, func(i codemode.InboxItem) bool { return i.ExecutionID == id && i.Seq == seq })
}

func (f *fake) Rollback(_ context.Context, _ string, r signals.Rollback) (signals.RollbackResult, error) {
	f.rollbacks = append(f.rollbacks, r)
	return signals.RollbackResult{Reverted: []int{0}}, nil
}

func (f *fake) Cancel(context.Context, string, signals.Cancellation) (bool, error) { return false, nil }

func (f *fake) Show(_ context.Context, id string) (*signals.Record, error) {
	if f.err != nil || !strings.HasPrefix(id, "exec_") {
		return nil, cmp.Or(f.err, codemode.ErrNotFound)
	}
	args := json.RawMessage(fmt.Sprintf(`{"password":%q,"n":1}`, secret))
	return &signals.Record{
		ID: id, Runtime: "default", Purpose: "Pay", Code: "await bank.pay({})", Status: signals.Paused,
		Connectors: []string{"bank"}, Passes: 1,
		Result: args, Logs: []string{"line"}, CreatedAt: 1_000, UpdatedAt: 2_000,
		Log: []signals.Call{{
			Seq: 0, Connector: "bank", Method: "pay", Args: args, Result: args, EditedArgs: args,
			State: signals.Applied, Class: signals.Write,
			DecidedBy: "ada", AssertedBy: "ada@example.com", DecidedAt: 1_500, SettledAt: 1_600, Revertable: true,
			Position: &signals.Position{Line: 1, Column: 7},
		}},
	}, nil
}

func (f *fake) Executions(ctx context.Context, o codemode.ListOptions) ([]signals.Record, error) {
	r, err := f.Show(ctx, "exec_0")
	if err != nil {
		return nil, err
	}
	r.Log, f.listed = nil, o
	return []signals.Record{*r}, nil
}

func (f *fake) Timeline(context.Context, string) ([]codemode.Pass, error) {
	return []codemode.Pass{{Number: 1, Issued: []int{0}, End: signals.PassBlocked}}, nil
}

func (f *fake) HistoryLength(context.Context, string) (int64, error) { return 7, nil }

func (f *fake) Method(context.Context, string, string) (*signals.Method, error) {
	return &signals.Method{Connector: "bank", Method: "pay", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"integer","maximum":1000},"api_key":{"type":"string"}},"required":["to"]}`)}, nil
}

func (f *fake) Snippets(context.Context) ([]signals.Snippet, error) {
	return []signals.Snippet{{Name: "a/b",
		SnippetVersion: signals.SnippetVersion{Version: 2, Description: "D", Connectors: []string{}}}}, nil
}

func (f *fake) Snippet(_ context.Context, name string, _ int) (*signals.Snippet, error) {
	return &signals.Snippet{Name: name,
		SnippetVersion: signals.SnippetVersion{Version: 2, Description: "D", Code: "return 1"}}, nil
}

func (f *fake) SnippetVersions(context.Context, string) ([]signals.SnippetVersion, error) {
	return []signals.SnippetVersion{{Version: 2}, {Version: 1}}, nil
}

const (
	approverToken = "approver-token-0123456789"
	viewerToken   = "viewer-token-0123456789ab"
)

func tokens(t testing.TB) *Tokens {
	list, err := ParseTokens([]byte("- {name: ada@example.com, role: approver, token: " + approverToken +
		"}\n- {name: vic, role: viewer, token: " + viewerToken + "}"))
	require.NoError(t, err)
	return list
}

// site is a console in a server, its inbox read.
type site struct {
	t       testing.TB
	console *Console
	server  *httptest.Server
	fake    *fake
}

func newSite(t testing.TB, f *fake, o Options) *site {
	t.Helper()
	o.Runtimes, o.User = []Runtime{{Name: "default", Client: f, Inbox: f}}, "local user"
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := New(o)
	require.NoError(t, err)
	s := &site{t: t, console: c, server: httptest.NewServer(c), fake: f}
	t.Cleanup(func() { s.server.CloseClientConnections(); s.server.Close() })
	s.refresh()
	return s
}

func (s *site) refresh() {
	items, err := s.fake.Refresh(context.Background())
	s.console.inbox.set("default", items, err)
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (s *site) ask(method, path, body string, header map[string]string) reply {
	s.t.Helper()
	r, err := http.NewRequest(method, s.server.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return reply{answer.StatusCode, answer.Header, string(text)}
}

var csrfPattern = regexp.MustCompile(`name="csrf" content="([^"]+)"`)

// enter signs in, with the key where no token is given, and gives the cookie and the session's token.
func (s *site) enter(token string) (cookie, csrf string) {
	s.t.Helper()
	if token == "" {
		token = string(s.console.Key)
	}
	in := s.ask("POST", "/login", url.Values{"token": {token}, "next": {"/"}}.Encode(),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	require.Equal(s.t, http.StatusSeeOther, in.status, in.body)
	cookie = strings.SplitN(in.header.Get("Set-Cookie"), ";", 2)[0]
	page := s.ask("GET", "/", "", map[string]string{"Cookie": cookie})
	found := csrfPattern.FindStringSubmatch(page.body)
	require.NotNil(s.t, found, page.body)
	return cookie, found[1]
}

// program is what a program sends that has the key.
func (s *site) program() map[string]string {
	return map[string]string{"Authorization": "Bearer " + string(s.console.Key), "Content-Type": "application/json"}
}

func (s *site) key(n int) string { return keyOf(s.fake.items[n]).String() }

func (s *site) form(cookie string, values url.Values, header map[string]string) reply {
	s.t.Helper()
	all := map[string]string{"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
	for name, value := range header {
		all[name] = value
	}
	return s.ask("POST", "/decide", values.Encode(), all)
}

package cli

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/provider"
)

// staff are the five people, and what groups the provider says that they are of.
var staff = map[string]provider.Person{
	"starter":   {Subject: "u1", Email: "sam@example.com", Groups: []string{"staff"}},
	"viewer":    {Subject: "u2", Email: "vera@example.com", Groups: []string{"audit"}},
	"approver":  {Subject: "u3", Email: "fay@example.com", Groups: []string{"finance"}},
	"requester": {Subject: "u4", Email: "rita@example.com", Groups: []string{"staff", "finance"}},
	"nobody":    {Subject: "u5", Email: "norm@example.com"},
}

// office is a runtime with its doors, at which people sign in at one provider.
type office struct {
	t          *testing.T
	provider   *provider.Provider
	runtime    string
	door       string // of MCP
	console    string
	logs       []*output
	transport  *http.Transport // trusts the provider
	access, id map[string]string
	browsers   map[string]*http.Client
	csrf       map[string]string
	cookies    []string // of browsers
}

const officeRules = `
      create_issue: { approvers: { notRequester: true, groups: [finance] } }
      delete_issue: { approvers: { groups: [finance] } }
      close_issue:  { revert: { tool: get_issue, args: { id: "args.id" } } }
`

func openOffice(t *testing.T, door ...string) *office {
	t.Helper()
	p, err := provider.Start(staff)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	o := &office{t: t, provider: p, runtime: fresh("office"), access: map[string]string{}, id: map[string]string{},
		browsers: map[string]*http.Client{}, csrf: map[string]string{}}
	config := trackerConfig(o.runtime, filepath.Join(t.TempDir(), "tracker.json"))
	config = config[:strings.Index(config, "    tools:\n")] + "    tools:" + officeRules
	o.logs = append(o.logs, worker(t, config).stderr)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, p.CA(), 0o600))
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(p.CA()))
	o.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	t.Cleanup(o.transport.CloseIdleConnections)
	o.door, o.console = "http://"+freeAddress(t), "http://"+freeAddress(t)
	o.launch(ca, append([]string{"mcp", "--http", strings.TrimPrefix(o.door, "http://"), "--url", o.door, "--runtime",
		o.runtime, "--oidc-issuer", p.URL, "--oidc-runners", "group:staff,scope:codemode", "--oidc-approvers",
		"group:finance", "--oidc-viewers", "group:audit"}, door...)...)
	o.launch(ca, "console", "--addr", strings.TrimPrefix(o.console, "http://"), "--url", o.console, "--runtime",
		o.runtime, "--oidc-issuer", p.URL, "--oidc-client-id", "console", "--oidc-approvers", "group:finance",
		"--oidc-viewers", "group:audit")
	o.door += "/mcp"
	for name, who := range staff {
		o.access[name], o.id[name] = p.AccessToken(who, o.door, "openid"), p.IDToken(who, "console", "")
	}
	return o
}

// freeAddress is one that nobody listens on, for what has to know its own address beforehand.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// launch starts a door and returns once it serves.
func (o *office) launch(ca string, args ...string) {
	o.t.Helper()
	cmd, log := command("starter", args...), &output{}
	cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+ca)
	errs, err := cmd.StderrPipe()
	require.NoError(o.t, err)
	require.NoError(o.t, cmd.Start())
	lines := bufio.NewScanner(io.TeeReader(errs, log))
	for lines.Scan() && !strings.Contains(lines.Text(), "http://") {
	}
	require.NotEmpty(o.t, lines.Text(), "%v: %s", args, log)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
		}
	}()
	o.t.Cleanup(func() { _ = cmd.Process.Kill(); <-read; _ = cmd.Wait() })
	o.logs = append(o.logs, log)
}

// ask sends a request and gives its status and what was answered.
func (o *office) ask(c *http.Client, method, address, body string, header map[string]string) (int, string,
	http.Header) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, address, strings.NewReader(body))
	require.NoError(o.t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := c.Do(r)
	require.NoError(o.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(o.t, err)
	return answer.StatusCode, string(text), answer.Header
}

// call calls a tool at the MCP door.
func (o *office) call(who string, params map[string]any) (status int, text string) {
	o.t.Helper()
	params["_meta"] = json.RawMessage(asksPeople)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	require.NoError(o.t, err)
	status, text, _ = o.ask(http.DefaultClient, "POST", o.door, string(body), map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": fmt.Sprint(params["name"]),
		"Authorization": "Bearer " + o.access[who]})
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			text = data // the last is the answer
		}
	}
	return status, text
}

func codemodeCall(args map[string]any) map[string]any {
	return map[string]any{"name": "codemode", "arguments": args}
}

// outcomeOf reads the outcome that a call was answered with; false where it was refused or asks.
func outcomeOf(status int, text string) (out signals.Outcome, ok bool) {
	var m struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	ok = status == http.StatusOK && json.Unmarshal([]byte(text), &m) == nil &&
		json.Unmarshal(m.Result.StructuredContent, &out) == nil && out.Status != ""
	return out, ok
}

// browser signs a person in at the console, as far as they come.
func (o *office) browser(who string) *http.Client {
	o.t.Helper()
	if c := o.browsers[who]; c != nil {
		return c
	}
	jar, err := cookiejar.New(nil)
	require.NoError(o.t, err)
	c := &http.Client{Jar: jar, Transport: o.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, _, header := o.ask(c, "GET", o.console+"/login/oidc", "", nil)
	_, _, header = o.ask(c, "GET", header.Get("Location")+"&login_hint="+who, "", nil)
	o.ask(c, "GET", header.Get("Location"), "", nil)
	_, page, _ := o.ask(c, "GET", o.console+"/", "", nil)
	if found := regexp.MustCompile(`name="csrf" content="([^"]+)"`).FindStringSubmatch(page); found != nil {
		o.csrf[who] = found[1]
	}
	site, err := url.Parse(o.console)
	require.NoError(o.t, err)
	for _, cookie := range jar.Cookies(site) {
		o.cookies = append(o.cookies, cookie.Value)
	}
	o.browsers[who] = c
	return c
}

// run runs a program as the requester.
func (o *office) run(code string) signals.Outcome {
	o.t.Helper()
	status, text := o.call("requester", codemodeCall(map[string]any{"code": code}))
	out, ok := outcomeOf(status, text)
	if ok {
		return out
	}
	q := o.questionOf(text) // of whom is asked: it exists all the same
	for _, each := range q.InputRequests {
		_, id, _ := strings.Cut(each.Params.Message, "Execution ")
		id, _, _ = strings.Cut(id, ",")
		return o.record(strings.TrimSuffix(id, "."))
	}
	require.Fail(o.t, "nothing was started", text)
	return out
}

func (o *office) questionOf(text string) (q question) {
	var m struct{ Result json.RawMessage }
	require.NoError(o.t, json.Unmarshal([]byte(text), &m), text)
	require.NoError(o.t, json.Unmarshal(m.Result, &q), text)
	return q
}

// record is what the command line shows of an execution.
func (o *office) record(id string) (out signals.Outcome) {
	o.t.Helper()
	r := starter(o.t, "", "wait", id, "--runtime", o.runtime, "--json")
	require.NoError(o.t, json.Unmarshal([]byte(r.stdout), &out), r.stdout+r.stderr)
	return out
}

const (
	asksFinance  = `return (await tracker.create_issue({title: "pay"})).title`
	asksAnybody  = `await tracker.delete_issue({id: 1}); return 1`
	canBeUndone  = `await tracker.close_issue({id: 2}); return 1`
	needsNothing = `return 1`
)

// TestFivePeople: who may start, see, decide and roll back, at each door.
func TestFivePeople(t *testing.T) {
	o := openOffice(t)
	may := map[string]map[string]string{ // the doors at which they may
		"starter":   {"start": "MCP door"},
		"viewer":    {"see": "console API"},
		"approver":  {"see": "console API", "decide": "console API", "roll back": "console API"},
		"requester": {"start": "MCP door", "see": "MCP door console API", "roll back": "console API"},
		"nobody":    {},
	}
	for door, actions := range o.atDoors(o.run(canBeUndone).ExecutionID) {
		for action, do := range actions {
			for who := range staff {
				want := strings.Contains(may[who][action], door)
				require.Equal(t, want, do(who), "%s: %s at the %s", who, action, door)
			}
		}
	}
	o.nothingIsTold()
}

// TestIdentityReachesTheRecord: who signed in has started an execution, by the name of the token, and has decided about
// it; what only their client says is a claim.
func TestIdentityReachesTheRecord(t *testing.T) {
	o := openOffice(t)
	call := codemodeCall(map[string]any{"code": asksAnybody})
	_, text := o.call("requester", call)
	q := o.questionOf(text)
	require.Len(t, q.InputRequests, 1, "somebody of the group may decide at their client: %s", text)
	call["inputResponses"], call["requestState"] = approval(q), q.RequestState
	_, theirs := o.call("starter", call)
	require.Contains(t, theirs, "error", "a question is of whom it was put to")
	out, ok := outcomeOf(o.call("requester", call))
	require.True(t, ok)
	require.Equal(t, signals.Completed, out.Status, out.Error)
	r := starter(t, "", "show", out.ExecutionID, "--runtime", o.runtime, "--json")
	var record signals.Record
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &record), r.stderr)
	require.Equal(t, []string{"u4", "u4 (at raw)", "u4"},
		[]string{record.StartedAs, record.Log[0].DecidedBy, record.Log[0].AssertedBy})
	require.NotEmpty(t, record.StartedSubject)

	later := o.run(asksFinance)
	refused := starter(t, "", "approve", later.ExecutionID, "--runtime", o.runtime, "--by", "fay@example.com")
	require.NotZero(t, refused.code, "the command line authenticates nobody")
	require.Contains(t, refused.stdout+refused.stderr, "nobody was authenticated")
	status, text, _ := o.ask(http.DefaultClient, "POST", o.console+"/api/v1/decide", fmt.Sprintf(
		`{"decisions":[{"action":"approve","executionId":%q,"seq":0,"argsDigest":%q}]}`, later.ExecutionID,
		later.Pending[0].ArgsDigest), map[string]string{"Authorization": "Bearer " + o.id["requester"],
		"Content-Type": "application/json"})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "rita@example.com started the execution", "by another name, and the same person")
	o.nothingIsTold()
}

// TestSignInSurvivesNewKeys: a provider that changes its keys needs no restart of the door, and quotas hold.
func TestSignInSurvivesNewKeys(t *testing.T) {
	o := openOffice(t, "--quota", "group:finance=0/0", "--quota", "*=1/0")
	require.NoError(t, o.provider.ChangeKeys())
	o.access["starter"] = o.provider.AccessToken(staff["starter"], o.door, "openid")
	start := func(code string) string {
		status, text := o.call("starter", codemodeCall(map[string]any{"code": code}))
		require.Equal(t, http.StatusOK, status, text)
		return text
	}
	require.Contains(t, start(asksFinance), "paused")
	require.Contains(t, start(needsNothing), "1 executions of yours are in flight")
	status, text, header := o.ask(http.DefaultClient, "POST", o.door, "{}", map[string]string{
		"Authorization": "Bearer " + o.provider.AccessToken(staff["nobody"], o.door, "openid")})
	require.Equal(t, http.StatusForbidden, status, text)
	require.Contains(t, header.Get("WWW-Authenticate"), `error="insufficient_scope", scope="codemode"`)
	other := o.provider.AccessToken(staff["starter"], "https://other.example", "codemode")
	status, _, header = o.ask(http.DefaultClient, "POST", o.door, "{}",
		map[string]string{"Authorization": "Bearer " + other})
	require.Equal(t, http.StatusUnauthorized, status, "a token for another service")
	_, where, _ := strings.Cut(header.Get("WWW-Authenticate"), `resource_metadata="`)
	_, text, _ = o.ask(http.DefaultClient, "GET", strings.TrimSuffix(where, `"`), "", nil)
	require.Contains(t, text, o.provider.URL)
	o.nothingIsTold()
}

// nothingIsTold looks for tokens, codes and sessions in all that was written.
func (o *office) nothingIsTold() {
	o.t.Helper()
	secrets := append(o.provider.Given(), o.cookies...)
	require.NotEmpty(o.t, secrets)
	written := o.histories()
	for _, log := range o.logs {
		written = append(written, log.String()...)
	}
	require.True(o.t, bytes.Contains(written, []byte("codemode.Execution")), "the histories are there")
	for _, secret := range secrets {
		parts := strings.Split(secret, ".")
		require.False(o.t, bytes.Contains(written, []byte(parts[len(parts)-1])), "a secret was written down")
	}
}

// histories are the events of all workflows of the runtime.
func (o *office) histories() (all []byte) {
	o.t.Helper()
	c, err := client.Dial(client.Options{HostPort: address})
	require.NoError(o.t, err)
	defer c.Close()
	page, err := c.ListWorkflow(o.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`WorkflowId STARTS_WITH "codemode/%s/"`, o.runtime)})
	require.NoError(o.t, err)
	for _, w := range page.Executions {
		events := c.GetWorkflowHistory(o.t.Context(), w.Execution.WorkflowId, w.Execution.RunId, false,
			enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(o.t, err)
			text, err := proto.Marshal(event)
			require.NoError(o.t, err)
			all = append(all, text...)
		}
	}
	return all
}

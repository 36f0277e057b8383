package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// described checks that an answer is what openapi.json says.
func (s *site) described(router routers.Router, method, path, body string, header map[string]string) reply {
	s.t.Helper()
	r := s.ask(method, path, body, header)
	request, err := http.NewRequest(method, path, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	route, parameters, err := router.FindRoute(request)
	require.NoError(s.t, err, path)
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus: true}
	in := &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route,
		Options: options}
	if r.status == http.StatusOK {
		require.NoError(s.t, openapi3filter.ValidateRequest(context.Background(), in), path)
	}
	require.NoError(s.t, openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: r.status, Header: r.header, Body: io.NopCloser(strings.NewReader(r.body)),
		Options: options,
	}), "%s: %s", path, r.body)
	return r
}

func TestAPIIsWhatItsDocumentSays(t *testing.T) {
	s := newSite(t, newFake(4), Options{Tokens: tokens(t)})
	served := s.ask("GET", "/api/openapi.json", "", nil)
	require.Equal(t, http.StatusOK, served.status)
	document, err := openapi3.NewLoader().LoadFromData([]byte(served.body))
	require.NoError(t, err)
	require.NoError(t, document.Validate(context.Background()))
	router, err := legacy.NewRouter(document)
	require.NoError(t, err)

	operations := map[string]bool{}
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			operations[method+" "+path] = true
		}
	}
	for _, route := range s.console.apiRoutes() {
		require.True(t, operations[route.pattern], "%s is not described", route.pattern)
		delete(operations, route.pattern)
	}
	require.Empty(t, operations, "described and not served")

	approver := map[string]string{"Authorization": "Bearer " + approverToken, "Content-Type": "application/json"}
	a := s.fake.items[0]
	for n, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/api/v1/me", "", 200},
		{"GET", "/api/v1/pending", "", 200},
		{"GET", "/api/v1/pending?runtime=default&executionId=exec_0&method=bank.pay&q=customer", "", 200},
		{"GET", "/api/v1/pending?runtime=nope", "", 404},
		{"GET", "/api/v1/executions?status=paused&limit=3&q=pay", "", 200},
		{"GET", "/api/v1/executions?status=nope", "", 400},
		{"GET", "/api/v1/executions/exec_0", "", 200},
		{"GET", "/api/v1/executions/nope", "", 404},
		{"POST", "/api/v1/decide", `{}`, 400},
		{"POST", "/api/v1/decide", `{"decisions":[{"action":"approve","executionId":"exec_0","seq":0}]}`, 400},
		{"POST", "/api/v1/decide", `{"decisions":[{"action":"approve","executionId":"exec_0","argsDigest":"x"}]}`, 400},
		{"POST", "/api/v1/decide", `{"decisions":[{"action":"approve","who":"me"}]}`, 400},
		{"POST", "/api/v1/decide", `{"decisions":[{"action":"dance","executionId":"exec_0","seq":0}]}`, 400},
		{"POST", "/api/v1/decide", fmt.Sprintf(`{"decisions":[{"action":"approve","executionId":"exec_0","seq":0,"argsDigest":%q,"by":"grace"},
			{"action":"reject","executionId":"exec_0","seq":1,"reason":"no","continue":true},{"action":"cancel","executionId":"exec_0"},
			{"action":"approve","executionId":"exec_0","seq":0,"argsDigest":%q},{"action":"rollback","executionId":"exec_0"}]}`, a.ArgsDigest, a.ArgsDigest), 200},
	} {
		r := s.described(router, c.method, c.path, c.body, approver)
		require.Equal(t, c.status, r.status, "%d %s: %s", n, c.path, r.body)
	}
	s.described(router, "GET", "/api/v1/pending", "", nil)
	require.Equal(t, signals.Approve{Seqs: []int{0}, ArgsDigest: a.ArgsDigest, By: "grace",
		AssertedBy: "ada@example.com"}, s.fake.approved[0], "the claim and the authenticated name")
	require.Equal(t, "ada@example.com", s.fake.rejected[0].By)
	require.True(t, s.fake.rejected[0].Continue)
	require.Equal(t, []signals.Rollback{{By: "ada@example.com", AssertedBy: "ada@example.com"}}, s.fake.rollbacks)
	require.Equal(t, 404, s.ask("GET", "/api/v1/nothing", "", approver).status)
}

func TestDecisionsAreAnsweredOneByOne(t *testing.T) {
	s := newSite(t, newFake(8), Options{})
	cookie, csrf := s.enter("")
	items := []string{s.key(0), s.key(1), s.key(4), "default/exec_1/3/stale"}
	r := s.form(cookie, url.Values{"csrf": {csrf}, "action": {"approve"}, "item": items, "note": {"ok"}},
		map[string]string{"Accept": "application/json"})
	var answer decideAnswer
	require.NoError(t, json.Unmarshal([]byte(r.body), &answer), r.body)
	require.Len(t, answer.Results, 4)
	require.True(t, answer.Results[0].Accepted && answer.Results[2].Accepted)
	require.Equal(t, signals.Approve{Seqs: []int{0}, ArgsDigest: strings.Split(items[0], "/")[3], By: "local user",
		Note: "ok"},
		s.fake.approved[indexOf(s.fake.approved, strings.Split(items[0], "/")[3])], "nobody was authenticated")
	left := len(s.console.inbox.snapshot([]string{"default"}).Items)
	require.Equal(t, 5, left, "what was decided is gone at once; the stale one names no call of the list")

	// Rejecting two calls of an execution rejects it once.
	s = newSite(t, newFake(4), Options{})
	cookie, csrf = s.enter("")
	r = s.form(cookie, url.Values{"csrf": {csrf}, "action": {"reject"}, "item": {s.key(0), s.key(1)}, "note": {"no"}},
		map[string]string{"Accept": "application/json"})
	require.NoError(t, json.Unmarshal([]byte(r.body), &answer), r.body)
	require.True(t, answer.Results[0].Accepted && answer.Results[1].Accepted)
	require.Len(t, s.fake.rejected, 1)

	for _, bad := range []url.Values{{}, {"item": {"x"}}, {"item": {"default/exec_0/-1/x"}}, {"item": {"a/b/c/d"}}} {
		bad.Set("csrf", csrf)
		bad.Set("action", "approve")
		require.Equal(t, http.StatusBadRequest, s.form(cookie, bad, nil).status, "%v", bad)
	}
}

func indexOf(list []signals.Approve, digest string) int {
	for n, a := range list {
		if a.ArgsDigest == digest {
			return n
		}
	}
	return -1
}

func TestEditedArgumentsKeepWhatWasHidden(t *testing.T) {
	s := newSite(t, newFake(4), Options{})
	cookie, csrf := s.enter("")
	form := map[string]string{"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
	review := func(values url.Values) reply {
		values.Set("csrf", csrf)
		return s.ask("POST", "/executions/default/exec_0/calls/1/review", values.Encode(), form)
	}
	r := review(url.Values{"mode": {"form"}, "field:/to": {"Bob"}, "field:/amount": {"5"}, "field:/api_key": {""}})
	require.Equal(t, http.StatusOK, r.status, r.body)
	require.Contains(t, r.body, "customer 1")
	require.NotContains(t, r.body, secret)
	require.Equal(t, http.StatusUnprocessableEntity,
		review(url.Values{"mode": {"form"}, "field:/to": {"Bob"}, "field:/amount": {"many"}}).status)
	require.Equal(t, http.StatusUnprocessableEntity,
		review(url.Values{"mode": {"form"}, "field:/to": {"Bob"}, "field:/amount": {"5000"}}).status)
	require.Equal(t, http.StatusUnprocessableEntity, review(url.Values{"mode": {"json"}, "json": {"{"}}).status)
	require.Equal(t, http.StatusConflict,
		review(url.Values{"mode": {"json"}, "json": {"{}"}, "digest": {"stale"}}).status)
	s.form(cookie, url.Values{"csrf": {csrf}, "action": {"approve"}, "item": {s.key(1)},
		"args": {`{"to":"Bob","api_key":"•••"}`}}, nil)
	require.JSONEq(t, `{"to":"Bob","api_key":"`+secret+`"}`, string(s.fake.approved[0].Args))
}

func TestRetryAndResolve(t *testing.T) {
	s := newSite(t, newFake(4), Options{})
	digest := s.fake.items[0].ArgsDigest
	body := fmt.Sprintf(`{"decisions":[{"action":"retry","executionId":"exec_0","seq":0,"argsDigest":%q},{"action":"resolve","executionId":"exec_0","seq":1,"result":{"a":[1]},"by":"grace"},
		{"action":"retry","executionId":"exec_0","seq":2,"argsDigest":"stale"},{"action":"approve","executionId":"exec_0","seq":3,"argsDigest":%q,"always":true}]}`, digest, s.fake.items[3].ArgsDigest)
	r := s.ask("POST", "/api/v1/decide", body, s.program())
	var answer decideAnswer
	require.NoError(t, json.Unmarshal([]byte(r.body), &answer), r.body)
	require.Equal(t, []bool{true, true, false, true},
		[]bool{answer.Results[0].Accepted, answer.Results[1].Accepted, answer.Results[2].Accepted,
			answer.Results[3].Accepted}, r.body)
	require.Equal(t, []signals.Message{signals.Retry{Seq: 0, By: "local user"},
		signals.Resolve{Seq: 1, Result: json.RawMessage(`{"a":[1]}`), By: "grace"}}, s.fake.others)
	require.True(t, s.fake.approved[0].Always)
}

func TestCallsSayWhatTheyWaitFor(t *testing.T) {
	f := newFake(3)
	f.items[0].Reason, f.items[0].Error = signals.ReasonUnknown, &signals.CallError{Message: "the <line> broke"}
	f.items[1].Resolution = signals.ByClient
	f.items[2].ApprovalsNeeded, f.items[2].ApprovedBy, f.items[2].EditedArgs = 3, []string{"a<b", "c"},
		json.RawMessage(`{"to":"Eve","password":"`+secret+`"}`)
	s := newSite(t, f, Options{})
	cookie, _ := s.enter("")
	page := s.ask("GET", "/", "", map[string]string{"Cookie": cookie}).body
	for _, want := range []string{
		"Its outcome is unknown", "the &lt;line&gt; broke", `data-act="retry"`, "give its result", "2 of 3 approvals",
		"a&lt;b, c", "Eve", `data-asks="result"`,
	} {
		require.Contains(t, page, want)
	}
	require.Equal(t, 1, strings.Count(page, `data-act="approve"`))
	require.NotContains(t, page, secret)
	require.NotContains(t, s.ask("GET", "/api/v1/pending", "", s.program()).body, secret)
	require.Contains(t, s.ask("GET", "/executions/default/exec_0/calls/0",
		"", map[string]string{"Cookie": cookie}).body, `name="result"`)
	edited := s.ask("GET", "/executions/default/exec_0/calls/2", "", map[string]string{"Cookie": cookie}).body
	require.Contains(t, edited, "as an earlier approver edited them")
	require.Contains(t, edited, `value="Eve"`)
}

// People approve what they see: a card that does not show all offers no approval, and none is taken from it.
func TestACardThatShowsAPartOffersNoApproval(t *testing.T) {
	f := newFake(3)
	many := map[string]int{}
	for n := range cardArguments + 1 {
		many[fmt.Sprint("argument", n)] = n
	}
	wide, err := json.Marshal(many)
	require.NoError(t, err)
	f.items[0].Args = wide
	f.items[1].Args = json.RawMessage(`{"text":"` + strings.Repeat("x", maxCard) + `"}`)
	for n := range f.items {
		f.items[n].ArgsDigest = signals.Digest(f.items[n].Args)
	}
	s := newSite(t, f, Options{})
	cookie, csrf := s.enter("")
	for _, path := range []string{"/", "/executions/default/exec_0"} {
		page := s.ask("GET", path, "", map[string]string{"Cookie": cookie}).body
		require.Equal(t, 2, strings.Count(page, ">Look at all of it<"), path)
		offers := strings.Count(page, `data-act="approve"`)
		require.Equal(t, 1, offers, path)
	}
	approve := func(more url.Values, items ...string) string {
		form := url.Values{"csrf": {csrf}, "action": {"approve"}, "item": items}
		maps.Copy(form, more)
		return s.form(cookie, form, map[string]string{"Accept": "application/json"}).body
	}
	require.Contains(t, approve(nil, s.key(0), s.key(1), s.key(2)), "Not all of its arguments were shown")
	require.Len(t, f.approved, 1)
	require.Equal(t, []int{2}, f.approved[0].Seqs)
	approve(url.Values{"whole": {"1"}}, s.key(0))
	require.Len(t, f.approved, 2, "from the page that shows all")
}

func TestEventsTellOfEachCall(t *testing.T) {
	s := newSite(t, newFake(1), Options{Tokens: tokens(t)})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.server.URL+"/api/v1/events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+viewerToken)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	next := func() (name, data string) {
		for lines.Scan() {
			if value, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = value
			}
			if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return name, value
			}
		}
		return "", ""
	}
	name, data := next()
	require.Equal(t, "pending", name)
	var item codemode.InboxItem
	require.NoError(t, json.Unmarshal([]byte(data), &item))
	require.Equal(t, "exec_0", item.ExecutionID)
	require.NotContains(t, data, secret)
	s.fake.items = append(s.fake.items, newFake(2).items[1])
	s.refresh()
	name, data = next()
	require.Equal(t, "pending", name)
	require.Contains(t, data, "customer 1")
	s.fake.items = s.fake.items[1:]
	s.refresh()
	name, data = next()
	require.Equal(t, []string{"decided",
		fmt.Sprintf(`{"runtime":"default","executionId":"exec_0","seq":0,"argsDigest":%q}`, item.ArgsDigest)},
		[]string{name, data})
}

func TestInboxOf500(t *testing.T) {
	s := newSite(t, newFake(500), Options{})
	cookie, _ := s.enter("")
	get := func(path string) string {
		r := s.ask("GET", path, "", map[string]string{"Cookie": cookie})
		require.Equal(t, http.StatusOK, r.status)
		return r.body
	}
	page := get("/")
	require.Equal(t, perPage, strings.Count(page, `class="card group"`), "of 4 calls each")
	require.Contains(t, page, "1–200 of 500")
	require.Contains(t, page, `href="/?page=1"`)
	require.Contains(t, get("/?page=2"), "401–500 of 500")
	require.Contains(t, get("/?page=99"), "401–500 of 500", "a page that is gone shows the last")
	require.Contains(t, get("/?q=customer+499"), "1–1 of 1")
	require.Contains(t, get("/?q="+secret), "None of 500 calls matches", "what is hidden is not found")
	require.Contains(t, get("/?method=bank.nope"), "None of 500 calls matches")
}

func TestInboxTellsWhatIsWrong(t *testing.T) {
	f := newFake(1)
	s := newSite(t, f, Options{})
	f.err = errors.New("no worker polls <b>")
	s.refresh()
	cookie, _ := s.enter("")
	r := s.ask("GET", "/", "", map[string]string{"Cookie": cookie})
	require.Contains(t, r.body, "may be out of date")
	require.Contains(t, r.body, "no worker polls &lt;b&gt;")
	require.Contains(t, r.body, "customer 0", "what is known stays")
	require.Contains(t, s.ask("GET", "/api/v1/pending", "", s.program()).body, `"problems":[{"runtime":"default"`)
	require.Equal(t, http.StatusBadGateway, s.ask("GET", "/executions", "", map[string]string{"Cookie": cookie}).status)
}

func BenchmarkInboxOf500(b *testing.B) {
	s := newSite(b, newFake(500), Options{})
	cookie, _ := s.enter("")
	b.ResetTimer()
	for b.Loop() {
		s.ask("GET", "/", "", map[string]string{"Cookie": cookie})
	}
}

// The page of executions asks lists for no more than it shows, and searches them.
func TestExecutionsAreSearched(t *testing.T) {
	s := newSite(t, newFake(1), Options{})
	cookie, _ := s.enter("")
	in := s.ask("GET", "/executions?q=+Pay+&status=paused", "", map[string]string{"Cookie": cookie})
	require.Equal(t, 200, in.status)
	require.Equal(t, codemode.ListOptions{Limit: 30, Status: signals.Paused, Text: "Pay", Brief: true}, s.fake.listed)
	require.Contains(t, in.body, `value="Pay"`)
}

// What is decided about one execution is one message, whoever of it no longer waits.
func TestDecisionsAboutOneExecutionAreOneMessage(t *testing.T) {
	s := newSite(t, newFake(4), Options{})
	cookie, csrf := s.enter("")
	items := []string{s.key(0), s.key(1), s.key(2), "default/exec_0/3/stale"}
	r := s.form(cookie, url.Values{"csrf": {csrf}, "action": {"approve"}, "item": items},
		map[string]string{"Accept": "application/json"})
	var answer decideAnswer
	require.NoError(t, json.Unmarshal([]byte(r.body), &answer), r.body)
	require.Equal(t, 1, s.fake.messages)
	require.Len(t, s.fake.approved, 3)
	require.False(t, answer.Results[3].Accepted)
	require.Contains(t, answer.Results[3].Error, "not pending any more")
}

func TestAReasonAndANoteAreNotOneText(t *testing.T) {
	s := newSite(t, newFake(1), Options{})
	const reject = `{"decisions":[{"action":"reject","executionId":"exec_0","seq":0,"reason":"no"%s}]}`
	r := s.ask("POST", "/api/v1/decide", fmt.Sprintf(reject, `,"note":"x"`), s.program())
	require.Equal(t, http.StatusBadRequest, r.status, r.body)
	require.Empty(t, s.fake.rejected)
	s.ask("POST", "/api/v1/decide", fmt.Sprintf(reject, ""), s.program())
	require.Equal(t, "no", s.fake.rejected[0].Reason)
}

func TestWordsOfWhatWasNotDone(t *testing.T) {
	err := notUndone(signals.RollbackResult{Reverted: []int{1, 2},
		Failed: []signals.FailedRevert{{Seq: 0, Connector: "bank", Method: "pay", Error: "closed"}}})
	status, text := statusOf(err)
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "2 calls were undone, 1 call was not: bank.pay (call 0): closed. "+
		"Another rollback tries these again.", text)
	_, text = statusOf(unanswered())
	require.Contains(t, text, "not known whether this applies")
	require.NotContains(t, text, "It was sent")

	item := newFake(1).items[0]
	item.Reason = signals.ReasonUnknown
	require.Contains(t, (&Console{}).notice(item, time.Now()).Text, "may or may not have taken effect")
	item.Reason, item.Resolution = "", signals.ByClient
	require.Contains(t, (&Console{}).notice(item, time.Now()).Text, "waits for its result")
}

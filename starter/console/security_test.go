package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/starter/guard"
)

func TestExposure(t *testing.T) {
	for name, c := range map[string]struct {
		e    Exposure
		want string
	}{
		"this machine":           {Exposure{Addr: "127.0.0.1:1"}, ""},
		"this machine, IPv6":     {Exposure{Addr: "[::1]:1"}, ""},
		"by name":                {Exposure{Addr: "localhost:1"}, ""},
		"everywhere":             {Exposure{Addr: ":1"}, "authenticated"},
		"everywhere, by address": {Exposure{Addr: "0.0.0.0:1"}, "authenticated"},
		"a network":              {Exposure{Addr: "192.168.0.1:1"}, "authenticated"},
		"another name":           {Exposure{Addr: "example.com:1"}, "authenticated"},
		"only TLS":               {Exposure{Addr: ":1", TLS: true}, "authenticated"},
		"in the clear":           {Exposure{Addr: ":1", Authenticated: true}, "encrypted"},
		"in the clear, behind http": {Exposure{Addr: ":1", Authenticated: true, URL: "http://console.example"},
			"encrypted"},
		"TLS here":           {Exposure{Addr: ":1", Authenticated: true, TLS: true}, ""},
		"TLS by a proxy":     {Exposure{Addr: ":1", Authenticated: true, URL: "https://console.example"}, ""},
		"a container's port": {Exposure{Addr: ":1", Authenticated: true, URL: "http://localhost:8234"}, ""},
		"a proxy in front":   {Exposure{Addr: "127.0.0.1:1", URL: "https://console.example"}, "authenticated"},
		"a proxy, authenticated": {Exposure{Addr: "127.0.0.1:1", URL: "https://console.example",
			Authenticated: true}, ""},
		"no port": {Exposure{Addr: "127.0.0.1"}, "host:port"},
		"a path":  {Exposure{Addr: "127.0.0.1:1", URL: "https://x/y"}, "must be"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.e.Check()
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

func TestTokensFile(t *testing.T) {
	for text, want := range map[string]string{
		"- {name: a, role: viewer, token: short}":                        "fewer than 24",
		"- {role: viewer, token: " + viewerToken + "}":                   "no name",
		"- {name: a, role: admin, token: " + viewerToken + "}":           "must be viewer, approver or runner",
		"- {name: a, role: viewer, token: " + viewerToken + ", more: 1}": "want a YAML list",
		"{":  "want a YAML list",
		"[]": "lists nobody",
		"- &a {name: a, role: viewer, token: " + viewerToken + "}\n- {name: b, role: approver, token: " + viewerToken +
			"}": "token of somebody else",
	} {
		_, err := ParseTokens([]byte(text))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), viewerToken)
	}
}

// routes that a visitor may ask for, with what they need.
var pages = []string{
	"/", "/inbox", "/executions", "/executions/default/exec_0", "/executions/default/exec_0/calls/0", "/snippets",
	"/snippets/default/a%2Fb",
	"/events", "/executions/default/exec_0/events", "/nowhere",
}

func TestNobodyComesInWithoutAToken(t *testing.T) {
	s := newSite(t, newFake(4), Options{Tokens: tokens(t)})
	for _, path := range pages {
		r := s.ask("GET", path, "", nil)
		require.Equal(t, http.StatusSeeOther, r.status, path)
		require.True(t, strings.HasPrefix(r.header.Get("Location"), "/login?next="), path)
		require.NotContains(t, r.body, "customer")
	}
	for _, route := range s.console.apiRoutes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		for _, header := range []map[string]string{nil, {"Authorization": "Bearer wrong"},
			{"Authorization": "Basic " + approverToken}, {"Cookie": cookieName + "=guess"}} {
			r := s.ask(method, strings.Replace(path, "{id}", "exec_0", 1), "{}", header)
			require.Equal(t, http.StatusUnauthorized, r.status, "%s %v", path, header)
			require.Contains(t, r.header.Get("WWW-Authenticate"), "Bearer")
			require.NotContains(t, r.body, "customer")
		}
	}
	require.Empty(t, s.fake.approved)
}

func TestViewersDoNotDecide(t *testing.T) {
	s := newSite(t, newFake(4), Options{Tokens: tokens(t)})
	cookie, csrf := s.enter(viewerToken)
	require.Equal(t, http.StatusForbidden,
		s.form(cookie, url.Values{"csrf": {csrf}, "action": {"approve"}, "item": {s.key(0)}}, nil).status)
	r := s.ask("POST", "/executions/default/exec_0/calls/0/review",
		url.Values{"csrf": {csrf}, "mode": {"json"}, "json": {"{}"}}.Encode(),
		map[string]string{"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"})
	require.Equal(t, http.StatusForbidden, r.status)
	decision := `{"decisions":[{"action":"approve","executionId":"exec_0","seq":0,"argsDigest":"x"}]}`
	r = s.ask("POST", "/api/v1/decide", decision,
		map[string]string{"Authorization": "Bearer " + viewerToken, "Content-Type": "application/json"})
	require.Equal(t, http.StatusForbidden, r.status)
	r = s.ask("GET", "/executions/default/exec_0/calls/0?reveal=1", "", map[string]string{"Cookie": cookie})
	require.Equal(t, http.StatusOK, r.status)
	require.NotContains(t, r.body, secret, "viewers cannot reveal either")
	require.Empty(t, s.fake.approved)
}

// Running programs is no right to see what others run.
func TestRunnersSeeNothing(t *testing.T) {
	list, err := ParseTokens([]byte("- {name: bot, role: runner, token: " + viewerToken + "}\n" +
		"- {name: ada, roles: [runner, viewer], token: " + approverToken + "}"))
	require.NoError(t, err)
	s := newSite(t, newFake(4), Options{Tokens: list})
	in := s.ask("POST", "/login", "token="+viewerToken,
		map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	cookie := strings.SplitN(in.header.Get("Set-Cookie"), ";", 2)[0]
	for _, path := range pages {
		r := s.ask("GET", path, "", map[string]string{"Cookie": cookie})
		require.Equal(t, http.StatusForbidden, r.status, path)
		require.NotContains(t, r.body, "customer")
	}
	for _, route := range s.console.apiRoutes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		r := s.ask(method, strings.Replace(path, "{id}", "exec_0", 1), "{}",
			map[string]string{"Authorization": "Bearer " + viewerToken, "Content-Type": "application/json"})
		require.Equal(t, http.StatusForbidden, r.status, path)
	}
	r := s.ask("GET", "/api/v1/me", "", map[string]string{"Authorization": "Bearer " + approverToken})
	require.Contains(t, r.body, `"role":"viewer"`)
}

func TestForgedRequestsAreRefused(t *testing.T) {
	for _, o := range []Options{{}, {Tokens: tokens(t)}} {
		s := newSite(t, newFake(4), o)
		token := ""
		if o.Tokens != nil {
			token = approverToken
		}
		cookie, csrf := s.enter(token)
		good := url.Values{"csrf": {csrf}, "action": {"approve"}, "item": {s.key(0)}}
		without := url.Values{"action": {"approve"}, "item": {s.key(0)}}
		require.Equal(t, http.StatusForbidden, s.form(cookie, without, nil).status, "no token")
		without.Set("csrf", "guess")
		require.Equal(t, http.StatusForbidden, s.form(cookie, without, nil).status, "wrong token")
		for _, header := range []map[string]string{
			{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
			{"Sec-Fetch-Site": "same-site"},
		} {
			require.Equal(t, http.StatusForbidden, s.form(cookie, good, header).status, "%v", header)
		}
		_, other := s.enter(token)
		require.Equal(t, http.StatusForbidden,
			s.form(cookie, url.Values{"csrf": {other}, "action": {"approve"}, "item": {s.key(0)}}, nil).status,
			"of another session")
		api := `{"decisions":[{"action":"approve","executionId":"exec_0","seq":0,"argsDigest":"x"}]}`
		require.NotEqual(t, http.StatusOK,
			s.ask("POST", "/api/v1/decide", api,
				map[string]string{"Cookie": cookie, "Content-Type": "application/json"}).status,
			"a session needs its token in the API too")
		require.Equal(t, http.StatusForbidden,
			s.ask("POST", "/api/v1/decide", api,
				map[string]string{"Content-Type": "application/json", "Origin": "https://evil.example"}).status)
		require.NotEqual(t, http.StatusOK,
			s.ask("POST", "/api/v1/decide", api, map[string]string{"Content-Type": "text/plain"}).status,
			"what a form of another site could send")
		require.Empty(t, s.fake.approved)
		require.Equal(t, http.StatusSeeOther,
			s.form(cookie, good, map[string]string{"Origin": s.server.URL, "Sec-Fetch-Site": "same-origin"}).status)
		require.Len(t, s.fake.approved, 1)
	}
}

func TestAnOpenConsoleAnswersOnlyToThisMachinesNames(t *testing.T) {
	s := newSite(t, newFake(1), Options{})
	for host, want := range map[string]int{
		"evil.example": 421, "evil.example:80": 421, "127.0.0.1.evil.example": 421, "localhost": 200,
		"LOCALHOST:8234": 200, "127.0.0.1:1": 200, "[::1]:1": 200,
	} {
		asks := s.program()
		asks["Host"] = host
		require.Equal(t, want, s.ask("GET", "/login", "", asks).status, host)
		require.Equal(t, want, s.ask("GET", "/api/v1/pending", "", asks).status, host)
	}
}

// A sandboxed program with a tool that sends HTTP or drives a browser on this machine is a stranger, although it knows
// what it waits for: nobody but who started the console has the key.
func TestAnOpenConsoleWantsItsKey(t *testing.T) {
	s := newSite(t, newFake(4), Options{})
	require.Equal(t, "http://127.0.0.1:1/?key="+string(s.console.Key), s.console.Entry("http://127.0.0.1:1"))
	approval := fmt.Sprintf(`{"decisions":[{"action":"approve","executionId":"exec_0","seq":0,"argsDigest":%q}]}`,
		s.fake.items[0].ArgsDigest)
	for _, header := range []map[string]string{nil, {"Authorization": "Bearer guess"}, {"Cookie": cookieName + "=x"}} {
		all := map[string]string{"Content-Type": "application/json"}
		maps.Copy(all, header)
		require.Equal(t, 401, s.ask("POST", "/api/v1/decide", approval, all).status, "%v", header)
		require.Equal(t, 401, s.ask("GET", "/api/v1/pending", "", all).status)
		for _, path := range append([]string{"/?key=guess", "/inbox?key="}, pages...) {
			r := s.ask("GET", path, "", all)
			require.Equal(t, 303, r.status, path)
			require.Empty(t, r.header.Get("Set-Cookie"))
		}
	}
	require.Contains(t, s.ask("GET", "/login", "", nil).body, "that <code>starter console</code> printed")
	require.Empty(t, s.fake.approved)

	in := s.ask("GET", "/executions?status=paused&key="+string(s.console.Key), "", nil)
	require.Equal(t, 303, in.status)
	require.Equal(t, "/executions?status=paused", in.header.Get("Location"), "the key is out of the address at once")
	cookie := strings.SplitN(in.header.Get("Set-Cookie"), ";", 2)[0]
	require.Equal(t, 200, s.ask("GET", "/", "", map[string]string{"Cookie": cookie}).status, "and the cookie is enough")
	require.Equal(t, 200, s.ask("POST", "/api/v1/decide", approval, s.program()).status)
	require.Equal(t, []string{"", "local user"}, []string{s.fake.approved[0].AssertedBy, s.fake.approved[0].By},
		"who has the key is somebody, nobody in particular")

	other := newSite(t, newFake(1), Options{Tokens: tokens(t)})
	require.Equal(t, "http://x", other.console.Entry("http://x"))
	require.Equal(t, 401, other.ask("GET", "/api/v1/pending", "", s.program()).status,
		"where people sign in there is no key")
}

func TestTheKeyMayComeByTheEnvironment(t *testing.T) {
	t.Setenv(guard.KeyVariable, "a key of one's own, long enough")
	c, err := New(Options{Runtimes: []Runtime{{Name: "default"}}})
	require.NoError(t, err)
	require.Equal(t, "http://x/?key=a+key+of+one%27s+own%2C+long+enough", c.Entry("http://x"))
	t.Setenv(guard.KeyVariable, "short")
	_, err = New(Options{Runtimes: []Runtime{{Name: "default"}}})
	require.ErrorContains(t, err, "CODEMODE_KEY has fewer than 24 characters")
}

func TestGuessingIsSlowedDown(t *testing.T) {
	s := newSite(t, newFake(1), Options{Tokens: tokens(t)})
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	for range maxFailures {
		require.Equal(t, http.StatusUnauthorized, s.ask("POST", "/login", "token=guess", form).status)
	}
	r := s.ask("POST", "/login", "token=guess", form)
	require.Equal(t, http.StatusTooManyRequests, r.status)
	require.Equal(t, "60", r.header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests,
		s.ask("GET", "/api/v1/me", "", map[string]string{"Authorization": "Bearer guess"}).status)
	require.Equal(t, http.StatusSeeOther, s.ask("POST", "/login", "token="+approverToken, form).status,
		"guesses lock nobody out who has a token")
	require.Equal(t, http.StatusOK,
		s.ask("GET", "/api/v1/me", "", map[string]string{"Authorization": "Bearer " + approverToken}).status)
	now := time.Now()
	require.True(t, s.console.logins.blocked("127.0.0.1", now))
	require.False(t, s.console.logins.blocked("127.0.0.2", now), "others are not")
	require.False(t, s.console.logins.blocked("127.0.0.1", now.Add(2*failureReset)), "after a while")
}

func TestHeadersAndCookies(t *testing.T) {
	s := newSite(t, newFake(1), Options{Tokens: tokens(t), URL: "https://console.example"})
	for _, path := range append([]string{"/login", "/static/console.js", "/static/nothing", "/api/openapi.json",
		"/api/v1/pending", "/login/oidc"}, pages...) {
		h := s.ask("GET", path, "", nil).header
		policy := h.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", path)
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "http")
		require.Equal(t, []string{"nosniff", "same-origin", "max-age=31536000"},
			[]string{h.Get("X-Content-Type-Options"), h.Get("Referrer-Policy"), h.Get("Strict-Transport-Security")},
			path)
		if path != "/static/console.js" {
			require.Equal(t, "no-store", h.Get("Cache-Control"), path)
		}
	}
	cookie := s.ask("POST", "/login", "token="+approverToken,
		map[string]string{"Content-Type": "application/x-www-form-urlencoded"}).header.Get("Set-Cookie")
	require.True(t, strings.HasPrefix(cookie, "__Host-"+cookieName+"="), "no neighbouring domain can plant it")
	_, id, _ := strings.Cut(strings.SplitN(cookie, ";", 2)[0], "=")
	planted := map[string]string{"Cookie": cookieName + "=" + id}
	require.Equal(t, http.StatusSeeOther, s.ask("GET", "/", "", planted).status)
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} {
		require.Contains(t, cookie, want)
	}
	require.NotContains(t, cookie, approverToken)
}

func TestSessionsEnd(t *testing.T) {
	s := newSite(t, newFake(1), Options{Tokens: tokens(t)})
	cookie, csrf := s.enter(approverToken)
	out := s.ask("POST", "/logout", "csrf="+csrf,
		map[string]string{"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"})
	require.Equal(t, http.StatusSeeOther, out.status)
	require.Equal(t, http.StatusSeeOther, s.ask("GET", "/executions", "", map[string]string{"Cookie": cookie}).status,
		"the cookie is worth nothing any more")
	id := s.console.sessions.begin(Identity{}, time.Now())
	r, _ := http.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: id})
	require.NotNil(t, s.console.sessions.find(r, time.Now()))
	require.Nil(t, s.console.sessions.find(r, time.Now().Add(sessionLength+time.Second)))
	planted := s.ask("POST", "/login", "token="+approverToken,
		map[string]string{"Cookie": cookieName + "=planted", "Content-Type": "application/x-www-form-urlencoded"})
	require.NotContains(t, planted.header.Get("Set-Cookie"), "planted", "a session gets an id of its own")
	for range maxSessions + 10 {
		s.console.sessions.begin(Identity{}, time.Now())
	}
	require.Len(t, s.console.sessions.byID, maxSessions)
}

func TestSigningInLeadsToOurPagesOnly(t *testing.T) {
	for next, want := range map[string]string{
		"/executions?x=1": "/executions?x=1", "": "/", "https://evil.example": "/", "//evil.example": "/",
		`/\evil.example`: "/", "/\t/evil.example": "/", "javascript:1": "/",
	} {
		require.Equal(t, want, nextPage(next), next)
	}
}

// TestSecretsAreNotShown asks for everything there is.
func TestSecretsAreNotShown(t *testing.T) {
	s := newSite(t, newFake(4), Options{Tokens: tokens(t)})
	cookie, _ := s.enter(approverToken)
	for _, path := range append([]string{"/api/v1/pending", "/api/v1/executions", "/api/v1/executions/exec_0",
		"/api/v1/me"}, pages...) {
		if strings.HasSuffix(path, "events") {
			continue
		}
		r := s.ask("GET", path, "", map[string]string{"Cookie": cookie})
		require.NotContains(t, r.body, secret, path)
		require.NotContains(t, r.body, approverToken, path)
	}
	r := s.ask("GET", "/executions/default/exec_0/calls/0?reveal=1", "", map[string]string{"Cookie": cookie})
	require.Contains(t, r.body, secret, "who decides may ask for it")
}

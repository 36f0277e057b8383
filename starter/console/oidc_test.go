package console

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// provider is a small OpenID Connect provider. It lets whoever is set sign in.
type provider struct {
	*httptest.Server
	key    *rsa.PrivateKey
	kid    string
	asked  int // for its keys
	person map[string]any
	grants map[string]url.Values // what the browser asked for, by code
}

func newProvider(t *testing.T) *provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &provider{key: key, kid: "k", grants: map[string]url.Values{}}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, document any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.asked++
		answer(w, map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": p.kid,
			"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		asked, ok := p.grants[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer",
			"id_token": p.token(t, map[string]any{"nonce": asked.Get("nonce")})})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// token signs what the provider says of its person.
func (p *provider) token(t *testing.T, more map[string]any) string {
	claims := map[string]any{"iss": p.URL, "aud": "console", "sub": "u1", "exp": time.Now().Add(time.Hour).Unix(),
		"iat": time.Now().Unix()}
	for _, m := range []map[string]any{p.person, more} {
		for name, value := range m {
			claims[name] = value
		}
	}
	body, err := json.Marshal(claims)
	require.NoError(t, err)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"`+p.kid+`"}`)) +
		"." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (p *provider) site(t *testing.T) *site {
	o, err := NewOIDC(context.Background(), OIDCOptions{
		Issuer: p.URL, ClientID: "console", ClientSecret: "s", URL: "http://localhost:8234",
		Approvers: []string{"group:release", "email:boss@example.com"},
		Viewers:   []string{"group:staff", "role:staff"},
	})
	require.NoError(t, err)
	return newSite(t, newFake(2), Options{OIDC: o})
}

// begin starts a sign-in as a browser does, and gives its cookies and what the provider is asked.
func (s *site) begin() (cookies string, asked url.Values) {
	r := s.ask("GET", "/login/oidc?next=/executions", "", nil)
	require.Equal(s.t, http.StatusSeeOther, r.status)
	to, err := url.Parse(r.header.Get("Location"))
	require.NoError(s.t, err)
	var list []string
	for _, line := range r.header.Values("Set-Cookie") {
		require.Contains(s.t, line, "HttpOnly")
		list = append(list, strings.SplitN(line, ";", 2)[0])
	}
	return strings.Join(list, "; "), to.Query()
}

func TestOIDCSignIn(t *testing.T) {
	p := newProvider(t)
	s := p.site(t)
	p.person = map[string]any{"email": "boss@example.com", "email_verified": true}
	cookies, asked := s.begin()
	require.Equal(t, []string{"console", "S256", "http://localhost:8234/login/callback"},
		[]string{asked.Get("client_id"), asked.Get("code_challenge_method"), asked.Get("redirect_uri")})
	p.grants["c1"] = asked
	back := s.ask("GET", "/login/callback?code=c1&state="+asked.Get("state"), "", map[string]string{"Cookie": cookies})
	require.Equal(t, []any{http.StatusSeeOther, "/executions"}, []any{back.status, back.header.Get("Location")},
		back.body)
	var session string
	for _, line := range back.header.Values("Set-Cookie") {
		if strings.HasPrefix(line, cookieName) {
			session = strings.SplitN(line, ";", 2)[0]
		}
	}
	me := s.ask("GET", "/api/v1/me", "", map[string]string{"Cookie": session})
	require.JSONEq(t, `{"name":"boss@example.com","role":"approver","authenticated":true,"runtimes":["default"]}`,
		me.body)

	for name, c := range map[string]struct {
		query, cookies string
		change         func(url.Values)
	}{
		"another's sign-in": {"code=c2&state=guess", cookies, nil},
		"no cookies":        {"code=c2&state=" + asked.Get("state"), "", nil},
		"unknown code":      {"code=c3&state=" + asked.Get("state"), cookies, nil},
		"another's nonce": {"code=c2&state=" + asked.Get("state"), cookies,
			func(v url.Values) { v.Set("nonce", "other") }},
		"another's PKCE": {"code=c2&state=" + asked.Get("state"), cookies,
			func(v url.Values) { v.Set("code_challenge", "other") }},
	} {
		t.Run(name, func(t *testing.T) {
			grant := url.Values{}
			for k, v := range asked {
				grant[k] = append([]string{}, v...)
			}
			if c.change != nil {
				c.change(grant)
			}
			p.grants["c2"] = grant
			r := s.ask("GET", "/login/callback?"+c.query, "", map[string]string{"Cookie": c.cookies})
			require.GreaterOrEqual(t, r.status, 400)
			require.NotContains(t, fmt.Sprint(r.header.Values("Set-Cookie")), cookieName+"=")
		})
	}
}

func TestOIDCRoles(t *testing.T) {
	o := &OIDC{options: OIDCOptions{Approvers: []string{"group:release", "email:boss@example.com"},
		Viewers: []string{"group:staff", "role:staff"}}}
	for name, c := range map[string]struct {
		says claims
		want Identity
	}{
		"a group": {claims{Subject: "u0", User: "ann", Groups: []string{"release"}},
			Identity{Name: "ann [u0]", Roles: Roles{Approver}, Asserted: true}},
		"a role": {claims{Subject: "u1", Roles: []string{"staff"}},
			Identity{Name: "u1", Roles: Roles{Viewer}, Asserted: true}},
		"both": {claims{Email: "x@y", Verified: true, User: "x",
			Groups: []string{"staff", "release"}}, Identity{Name: "x@y", Roles: Roles{Approver}, Asserted: true}},
		"a verified address": {claims{Email: "boss@example.com", Verified: true},
			Identity{Name: "boss@example.com", Roles: Roles{Approver}, Asserted: true}},
		"an address not verified": {claims{Subject: "u2", Email: "boss@example.com", Groups: []string{"staff"}},
			Identity{Name: "u2", Roles: Roles{Viewer}, Asserted: true}},
		"a user name like an address": {claims{Subject: "u3", User: "boss@example.com", Groups: []string{"staff"}},
			Identity{Name: "boss@example.com [u3]", Roles: Roles{Viewer}, Asserted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			who, err := o.admit(c.says)
			require.NoError(t, err)
			c.want.Groups, c.want.Subject = c.says.Groups, who.Subject
			require.Equal(t, c.want, who)
		})
	}
	for _, says := range []claims{{Subject: "u"}, {Email: "boss@example.com"}, {User: "release"},
		{Groups: []string{"Release", ""}}, {Roles: []string{"release"}},
		{Groups: []string{"boss@example.com", "email:boss@example.com"}, Roles: []string{"group:release"}}} {
		_, err := o.admit(says)
		require.ErrorContains(t, err, "no role here")
	}
	who, err := (&OIDC{options: OIDCOptions{Viewers: []string{"*"}}}).admit(claims{Subject: "u"})
	require.NoError(t, err)
	require.Equal(t, Roles{Viewer}, who.Roles)
}

func TestOIDCTokensForTheAPI(t *testing.T) {
	p := newProvider(t)
	s := p.site(t)
	ask := func(token string) reply {
		return s.ask("GET", "/api/v1/me", "", map[string]string{"Authorization": "Bearer " + token})
	}
	p.person = map[string]any{"groups": []string{"release"}}
	s.console.logins = newLimiter()
	good := p.token(t, nil)
	require.Equal(t, http.StatusOK, ask(good).status)
	for range maxFailures + 1 {
		ask("guess")
	}
	require.Equal(t, http.StatusTooManyRequests, ask("guess").status)
	require.Equal(t, http.StatusOK, ask(good).status, "guesses lock nobody out who has a token")
	s.console.logins = newLimiter()
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"for another client": p.token(t, map[string]any{"aud": "other"}),
		"expired":            p.token(t, map[string]any{"exp": 1}),
		"of another issuer":  p.token(t, map[string]any{"iss": "https://evil.example"}),
		"changed":            parts[0] + "." + parts[1] + "x." + parts[2],
		"unsigned":           base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
	} {
		require.Equal(t, http.StatusUnauthorized, ask(token).status, name)
	}
	for _, o := range []OIDCOptions{{Issuer: p.URL}, {Issuer: p.URL, ClientID: "c", URL: "http://localhost"},
		{Issuer: p.URL + "/x", ClientID: "c", URL: "http://localhost", Viewers: []string{"*"}},
		{Issuer: p.URL, ClientID: "c", URL: "http://localhost", Viewers: []string{"staff"}},
		{Issuer: p.URL, ClientID: "c", URL: "http://localhost", Approvers: []string{"group:"}}} {
		_, err := NewOIDC(context.Background(), o)
		require.Error(t, err)
	}
}

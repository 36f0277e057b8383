package console

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const doorAddress = "https://mcp.example.com/mcp"

func accessTokens(t *testing.T, p *provider) *AccessTokens {
	t.Helper()
	a, err := NewAccessTokens(context.Background(), AccessTokenOptions{Issuer: p.URL, Audience: doorAddress,
		Runners: []string{"scope:codemode", "group:staff"}, Approvers: []string{"group:finance"},
		Viewers: []string{"scope:codemode.look"}})
	require.NoError(t, err)
	return a
}

// forDoor are the claims of an access token for the door.
func forDoor(more map[string]any) map[string]any {
	claims := map[string]any{"aud": doorAddress}
	for name, value := range more {
		claims[name] = value
	}
	return claims
}

func TestAccessTokensGiveRoles(t *testing.T) {
	p := newProvider(t)
	a := accessTokens(t, p)
	for name, c := range map[string]struct {
		says map[string]any
		want Roles
	}{
		"a scope":             {map[string]any{"scope": "openid codemode"}, Roles{Runner}},
		"scopes in a list":    {map[string]any{"scp": []string{"codemode.look"}}, Roles{Viewer}},
		"one text":            {map[string]any{"scp": "codemode codemode.look"}, Roles{Runner, Viewer}},
		"groups":              {map[string]any{"groups": []string{"staff", "finance"}}, Roles{Runner, Approver}},
		"one of two audences": {map[string]any{"aud": []string{"x", doorAddress}, "scope": "codemode"}, Roles{Runner}},
		"nothing": {map[string]any{"scope": "codemode2 group:staff", "groups": []string{"scope:codemode"}},
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			who, err := a.Identify(t.Context(), p.token(t, forDoor(c.says)))
			require.NoError(t, err)
			require.Equal(t, c.want, who.Roles)
			require.True(t, who.Asserted)
		})
	}
	require.Equal(t, []string{"codemode", "codemode.look"}, a.Scopes())
	require.Equal(t, []string{"codemode"}, a.ToRun())
}

func TestAccessTokensAreChecked(t *testing.T) {
	p := newProvider(t)
	a := accessTokens(t, p)
	good := p.token(t, forDoor(nil))
	_, err := a.Identify(t.Context(), good)
	require.NoError(t, err)
	parts := strings.Split(good, ".")
	foreign := newProvider(t)
	for name, token := range map[string]string{
		"for another door":   p.token(t, nil),
		"for no door":        p.token(t, map[string]any{"aud": []string{}}),
		"expired":            p.token(t, forDoor(map[string]any{"exp": 1})),
		"without an end":     p.token(t, forDoor(map[string]any{"exp": nil})),
		"of another issuer":  p.token(t, forDoor(map[string]any{"iss": foreign.URL})),
		"of another's key":   foreign.token(t, forDoor(map[string]any{"iss": p.URL})),
		"of nobody":          p.token(t, forDoor(map[string]any{"sub": ""})),
		"an ID token":        p.token(t, forDoor(map[string]any{"nonce": "n"})),
		"an ID token's hash": p.token(t, forDoor(map[string]any{"at_hash": "n"})),
		"an ID token by typ": p.token(t, forDoor(map[string]any{"typ": "ID"})),
		"changed":            parts[0] + "." + parts[1] + "x." + parts[2],
		"unsigned":           base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"nothing":            "",
	} {
		_, err := a.Identify(t.Context(), token)
		require.Error(t, err, name)
		if token != "" {
			require.NotContains(t, err.Error(), token, name)
			require.NotContains(t, err.Error(), parts[2], name)
		}
	}
	for _, o := range []AccessTokenOptions{{Issuer: p.URL, Runners: []string{"*"}}, {Issuer: p.URL, Audience: "a"},
		{Issuer: p.URL, Audience: "a", Runners: []string{"staff"}},
		{Issuer: "http://login.example.com", Audience: "a", Runners: []string{"*"}},
		{Issuer: p.URL + "/x", Audience: "a", Runners: []string{"*"}}} {
		_, err := NewAccessTokens(context.Background(), o)
		require.Error(t, err)
	}
}

// TestProvidersChangeTheirKeys: new keys become known with the first token that they sign, and tokens that nobody
// signed do not make the door ask without end.
func TestProvidersChangeTheirKeys(t *testing.T) {
	p := newProvider(t)
	a := accessTokens(t, p)
	old := p.token(t, forDoor(nil))
	_, err := a.Identify(t.Context(), old)
	require.NoError(t, err)
	p.key, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p.kid = "k2"
	_, err = a.Identify(t.Context(), p.token(t, forDoor(nil)))
	require.NoError(t, err)
	_, err = a.Identify(t.Context(), old)
	require.Error(t, err, "the key is no longer the provider's")
	foreign := newProvider(t)
	for range 20 {
		foreign.kid += "x"
		_, err = a.Identify(t.Context(), foreign.token(t, forDoor(map[string]any{"iss": p.URL})))
		require.Error(t, err)
	}
	require.LessOrEqual(t, p.asked, keysAtOnce)
	_, err = a.Identify(t.Context(), p.token(t, forDoor(nil)))
	require.NoError(t, err, "whose key is known comes in all the same")
}

// TestOnePersonHasOneSubject: whatever name a token gives, it is the same person.
func TestOnePersonHasOneSubject(t *testing.T) {
	p := newProvider(t)
	a := accessTokens(t, p)
	bare, err := a.Identify(t.Context(), p.token(t, forDoor(nil)))
	require.NoError(t, err)
	named, err := a.Identify(t.Context(), p.token(t, forDoor(map[string]any{"email": "ada@example.com",
		"email_verified": true})))
	require.NoError(t, err)
	require.NotEqual(t, bare.Name, named.Name)
	require.Equal(t, bare.Subject, named.Subject)
	other, err := a.Identify(t.Context(), p.token(t, forDoor(map[string]any{"sub": "u2"})))
	require.NoError(t, err)
	require.NotEqual(t, bare.Subject, other.Subject)
}

// TestIssuersAreEncrypted: nobody on the way may give keys in the provider's place.
func TestIssuersAreEncrypted(t *testing.T) {
	for issuer, fine := range map[string]bool{"https://login.example.com": true, "http://127.0.0.1:1": true,
		"http://login.example.com": false, "login.example.com": false, "": false, "ftp://127.0.0.1": false} {
		require.Equal(t, fine, checkIssuer(issuer) == nil, issuer)
	}
	_, err := NewOIDC(t.Context(), OIDCOptions{Issuer: "http://login.example.com", ClientID: "c",
		URL: "http://localhost", Viewers: []string{"*"}})
	require.ErrorContains(t, err, "https://")
	_, err = NewAccessTokens(t.Context(), AccessTokenOptions{Issuer: "http://login.example.com", Audience: "a",
		Runners: []string{"*"}})
	require.ErrorContains(t, err, "https://")
}

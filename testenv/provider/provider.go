// Package provider is a small OpenID Connect provider over TLS, at which people sign in who are set beforehand.
//
// It gives codes (with PKCE) for ID tokens and for access tokens of a resource, and changes its keys when told. It asks
// nobody for a password: who signs in is named by login_hint. It is for tests alone.
package provider

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// Person is somebody who may sign in.
type Person struct {
	Subject string
	// Email is verified; empty for none. Access tokens never have it, as with many providers.
	Email  string
	Groups []string
}

// Provider is a running provider; Close it when done.
type Provider struct {
	*httptest.Server
	People map[string]Person

	mu     sync.Mutex
	key    *rsa.PrivateKey
	kid    int
	grants map[string]grant
	given  []string
}

// grant is what a code stands for.
type grant struct {
	person Person
	asked  url.Values
}

// Start serves people by name.
func Start(people map[string]Person) (*Provider, error) {
	p := &Provider{People: people, grants: map[string]grant{}}
	if err := p.ChangeKeys(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", p.configuration)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewTLSServer(mux)
	return p, nil
}

// CA is the certificate by which others trust the provider, as PEM.
func (p *Provider) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
}

// ChangeKeys signs with a new key from now on.
func (p *Provider) ChangeKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.kid = key, p.kid+1
	return err
}

// Given are all tokens and codes that were given out.
func (p *Provider) Given() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.given...)
}

func answer(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

func (p *Provider) configuration(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_post", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": fmt.Sprint(p.kid),
		"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

// authorize lets the person in whom login_hint names.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	person, known := p.People[asked.Get("login_hint")]
	back, err := url.Parse(asked.Get("redirect_uri"))
	if !known || err != nil || asked.Get("code_challenge_method") != "S256" {
		http.Error(w, "say who signs in (login_hint), with PKCE", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.grants[code], p.given = grant{person, asked}, append(p.given, code)
	p.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {asked.Get("state")}, "iss": {p.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token takes a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	g, ok := p.grants[r.FormValue("code")]
	delete(p.grants, r.FormValue("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || g.asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		g.asked.Get("redirect_uri") != r.FormValue("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]string{"error": "invalid_grant"})
		return
	}
	answer(w, map[string]any{
		"access_token": p.AccessToken(g.person, g.asked.Get("resource"), g.asked.Get("scope")),
		"token_type":   "Bearer", "expires_in": 3600,
		"id_token": p.IDToken(g.person, g.asked.Get("client_id"), g.asked.Get("nonce")),
	})
}

// AccessToken is one of a person for an audience.
func (p *Provider) AccessToken(who Person, audience, scope string) string {
	return p.Sign(map[string]any{"sub": who.Subject, "groups": who.Groups, "aud": audience, "scope": scope})
}

// IDToken is one of a person for a client.
func (p *Provider) IDToken(who Person, client, nonce string) string {
	return p.Sign(map[string]any{"sub": who.Subject, "groups": who.Groups, "aud": client, "nonce": nonce,
		"email": who.Email, "email_verified": who.Email != ""})
}

// Sign makes a token of claims, which may replace the issuer and the times.
func (p *Provider) Sign(more map[string]any) string {
	claims := map[string]any{"iss": p.URL, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
	maps.Copy(claims, more)
	body, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	head := fmt.Sprintf(`{"alg":"RS256","kid":"%d"}`, p.kid)
	text := base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	token := text + "." + base64.RawURLEncoding.EncodeToString(signature)
	p.given = append(p.given, token)
	return token
}

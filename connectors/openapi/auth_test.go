package openapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/rawjson"
)

const hushed = "s3cr3t-Ä\"/+ &=value"

// secured is a document with every kind of scheme, and an operation for each that is named like it.
func secured(tokenURL string) []byte {
	schemes := map[string]string{
		"header":  `{"type":"apiKey","in":"header","name":"X-Key"}`,
		"query":   `{"type":"apiKey","in":"query","name":"key"}`,
		"cookie":  `{"type":"apiKey","in":"cookie","name":"key"}`,
		"basic":   `{"type":"http","scheme":"Basic"}`,
		"bearer":  `{"type":"http","scheme":"bearer"}`,
		"other":   `{"type":"http","scheme":"Token"}`,
		"openid":  `{"type":"openIdConnect","openIdConnectUrl":"https://example.com"}`,
		"oauth":   `{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"` + tokenURL + `","scopes":{}}}}`,
		"implied": `{"type":"oauth2","flows":{"implicit":{"authorizationUrl":"https://example.com","scopes":{}}}}`,
	}
	var all, paths []string
	for name, scheme := range schemes {
		all = append(all, fmt.Sprintf("%q:%s", name, scheme))
		paths = append(paths,
			fmt.Sprintf(`"/%s":{"get":{"operationId":"%s","security":[{"%s":[]}]},"post":{"operationId":"post_%s","security":[{"%s":[]}]}}`, name, name, name, name, name))
	}
	paths = append(paths, `"/none":{"get":{"operationId":"none","security":[]}}`,
		`"/root":{"get":{"operationId":"root"}}`,
		`"/either":{"get":{"operationId":"either","security":[{},{"absent":[]},{"header":[],"absent":[]},{"query":[],"header":[]},{"bearer":[]}]}}`,
		`"/params":{"get":{"operationId":"params","security":[{"header":[],"query":[],"cookie":[]}],"parameters":[`+
			`{"name":"x-key","in":"header","required":true,"schema":{"type":"string"}},{"name":"key","in":"query","required":true,"schema":{"type":"string"}},`+
			`{"name":"key","in":"cookie","required":true,"schema":{"type":"string"}},{"name":"Authorization","in":"header","required":true,"schema":{"type":"string"}},{"name":"q","in":"query","schema":{"type":"string"}}]}}`)
	return apiOf(`"security":[{"bearer":[]}],"components":{"securitySchemes":{` + strings.Join(all, ",") +
		`}},"paths":{` + strings.Join(paths, ",") + `}`)
}

func allCredentials() map[string]Credential {
	// What a header carries cannot hold all that a query can.
	return map[string]Credential{
		"header": {Token: "s3cr3t-header"}, "query": {Token: hushed}, "cookie": {Token: "s3cr3t; cookie"},
		"basic": {Username: "user", Password: hushed}, "bearer": {Token: "s3cr3t-bearer"},
		"other": {Token: "s3cr3t-other"}, "openid": {Token: "s3cr3t-openid"}, "implied": {Token: "s3cr3t-implied"},
	}
}

func TestOpenAPICredentials(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t,
		Options{Data: secured("https://example.com/token"), BaseURL: server.URL, Credentials: allCredentials()})
	for method, want := range map[string]string{
		"header":  "X-Key: s3cr3t-header",
		"query":   "query: key=s3cr3t-%C3%84%22%2F%2B%20%26%3Dvalue",
		"cookie":  "Cookie: key=s3cr3t%3B%20cookie",
		"basic":   "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+hushed)),
		"bearer":  "Authorization: Bearer s3cr3t-bearer",
		"other":   "Authorization: Token s3cr3t-other",
		"openid":  "Authorization: Bearer s3cr3t-openid",
		"implied": "Authorization: Bearer s3cr3t-implied",
		"root":    "Authorization: Bearer s3cr3t-bearer",
		"none":    "",
		"oauth":   "",
		"either":  "X-Key: s3cr3t-header, query: key=s3cr3t-%C3%84%22%2F%2B%20%26%3Dvalue",
		"params": "X-Key: s3cr3t-header, Cookie: key=s3cr3t%3B%20cookie, query: " +
			"key=s3cr3t-%C3%84%22%2F%2B%20%26%3Dvalue",
	} {
		mustCallAPI(t, set, method, `{}`)
		assert.Equal(t, want, credentialsOf(server.last(t)), method)
	}
	params := complete(t, New("api", Options{Data: secured(""), Credentials: allCredentials()}), "params")
	assert.JSONEq(t, `{"type":"object","properties":{"q":{"anyOf":[{"type":"string"},{"type":["number","boolean"]}]}}}`,
		string(params.InputSchema), "what is filled in is not asked for")
}

func credentialsOf(got seen) string {
	var list []string
	for _, name := range []string{"Authorization", "X-Key", "Cookie"} {
		if value := got.Header.Get(name); value != "" {
			list = append(list, name+": "+value)
		}
	}
	if got.Query != "" {
		list = append(list, "query: "+got.Query)
	}
	return strings.Join(list, ", ")
}

func TestOpenAPIConfiguredHeadersWin(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t, Options{
		Data: secured(""), BaseURL: server.URL, Credentials: allCredentials(), RawRequest: true,
		Headers: map[string]string{"authorization": "Bearer configured", "Cookie": "key=configured",
			"x-key": "configured"},
	})
	mustCallAPI(t, set, "request",
		`{"path":"/x","headers":{"Authorization":"Bearer mine","X-Key":"mine","Cookie":"a=b"}}`)
	assert.Equal(t, "Authorization: Bearer configured, X-Key: configured, Cookie: key=configured",
		credentialsOf(server.last(t)))
	mustCallAPI(t, set, "bearer", `{}`)
	assert.Equal(t, "Authorization: Bearer configured, X-Key: configured, Cookie: key=configured",
		credentialsOf(server.last(t)))
}

func TestOpenAPIWithoutSecurityAllCredentialsAreSent(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t, Options{BaseURL: server.URL, Credentials: map[string]Credential{"k": {Token: "s3cr3t-key"}},
		Data: apiOf(`"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X-Key"}}},"paths":{"/x":{"get":{"operationId":"op"}}}`)})
	mustCallAPI(t, set, "op", `{}`)
	assert.Equal(t, "X-Key: s3cr3t-key", credentialsOf(server.last(t)))
}

func TestOpenAPISwaggerCredentials(t *testing.T) {
	server := record(t, nil)
	tokens := newTokenServer(t)
	set := openAPISet(t, Options{BaseURL: server.URL, Origins: []string{tokens.URL},
		Credentials: map[string]Credential{"b": {Token: "s3cr3t-key"}, "k": {Token: "s3cr3t-key"},
			"o": {ClientID: "id", ClientSecret: "s3cr3t-client"}},
		Data: []byte(`{"swagger":"2.0","info":{"title":"T","version":"1"},"security":[{"b":[]}],
			"securityDefinitions":{"b":{"type":"basic"},"k":{"type":"apiKey","in":"query","name":"key"},"o":{"type":"oauth2","flow":"application","tokenUrl":"` + tokens.URL + `","scopes":{}}},
			"paths":{"/b":{"get":{"operationId":"b"}},"/k":{"get":{"operationId":"k","security":[{"k":[]}]}},"/o":{"get":{"operationId":"o","security":[{"o":[]}]}}}}`)})
	for method, want := range map[string]string{
		"b": "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("s3cr3t-key:")),
		"k": "query: key=s3cr3t-key",
		"o": "Authorization: Bearer token-1",
	} {
		mustCallAPI(t, set, method, `{}`)
		assert.Equal(t, want, credentialsOf(server.last(t)), method)
	}
}

func TestOpenAPICredentialWarnings(t *testing.T) {
	c := New("api", Options{Data: secured("http://example.com/token"), Credentials: map[string]Credential{
		"absent": {Token: "x"}, "basic": {}, "bearer": {}, "header": {}, "oauth": {ClientID: "id"},
		"implied": {ClientID: "id"}, "other": {Token: "a\nb"},
	}})
	_, err := c.Methods(t.Context())
	require.NoError(t, err)
	assert.Subset(t, c.(connectors.Warner).Warnings(), []string{
		`OpenAPI connector "api": there are credentials for the security scheme "absent", which the document does not have`,
		`OpenAPI connector "api": the security scheme "basic" is not used: it wants a username and a password`,
		`OpenAPI connector "api": the security scheme "bearer" is not used: it wants a token, or a client for the client credentials grant`,
		`OpenAPI connector "api": the security scheme "header" is not used: it wants a token`,
		`OpenAPI connector "api": the security scheme "implied" is not used: neither the document nor its credential says where tokens come from`,
		`OpenAPI connector "api": the security scheme "oauth" is not used: tokens are fetched by https only, unless on this machine`,
		`OpenAPI connector "api": the security scheme "other" is not used: HTTP cannot carry its token`,
	})
}

// tokenServer gives out token-1, token-2 …
type tokenServer struct {
	*recorder
	issued   atomic.Int32
	lifetime string
	refuse   func(r *http.Request) bool
}

func newTokenServer(t *testing.T) *tokenServer {
	s := &tokenServer{lifetime: `,"expires_in":3600`}
	s.recorder = record(t, func(w http.ResponseWriter, r *http.Request) {
		if s.refuse != nil && s.refuse(r) {
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"invalid_client","error_description":"bad s3cr3t-client"}`)
			return
		}
		time.Sleep(10 * time.Millisecond)
		fmt.Fprintf(w, `{"access_token":"token-%d"%s}`, s.issued.Add(1), s.lifetime)
	})
	return s
}

func oauthSet(t *testing.T, tokens *tokenServer, api *recorder) *connectors.Set {
	return openAPISet(t,
		Options{Data: secured(tokens.URL + "/token"), BaseURL: api.URL, Origins: []string{tokens.URL},
			Credentials: map[string]Credential{
				"oauth": {ClientID: "id&", ClientSecret: "s3cr3t-client", Scopes: []string{"read", "write"}},
			}})
}

func TestOpenAPIClientCredentials(t *testing.T) {
	tokens, api := newTokenServer(t), record(t, nil)
	set := oauthSet(t, tokens, api)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := callAPI(t, set, "oauth", `{}`)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, tokens.issued.Load(), "one for everybody")
	assert.Equal(t, "Bearer token-1", api.last(t).Header.Get("Authorization"))
	asked := tokens.last(t)
	assert.Equal(t, "grant_type=client_credentials&scope=read+write", asked.Body)
	assert.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("id%26:s3cr3t-client")),
		asked.Header.Get("Authorization"))
}

func TestOpenAPIClientCredentialsInTheForm(t *testing.T) {
	tokens, api := newTokenServer(t), record(t, nil)
	tokens.refuse = func(r *http.Request) bool { return r.Header.Get("Authorization") != "" }
	mustCallAPI(t, oauthSet(t, tokens, api), "oauth", `{}`)
	assert.Equal(t, "client_id=id%26&client_secret=s3cr3t-client&grant_type=client_credentials&scope=read+write",
		tokens.last(t).Body)
}

func TestOpenAPITokensEnd(t *testing.T) {
	tokens := newTokenServer(t)
	for lifetime, want := range map[string]time.Duration{
		``: 0, `,"expires_in":3600`: 3570 * time.Second, `,"expires_in":"40"`: 20 * time.Second, `,"expires_in":-1`: 0,
		`,"expires_in":1e300`: 1e8*time.Second - 30*time.Second,
	} {
		tokens.lifetime = lifetime
		source := New("x", Options{}).(*openAPIConnector).tokenSource("s", tokens.URL, Credential{ClientID: "id"})
		first, err := source.get(t.Context(), "")
		require.NoError(t, err)
		again, err := source.get(t.Context(), "")
		require.NoError(t, err)
		assert.Equal(t, first, again)
		if want == 0 {
			assert.True(t, source.expires.IsZero(), lifetime)
		} else {
			assert.InDelta(t, want.Seconds(), time.Until(source.expires).Seconds(), 5, lifetime)
		}
		source.expires = time.Now().Add(-time.Second)
		next, err := source.get(t.Context(), "")
		require.NoError(t, err)
		assert.NotEqual(t, first, next)
	}
}

func TestOpenAPIRefusedTokensAreReplacedOnce(t *testing.T) {
	tokens := newTokenServer(t)
	good := "token-2"
	api := record(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `"in"`)
	})
	set := oauthSet(t, tokens, api)
	assert.Equal(t, `"in"`, mustCallAPI(t, set, "post_oauth", `{"body":{"a":1}}`))
	assert.Len(t, api.all(), 2)
	assert.Equal(t, `{"a":1}`, api.last(t).Body)
	good = "none"
	_, err := callAPI(t, set, "oauth", `{}`)
	assert.EqualError(t, err, "api.oauth: the server answered 401 Unauthorized")
	assert.Len(t, api.all(), 4, "not without end")
}

func TestOpenAPITokenFailures(t *testing.T) {
	tokens, api := newTokenServer(t), record(t, nil)
	tokens.refuse = func(*http.Request) bool { return true }
	_, err := callAPI(t, oauthSet(t, tokens, api), "post_oauth", `{}`)
	assert.EqualError(t,
		err, `no token for the security scheme "oauth": the token server answered 401 Unauthorized: invalid_client`)
	tokens.refuse, tokens.lifetime = nil, ``
	tokens.Close()
	_, err = callAPI(t, oauthSet(t, tokens, api), "post_oauth", `{}`)
	assert.ErrorContains(t, err, `no token for the security scheme "oauth": dial tcp`)
	var unknown *connectors.OutcomeUnknownError
	assert.NotErrorAs(t, err, &unknown)
	assert.Empty(t, api.all(), "nothing was sent")
}

// A server that repeats everything it got must not give secrets to a program.
func TestOpenAPISecretsAreHidden(t *testing.T) {
	var failing bool
	var contentType string
	server := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for _, name := range []string{"Authorization", "X-Key", "Cookie", "X-Own"} {
			w.Header().Set("Seen-"+name, r.Header.Get(name))
		}
		if failing {
			w.WriteHeader(http.StatusBadRequest)
		}
		text := strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie"),
			r.Header.Get("X-Own"), r.URL.RawQuery, r.URL.Query().Get("key"), hushed}, " ")
		if contentType == "application/json" {
			text = string(rawjson.Quote(text)) + strings.Repeat(" ", 3)
			text = `{"text":` + text + `,"n":1234567890,"\u0073\u0033cr3t-header":"\u0073\u0033cr3t-bearer"}`
		}
		io.WriteString(w, text)
	})
	tokens := newTokenServer(t)
	credentials := allCredentials()
	credentials["oauth"] = Credential{ClientID: "id", ClientSecret: "s3cr3t-client"}
	for _, full := range []bool{false, true} {
		set := openAPISet(t, Options{
			Data: secured(tokens.URL), BaseURL: strings.Replace(server.URL, "http://", "http://u:s3cr3t-password@", 1),
			FullResponses: full, RawRequest: true, ExposeSpec: true,
			Credentials: credentials,
			Headers:     map[string]string{"X-Own": "Scheme 1234567890", "Accept-Language": "text"},
			Secrets:     []string{"1234567890"},
		})
		for _, contentType = range []string{"application/json", "text/plain", "image/png", ""} {
			for _, failing = range []bool{false, true} {
				for _, b := range set.Methods("api") {
					args := `{}`
					if b.Method.Name == "request" {
						args = `{"path":"/x"}`
					}
					got, err := callAPI(t, set, b.Method.Name, args)
					assertHidden(t, got+fmt.Sprint(err)+string(b.InputSchema)+string(b.OutputSchema), b.Method.Name)
				}
			}
		}
	}
}

func assertHidden(t *testing.T, text, name string) {
	t.Helper()
	if _, data, ok := strings.Cut(text, `"data":"`); ok {
		data, _, _ = strings.Cut(data, `"`)
		plain, _ := base64.StdEncoding.DecodeString(data)
		text += string(plain)
	}
	for _, secret := range []string{
		"s3cr3t", hushed, base64.StdEncoding.EncodeToString([]byte("u:s3cr3t-password")), "1234567890", "token-1",
		"s3cr3t-%C3%84", base64.StdEncoding.EncodeToString([]byte("user:" + hushed)),
	} {
		assert.NotContains(t, text, secret, name)
	}
}

// Words of the configuration that are no credentials stay in answers, and so do credentials too short to be any.
func TestOpenAPIResultsKeepTheirWords(t *testing.T) {
	const answer = `{"a":"the payments team pays 12 payments","state":"open","n":"reopened","pin":"1234"}`
	server := record(t, answerWith("application/json", answer))
	set := verbs(t, Options{BaseURL: server.URL, FullResponses: true,
		Headers: map[string]string{"X-Team": "payments", "X-Mode": "open", "X-Api-Key": "1234"}})
	require.Contains(t, mustCallAPI(t, set, "do_get", `{}`), answer)

	echo := record(t, answerWith("application/json", `{"key":"k-123456","cookie":"sid=abcdef","from":"variable"}`))
	set = verbs(t, Options{BaseURL: echo.URL, Secrets: []string{"variable"},
		Headers: map[string]string{"X-Api-Key": "k-123456", "Cookie": "sid=abcdef", "X-Team": "variable"}})
	assert.JSONEq(t, `{"key":"[redacted]","cookie":"[redacted]","from":"[redacted]"}`,
		mustCallAPI(t, set, "do_get", `{}`))
}

func TestOpenAPIOpenHeadersAreNotSecrets(t *testing.T) {
	server := record(t, answerWith("application/json", `{"type":"application/json","version":"2022-11-28"}`))
	set := verbs(t, Options{BaseURL: server.URL,
		Headers: map[string]string{"Accept": "application/json", "X-GitHub-Api-Version": "2022-11-28"}})
	assert.JSONEq(t, `{"type":"application/json","version":"2022-11-28"}`, mustCallAPI(t, set, "do_get", `{}`))
}

package outbound

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// outboundServer answers by path, and outboundSet may reach it.
func outboundServer(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTeapot)
		_ = json.NewEncoder(w).Encode(map[string]any{"verb": r.Method, "query": r.URL.RawQuery, "body": string(body),
			"x": r.Header.Get("X-A"), "host": r.Host, "key": r.Header.Get("Idempotency-Key")})
	})
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0}) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) })
	mux.Handle("/here", http.RedirectHandler("/echo?moved", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler("https://elsewhere.example/secret", http.StatusFound))
	mux.HandleFunc("/drop", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site
}

func outboundSet(t *testing.T, o Options) *connectors.Set {
	set := connectorstest.NewSet(t, nil, New(o))
	t.Cleanup(func() { _ = set.Close() })
	return set
}

func fetchBy(t *testing.T, set *connectors.Set, method, args string) (string, error) {
	t.Helper()
	b, err := set.Lookup(Name, method)
	require.NoError(t, err)
	require.NoError(t, b.Validate(json.RawMessage(args)))
	ctx := connectorstest.CallContext()
	ctx.Context = t.Context()
	got, err := b.Invoke(ctx, json.RawMessage(args))
	return string(got), err
}

func TestOutbound(t *testing.T) {
	site := outboundServer(t)
	set := outboundSet(t, Options{Hosts: []string{site.URL}, MaxResponseBytes: 500})
	host := strings.TrimPrefix(site.URL, "http://")
	type answer struct {
		Status     int
		StatusText string
		URL        string
		Headers    [][2]string
		Body       any
	}
	get := func(method, args string) (a answer) {
		t.Helper()
		text, err := fetchBy(t, set, method, strings.ReplaceAll(args, "WEB", site.URL))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), &a))
		return a
	}
	a := get("post", `{"url":"WEB/echo?a=b%20c","headers":{"X-A":"1","Host":"other","Accept-Encoding":"br"},"body":"text"}`)
	assert.Equal(t, 418, a.Status)
	assert.Equal(t, "I'm a teapot", a.StatusText)
	assert.Equal(t, site.URL+"/echo?a=b%20c", a.URL)
	assert.Contains(t, a.Headers, [2]string{"content-type", "application/json"})
	assert.JSONEq(t, `{"verb":"POST","query":"a=b%20c","body":"text","x":"1","host":"`+host+`","key":"k"}`,
		a.Body.(string))
	assert.Contains(t, get("put",
		`{"url":"WEB/echo","body":{"__codemode_binary_v1__":"Uint8Array","data":"aGk="}}`).Body, `"body":"hi"`)
	assert.Contains(t, get("get", `{"url":"WEB/echo"}`).Body, `"key":""`, "a read needs no key")
	assert.Equal(t, map[string]any{"__codemode_binary_v1__": "Uint8Array", "data": "/wA="},
		get("get", `{"url":"WEB/bytes"}`).Body)
	assert.Nil(t, get("head", `{"url":"WEB/echo"}`).Body)
	here := get("get", `{"url":"WEB/here"}`)
	assert.Equal(t, site.URL+"/echo?moved", here.URL)
	away := get("get", `{"url":"WEB/away"}`)
	assert.Equal(t, 302, away.Status, "another server is not asked")
	assert.Contains(t, away.Headers, [2]string{"location", "https://elsewhere.example/secret"})
	assert.Equal(t, 302, get("post", `{"url":"WEB/here"}`).Status, "a write does not become a read")
}

func TestOutboundFailures(t *testing.T) {
	site := outboundServer(t)
	set := outboundSet(t,
		Options{Hosts: []string{site.URL, "http://127.0.0.1:1"}, MaxResponseBytes: 500,
			Timeout: 200 * time.Millisecond})
	for _, c := range []struct {
		method, url, want string
		check             func(err error) bool
	}{
		{"get", "https://example.com/",
			"https://example.com is not an allowed host; allowed: " + site.URL + ", http://127.0.0.1:1", nil},
		{"get", strings.Replace(site.URL, "http:", "https:", 1), "is not an allowed host", nil},
		{"get", strings.Replace(site.URL, "//", "//user:pw@", 1), "it must not hold credentials", nil},
		{"get", site.URL + "/public/../admin", "must not have the parts . or ..", nil},
		{"get", site.URL + "/public/%2e%2E/admin", "must not have the parts . or ..", nil},
		{"get", site.URL + "/public/%252e%252e%252fadmin", "must not have the parts . or ..", nil},
		{"get", site.URL + "/public/..%5cadmin", "must not have the parts . or ..", nil},
		{"get", site.URL + "/public/..;/admin", "must not have the parts . or ..", nil},
		{"get", "file:///etc/passwd", "not the URL of a web server", nil},
		{"get", "http:///x", "not the URL of a web server", nil},
		{"get", site.URL + "/large", "the answer is larger than 500 bytes", nil},
		{"post", site.URL + "/large", "could not be recorded durably", isA[*connectors.ResultError]},
		{"get", site.URL + "/drop", "failed: EOF", isA[*connectors.RetryableError]},
		{"post", site.URL + "/drop", "failed: EOF", isA[*connectors.OutcomeUnknownError]},
		{"get", site.URL + "/slow", "failed", isA[*connectors.RetryableError]},
		{"delete", site.URL + "/slow", "failed", isA[*connectors.OutcomeUnknownError]},
		{"post", "http://127.0.0.1:1/", "connection refused", isA[*web.UnsentError]},
	} {
		_, err := fetchBy(t, set, c.method, `{"url":"`+c.url+`"}`)
		require.ErrorContains(t, err, c.want, c.url)
		if c.check != nil {
			assert.True(t, c.check(err), "%s %s: %T", c.method, c.url, err)
		}
	}
	b, err := set.Lookup(Name, "get")
	require.NoError(t, err)
	assert.Equal(t, connectors.Read, b.Class)
	assert.ErrorContains(t, b.Validate(json.RawMessage(`{"url":"x","body":"y"}`)), "body: not a known property")
}

func isA[T error](err error) bool {
	_, ok := err.(T)
	return ok
}

func TestOutboundHosts(t *testing.T) {
	for _, c := range []struct {
		entry string
		yes   string
		no    string
	}{
		{"api.example.com", "https://api.example.com/a https://API.example.com.:443/",
			"http://api.example.com https://example.com https://x.api.example.com https://api.example.com:444 " +
				"https://api.example.com.evil.com"},
		{"*.example.com", "https://a.example.com https://a.b.example.com",
			"https://example.com https://badexample.com"},
		{"http://127.0.0.1:9000", "http://127.0.0.1:9000/x",
			"https://127.0.0.1:9000 http://127.0.0.2:9000 http://127.0.0.1"},
		{"http://[::1]:9000/", "http://[::1]:9000", "http://[::2]:9000"},
	} {
		h, err := parseOutboundHost(c.entry)
		require.NoError(t, err)
		for want, list := range map[bool]string{true: c.yes, false: c.no} {
			for text := range strings.FieldsSeq(list) {
				at, err := url.Parse(text)
				require.NoError(t, err)
				assert.Equal(t, want, h.allows(at), "%s %s", c.entry, text)
			}
		}
	}
	for _, bad := range []string{"", "*", "*.com", "a.*.com", "ftp://a.com", "a.com/path", "u@a.com", "https://",
		"a b"} {
		assert.Error(t, CheckHost(bad), bad)
	}
	_, err := connectors.NewSet(t.Context(), []connectors.Connector{New(Options{Hosts: []string{"*"}})}, nil)
	assert.Error(t, err)
}

// A name may not lead into the network around the worker.
func TestOutboundAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"93.184.216.34:443": "", "[2606:2800:220:1::1]:443": "", "127.0.0.1:80": "inside", "10.0.0.8:443": "inside",
		"[fd00::1]:443":            "inside",
		"[::ffff:192.168.1.1]:443": "inside", "169.254.169.254:80": "never", "0.0.0.0:80": "never",
		"100.64.0.1:80": "never", "224.0.0.1:80": "never",
		"[64:ff9b::7f00:1]:80": "never", "[fe80::1]:80": "never",
	} {
		assert.Equal(t, want == "", web.CheckAddress(address, web.Public) == nil, address)
		assert.Equal(t, want != "never", web.CheckAddress(address, web.Private) == nil, address)
	}
	_, err := web.Dialer(reach(false))(t.Context(), "tcp", "localhost.localdomain:1")
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = web.Dialer(reach(false))(ctx, "tcp", "127.0.0.1:1")
	assert.NotContains(t, err.Error(), "no public address", "an address that was listed is meant")
}

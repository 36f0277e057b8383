package openapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

// verbs is a document with an operation of each verb at /x, named by it.
func verbs(t testing.TB, opts Options) *connectors.Set {
	var list []string
	for _, verb := range apiVerbs {
		list = append(list, fmt.Sprintf(`%q:{"operationId":"do_%s"}`, verb, verb))
	}
	opts.Data = apiOf(`"paths":{"/x":{` + strings.Join(list, ",") + `}}`)
	return openAPISet(t, opts)
}

func answerWith(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		} else {
			w.Header()["Content-Type"] = nil
		}
		io.WriteString(w, body)
	}
}

func TestOpenAPIResponses(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, want string }{
		{"JSON", "application/json", `{ "a" : [1] }`, `{"a":[1]}`},
		{"lossless", "application/json; charset=utf-8", `{"id":12345678901234567890,"f":1.50}`,
			`{"id":{"__codemode_bigint_v1__":"12345678901234567890"},"f":1.50}`},
		{"JSON of another name", "application/problem+json", "\uFEFF[1]", `[1]`},
		{"JSON null", "application/json", `null`, `null`},
		{"called JSON", "application/json", `oops`, `"oops"`},
		{"text", "text/plain", "a\n\"b\"", `"a\n\"b\""`},
		{"number in text", "text/plain", "42", `"42"`},
		{"latin", "text/plain; charset=ISO-8859-1", "\xfc", `"ü"`},
		{"XML", "application/xml", "<a/>", `"<a/>"`},
		{"CSV", "text/csv", "a,b", `"a,b"`},
		{"lines of JSON", "application/x-ndjson", "{}\n{}\n", `"{}\n{}\n"`},
		{"bytes", "image/png", "\x89P\x00", `{"__codemode_binary_v1__":"Uint8Array","data":"iVAA"}`},
		{"no type, JSON", "", `{"a":1}`, `{"a":1}`},
		{"no type, text", "", `hello`, `"hello"`},
		{"no type, bytes", "", "\x00\xff", `{"__codemode_binary_v1__":"Uint8Array","data":"AP8="}`},
		{"nothing", "application/json", "", ""},
	} {
		server := record(t, answerWith(c.contentType, c.body))
		assert.Equal(t, c.want, mustCallAPI(t, verbs(t, Options{BaseURL: server.URL}), "do_get", `{}`), c.name)
	}
}

func TestOpenAPIFullResponses(t *testing.T) {
	server := record(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Rate", "5")
		w.Header().Set("Set-Cookie", "session=1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id":12345678901234567890}`)
	})
	set := verbs(t, Options{BaseURL: server.URL, FullResponses: true, RawRequest: true})
	for method, args := range map[string]string{"do_post": `{}`, "request": `{"path":"/x"}`} {
		var got struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(mustCallAPI(t, set, method, args)), &got))
		assert.Equal(t, 201, got.Status)
		assert.Equal(t, "5", got.Headers["x-rate"])
		assert.NotContains(t, got.Headers, "set-cookie")
		assert.Equal(t, `{"id":{"__codemode_bigint_v1__":"12345678901234567890"}}`, string(got.Body))
	}
	b, err := set.Lookup("api", "do_get")
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"object","properties":{"status":{"type":"integer"},"headers":{"type":"object","additionalProperties":{"type":"string"}}},"required":["status","headers"]}`, string(b.OutputSchema))
}

func TestOpenAPIHead(t *testing.T) {
	server := record(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Size", "7") })
	got := mustCallAPI(t, verbs(t, Options{BaseURL: server.URL}), "do_head", `{}`)
	assert.Contains(t, got, `"x-size":"7"`)
	assert.Equal(t, "HEAD", server.last(t).Method)
}

func TestOpenAPIStatusErrors(t *testing.T) {
	status, body, header := 0, "", http.Header{}
	server := record(t, func(w http.ResponseWriter, r *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
	set := verbs(t, Options{BaseURL: server.URL})
	for _, c := range []struct {
		name, method string
		status       int
		body         string
		header       http.Header
		want         string
		retry        time.Duration
		unknown      bool
	}{
		{name: "not found", method: "do_get", status: 404, body: `{ "error": "no such\n user" }`,
			want: `api.do_get: the server answered 404 Not Found: {"error":"no such\n user"}`},
		{name: "no body", method: "do_post", status: 400, want: "api.do_post: the server answered 400 Bad Request"},
		{name: "unusual", method: "do_post", status: 599, want: "api.do_post: the server answered 599"},
		{name: "text in one line", method: "do_get", status: 500, body: "a\n  b",
			want: "api.do_get: the server answered 500 Internal Server Error: a b"},
		{name: "bytes are not shown", method: "do_get", status: 500, body: "\x00\x01",
			header: http.Header{"Content-Type": {"image/png"}},
			want:   "api.do_get: the server answered 500 Internal Server Error"},
		{name: "wait, read", method: "do_get", status: 429, header: http.Header{"Retry-After": {"7"}},
			want: "api.do_get: the server answered 429 Too Many Requests (retry after 7s)", retry: 7 * time.Second},
		{name: "wait, idempotent", method: "do_put", status: 503, header: http.Header{"Retry-After": {"3"}},
			want: "api.do_put: the server answered 503 Service Unavailable (retry after 3s)", retry: 3 * time.Second},
		{name: "wait, write", method: "do_post", status: 429, header: http.Header{"Retry-After": {"7"}},
			want: "api.do_post: the server answered 429 Too Many Requests (retry after 7s)"},
		{name: "no time given", method: "do_get", status: 429,
			want: "api.do_get: the server answered 429 Too Many Requests"},
		{name: "bounded", method: "do_get", status: 429, header: http.Header{"Retry-After": {"99999999999"}},
			want: "api.do_get: the server answered 429 Too Many Requests (retry after 24h0m0s)", retry: 24 * time.Hour},
		{name: "gateway, write", method: "do_post", status: 502,
			want: "outcome unknown: api.do_post: the server answered 502 Bad Gateway", unknown: true},
		{name: "gateway, idempotent", method: "do_delete", status: 504,
			want: "outcome unknown: api.do_delete: the server answered 504 Gateway Timeout", unknown: true},
		{name: "gateway, read", method: "do_get", status: 502, want: "api.do_get: the server answered 502 Bad Gateway"},
	} {
		status, body, header = c.status, c.body, c.header
		_, err := callAPI(t, set, c.method, `{}`)
		require.Error(t, err, c.name)
		assert.Contains(t, err.Error(), c.want, c.name)
		var refused *StatusError
		require.ErrorAs(t, err, &refused, c.name)
		assert.Equal(t, c.status, refused.Status, c.name)
		var retryable *connectors.RetryableError
		if errors.As(err, &retryable) {
			assert.Equal(t, c.retry, retryable.RetryAfter, c.name)
		} else {
			assert.Zero(t, c.retry, c.name)
		}
		var unknown *connectors.OutcomeUnknownError
		assert.Equal(t, c.unknown, errors.As(err, &unknown), c.name)
	}
	status, body, header = 400, strings.Repeat("x", 10_000), nil
	_, err := callAPI(t, set, "do_get", `{}`)
	assert.Less(t, len(err.Error()), 700, "short")
}

func TestOpenAPIRetryAfter(t *testing.T) {
	in := func(text string) time.Duration { return retryAfter(http.Header{"Retry-After": {text}}) }
	assert.Equal(t, 5*time.Second, in("5"))
	assert.Zero(t, in("-5"))
	assert.Zero(t, in("soon"))
	assert.Zero(t, in(""))
	assert.Equal(t, 24*time.Hour, in("999999999"))
	assert.InDelta(t, 60, in(time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)).Seconds(), 2)
	assert.Zero(t, in("Mon, 02 Jan 2006 15:04:05 GMT"))
}

func TestOpenAPIIdempotencyKeys(t *testing.T) {
	server := record(t, nil)
	set := verbs(t, Options{BaseURL: server.URL, RawRequest: true})
	for method, want := range map[string]string{"do_get": "", "do_head": "", "do_options": "", "do_put": "k",
		"do_delete": "k", "do_post": "k", "do_patch": "k"} {
		mustCallAPI(t, set, method, `{}`)
		assert.Equal(t, want, server.last(t).Header.Get("Idempotency-Key"), method)
	}
	mustCallAPI(t, set, "request", `{"path":"/x","method":"POST"}`)
	assert.Equal(t, "k", server.last(t).Header.Get("Idempotency-Key"))
	mustCallAPI(t, set, "request", `{"path":"/x","method":"POST","headers":{"Idempotency-Key":"own"}}`)
	assert.Equal(t, []string{"own"}, server.last(t).Header.Values("Idempotency-Key"))

	required := openAPISet(t,
		Options{BaseURL: server.URL,
			Data: operation("post", "/x",
				`"parameters":[{"name":"idempotency-key","in":"header","required":true,"schema":{"type":"string"}}]`)})
	mustCallAPI(t, required, "op", `{}`)
	assert.Equal(t, "k", server.last(t).Header.Get("Idempotency-Key"), "sent by the connector, so not asked for")
	mustCallAPI(t, required, "op", `{"idempotency-key":"own"}`)
	assert.Equal(t, "own", server.last(t).Header.Get("Idempotency-Key"))
	b, err := required.Lookup("api", "op")
	require.NoError(t, err)
	_, err = b.Invoke(connectors.Context{Context: t.Context()}, nil)
	require.NoError(t, err)
	assert.Empty(t, server.last(t).Header.Values("Idempotency-Key"))
}

// A server that has taken a request and closes the connection must not get it
// again: net/http repeats requests with idempotency keys by itself.
func TestOpenAPIWritesAreNeverRepeated(t *testing.T) {
	var effects, calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if calls.Add(1) == 1 {
			return // so that the connection is used again
		}
		effects.Add(1)
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	}))
	defer server.Close()
	for _, args := range []string{`{}`, `{"body":{"a":1}}`} {
		calls.Store(0)
		effects.Store(0)
		set := verbs(t, Options{BaseURL: server.URL})
		mustCallAPI(t, set, "do_post", args)
		_, err := callAPI(t, set, "do_post", args)
		var unknown *connectors.OutcomeUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.Contains(t, err.Error(),
			"outcome unknown: api.do_post: the request to "+strings.TrimPrefix(server.URL, "http://")+" failed: EOF")
		assert.EqualValues(t, 1, effects.Load(), args)
	}
}

func TestOpenAPIFailuresAfterSending(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	}))
	defer server.Close()
	set := verbs(t, Options{BaseURL: server.URL})
	for method, isRead := range map[string]bool{"do_post": false, "do_put": false, "do_get": true} {
		_, err := callAPI(t, set, method, `{}`)
		var unknown *connectors.OutcomeUnknownError
		var retryable *connectors.RetryableError
		assert.Equal(t, isRead, errors.As(err, &retryable), "%s: %v", method, err)
		assert.Equal(t, !isRead, errors.As(err, &unknown), "%s: %v", method, err)
	}
}

func TestOpenAPIFailuresBeforeSending(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, base := range map[string]string{
		"nobody listens": "http://" + listener.Addr().String(),
		"no TLS":         "https://" + plain.Listener.Addr().String(),
		"no such host":   "http://codemode.invalid",
	} {
		set := verbs(t, Options{BaseURL: base + "/?key=secret"})
		for _, ctx := range []context.Context{t.Context(), cancelled} {
			b, err := set.Lookup("api", "do_post")
			require.NoError(t, err)
			_, err = b.Invoke(connectors.Context{Context: ctx, IdempotencyKey: "k"}, nil)
			var unknown *connectors.OutcomeUnknownError
			var retryable *connectors.RetryableError
			require.Error(t, err, name)
			assert.False(t, errors.As(err, &unknown) || errors.As(err, &retryable), "%s: %v", name, err)
			assert.NotContains(t, err.Error(), "secret")
		}
	}
}

// slowServer begins to answer, or not, and then waits until the test is over.
func slowServer(t *testing.T, begin bool) string {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if begin {
			io.WriteString(w, `{"a":`)
			w.(http.Flusher).Flush()
		}
		<-over
	}))
	t.Cleanup(func() { close(over); server.Close() })
	return server.URL
}

func TestOpenAPITimeouts(t *testing.T) {
	for _, begin := range []bool{false, true} {
		set := verbs(t, Options{BaseURL: slowServer(t, begin), Timeout: 50 * time.Millisecond})
		_, err := callAPI(t, set, "do_get", `{}`)
		var retryable *connectors.RetryableError
		require.ErrorAs(t, err, &retryable)
		assert.EqualError(t, err, "api.do_get: no answer within 50ms")
		_, err = callAPI(t, set, "do_post", `{}`)
		var unknown *connectors.OutcomeUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.EqualError(t, err, "outcome unknown: api.do_post: no answer within 50ms")
		b, err := set.Lookup("api", "do_get")
		require.NoError(t, err)
		assert.Equal(t, 50*time.Millisecond, b.Timeout)
	}
}

func TestOpenAPIDeadlinesOfCallers(t *testing.T) {
	set := verbs(t, Options{BaseURL: slowServer(t, false)})
	for _, method := range []string{"do_get", "do_post"} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		b, err := set.Lookup("api", method)
		require.NoError(t, err)
		_, err = b.Invoke(connectors.Context{Context: ctx}, nil)
		cancel()
		var unknown *connectors.OutcomeUnknownError
		require.ErrorAs(t, err, &unknown)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestOpenAPIAnswersThatBreakOff(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					io.WriteString(conn,
						"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":")
				}
			}()
		}
	}()
	set := verbs(t, Options{BaseURL: "http://" + listener.Addr().String()})
	_, err = callAPI(t, set, "do_get", `{}`)
	assert.EqualError(t, err, "api.do_get: the server answered 200, but the answer broke off: unexpected EOF")
	_, err = callAPI(t, set, "do_post", `{}`)
	assert.EqualError(t,
		err, "outcome unknown: api.do_post: the server answered 200, but the answer broke off: unexpected EOF")
}

func TestOpenAPIResponseLimit(t *testing.T) {
	server := record(t, answerWith("text/plain", strings.Repeat("x", 1001)))
	set := verbs(t, Options{BaseURL: server.URL, MaxResponseBytes: 1000})
	_, err := callAPI(t, set, "do_get", `{}`)
	assert.EqualError(t,
		err, "api.do_get: the answer is larger than 1000 bytes: ask for less, by a filter or page by page")
	_, err = callAPI(t, set, "do_post", `{}`)
	var result *connectors.ResultError
	assert.ErrorAs(t, err, &result, "it took effect")
	assert.Len(t, mustCallAPI(t, verbs(t, Options{BaseURL: server.URL, MaxResponseBytes: 1001}), "do_get", `{}`), 1003)
}

func TestOpenAPIRedirects(t *testing.T) {
	other := record(t, nil)
	var target string
	var status int
	server := record(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x" {
			w.Header().Set("Location", target)
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `"arrived"`)
	})
	set := verbs(t, Options{BaseURL: server.URL, Headers: map[string]string{"Authorization": "Bearer hidden"}})
	for _, c := range []struct {
		method string
		status int
		want   string // the verb and body that arrive, empty for an error
	}{
		{"do_get", 301, "GET "}, {"do_get", 302, "GET "}, {"do_get", 303, "GET "}, {"do_get", 307, "GET "},
		{"do_get", 308, "GET "},
		{"do_post", 303, "GET "}, {"do_post", 307, `POST {"a":1}`}, {"do_put", 308, `PUT {"a":1}`},
		{"do_post", 301, ""}, {"do_post", 302, ""}, {"do_delete", 302, ""},
	} {
		args := `{}`
		if c.method == "do_post" || c.method == "do_put" {
			args = `{"body":{"a":1}}`
		}
		target, status = "/y", c.status
		got, err := callAPI(t, set, c.method, args)
		if c.want == "" {
			assert.ErrorContains(t, err,
				fmt.Sprintf("the server answered %d %s with a redirect to %s, which is not followed", c.status,
					http.StatusText(c.status), server.URL))
			continue
		}
		require.NoError(t, err, c)
		assert.Equal(t, `"arrived"`, got)
		last := server.last(t)
		assert.Equal(t, c.want, last.Method+" "+last.Body)
		assert.Equal(t, "Bearer hidden", last.Header.Get("Authorization"))

		target = other.URL + "/y?token=hidden"
		_, err = callAPI(t, set, c.method, args)
		assert.ErrorContains(t, err, "with a redirect to "+other.URL+", which is not followed")
		assert.NotContains(t, err.Error(), "hidden")
	}
	assert.Empty(t, other.all())
	target, status = "/x", 307
	_, err := callAPI(t, set, "do_get", `{}`)
	assert.ErrorContains(t, err, "it redirects without end")
}

func TestOpenAPIServers(t *testing.T) {
	server := record(t, nil)
	at := strings.TrimPrefix(server.URL, "http://")
	host, port, _ := strings.Cut(at, ":")
	for name, c := range map[string]struct {
		data string
		opts Options
		want string
	}{
		"first server": {data: `"servers":[{"url":"` + server.URL +
			`/v1/"},{"url":"http://other"}],"paths":{"/x":{"get":{"operationId":"op"}}}`, want: "/v1/x"},
		"of the path": {data: `"servers":[{"url":"http://other"}],"paths":{"/x":{"servers":[{"url":"` +
			server.URL + `/p"}],"get":{"operationId":"op"}}}`, want: "/p/x"},
		"of the operation": {data: `"servers":[{"url":"http://other"}],"paths":{"/x":{"servers":[{"url":"http://other"}],"get":{"operationId":"op","servers":[{"url":"` + server.URL + `/o"}]}}}`, want: "/o/x"},
		"base URL wins":    {data: `"servers":[{"url":"http://other/v9"}],"paths":{"/x":{"get":{"operationId":"op","servers":[{"url":"http://other"}]}}}`, opts: Options{BaseURL: server.URL + "/b%2Fc"}, want: "/b%2Fc/x"},
		"variables": {data: `"servers":[{"url":"http://{host}:{port}/{v}","variables":{"host":{"default":"` +
			host + `"},"port":{"default":"1"},"v":{"default":"v2"}}}],"paths":{"/x":{"get":{"operationId":"op"}}}`,
			opts: Options{ServerVariables: map[string]string{"port": port}}, want: "/v2/x"},
	} {
		c.opts.Data = apiOf(c.data)
		mustCallAPI(t, openAPISet(t, c.opts), "op", `{}`)
		assert.Equal(t, c.want, server.last(t).Path, name)
	}
	withQuery := openAPISet(t,
		Options{BaseURL: server.URL + "/v?version=1",
			Data: operation("get", "/x", `"parameters":[{"name":"a","in":"query"}]`)})
	mustCallAPI(t, withQuery, "op", `{"a":2}`)
	assert.Equal(t, "version=1&a=2", server.last(t).Query)
	swagger := `{"swagger":"2.0","info":{"title":"T","version":"1"},"schemes":["http"],"host":"` +
		at + `","basePath":"/api","paths":{"/x":{"get":{"operationId":"op"}}}}`
	mustCallAPI(t, openAPISet(t, Options{Data: []byte(swagger)}), "op", `{}`)
	assert.Equal(t, "/api/x", server.last(t).Path)
}

func TestOpenAPIServersThatAreMissing(t *testing.T) {
	for data, want := range map[string]string{
		`"paths":{"/x":{"get":{"operationId":"op"}}}`:                                  `the document of connector "api" names no server that requests can be sent to: set its base URL`,
		`"servers":[{"url":"/v1"}],"paths":{"/x":{"get":{"operationId":"op"}}}`:        `the document of connector "api" names no server that requests can be sent to: set its base URL`,
		`"servers":[{"url":"http://{h}"}],"paths":{"/x":{"get":{"operationId":"op"}}}`: `the server URL of connector "api" has the variable "h", which has no value: set its server variables or its base URL`,
		`"servers":[{"url":"ftp://h"}],"paths":{"/x":{"get":{"operationId":"op"}}}`:    `the document of connector "api" names no server that requests can be sent to: set its base URL`,
	} {
		_, err := callAPI(t, openAPISet(t, Options{Data: apiOf(data)}), "op", `{}`)
		assert.EqualError(t, err, want)
	}
}

func TestOpenAPITransport(t *testing.T) {
	var asked []string
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.Method+" "+r.URL.String())
		if r.Method == "POST" {
			return nil, errors.New("no route")
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("7")),
			Request: r}, nil
	})
	set := verbs(t, Options{BaseURL: "https://h/v1", Transport: transport})
	assert.Equal(t, "7", mustCallAPI(t, set, "do_get", `{}`))
	assert.Equal(t, []string{"GET https://h/v1/x"}, asked)
	_, err := callAPI(t, set, "do_post", `{}`)
	var unknown *connectors.OutcomeUnknownError
	assert.ErrorAs(t, err, &unknown, "it does not tell how far the request came")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

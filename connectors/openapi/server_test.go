package openapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
)

// seen is a request as a server got it.
type seen struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// recorder is a server that keeps what it gets.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

// record answers by handler, with the body already read, or else with {}.
func record(t testing.TB, handler http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		r.requests = append(r.requests,
			seen{request.Method, request.URL.EscapedPath(), request.URL.RawQuery, request.Header, string(body)})
		r.mu.Unlock()
		if handler != nil {
			request.Body = io.NopCloser(strings.NewReader(string(body)))
			handler(w, request)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{}")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) all() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.requests...)
}

func (r *recorder) last(t testing.TB) seen {
	t.Helper()
	all := r.all()
	require.NotEmpty(t, all, "nothing was sent")
	return all[len(all)-1]
}

// echoServer answers as the conformance fixture's server does.
func echoServer(t testing.TB) *recorder {
	return record(t, func(w http.ResponseWriter, r *http.Request) {
		got := map[string]any{"path": r.URL.EscapedPath(), "method": r.Method}
		params := map[string]any{}
		for name, list := range r.URL.Query() {
			var values []any
			for _, text := range list {
				var value any = text
				if json.Unmarshal([]byte(text), &value) != nil {
					value = text
				}
				values = append(values, value)
			}
			if params[name] = values; len(values) == 1 {
				params[name] = values[0]
			}
		}
		headers := map[string]string{}
		for name := range r.Header {
			if strings.HasPrefix(name, "X-") {
				headers[name] = r.Header.Get(name)
			}
		}
		if len(params) > 0 {
			got["params"] = params
		}
		if len(headers) > 0 {
			got["headers"] = headers
		}
		if body, _ := io.ReadAll(r.Body); len(body) > 0 {
			got["body"] = json.RawMessage(body)
			if !json.Valid(body) {
				got["body"] = string(body)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"got": got})
	})
}

// apiOf is a document of version 3.0 with these members beside the usual ones.
func apiOf(members string) []byte {
	return []byte(`{"openapi":"3.0.3","info":{"title":"T","version":"1"},` + members + `}`)
}

// operation is a document with one operation "op".
func operation(verb, path, members string) []byte {
	if members != "" {
		members = "," + members
	}
	return apiOf(`"paths":{"` + path + `":{"` + verb + `":{"operationId":"op"` + members + `}}}`)
}

func openAPISet(t testing.TB, opts Options) *connectors.Set {
	t.Helper()
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{New("api", opts)}, nil)
	require.NoError(t, err)
	require.NoError(t, set.Err("api"))
	t.Cleanup(func() { assert.NoError(t, set.Close()) })
	return set
}

// complete is a method with schemas that hold all they refer to.
func complete(t testing.TB, c connectors.Connector, name string) connectors.Method {
	t.Helper()
	methods, err := c.Methods(t.Context())
	require.NoError(t, err)
	for _, m := range methods {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no method "+name)
	return connectors.Method{}
}

// callAPI validates and calls, as a program's call does.
func callAPI(t testing.TB, set *connectors.Set, method, args string) (string, error) {
	t.Helper()
	b, err := set.Lookup("api", method)
	require.NoError(t, err)
	if err := b.Validate(json.RawMessage(args)); err != nil {
		return "", err
	}
	ctx := connectorstest.CallContext()
	ctx.Context = t.Context()
	got, err := b.Invoke(ctx, json.RawMessage(args))
	return string(got), err
}

func mustCallAPI(t testing.TB, set *connectors.Set, method, args string) string {
	t.Helper()
	got, err := callAPI(t, set, method, args)
	require.NoError(t, err, "%s(%s)", method, args)
	return got
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "openapi", name))
	require.NoError(t, err)
	return data
}

// fixtureAPI is the connector of the conformance scenarios.
func fixtureAPI(t testing.TB) (*connectors.Set, *recorder) {
	server := echoServer(t)
	return openAPISet(t, Options{
		Document: filepath.Join("testdata", "openapi", "api.json"), BaseURL: server.URL, RawRequest: true,
	}), server
}

package conformance

import (
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/openapi"
)

//go:embed testdata/api.json
var apiDocument []byte

// apiServer is an API on a loopback port inside the worker process. It answers with the request it got, and keeps it.
type apiServer struct {
	web *httptest.Server

	mu    sync.Mutex
	calls []apiRequest
}

// apiRequest is a request as the reference's connectors make it.
type apiRequest struct {
	Path    string            `json:"path"`
	Method  string            `json:"method"`
	Params  map[string]any    `json:"params,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
}

func newAPIServer() *apiServer {
	s := &apiServer{calls: []apiRequest{}}
	s.web = httptest.NewServer(s)
	return s
}

func (s *apiServer) connector() connectors.Connector {
	return openapi.New("api", openapi.Options{Data: apiDocument, BaseURL: s.web.URL, RawRequest: true})
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := apiRequest{Path: r.URL.EscapedPath(), Method: r.Method, Params: parsedParams(r.URL.Query())}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-") {
			if got.Headers == nil {
				got.Headers = map[string]string{}
			}
			got.Headers[name] = r.Header.Get(name)
		}
	}
	if body, _ := io.ReadAll(r.Body); len(body) > 0 {
		got.Body = body
		if !json.Valid(body) {
			got.Body, _ = json.Marshal(string(body))
		}
	}
	s.mu.Lock()
	s.calls = append(s.calls, got)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"got": got})
}

// parsedParams reads values as JSON where they are; repeated ones make a list.
func parsedParams(query url.Values) map[string]any {
	params := map[string]any{}
	for name, values := range query {
		var list []any
		for _, text := range values {
			var value any
			if json.Unmarshal([]byte(text), &value) != nil {
				value = text
			}
			list = append(list, value)
		}
		if params[name] = list; len(list) == 1 {
			params[name] = list[0]
		}
	}
	return params
}

func (s *apiServer) received() []apiRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

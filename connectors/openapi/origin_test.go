package openapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// served is a document whose second operation names a server of its own.
func served(home, other, token string) []byte {
	return fmt.Appendf(nil, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":%q}],
		"components":{"securitySchemes":{
			"key":{"type":"http","scheme":"bearer"},
			"oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":%q,"scopes":{}}}}}},
		"paths":{"/here":{"get":{"operationId":"here","responses":{}}},
			"/there":{"get":{"operationId":"there","servers":[{"url":%q}],"responses":{}}}}}`, home, token, other)
}

// What the operator gives for an API goes nowhere else, whatever its document says.
func TestSecretsStayWithTheirOrigin(t *testing.T) {
	home, other := record(t, nil), record(t, nil)
	bearer := map[string]Credential{"key": {Token: "t0ken"}}
	for _, c := range []struct {
		name  string
		opts  Options
		there string // why the other server gets nothing; empty when it is asked
	}{
		{"credentials", Options{Credentials: bearer}, "credentials for HOME are not sent to OTHER"},
		{"headers", Options{Headers: map[string]string{"X-Key": "k3y"}}, "credentials for HOME are not sent to OTHER"},
		{"nothing secret", Options{Headers: map[string]string{"Accept": "text/plain"}}, ""},
		{"listed", Options{Credentials: bearer, Origins: []string{other.URL + "/"}}, ""},
		{"base URL", Options{Credentials: bearer, BaseURL: home.URL}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(other.all())
			c.opts.Data = served(home.URL, other.URL, home.URL)
			api := New("api", c.opts)
			set := connectorstest.NewSet(t, nil, api)
			mustCallAPI(t, set, "here", `{}`)
			if c.there == "" {
				mustCallAPI(t, set, "there", `{}`)
				return
			}
			_, err := set.Lookup("api", "there")
			var missing *connectors.NotFoundError
			require.ErrorAs(t, err, &missing)
			want := strings.NewReplacer("HOME", home.Listener.Addr().String(), "OTHER", other.Listener.Addr().String())
			assert.Contains(t, strings.Join(api.(connectors.Warner).Warnings(), "\n"),
				"GET /there is left out: "+want.Replace(c.there))
			assert.Len(t, other.all(), before)
		})
	}
}

func TestClientSecretsStayWithTheirOrigin(t *testing.T) {
	home, other := record(t, nil), record(t, nil)
	client := map[string]Credential{"oauth": {ClientID: "id", ClientSecret: "s3cret"}}
	api := New("api", Options{Data: served(home.URL, home.URL, other.URL), Credentials: client})
	_, err := callAPI(t, connectorstest.NewSet(t, nil, api), "here", `{}`)
	require.NoError(t, err)
	assert.Empty(t, other.all())
	assert.Contains(t, strings.Join(api.(connectors.Warner).Warnings(), "\n"), "its tokens come from "+
		other.Listener.Addr().String()+", which the document names: write that as its tokenURL")

	client["oauth"] = Credential{ClientID: "id", ClientSecret: "s3cret", TokenURL: other.URL}
	api = New("api", Options{Data: served(home.URL, home.URL, home.URL), Credentials: client})
	_, _ = callAPI(t, connectorstest.NewSet(t, nil, api), "here", `{}`)
	assert.NotEmpty(t, other.all())
}

// Only the operator names servers in private networks, and sends secrets without encryption.
func TestDocumentsStayOutside(t *testing.T) {
	key := map[string]Credential{"key": {Token: "t0ken"}}
	for _, c := range []struct {
		server string
		opts   Options
		want   string
	}{
		{"http://169.254.169.254/latest", Options{}, "names the server 169.254.169.254, which is no public"},
		{"https://10.0.0.7", Options{}, "the document names the server 10.0.0.7, which is no public address"},
		{"https://[fe80::1]:8", Options{}, "the document names the server [fe80::1]:8, which is no public address"},
		{"http://api.example.com", Options{Credentials: key}, "which is not reached by https"},
	} {
		c.opts.Data = served(c.server, c.server, c.server)
		api := New("api", c.opts)
		_, err := callAPI(t, connectorstest.NewSet(t, nil, api), "here", `{}`)
		assert.ErrorContains(t, err, c.want, c.server)
		assert.Contains(t, strings.Join(api.(connectors.Warner).Warnings(), "\n"), c.want)
	}
}

func TestNamesOfDocumentsAreCheckedWhereTheyLead(t *testing.T) {
	api := New("api", Options{Document: "https://documents.example.com/api.json"}).(*openAPIConnector)
	api.hosts.Store("localhost", true) // as if the document had named it
	_, err := api.client.Own.DialContext(t.Context(), "tcp", "localhost:1")
	assert.True(t, web.IsAddressError(err), "%v", err)
	_, err = api.client.Own.DialContext(t.Context(), "tcp", "localhost.:1") // nobody named this one
	assert.False(t, web.IsAddressError(err), "%v", err)
}

// A document from elsewhere does not reach this machine.
func TestDocumentsFromElsewhereStayOffThisMachine(t *testing.T) {
	mine := record(t, nil)
	api := New("api", Options{
		Document: "https://documents.example.com/api.json",
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "documents.example.com" {
				return http.DefaultTransport.RoundTrip(r)
			}
			answer := httptest.NewRecorder()
			_, _ = answer.Write(served(mine.URL, mine.URL, mine.URL))
			return answer.Result(), nil
		}),
	})
	_, err := callAPI(t, connectorstest.NewSet(t, nil, api), "here", `{}`)
	assert.ErrorContains(t, err, "which is no public address")
	assert.Empty(t, mine.all())
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A value in a path leads to no other operation, whatever the servers on its way take for a separator.
func TestPathsDoNotStepUp(t *testing.T) {
	server := record(t, nil)
	set := openAPISet(t, Options{BaseURL: server.URL, Data: operation("get", "/files/{name}/meta",
		`"parameters":[{"name":"name","in":"path","required":true,"schema":{"type":"string"}}]`)})
	for _, bad := range []string{"..", ".", "../admin/x", "a/../b", `..\\admin`, "..;x", "a/..;b/c", "%2e%2e/x",
		"..%2Fx", "%252e%252e%252fx"} {
		_, err := callAPI(t, set, "op", `{"name":"`+bad+`"}`)
		var invalid *connectors.InvalidArgumentsError
		assert.ErrorAs(t, err, &invalid, bad)
	}
	assert.Empty(t, server.all())
	for _, good := range []string{"a/b", "...", "a..b", "100%", "%zz", "v1.2", "a;b", "..a/b.."} {
		mustCallAPI(t, set, "op", `{"name":"`+good+`"}`)
	}
}

// FuzzPaths: no value makes a path that a server, after taking escapes out, reads as another one's.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"..", "../x", "..%2fx", `..\x`, "..;/x", "a/b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		p := &apiParameter{}
		path := "/files/" + p.encodePath(value) + "/meta"
		if checkPath(path) != nil {
			return
		}
		plain := strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", "/", "%5c", "/", "%3B", "/", ";", "/", "%2E", ".",
			"%2e", ".").Replace(path)
		for part := range strings.SplitSeq(plain, "/") {
			if part == "." || part == ".." {
				t.Fatalf("%q makes %s", value, path)
			}
		}
	})
}

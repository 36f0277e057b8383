package guard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKey(t *testing.T) {
	t.Setenv(KeyVariable, "")
	one, err := NewKey()
	require.NoError(t, err)
	other, err := NewKey()
	require.NoError(t, err)
	require.NotEqual(t, one, other)
	require.GreaterOrEqual(t, len(one), minKey)
	require.True(t, one.Is(string(one)))
	require.False(t, one.Is(string(other)) || one.Is("") || Key("").Is(""))

	key := Key("a key with & and = and ü in it")
	r := httptest.NewRequest(http.MethodGet, key.In("http://127.0.0.1/mcp"), nil)
	require.True(t, key.Brings(r))
	require.Equal(t, "/a?b=c", WithoutKey(&url.URL{Path: "/a", RawQuery: "b=c&" + Parameter + "=x"}))
	bare := httptest.NewRequest(http.MethodGet, "/mcp", nil)
	require.False(t, key.Brings(bare))
	bare.Header.Set("Authorization", "Bearer "+string(key))
	require.True(t, key.Brings(bare))
}

func TestSite(t *testing.T) {
	base, err := url.Parse("https://mcp.example.com")
	require.NoError(t, err)
	proxied := Site{Base: base}
	for _, c := range []struct {
		site    Site
		host    string
		header  http.Header
		allowed bool
	}{
		{Site{}, "127.0.0.1:1", nil, true},
		{Site{}, "[::1]:1", nil, true},
		{Site{}, "localhost", http.Header{"Origin": {"http://localhost"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{Site{}, "localhost:1", http.Header{"Sec-Fetch-Site": {"none"}}, true},
		{Site{}, "localhost.evil.example", nil, false},
		{Site{}, "127.0.0.1.nip.io", nil, false},
		{Site{}, "", nil, false},
		{Site{}, "localhost:1", http.Header{"Origin": {"http://localhost:2"}}, false},
		{Site{}, "localhost:1", http.Header{"Origin": {"http://localhost:1", "https://evil.example"}}, false},
		{Site{}, "localhost:1", http.Header{"Origin": {"null"}}, false},
		{Site{}, "localhost:1", http.Header{"Origin": {""}}, false},
		{Site{}, "localhost:1", http.Header{"Referer": {"https://evil.example/http://localhost:1"}}, false},
		{Site{}, "localhost:1", http.Header{"Sec-Fetch-Site": {"same-origin", "cross-site"}}, false},
		{Site{}, "localhost:1", http.Header{"Sec-Fetch-Site": {"something new"}}, false},
		{proxied, "mcp.example.com", http.Header{"Origin": {"https://mcp.example.com"}}, true},
		{proxied, "127.0.0.1:1", http.Header{"Origin": {"https://MCP.example.com"}}, true},
		{proxied, "mcp.example.com", http.Header{"Origin": {"https://mcp.example.com:8443"}}, false},
		{proxied, "other.example.com", nil, false},
		{Site{Anywhere: true}, "other.example.com", nil, true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = c.host
		for name, values := range c.header {
			r.Header[name] = values
		}
		allowed := c.site.CheckHost(r) == nil && c.site.CheckOrigin(r) == nil
		require.Equal(t, c.allowed, allowed, "%s %v", c.host, c.header)
	}
}

package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestClientsFindTheProvider: a client that knows the door's address alone is led to the provider, and comes back
// with a token for this door.
func TestClientsFindTheProvider(t *testing.T) {
	o := openOffice(t)
	browser := &http.Client{Transport: o.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	signIns := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: "desk"}, RedirectURL: "http://127.0.0.1:1/back",
		Client: &http.Client{Transport: o.transport},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult,
			error) {
			signIns++
			status, text, header := o.ask(browser, "GET", args.URL+"&login_hint=starter", "", nil)
			require.Equal(t, http.StatusFound, status, text)
			back, err := url.Parse(header.Get("Location"))
			require.NoError(t, err)
			said := back.Query()
			return &auth.AuthorizationResult{Code: said.Get("code"), State: said.Get("state"),
				Iss: said.Get("iss")}, nil
		},
	})
	require.NoError(t, err)
	c := mcp.NewClient(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: o.door, OAuthHandler: handler,
		DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "codemode",
		Arguments: map[string]any{"code": needsNothing}})
	require.NoError(t, err)
	var out signals.Outcome
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(structured, &out))
	require.Equal(t, signals.Completed, out.Status)
	require.Equal(t, 1, signIns)
	o.nothingIsTold()
}

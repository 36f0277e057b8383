package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/temporal-codemode/codemode/starter/guard"
)

// SignIn makes the door an OAuth 2.0 resource server: it takes access tokens of an authorization server, and tells
// clients which that is (RFC 9728).
type SignIn struct {
	// Resource is the door's address as clients have it, such as https://mcp.example.com/mcp.
	Resource string
	// Issuer is the authorization server.
	Issuer string
	// Scopes are those that mean anything here, ToRun those without which a token by scope runs nothing.
	Scopes, ToRun []string
	// Verify tells whose access token it is.
	Verify func(ctx context.Context, token string) (Caller, error)
}

// metadataPath is where clients look for what protects a resource; the resource's own path may follow.
const metadataPath = "/.well-known/oauth-protected-resource"

// metadata serves what is public about the sign-in, to whoever asks.
func (s *SignIn) metadata() (http.Handler, error) {
	u, err := url.Parse(s.Resource)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return nil, fmt.Errorf("the door's address %q must be http(s)://host[:port]/path", s.Resource)
	}
	served := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: s.Resource, AuthorizationServers: []string{s.Issuer}, ScopesSupported: s.Scopes,
		BearerMethodsSupported: []string{"header"}, ResourceName: "Code Mode",
	})
	mux := http.NewServeMux()
	mux.Handle(metadataPath, served)
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		mux.Handle(metadataPath+path, served)
	}
	return mux, nil
}

// metadataURL is where that is for the door's own address.
func (s *SignIn) metadataURL() string {
	u, err := url.Parse(s.Resource)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: metadataPath + strings.TrimSuffix(u.Path, "/")}).String()
}

// challenge tells a client how to get a token; why is an error of RFC 6750, empty where none was sent.
func (s *SignIn) challenge(why string) string {
	if s == nil {
		return "Bearer"
	}
	var parts []string
	if why != "" {
		parts = append(parts, fmt.Sprintf("error=%q", why))
	}
	if len(s.ToRun) > 0 {
		parts = append(parts, fmt.Sprintf("scope=%q", strings.Join(s.ToRun, " ")))
	}
	return "Bearer " + strings.Join(append(parts, fmt.Sprintf("resource_metadata=%q", s.metadataURL())), ", ")
}

// enter finds out who calls.
func (h *HTTP) enter(w http.ResponseWriter, r *http.Request) (context.Context, bool) {
	if h.Authenticate == nil && h.SignIn == nil {
		if h.Key.Brings(r) {
			return r.Context(), true
		}
		h.turnAway(w, "")
		return nil, false
	}
	token := guard.Bearer(r) // none in the address, which gets into logs
	who, ok := h.whose(r.Context(), token)
	switch {
	case token == "":
		h.turnAway(w, "")
	case !ok:
		h.turnAway(w, "invalid_token")
	case !who.MayRun:
		if who.SignedIn && len(h.SignIn.ToRun) > 0 {
			w.Header().Set("WWW-Authenticate", h.SignIn.challenge("insufficient_scope"))
		}
		http.Error(w, "this token may not run programs: it needs the role runner", http.StatusForbidden)
	default:
		return context.WithValue(r.Context(), callerKey{}, &who), true
	}
	return nil, false
}

// whose is the caller of a token: of the door's own, else of the authorization server.
func (h *HTTP) whose(ctx context.Context, token string) (Caller, bool) {
	if token == "" {
		return Caller{}, false
	}
	if h.Authenticate != nil {
		if who, ok := h.Authenticate(token); ok {
			return who, true
		}
	}
	if h.SignIn == nil {
		return Caller{}, false
	}
	who, err := h.SignIn.Verify(ctx, token)
	who.SignedIn = true
	return who, err == nil
}

func (h *HTTP) turnAway(w http.ResponseWriter, why string) {
	w.Header().Set("WWW-Authenticate", h.SignIn.challenge(why))
	text := "send Authorization: Bearer TOKEN, or use the address with the key that the server printed"
	if why != "" {
		text = "this token is not known here, has expired, or is not for this door"
	}
	http.Error(w, text, http.StatusUnauthorized)
}

package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

// AccessTokenOptions say which access tokens open a door, and what those may do whom they are of.
type AccessTokenOptions struct {
	// Issuer is the OpenID Connect provider, Audience what its tokens for this door are for.
	Issuer, Audience string
	// Runners, Approvers and Viewers are values of claims, as in OIDCOptions, or scope:name for tokens that have a
	// scope.
	Runners, Approvers, Viewers []string
}

// AccessTokens are those of an OpenID Connect provider: signed JWTs.
type AccessTokens struct {
	options  AccessTokenOptions
	verifier *oidc.IDTokenVerifier
}

// Tokens with unknown keys have the provider's keys read again, which is how new ones become known. These bound how
// often, whatever is sent.
const (
	keysEvery   = 5 * time.Second
	keysAtOnce  = 5
	keysTimeout = 10 * time.Second
)

// NewAccessTokens asks the provider for its configuration.
func NewAccessTokens(ctx context.Context, o AccessTokenOptions) (*AccessTokens, error) {
	if o.Audience == "" {
		return nil, errors.New("access tokens need an audience: without one, those for other services would do here")
	}
	if len(o.Runners) == 0 {
		return nil, errors.New(`say who may run programs: by scope, group, role or email, or "*"`)
	}
	if err := checkHolders(slices.Concat(o.Runners, o.Approvers, o.Viewers),
		append([]string{"scope"}, claimKinds...)...); err != nil {
		return nil, err
	}
	if err := checkIssuer(o.Issuer); err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), patient(ctx))
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask the OIDC issuer %s for its configuration: %w", o.Issuer, err)
	}
	return &AccessTokens{options: o, verifier: provider.VerifierContext(ctx, &oidc.Config{ClientID: o.Audience})}, nil
}

// patient is the client of a context, or the default one, that asks the provider now and then only.
func patient(ctx context.Context) *http.Client {
	given, _ := ctx.Value(oauth2.HTTPClient).(*http.Client)
	client := *cmp.Or(given, http.DefaultClient)
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Timeout = keysTimeout
	client.Transport = &nowAndThen{client.Transport, rate.NewLimiter(rate.Every(keysEvery), keysAtOnce)}
	return &client
}

type nowAndThen struct {
	http.RoundTripper
	limit *rate.Limiter
}

var errTooOften = errors.New("the provider was asked for its keys just now")

// RoundTrip refuses what comes too often.
func (n *nowAndThen) RoundTrip(r *http.Request) (*http.Response, error) {
	if !n.limit.Allow() {
		return nil, errTooOften
	}
	return n.RoundTripper.RoundTrip(r)
}

// Identify tells whose access token it is. Its errors never hold one.
func (a *AccessTokens) Identify(ctx context.Context, raw string) (Identity, error) {
	token, err := a.verifier.Verify(ctx, raw)
	if err != nil {
		return Identity{}, errors.New("this access token is expired, not of the issuer, or not for this door")
	}
	var c accessClaims
	if err := token.Claims(&c); err != nil {
		return Identity{}, errors.New("the claims of the access token cannot be read")
	}
	if c.Subject == "" || c.isIDToken() {
		return Identity{}, errors.New("this is no access token")
	}
	who, holds := c.identity(), append(c.holds(), c.scopes()...)
	for _, each := range []struct {
		role   Role
		wanted []string
	}{{Runner, a.options.Runners}, {Approver, a.options.Approvers}, {Viewer, a.options.Viewers}} {
		if hasAny(holds, each.wanted) {
			who.Roles = append(who.Roles, each.role)
		}
	}
	return who, nil
}

// Scopes are those that give roles.
func (a *AccessTokens) Scopes() []string {
	return scopesIn(slices.Concat(a.options.Runners, a.options.Approvers, a.options.Viewers))
}

// ToRun are the scopes that let programs be run; empty where that does not go by scope.
func (a *AccessTokens) ToRun() []string { return scopesIn(a.options.Runners) }

func scopesIn(holders []string) []string {
	var list []string
	for _, value := range holders {
		if scope, is := strings.CutPrefix(value, "scope:"); is && !slices.Contains(list, scope) {
			list = append(list, scope)
		}
	}
	return list
}

// accessClaims are what an access token says.
type accessClaims struct {
	claims
	Scope    words  `json:"scope"`
	Scp      words  `json:"scp"` // what some providers call it
	AtHash   string `json:"at_hash"`
	Kind     string `json:"typ"`
	TokenUse string `json:"token_use"`
}

// isIDToken tells what was meant for a client's eyes, even where client and door have one name at the provider.
func (c accessClaims) isIDToken() bool {
	return c.Nonce != "" || c.AtHash != "" || strings.EqualFold(c.Kind, "ID") || strings.EqualFold(c.TokenUse, "id")
}

func (c accessClaims) scopes() []string {
	var list []string
	for _, scope := range append(slices.Clone(c.Scope), c.Scp...) {
		list = append(list, "scope:"+scope)
	}
	return list
}

// words are given as one text with spaces between, or as a list.
type words []string

// UnmarshalJSON takes both.
func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

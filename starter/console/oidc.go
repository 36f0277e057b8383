package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// OIDCOptions say at which provider people sign in, and who of them may do what.
type OIDCOptions struct {
	Issuer, ClientID, ClientSecret string
	// URL is the console's address; the provider must know URL + "/login/callback".
	URL string
	// Approvers and Viewers are values of claims, such as group:finance, role:auditor or email:ada@example.com, or "*"
	// for everybody who can sign in. Nobody else comes in.
	Approvers, Viewers []string
}

// OIDC lets people sign in at an OpenID Connect provider.
type OIDC struct {
	options  OIDCOptions
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
}

// NewOIDC asks the provider for its configuration.
func NewOIDC(ctx context.Context, o OIDCOptions) (*OIDC, error) {
	if o.ClientID == "" || o.URL == "" {
		return nil, errors.New("OIDC needs a client id and the console's own URL")
	}
	if len(o.Approvers) == 0 && len(o.Viewers) == 0 {
		return nil, errors.New(
			`OIDC needs to know who may come in: name approvers or viewers by group, role or email, or "*"`)
	}
	if err := checkHolders(slices.Concat(o.Approvers, o.Viewers), claimKinds...); err != nil {
		return nil, err
	}
	if _, err := parseBase(o.URL); err != nil {
		return nil, err
	}
	if err := checkIssuer(o.Issuer); err != nil {
		return nil, err
	}
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask the OIDC issuer %s for its configuration: %w", o.Issuer, err)
	}
	return &OIDC{
		options: o, verifier: provider.Verifier(&oidc.Config{ClientID: o.ClientID}),
		oauth: oauth2.Config{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: provider.Endpoint(),
			RedirectURL: o.URL + "/login/callback", Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
		},
	}, nil
}

// identify verifies an ID token and finds the role of its person.
func (o *OIDC) identify(ctx context.Context, raw string) (Identity, error) {
	_, who, err := o.verify(ctx, raw)
	return who, err
}

func (o *OIDC) verify(ctx context.Context, raw string) (claims, Identity, error) {
	token, err := o.verifier.Verify(ctx, raw)
	if err != nil {
		return claims{}, Identity{}, failed(http.StatusUnauthorized, "the provider's answer cannot be trusted")
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return c, Identity{}, failed(http.StatusUnauthorized, "the claims of the ID token cannot be read")
	}
	who, err := o.admit(c)
	return c, who, err
}

// admit finds the role of a person.
func (o *OIDC) admit(c claims) (Identity, error) {
	who, holds := c.identity(), c.holds()
	switch {
	case hasAny(holds, o.options.Approvers):
		who.Roles = Roles{Approver}
	case hasAny(holds, o.options.Viewers):
		who.Roles = Roles{Viewer}
	default:
		return Identity{}, forbidden("%s is known to the provider but has no role here.", who.Name)
	}
	return who, nil
}

// Cookies of a sign-in under way. They are Lax, since the provider sends the browser back by a link.
const (
	stateCookie    = "codemode_signin"
	verifierCookie = "codemode_pkce"
	nextCookie     = "codemode_next"
	signInLength   = 10 * time.Minute
)

// loginOIDC sends the browser to the provider.
func (c *Console) loginOIDC(v *visit) error {
	if c.OIDC == nil {
		return notFound("There is no provider to sign in at.")
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	for name, value := range map[string]string{stateCookie: state, verifierCookie: verifier,
		nextCookie: nextPage(v.r.FormValue("next"))} {
		http.SetCookie(v.w, &http.Cookie{
			Name: name, Value: value, Path: "/login", HttpOnly: true, Secure: c.secure(v.r),
			SameSite: http.SameSiteLaxMode,
			MaxAge:   int(signInLength / time.Second),
		})
	}
	http.Redirect(v.w, v.r, c.OIDC.oauth.AuthCodeURL(state, oidc.Nonce(state), oauth2.S256ChallengeOption(verifier)),
		http.StatusSeeOther)
	return nil
}

// loginCallback takes the browser back from the provider.
func (c *Console) loginCallback(v *visit) error {
	if c.OIDC == nil {
		return notFound("There is no provider to sign in at.")
	}
	state, verifier := cookieValue(v, stateCookie), cookieValue(v, verifierCookie)
	if state == "" || subtle.ConstantTimeCompare([]byte(state), []byte(v.r.FormValue("state"))) != 1 {
		return badRequest("This sign-in was not begun here, or too long ago: try again.")
	}
	token, err := c.OIDC.oauth.Exchange(v.context(), v.r.FormValue("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		c.Log.Warn("the OIDC provider refused a sign-in", "error", v.r.FormValue("error"))
		return failed(http.StatusUnauthorized, "The provider did not confirm the sign-in: try again.")
	}
	raw, _ := token.Extra("id_token").(string)
	said, who, err := c.OIDC.verify(v.context(), raw)
	if err != nil {
		return err
	}
	if said.Nonce != state {
		return failed(http.StatusUnauthorized, "The provider's answer belongs to another sign-in: try again.")
	}
	c.enter(v, who, cookieValue(v, nextCookie))
	return nil
}

func cookieValue(v *visit, name string) string {
	cookie, err := v.r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/words"
)

const (
	tokenTimeout = 30 * time.Second
	// tokenMargin is how long before its end a token is not used any more.
	tokenMargin   = 30 * time.Second
	maxTokenBytes = 1 << 20
)

// tokenSource keeps a token of the client credentials grant for everyone.
type tokenSource struct {
	api        *openAPIConnector
	name, at   string
	credential Credential

	turn    chan struct{} // holds one element when nobody is at it
	token   string
	expires time.Time // zero: when the server refuses it
}

// tokenSource outlives catalogues, so that reading the document again does not
// cost a token.
func (c *openAPIConnector) tokenSource(name, at string, credential Credential) *tokenSource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.tokens[name]; known != nil && known.at == at {
		return known
	}
	t := &tokenSource{api: c, name: name, at: at, credential: credential, turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	c.tokens[name] = t
	return t
}

// get gives a token other than the one that was refused.
func (t *tokenSource) get(ctx context.Context, refused string) (string, error) {
	select {
	case <-t.turn:
	case <-ctx.Done():
		return "", &web.UnsentError{Text: "no token in time: " + ctx.Err().Error()}
	}
	defer func() { t.turn <- struct{}{} }()
	over := !t.expires.IsZero() && !time.Now().Before(t.expires)
	if t.token != "" && t.token != refused && !over {
		return t.token, nil
	}
	token, lifetime, err := t.fetch(ctx)
	if err != nil {
		return "", &web.UnsentError{Text: t.api.secrets.text(fmt.Sprintf("no token for the security scheme %q: %v",
			t.name, err))}
	}
	t.api.secrets.add(token)
	t.token, t.expires = token, time.Time{}
	if lifetime > 0 {
		t.expires = time.Now().Add(max(lifetime-tokenMargin, lifetime/2))
	}
	return token, nil
}

// fetch sends the client's name and secret as basic authentication, which every
// server has to know, and in the form if that is refused.
func (t *tokenSource) fetch(ctx context.Context) (token string, lifetime time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(t.credential.Scopes) > 0 {
		form.Set("scope", strings.Join(t.credential.Scopes, " "))
	}
	token, lifetime, err = t.ask(ctx, form, true)
	var refused *tokenRefusal
	if errors.As(err, &refused) &&
		(refused.status == http.StatusBadRequest || refused.status == http.StatusUnauthorized) {
		form.Set("client_id", t.credential.ClientID)
		form.Set("client_secret", t.credential.ClientSecret)
		return t.ask(ctx, form, false)
	}
	return token, lifetime, err
}

// tokenRefusal has only what OAuth defines of the answer, since the rest may
// repeat secrets that are not known here.
type tokenRefusal struct {
	status int
	code   string
}

func (e *tokenRefusal) Error() string {
	text := fmt.Sprintf("the token server answered %d %s", e.status, http.StatusText(e.status))
	if e.code != "" {
		text += ": " + words.Shorten(e.code, words.MaxValue)
	}
	return text
}

func (t *tokenSource) ask(ctx context.Context, form url.Values, basic bool) (string, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, errors.New("the token URL cannot be used")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if basic {
		request.SetBasicAuth(url.QueryEscape(t.credential.ClientID), url.QueryEscape(t.credential.ClientSecret))
	}
	response, err := t.api.client.HTTP.Do(request)
	if err != nil {
		return "", 0, errors.New(web.Bare(err).Error()) // not wrapped: the call itself was never sent
	}
	defer response.Body.Close()
	data, err := web.ReadLimited(response.Body, maxTokenBytes)
	if err != nil {
		return "", 0, errors.New("the token server's answer was not read: " + web.Bare(err).Error())
	}
	return readToken(response.StatusCode, data)
}

func readToken(status int, data []byte) (string, time.Duration, error) {
	var answer struct {
		Token   string      `json:"access_token"`
		Seconds json.Number `json:"expires_in"`
		Error   string      `json:"error"`
	}
	err := json.Unmarshal(data, &answer)
	switch {
	case status != http.StatusOK:
		return "", 0, &tokenRefusal{status: status, code: answer.Error}
	case err != nil || answer.Token == "" || !validHeader("x", answer.Token):
		return "", 0, errors.New("the token server's answer has no access_token")
	}
	seconds, _ := answer.Seconds.Float64()
	return answer.Token, time.Duration(min(max(seconds, 0), 1e8)) * time.Second, nil
}

package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

const defaultCallTimeout = time.Minute

// StatusError is an answer other than 2xx.
type StatusError struct {
	Connector, Method string
	// Status is that of HTTP, such as 404.
	Status int
	// Body is the beginning of the answer's text.
	Body string
	// Location is the host that the answer redirects to, empty for other answers.
	Location string
	// RetryAfter is how long the server asks to wait, zero when it does not.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s.%s: the server answered %s", e.Connector, e.Method,
		strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	if e.Location != "" {
		text += fmt.Sprintf(" with a redirect to %s, which is not followed", e.Location)
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %v)", e.RetryAfter)
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// apiCall is one attempt of a call.
type apiCall struct {
	catalogue *apiCatalogue
	op        *apiOperation // nil for the raw request
	name      string
	class     connectors.Class
	request   *web.Request
}

func (op *apiOperation) execute(ctx connectors.Context, args json.RawMessage) (any, error) {
	request, err := op.plan.request(args)
	if err != nil {
		return nil, err
	}
	call := &apiCall{catalogue: op.catalogue, op: op, name: op.name, class: op.class(), request: request}
	return call.run(ctx)
}

func (c *apiCall) run(ctx connectors.Context) (any, error) {
	var err error
	if c.request.Base, err = c.catalogue.baseURL(c.op); err != nil {
		return nil, err
	}
	c.complete(ctx)
	limited, cancel := c.limit(ctx)
	defer cancel()
	response, err := c.exchange(limited)
	if err != nil {
		return nil, err
	}
	defer web.Drain(response)
	return c.result(limited, response)
}

// limit bounds the attempt, and never lets it wait for ever.
func (c *apiCall) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.catalogue.api.opts.Timeout
	if _, bounded := ctx.Deadline(); limit == 0 && !bounded {
		limit = defaultCallTimeout
	}
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, &web.TimeoutError{Limit: limit})
}

// complete adds what the connector sends by itself.
func (c *apiCall) complete(ctx connectors.Context) {
	header := c.request.Header
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", web.UserAgent)
	}
	if ctx.IdempotencyKey != "" && web.ClassOfVerb(c.request.Verb) != connectors.Read &&
		header.Get(web.IdempotencyHeader) == "" {
		header.Set(web.IdempotencyHeader, ctx.IdempotencyKey)
	}
}

// configured sets the operator's headers, which nothing may replace.
func (c *apiCall) configured() {
	for name, value := range c.catalogue.api.opts.Headers {
		if strings.EqualFold(name, "Cookie") {
			c.request.Cookies = append(c.request.Cookies, cookiePairs(value)...)
			continue
		}
		c.request.Header.Set(name, value)
	}
}

func cookiePairs(text string) (list []web.Pair) {
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			list = append(list, web.Pair{Name: name, Value: value})
		}
	}
	return list
}

// exchange sends the request, and once more with a new token when the server
// does not accept the one it got: nothing has happened then.
func (c *apiCall) exchange(ctx context.Context) (*http.Response, error) {
	tokens, err := c.authorize(ctx, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx)
	if err != nil || response.StatusCode != http.StatusUnauthorized || len(tokens) == 0 {
		return response, err
	}
	if _, err := c.authorize(ctx, tokens); err != nil {
		return response, nil
	}
	web.Drain(response)
	return c.send(ctx)
}

// authorize gives the tokens it used, by their sources.
func (c *apiCall) authorize(ctx context.Context, refused map[*tokenSource]string) (map[*tokenSource]string, error) {
	used := map[*tokenSource]string{}
	for _, scheme := range c.catalogue.security(c.op) {
		token := ""
		if source := scheme.tokens; source != nil {
			var err error
			if token, err = source.get(ctx, refused[source]); err != nil {
				return nil, err
			}
			used[source] = token
		}
		scheme.authorize(c.request, token)
	}
	c.configured()
	return used, nil
}

func (c *apiCall) send(ctx context.Context) (*http.Response, error) {
	s := &web.Exchange{Client: c.catalogue.api.client, Request: c.request, Class: c.class}
	response, err := s.Send(ctx)
	if err == nil {
		return response, nil
	}
	text := c.catalogue.api.secrets.text(fmt.Sprintf("%s.%s: the request to %s failed: %v", c.catalogue.api.name,
		c.name, c.request.Base.Host, err))
	if !s.MaybeSeen(err) {
		return nil, &web.UnsentError{Text: text}
	}
	return nil, c.lost(ctx, text)
}

// lost types the failure of a request that the server may have seen.
func (c *apiCall) lost(ctx context.Context, text string) error {
	var own *web.TimeoutError
	timedOut := errors.As(context.Cause(ctx), &own)
	if timedOut {
		text = fmt.Sprintf("%s.%s: %v", c.catalogue.api.name, c.name, own)
	}
	switch {
	case ctx.Err() != nil && !timedOut:
		return &connectors.OutcomeUnknownError{Err: fmt.Errorf("%s.%s: no answer yet: %w", c.catalogue.api.name, c.name,
			ctx.Err())}
	case c.class == connectors.Read:
		return &connectors.RetryableError{Message: text}
	}
	return &connectors.OutcomeUnknownError{Err: errors.New(text)}
}

const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header of that name: seconds, or a time.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(max(time.Duration(min(seconds, 1e6))*time.Second, 0), maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at).Round(time.Second), 0), maxRetryAfter)
	}
	return 0
}

package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	idempotencyHeader  = "Idempotency-Key"
	defaultCallTimeout = time.Minute
)

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
	text := fmt.Sprintf("%s.%s: the server answered %s", e.Connector, e.Method, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
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
	class     Class
	request   *apiRequest
}

func (op *apiOperation) execute(ctx Context, args json.RawMessage) (any, error) {
	request, err := op.plan().request(args)
	if err != nil {
		return nil, err
	}
	call := &apiCall{catalogue: op.catalogue, op: op, name: op.name, class: op.class(), request: request}
	return call.run(ctx)
}

func (c *apiCall) run(ctx Context) (any, error) {
	var err error
	if c.request.base, err = c.catalogue.baseURL(c.op); err != nil {
		return nil, err
	}
	c.complete(ctx)
	limited, cancel := c.limit(ctx)
	defer cancel()
	response, err := c.exchange(limited)
	if err != nil {
		return nil, err
	}
	defer drain(response)
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
	return context.WithTimeoutCause(ctx, limit, &timeoutError{limit})
}

// timeoutError is the connector's own limit, as opposed to its caller's.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }

// complete adds what the connector sends by itself.
func (c *apiCall) complete(ctx Context) {
	header := c.request.header
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", userAgent)
	}
	if ctx.IdempotencyKey != "" && classOfVerb(c.request.verb) != Read && header.Get(idempotencyHeader) == "" {
		header.Set(idempotencyHeader, ctx.IdempotencyKey)
	}
}

// configured sets the operator's headers, which nothing may replace.
func (c *apiCall) configured() {
	for name, value := range c.catalogue.api.opts.Headers {
		if strings.EqualFold(name, "Cookie") {
			c.request.cookies = append(c.request.cookies, cookiePairs(value)...)
			continue
		}
		c.request.header.Set(name, value)
	}
}

func cookiePairs(text string) (list []queryPair) {
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			list = append(list, queryPair{name, value})
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
	drain(response)
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
	s := &sending{client: c.catalogue.api.client, request: c.request, class: c.class}
	response, err := s.send(ctx)
	if err == nil {
		return response, nil
	}
	text := c.catalogue.api.secrets.text(fmt.Sprintf("%s.%s: the request to %s failed: %v", c.catalogue.api.name, c.name, c.request.base.Host, err))
	if !s.maybeSeen(err) {
		return nil, &unsentError{text}
	}
	return nil, c.lost(ctx, text)
}

// lost types the failure of a request that the server may have seen.
func (c *apiCall) lost(ctx context.Context, text string) error {
	var own *timeoutError
	timedOut := errors.As(context.Cause(ctx), &own)
	if timedOut {
		text = fmt.Sprintf("%s.%s: %v", c.catalogue.api.name, c.name, own)
	}
	switch {
	case ctx.Err() != nil && !timedOut:
		return &OutcomeUnknownError{Err: fmt.Errorf("%s.%s: no answer yet: %w", c.catalogue.api.name, c.name, ctx.Err())}
	case c.class == Read:
		return &RetryableError{Message: text}
	}
	return &OutcomeUnknownError{Err: errors.New(text)}
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

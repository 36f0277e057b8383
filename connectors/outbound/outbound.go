// Package outbound is the connector behind a program's fetch: requests to the hosts that an operator allows.
//
// Its rule: an address that is not allowed is never dialled, whatever name leads to it (SSRF, DNS rebinding).
package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Name is the namespace of the connector that [New] makes, by which the sandbox knows that
// programs may fetch.
const Name = "outbound"

// Options say where programs may send requests.
type Options struct {
	// Hosts are allowed, nothing else is: "api.example.com", "*.example.com" for
	// all names below, with another port or scheme if need be, as in
	// "api.example.com:8443" and "http://127.0.0.1:9000".
	Hosts []string
	// Private lets names lead to addresses of private networks and of this
	// machine. An address that is listed itself is always allowed.
	Private bool
	// Timeout bounds one request. Zero: 30 s.
	Timeout time.Duration
	// MaxResponseBytes bounds the body of an answer. Zero: 512 KiB, which fits a durable value.
	MaxResponseBytes int64
	// RoundTripper sends the requests; it takes over the check of addresses.
	RoundTripper http.RoundTripper
}

const (
	defaultOutboundTimeout  = 30 * time.Second
	defaultOutboundResponse = 512 << 10
)

// New makes the connector behind a program's fetch: the methods get and
// head, each a [Read], and post, put, patch and delete, each a [Write]. A method
// takes {url, headers, body} and gives {status, statusText, url, headers, body},
// whatever the status. Redirects are followed on the same server only; another
// one is an answer like any other. Proxies of the environment are not used,
// since they would hide where a name leads.
func New(o Options) connectors.Connector {
	c := &outbound{opts: o, client: web.NewClient(o.RoundTripper)}
	if c.client.Own != nil {
		c.client.Own.Proxy = nil
		c.client.Own.DialContext = web.Dialer(reach(o.Private))
	}
	return c
}

type outbound struct {
	opts   Options
	hosts  []host
	client *web.Client
}

func (c *outbound) Name() string { return Name }
func (c *outbound) Close() error { c.client.Close(); return nil }

func (c *outbound) Instructions() string {
	return "fetch(url, init) reaches " + strings.Join(c.opts.Hosts, ", ") +
		", and calls outbound.get, outbound.post and so on; no other host can be reached."
}

func (c *outbound) Methods(context.Context) ([]connectors.Method, error) {
	hosts := make([]host, len(c.opts.Hosts))
	for i, entry := range c.opts.Hosts {
		var err error
		if hosts[i], err = parseOutboundHost(entry); err != nil {
			return nil, err
		}
	}
	c.hosts = hosts
	var list []connectors.Method
	for _, verb := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		list = append(list, c.method(verb))
	}
	return list, nil
}

const outboundInput = `"url":{"type":"string"},"headers":{"type":"object","additionalProperties":{"type":"string"}}`

func (c *outbound) method(verb string) connectors.Method {
	m := connectors.Method{
		Name: strings.ToLower(verb), Description: "Send a " + verb + " request to an allowed host.",
		Class: connectors.Write, ClassFrom: verb, Timeout: c.timeout(),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + outboundInput +
			`,"body":{"type":"string","description":"Text, or bytes"}},"required":["url"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(
			`{"type":"object","properties":{"status":{"type":"number"},"statusText":{"type":"string"},"url":{"type":"string"},` +
				`"headers":{"type":"array","items":{"type":"array","items":{"type":"string"}}},"body":{"type":"string","description":"Text, or bytes; missing when there is none"}},` +
				`"required":["status","statusText","url","headers"]}`),
		Execute: func(ctx connectors.Context, args json.RawMessage) (any, error) { return c.send(ctx, verb, args) },
	}
	if web.ClassOfVerb(verb) == connectors.Read {
		m.Class = connectors.Read
		m.InputSchema = json.RawMessage(`{"type":"object","properties":{` + outboundInput +
			`},"required":["url"],"additionalProperties":false}`)
	}
	return m
}

func (c *outbound) timeout() time.Duration {
	if c.opts.Timeout > 0 {
		return c.opts.Timeout
	}
	return defaultOutboundTimeout
}

// request reads a call's arguments.
func (c *outbound) request(verb string, args json.RawMessage) (*web.Request, error) {
	var in struct {
		URL     string
		Headers map[string]string
		Body    json.RawMessage
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, connectors.InvalidArgumentf("the request is not one: %v", err)
	}
	at, err := url.Parse(in.URL)
	if err != nil || at.Host == "" || web.DefaultPorts[at.Scheme] == "" || at.Opaque != "" {
		return nil, connectors.InvalidArgumentf("url: not the URL of a web server")
	}
	if at.User != nil {
		return nil, connectors.InvalidArgumentf("url: it must not hold credentials")
	}
	if climbs(at) {
		return nil, connectors.InvalidArgumentf("url: its path must not have the parts . or ..")
	}
	if !slices.ContainsFunc(c.hosts, func(h host) bool { return h.allows(at) }) {
		return nil, fmt.Errorf("%s://%s is not an allowed host; allowed: %s", at.Scheme, at.Host,
			strings.Join(c.opts.Hosts, ", "))
	}
	base := &url.URL{Scheme: at.Scheme, Host: at.Host, RawQuery: at.RawQuery}
	r := &web.Request{Verb: verb, Base: base, Path: at.EscapedPath(),
		Header: http.Header{"User-Agent": {web.UserAgent}}}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		if !setByUs(name) {
			r.Header.Set(name, in.Headers[name])
		}
	}
	r.Body, err = outboundBody(in.Body)
	return r, err
}

// climbs finds parts of a path that servers take out: a rule that looks at the beginning of an address would see
// another one than the server. Some undo escapes first, and some take a backslash for a slash.
func climbs(at *url.URL) bool {
	path, err := url.PathUnescape(at.Path) // escaped twice, even
	if err != nil {
		path = at.Path
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' || r == ';' })
	return slices.Contains(parts, ".") || slices.Contains(parts, "..")
}

// setByUs are headers that describe the connection, which is not the program's.
func setByUs(name string) bool {
	name = strings.ToLower(name)
	return ownHeaders[name] || strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-")
}

var ownHeaders = words.Set(
	`accept-encoding connection content-length date expect host keep-alive te trailer transfer-encoding upgrade via`)

func outboundBody(argument json.RawMessage) ([]byte, error) {
	if len(argument) == 0 || string(argument) == "null" {
		return nil, nil
	}
	if data, ok := wire.Bytes(argument); ok {
		return data, nil
	}
	var text string
	if json.Unmarshal(argument, &text) != nil {
		return nil, connectors.InvalidArgumentf("body: expected string or bytes")
	}
	return []byte(text), nil
}

func (c *outbound) send(ctx connectors.Context, verb string, args json.RawMessage) (any, error) {
	request, err := c.request(verb, args)
	if err != nil {
		return nil, err
	}
	class := web.ClassOfVerb(verb)
	if class != connectors.Read {
		class = connectors.Write
	}
	if ctx.IdempotencyKey != "" && class == connectors.Write && request.Header.Get(web.IdempotencyHeader) == "" {
		request.Header.Set(web.IdempotencyHeader, ctx.IdempotencyKey)
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout(), &web.TimeoutError{Limit: c.timeout()})
	defer cancel()
	s := &web.Exchange{Client: c.client, Request: request, Class: class}
	response, err := s.Send(limited)
	if err != nil {
		err = fmt.Errorf("%s %s failed: %w", verb, request.Base.Host, err)
		if !s.MaybeSeen(errors.Unwrap(err)) {
			return nil, &web.UnsentError{Text: err.Error()}
		}
		return nil, c.lost(limited, class, err)
	}
	defer web.Drain(response)
	return c.answer(limited, class, response)
}

// lost types the failure of a request that the server may have seen.
func (c *outbound) lost(ctx context.Context, class connectors.Class, err error) error {
	var own *web.TimeoutError
	switch timedOut := errors.As(context.Cause(ctx), &own); {
	case class != connectors.Read:
		return &connectors.OutcomeUnknownError{Err: err}
	case ctx.Err() != nil && !timedOut:
		return &connectors.OutcomeUnknownError{Err: err} // its caller's time is over
	}
	return &connectors.RetryableError{Message: err.Error()}
}

type outboundAnswer struct {
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	URL        string      `json:"url"`
	Headers    [][2]string `json:"headers"`
	Body       any         `json:"body,omitempty"` // nil, text, or bytes on the wire
}

func (c *outbound) answer(ctx context.Context, class connectors.Class, response *http.Response) (any, error) {
	limit := c.opts.MaxResponseBytes
	if limit <= 0 {
		limit = defaultOutboundResponse
	}
	data, err := web.ReadLimited(response.Body, limit)
	switch {
	case errors.Is(err, web.ErrTooLarge) && class != connectors.Read:
		return nil, &connectors.ResultError{Connector: Name, Method: strings.ToLower(response.Request.Method),
			Err: tooLargeAnswer(limit)}
	case errors.Is(err, web.ErrTooLarge):
		return nil, tooLargeAnswer(limit)
	case err != nil:
		return nil, c.lost(ctx, class,
			fmt.Errorf("%s answered %d, but the answer broke off: %w", response.Request.URL.Host, response.StatusCode,
				err))
	}
	a := outboundAnswer{Status: response.StatusCode, StatusText: http.StatusText(response.StatusCode),
		URL: response.Request.URL.String(), Headers: [][2]string{}}
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		for _, value := range response.Header[name] {
			a.Headers = append(a.Headers, [2]string{strings.ToLower(name), value})
		}
	}
	if a.Body = wire.EncodeBytes(data); web.IsTextual(response.Header.Get("Content-Type"), data) {
		a.Body = string(data)
	}
	if len(data) == 0 {
		a.Body = nil
	}
	return a, nil
}

func tooLargeAnswer(limit int64) error {
	return fmt.Errorf("the answer is larger than %d bytes: ask for less, by a filter or page by page", limit)
}

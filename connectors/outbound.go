package connectors

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
)

// OutboundName is the namespace of [Outbound], by which the sandbox knows that
// programs may fetch.
const OutboundName = "outbound"

// OutboundOptions say where programs may send requests.
type OutboundOptions struct {
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

// Outbound makes the connector behind a program's fetch: the methods get and
// head, each a [Read], and post, put, patch and delete, each a [Write]. A method
// takes {url, headers, body} and gives {status, statusText, url, headers, body},
// whatever the status. Redirects are followed on the same server only; another
// one is an answer like any other. Proxies of the environment are not used,
// since they would hide where a name leads.
func Outbound(o OutboundOptions) Connector {
	c := &outbound{opts: o, client: newAPIClient(o.RoundTripper)}
	if c.client.own != nil {
		c.client.own.Proxy = nil
		c.client.own.DialContext = dialPublic(o.Private)
	}
	return c
}

type outbound struct {
	opts   OutboundOptions
	hosts  []outboundHost
	client *apiClient
}

func (c *outbound) Name() string { return OutboundName }
func (c *outbound) Close() error { c.client.close(); return nil }

func (c *outbound) Instructions() string {
	return "fetch(url, init) reaches " + strings.Join(c.opts.Hosts, ", ") + ", and calls outbound.get, outbound.post and so on; no other host can be reached."
}

func (c *outbound) Methods(context.Context) ([]Method, error) {
	hosts := make([]outboundHost, len(c.opts.Hosts))
	for i, entry := range c.opts.Hosts {
		var err error
		if hosts[i], err = parseOutboundHost(entry); err != nil {
			return nil, err
		}
	}
	c.hosts = hosts
	var list []Method
	for _, verb := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		list = append(list, c.method(verb))
	}
	return list, nil
}

const outboundInput = `"url":{"type":"string"},"headers":{"type":"object","additionalProperties":{"type":"string"}}`

func (c *outbound) method(verb string) Method {
	m := Method{
		Name: strings.ToLower(verb), Description: "Send a " + verb + " request to an allowed host.", Class: Write, ClassFrom: verb, Timeout: c.timeout(),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + outboundInput + `,"body":{"type":"string","description":"Text, or bytes"}},"required":["url"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"status":{"type":"number"},"statusText":{"type":"string"},"url":{"type":"string"},` +
			`"headers":{"type":"array","items":{"type":"array","items":{"type":"string"}}},"body":{"type":"string","description":"Text, or bytes; missing when there is none"}},` +
			`"required":["status","statusText","url","headers"]}`),
		Execute: func(ctx Context, args json.RawMessage) (any, error) { return c.send(ctx, verb, args) },
	}
	if classOfVerb(verb) == Read {
		m.Class = Read
		m.InputSchema = json.RawMessage(`{"type":"object","properties":{` + outboundInput + `},"required":["url"],"additionalProperties":false}`)
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
func (c *outbound) request(verb string, args json.RawMessage) (*apiRequest, error) {
	var in struct {
		URL     string
		Headers map[string]string
		Body    json.RawMessage
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, invalidArgument("the request is not one: %v", err)
	}
	at, err := url.Parse(in.URL)
	if err != nil || at.Host == "" || defaultPorts[at.Scheme] == "" || at.Opaque != "" {
		return nil, invalidArgument("url: not the URL of a web server")
	}
	if at.User != nil {
		return nil, invalidArgument("url: it must not hold credentials")
	}
	if !slices.ContainsFunc(c.hosts, func(h outboundHost) bool { return h.allows(at) }) {
		return nil, fmt.Errorf("%s://%s is not an allowed host; allowed: %s", at.Scheme, at.Host, strings.Join(c.opts.Hosts, ", "))
	}
	base := &url.URL{Scheme: at.Scheme, Host: at.Host, RawQuery: at.RawQuery}
	r := &apiRequest{verb: verb, base: base, path: at.EscapedPath(), header: http.Header{"User-Agent": {userAgent}}}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		if !setByUs(name) {
			r.header.Set(name, in.Headers[name])
		}
	}
	r.body, err = outboundBody(in.Body)
	return r, err
}

// setByUs are headers that describe the connection, which is not the program's.
func setByUs(name string) bool {
	name = strings.ToLower(name)
	return ownHeaders[name] || strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-")
}

var ownHeaders = wordSet(`accept-encoding connection content-length date expect host keep-alive te trailer transfer-encoding upgrade via`)

func outboundBody(wire json.RawMessage) ([]byte, error) {
	if len(wire) == 0 || string(wire) == "null" {
		return nil, nil
	}
	if data, ok := wireBytes(wire); ok {
		return data, nil
	}
	var text string
	if json.Unmarshal(wire, &text) != nil {
		return nil, invalidArgument("body: expected string or bytes")
	}
	return []byte(text), nil
}

func (c *outbound) send(ctx Context, verb string, args json.RawMessage) (any, error) {
	request, err := c.request(verb, args)
	if err != nil {
		return nil, err
	}
	class := classOfVerb(verb)
	if class != Read {
		class = Write
	}
	if ctx.IdempotencyKey != "" && class == Write && request.header.Get(idempotencyHeader) == "" {
		request.header.Set(idempotencyHeader, ctx.IdempotencyKey)
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout(), &timeoutError{c.timeout()})
	defer cancel()
	s := &sending{client: c.client, request: request, class: class}
	response, err := s.send(limited)
	if err != nil {
		err = fmt.Errorf("%s %s failed: %w", verb, request.base.Host, err)
		if !s.maybeSeen(errors.Unwrap(err)) {
			return nil, &unsentError{err.Error()}
		}
		return nil, c.lost(limited, class, err)
	}
	defer drain(response)
	return c.answer(limited, class, response)
}

// lost types the failure of a request that the server may have seen.
func (c *outbound) lost(ctx context.Context, class Class, err error) error {
	var own *timeoutError
	switch timedOut := errors.As(context.Cause(ctx), &own); {
	case class != Read:
		return &OutcomeUnknownError{Err: err}
	case ctx.Err() != nil && !timedOut:
		return &OutcomeUnknownError{Err: err} // its caller's time is over
	}
	return &RetryableError{Message: err.Error()}
}

type outboundAnswer struct {
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	URL        string      `json:"url"`
	Headers    [][2]string `json:"headers"`
	Body       any         `json:"body,omitempty"` // nil, text, or bytes on the wire
}

func (c *outbound) answer(ctx context.Context, class Class, response *http.Response) (any, error) {
	limit := c.opts.MaxResponseBytes
	if limit <= 0 {
		limit = defaultOutboundResponse
	}
	data, err := readLimited(response.Body, limit)
	switch {
	case errors.Is(err, errTooLarge) && class != Read:
		return nil, &ResultError{Connector: OutboundName, Method: strings.ToLower(response.Request.Method), Err: tooLargeAnswer(limit)}
	case errors.Is(err, errTooLarge):
		return nil, tooLargeAnswer(limit)
	case err != nil:
		return nil, c.lost(ctx, class, fmt.Errorf("%s answered %d, but the answer broke off: %w", response.Request.URL.Host, response.StatusCode, err))
	}
	a := outboundAnswer{Status: response.StatusCode, StatusText: http.StatusText(response.StatusCode), URL: response.Request.URL.String(), Headers: [][2]string{}}
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		for _, value := range response.Header[name] {
			a.Headers = append(a.Headers, [2]string{strings.ToLower(name), value})
		}
	}
	if a.Body = encodeBytes(data); isTextual(response.Header.Get("Content-Type"), data) {
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

package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/words"
)

const (
	MaxRedirects = 6
	// connectionsPerHost is how many are kept open: a pass makes as many calls at once.
	connectionsPerHost = 16
	UserAgent          = "codemode"
	IdempotencyHeader  = "Idempotency-Key"
)

// Client sends requests and follows nothing by itself.
type Client struct {
	HTTP *http.Client
	Own  *http.Transport // nil when the transport was brought along
}

func NewClient(transport http.RoundTripper) *Client {
	c := &Client{HTTP: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if transport == nil {
		c.Own = http.DefaultTransport.(*http.Transport).Clone()
		c.Own.MaxIdleConnsPerHost = connectionsPerHost
		c.HTTP.Transport = c.Own
	}
	return c
}

func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

func (c *Client) Get(ctx context.Context, at *url.URL, headers map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", UserAgent)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	return c.HTTP.Do(request)
}

// Bare is the cause of a failed request without the URL, which may hold secrets.
func Bare(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Request is a request before it is sent; path and query are escaped.
type Request struct {
	Verb    string
	Base    *url.URL
	Path    string
	Query   []Pair
	Cookies []Pair
	Header  http.Header
	Body    []byte
}

// Pair is escaped on both sides.
type Pair struct{ Name, Value string }

func (p Pair) String() string { return p.Name + "=" + p.Value }

// SetQuery wins over what a program gave under that name.
func (r *Request) SetQuery(name, value string) {
	r.Query = replacePair(r.Query, Pair{PercentEncode(name, false), PercentEncode(value, false)})
}

func (r *Request) SetCookie(name, value string) {
	r.Cookies = replacePair(r.Cookies, Pair{name, PercentEncode(value, false)})
}

func replacePair(list []Pair, pair Pair) (kept []Pair) {
	for _, p := range list {
		if p.Name != pair.Name {
			kept = append(kept, p)
		}
	}
	return append(kept, pair)
}

func JoinPairs(list []Pair, separator string) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return strings.Join(texts, separator)
}

// URL puts the path behind that of the base.
func (r *Request) URL() (*url.URL, error) {
	u := *r.Base
	escaped := strings.TrimSuffix(u.EscapedPath(), "/") + r.Path
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, errors.New("the path is not one of a URL")
	}
	u.Path, u.RawPath, u.Fragment = plain, escaped, ""
	if query := JoinPairs(r.Query, "&"); query != "" && u.RawQuery != "" {
		u.RawQuery += "&" + query
	} else if query != "" {
		u.RawQuery = query
	}
	return &u, nil
}

// HTTP makes the request for net/http.
func (r *Request) HTTP(ctx context.Context, at *url.URL, class connectors.Class) *http.Request {
	request := (&http.Request{
		Method: r.Verb, URL: at, Host: at.Host, Header: r.Header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if len(r.Cookies) > 0 {
		request.Header.Set("Cookie", JoinPairs(r.Cookies, "; "))
	}
	if len(r.Body) > 0 {
		request.ContentLength = int64(len(r.Body))
		request.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	if class == connectors.Write {
		forbidRepeating(request.Header)
	}
	return request
}

// forbidRepeating spells idempotency keys so that net/http does not see them: it
// would send a request that has one again when a connection breaks, whether or
// not the server knows such keys.
func forbidRepeating(header http.Header) {
	for _, name := range []string{IdempotencyHeader, "X-" + IdempotencyHeader} {
		if values, ok := header[name]; ok {
			delete(header, name)
			header[strings.ToLower(name)] = values
		}
	}
}

// Exchange is one request and its answer, and whether the server may have seen the request.
type Exchange struct {
	Client  *Client
	Request *Request
	Class   connectors.Class
	begun   atomic.Bool
}

// Send follows redirects on the same server, and only those that keep the
// meaning of the request.
func (s *Exchange) Send(ctx context.Context) (*http.Response, error) {
	at, err := s.Request.URL()
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { s.begun.Store(true) },
	})
	request := *s.Request
	for range MaxRedirects {
		response, err := s.Client.HTTP.Do(request.HTTP(ctx, at, s.Class))
		if err != nil {
			return nil, Bare(err)
		}
		next := RedirectTarget(response)
		if next == nil || !SameOrigin(at, next) || !request.redirect(response.StatusCode) {
			return response, nil
		}
		Drain(response)
		at = next
	}
	return nil, errors.New("it redirects without end")
}

// redirect makes the request what it is to be at the new place, false when
// there is no such request: a write that became a GET would seem to have worked.
func (r *Request) redirect(status int) bool {
	switch {
	case status == http.StatusSeeOther:
		r.Body, r.Header = nil, r.Header.Clone()
		r.Header.Del("Content-Type")
		if r.Verb != http.MethodHead {
			r.Verb = http.MethodGet
		}
		return true
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return true
	case status == http.StatusMovedPermanently, status == http.StatusFound:
		return ClassOfVerb(r.Verb) == connectors.Read
	}
	return false
}

// MaybeSeen is true unless the request certainly never reached the server. A
// transport that was brought along does not tell how far it came.
func (s *Exchange) MaybeSeen(err error) bool {
	return !IsDialError(err) && (s.begun.Load() || s.Client.Own == nil)
}

// RedirectTarget is where an answer points to, nil for one that does not.
func RedirectTarget(response *http.Response) *url.URL {
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return nil
	}
	next, err := response.Location()
	if err != nil {
		return nil
	}
	return next
}

func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// Drain lets the connection be used again.
func Drain(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10)
	response.Body.Close()
}

func ClassOfVerb(verb string) connectors.Class {
	switch verb {
	case "GET", "HEAD", "OPTIONS":
		return connectors.Read
	case "PUT", "DELETE":
		return connectors.Idempotent
	}
	return connectors.Write
}

// PublicHeaders are no secrets: they say what is accepted, and may be as common as "application/json".
var PublicHeaders = words.Set(
	`accept accept-charset accept-encoding accept-language cache-control content-type prefer user-agent`)

// Credential reports whether the name of a header speaks of a credential.
func Credential(header string) bool {
	header = strings.ToLower(header)
	return slices.ContainsFunc([]string{"auth", "token", "key", "secret", "password", "cookie", "session", "credential",
		"signature"}, func(word string) bool { return strings.Contains(header, word) })
}

var DefaultPorts = map[string]string{"https": "443", "http": "80"}

package connectors

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
)

const (
	maxRedirects = 6
	// connectionsPerHost is how many are kept open: a pass makes as many calls at once.
	connectionsPerHost = 16
	userAgent          = "codemode"
)

// apiClient sends requests and follows nothing by itself.
type apiClient struct {
	http *http.Client
	own  *http.Transport // nil when the transport was brought along
}

func newAPIClient(transport http.RoundTripper) *apiClient {
	c := &apiClient{http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if transport == nil {
		c.own = http.DefaultTransport.(*http.Transport).Clone()
		c.own.MaxIdleConnsPerHost = connectionsPerHost
		c.http.Transport = c.own
	}
	return c
}

func (c *apiClient) close() { c.http.CloseIdleConnections() }

func (c *apiClient) get(ctx context.Context, at *url.URL, headers map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", userAgent)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	return c.http.Do(request)
}

// bare is the cause of a failed request without the URL, which may hold secrets.
func bare(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// apiRequest is a request before it is sent; path and query are escaped.
type apiRequest struct {
	verb    string
	base    *url.URL
	path    string
	query   []queryPair
	cookies []queryPair
	header  http.Header
	body    []byte
}

// queryPair is escaped on both sides.
type queryPair struct{ name, value string }

func (p queryPair) String() string { return p.name + "=" + p.value }

// setQuery wins over what a program gave under that name.
func (r *apiRequest) setQuery(name, value string) {
	r.query = replacePair(r.query, queryPair{percentEncode(name, false), percentEncode(value, false)})
}

func (r *apiRequest) setCookie(name, value string) {
	r.cookies = replacePair(r.cookies, queryPair{name, percentEncode(value, false)})
}

func replacePair(list []queryPair, pair queryPair) (kept []queryPair) {
	for _, p := range list {
		if p.name != pair.name {
			kept = append(kept, p)
		}
	}
	return append(kept, pair)
}

func joinPairs(list []queryPair, separator string) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return strings.Join(texts, separator)
}

// url puts the path behind that of the base.
func (r *apiRequest) url() (*url.URL, error) {
	u := *r.base
	escaped := strings.TrimSuffix(u.EscapedPath(), "/") + r.path
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, errors.New("the path is not one of a URL")
	}
	u.Path, u.RawPath, u.Fragment = plain, escaped, ""
	if query := joinPairs(r.query, "&"); query != "" && u.RawQuery != "" {
		u.RawQuery += "&" + query
	} else if query != "" {
		u.RawQuery = query
	}
	return &u, nil
}

// http makes the request for net/http.
func (r *apiRequest) http(ctx context.Context, at *url.URL, class Class) *http.Request {
	request := (&http.Request{
		Method: r.verb, URL: at, Host: at.Host, Header: r.header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if len(r.cookies) > 0 {
		request.Header.Set("Cookie", joinPairs(r.cookies, "; "))
	}
	if len(r.body) > 0 {
		request.ContentLength = int64(len(r.body))
		request.Body = io.NopCloser(bytes.NewReader(r.body))
	}
	if class == Write {
		forbidRepeating(request.Header)
	}
	return request
}

// forbidRepeating spells idempotency keys so that net/http does not see them: it
// would send a request that has one again when a connection breaks, whether or
// not the server knows such keys.
func forbidRepeating(header http.Header) {
	for _, name := range []string{idempotencyHeader, "X-" + idempotencyHeader} {
		if values, ok := header[name]; ok {
			delete(header, name)
			header[strings.ToLower(name)] = values
		}
	}
}

// sending is one exchange, and whether the server may have seen the request.
type sending struct {
	client  *apiClient
	request *apiRequest
	class   Class
	begun   atomic.Bool
}

// send follows redirects on the same server, and only those that keep the
// meaning of the request.
func (s *sending) send(ctx context.Context) (*http.Response, error) {
	at, err := s.request.url()
	if err != nil {
		return nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { s.begun.Store(true) },
	})
	request := *s.request
	for range maxRedirects {
		response, err := s.client.http.Do(request.http(ctx, at, s.class))
		if err != nil {
			return nil, bare(err)
		}
		next := redirectTarget(response)
		if next == nil || !sameOrigin(at, next) || !request.redirect(response.StatusCode) {
			return response, nil
		}
		drain(response)
		at = next
	}
	return nil, errors.New("it redirects without end")
}

// redirect makes the request what it is to be at the new place, false when
// there is no such request: a write that became a GET would seem to have worked.
func (r *apiRequest) redirect(status int) bool {
	switch {
	case status == http.StatusSeeOther:
		r.body, r.header = nil, r.header.Clone()
		r.header.Del(typeProperty)
		if r.verb != http.MethodHead {
			r.verb = http.MethodGet
		}
		return true
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return true
	case status == http.StatusMovedPermanently, status == http.StatusFound:
		return classOfVerb(r.verb) == Read
	}
	return false
}

// maybeSeen is true unless the request certainly never reached the server. A
// transport that was brought along does not tell how far it came.
func (s *sending) maybeSeen(err error) bool {
	return !isDialError(err) && (s.begun.Load() || s.client.own == nil)
}

// redirectTarget is where an answer points to, nil for one that does not.
func redirectTarget(response *http.Response) *url.URL {
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return nil
	}
	next, err := response.Location()
	if err != nil {
		return nil
	}
	return next
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// drain lets the connection be used again.
func drain(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10)
	response.Body.Close()
}

package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

const (
	defaultMaxResponse = 8 << 20
	maxErrorBody       = 64 << 10
	shownErrorBody     = 500
)

// result is what a program gets for an answer.
func (c *apiCall) result(ctx context.Context, response *http.Response) (any, error) {
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, c.refusal(response)
	}
	data, err := c.readBody(ctx, response)
	if err != nil {
		return nil, err
	}
	body, err := c.catalogue.api.secrets.decode(response.Header.Get("Content-Type"), data)
	switch {
	case err != nil:
		return nil, err
	case c.catalogue.api.opts.FullResponses:
		return c.full(response, body)
	case response.Request.Method == http.MethodHead:
		return c.headers(response.Header), nil
	}
	return body, nil
}

func (c *apiCall) readBody(ctx context.Context, response *http.Response) ([]byte, error) {
	limit := c.catalogue.api.opts.MaxResponseBytes
	if limit <= 0 {
		limit = defaultMaxResponse
	}
	data, err := web.ReadLimited(response.Body, limit)
	switch {
	case err == nil:
		return data, nil
	case !errors.Is(err, web.ErrTooLarge):
		return nil, c.lost(ctx,
			c.catalogue.api.secrets.text(fmt.Sprintf("%s.%s: the server answered %d, but the answer broke off: %v",
				c.catalogue.api.name, c.name, response.StatusCode, err)))
	}
	err = fmt.Errorf("the answer is larger than %d bytes: ask for less, by a filter or page by page", limit)
	if c.class != connectors.Read {
		return nil, &connectors.ResultError{Connector: c.catalogue.api.name, Method: c.name, Err: err}
	}
	return nil, fmt.Errorf("%s.%s: %w", c.catalogue.api.name, c.name, err)
}

// refusal types an answer other than 2xx.
func (c *apiCall) refusal(response *http.Response) error {
	e := &StatusError{
		Connector: c.catalogue.api.name, Method: c.name, Status: response.StatusCode,
		RetryAfter: retryAfter(response.Header), Body: c.errorText(response),
	}
	if next := web.RedirectTarget(response); next != nil {
		e.Location = c.catalogue.api.secrets.text(next.Scheme + "://" + next.Host)
	}
	asksToWait := e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
	gateway := e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout
	switch {
	case asksToWait && c.class != connectors.Write && response.Header.Get("Retry-After") != "":
		return &connectors.RetryableError{RetryAfter: e.RetryAfter, Err: e}
	case gateway && c.class != connectors.Read:
		// A gateway says so whatever became of the request that it passed on.
		return &connectors.OutcomeUnknownError{Err: e}
	}
	return e
}

// errorText is short, in one line, and free of secrets.
func (c *apiCall) errorText(response *http.Response) string {
	data, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	if !web.IsTextual(response.Header.Get("Content-Type"), data) {
		return ""
	}
	text := string(data)
	if compact, err := rawjson.Compact(data); err == nil {
		text = string(c.catalogue.api.secrets.json(compact))
	}
	text = strings.Join(strings.Fields(c.catalogue.api.secrets.text(text)), " ")
	return words.Shorten(text, shownErrorBody)
}

// decode makes the result of a body: nil for none, JSON as it came, text as a
// string, and bytes.
func (s *secrets) decode(contentType string, data []byte) (any, error) {
	kind := web.KindOf(contentType)
	if contentType == "" {
		kind = web.Sniff(data)
	}
	switch {
	case len(data) == 0:
		return nil, nil
	case kind == web.MediaJSON:
		if compact, err := rawjson.Compact(bytes.TrimPrefix(data, []byte("\uFEFF"))); err == nil {
			return wire.FromJSON(s.json(compact)), nil
		}
	case kind == web.MediaBinary, kind == web.MediaMultipart:
		return []byte(s.data(string(data))), nil
	}
	return rawjson.Marshal(s.data(web.DecodeText(web.CharsetOf(contentType), data)))
}

// full is an answer with all its parts.
func (c *apiCall) full(response *http.Response, body any) (any, error) {
	raw, err := wire.Encode(body)
	if err != nil {
		return nil, err
	}
	headers, _ := rawjson.Marshal(c.headers(response.Header))
	var o rawjson.Object
	o.Add("status", fmt.Appendf(nil, "%d", response.StatusCode))
	o.Add("headers", headers)
	if raw != nil {
		o.Add("body", raw)
	}
	return json.RawMessage(o.Bytes()), nil
}

// headers are named in lower case. Cookies are left out: they are credentials.
func (c *apiCall) headers(header http.Header) map[string]string {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name != "Set-Cookie" {
			value := strings.ToValidUTF8(strings.Join(header[name], ", "), "\uFFFD")
			all[strings.ToLower(name)] = c.catalogue.api.secrets.data(value)
		}
	}
	return all
}

package openapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

const (
	maxDocumentBytes = 256 << 20
	documentTimeout  = time.Minute
)

// check finds what the operator has to correct.
func (o Options) check(connector string) error {
	if (o.Document == "") == (len(o.Data) == 0) {
		return connectors.ConfigErrorf("OpenAPI connector %q needs either a Document or Data.", connector)
	}
	if isURL(o.Document) {
		if _, err := documentURL(o.Document); err != nil {
			return connectors.ConfigErrorf("OpenAPI connector %q cannot use its document: %v.", connector, err)
		}
	}
	if o.BaseURL != "" {
		if _, err := absoluteURL(o.BaseURL); err != nil {
			return connectors.ConfigErrorf("OpenAPI connector %q has an unusable BaseURL: %v.", connector, err)
		}
	}
	for _, text := range o.Origins {
		if u, err := absoluteURL(text); err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			return connectors.ConfigErrorf("OpenAPI connector %q cannot send anything to %q: an origin is written "+
				"https://api.example.com.", connector, text)
		}
	}
	for _, headers := range []map[string]string{o.Headers, o.DocumentHeaders} {
		for name, value := range headers {
			if !validHeader(name, value) {
				return connectors.ConfigErrorf("OpenAPI connector %q has the header %q, which HTTP cannot carry.",
					connector, name)
			}
		}
	}
	return nil
}

func isURL(text string) bool { return strings.Contains(text, "://") }

// absoluteURL does not repeat the text in its errors, since it may hold a password.
func absoluteURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it does not begin with http:// or https://")
	case u.Host == "":
		return nil, errors.New("it names no host")
	}
	return u, nil
}

// documentURL accepts only what cannot be changed on its way: a document decides
// where credentials are sent.
func documentURL(text string) (*url.URL, error) {
	u, err := absoluteURL(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !web.IsLoopback(u.Hostname()) {
		return nil, errors.New("a document is fetched by https only, unless it is on this machine")
	}
	return u, nil
}

func (c *openAPIConnector) read(ctx context.Context) ([]byte, error) {
	switch {
	case len(c.opts.Data) > 0:
		return c.opts.Data, nil
	case isURL(c.opts.Document):
		return c.fetch(ctx)
	}
	file, err := os.Open(c.opts.Document)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("its OpenAPI document %s cannot be read: %w", c.opts.Document, failed.Err)
	}
	defer file.Close()
	data, err := web.ReadLimited(file, maxDocumentBytes)
	if err != nil {
		return nil, fmt.Errorf("its OpenAPI document %s cannot be read: %w", c.opts.Document, err)
	}
	return data, nil
}

func (c *openAPIConnector) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	at, err := documentURL(c.opts.Document)
	if err != nil {
		return nil, err
	}
	for range web.MaxRedirects {
		response, err := c.client.Get(ctx, at, c.opts.DocumentHeaders)
		if err != nil {
			return nil, fmt.Errorf("its OpenAPI document cannot be fetched from %s: %w", at.Host, web.Bare(err))
		}
		defer response.Body.Close()
		if next := web.RedirectTarget(response); next != nil && web.SameOrigin(at, next) {
			at = next
			continue
		}
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("its OpenAPI document cannot be fetched: %s answered %s", at.Host, response.Status)
		}
		data, err := web.ReadLimited(response.Body, maxDocumentBytes)
		if err != nil {
			return nil, fmt.Errorf("its OpenAPI document cannot be fetched from %s: %w", at.Host, web.Bare(err))
		}
		return data, nil
	}
	return nil, fmt.Errorf("its OpenAPI document cannot be fetched: %s redirects without end", at.Host)
}

// origin is where the document came from: the folder of its file, or its URL.
func (c *openAPIConnector) origin() (files *apiFiles, name string, at *url.URL) {
	switch {
	case c.opts.Document == "":
		return &apiFiles{}, "", nil
	case isURL(c.opts.Document):
		at, _ = documentURL(c.opts.Document)
		return &apiFiles{}, "", at
	}
	return &apiFiles{folder: filepath.Dir(c.opts.Document)}, filepath.Base(c.opts.Document), nil
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/web"
)

// dial makes the client for the configured way to the server.
func (c *connector) dial(ctx context.Context) (*client.Client, *child, error) {
	switch {
	case c.opts.Client != nil:
		cli, err := c.opts.Client(ctx)
		if err == nil && cli == nil {
			err = errors.New("MCPOptions.Client gave no client")
		}
		return cli, nil, err
	case c.opts.Command != "":
		process := newChild(c.opts, c.redact)
		stdio, err := process.start(c.maxAnswer())
		if err != nil {
			return nil, nil, err
		}
		return client.NewClient(stdio), process, nil
	case c.opts.URL != "":
		way, err := c.overHTTP()
		return client.NewClient(way), nil, err
	}
	return nil, nil, connectors.ConfigErrorf("MCP connector %q has neither a Command nor a URL nor a Client.", c.name)
}

// startError says why there is no server, with what a process left behind.
// Arguments are not quoted, since they may hold secrets as well.
func (c *connector) startError(err error, child *child) error {
	var config *connectors.ConfigError
	if errors.As(err, &config) {
		return err
	}
	what := "its MCP server"
	if c.opts.Command != "" {
		what += fmt.Sprintf(" (command %q)", c.opts.Command)
	}
	if c.opts.URL != "" {
		what = "the MCP server at its URL"
	}
	reason := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("no answer to the handshake within %v", c.startTimeout())
	}
	text := fmt.Sprintf("%s did not start: %s", what, reason)
	if last := child.lastWords(); last != "" {
		text += "; " + last
	}
	return &downError{c.redact.Apply(text)}
}

// downError says that there is no server to send anything to.
type downError struct{ text string }

func (e *downError) Error() string { return e.text }

// noResponseLimit leaves it to the callers how long they wait.
const noResponseLimit = 1000 * time.Hour

// overHTTP makes a transport to the URL. What it logs by itself would show URLs
// and headers.
func (c *connector) overHTTP() (transport.Interface, error) {
	at, err := url.Parse(c.opts.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, connectors.ConfigErrorf("the URL of MCP connector %q is not one of a web server", c.name)
	}
	next := c.opts.RoundTripper
	if next == nil {
		next = http.DefaultTransport
	}
	web := &http.Client{CheckRedirect: sameHostOnly,
		Transport: &boundedWeb{next: next, limit: c.maxAnswer(), shared: c.opts.SSE}}
	silent := slog.New(slog.DiscardHandler)
	if c.opts.SSE {
		return transport.NewSSE(c.opts.URL, transport.WithHTTPClient(web), transport.WithHeaders(c.opts.Headers),
			transport.WithResponseTimeout(noResponseLimit), transport.WithSSELogger(silent))
	}
	//lint:ignore SA1019 all servers in use tell of changes on this stream; for newer ones see mcpSession.listen
	listening := transport.WithContinuousListening()
	return transport.NewStreamableHTTP(c.opts.URL, transport.WithHTTPBasicClient(web),
		transport.WithHTTPHeaders(c.opts.Headers),
		listening, transport.WithHTTPLogger(silent))
}

// sameHostOnly keeps headers, which are secrets, with the host they are meant for.
func sameHostOnly(next *http.Request, before []*http.Request) error {
	if first := before[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
		return fmt.Errorf("the server redirects to another one (%s)", next.URL.Host)
	}
	if len(before) >= web.MaxRedirects {
		return errors.New("the server redirects too often")
	}
	return nil
}

// mcpSecrets are the texts that errors do not show.
func mcpSecrets(opts Options) map[string]string {
	all := maps.Clone(opts.Env)
	if all == nil {
		all = map[string]string{}
	}
	add := func(text string) { all["secret "+strconv.Itoa(len(all))] = text }
	for _, text := range opts.Secrets {
		add(text)
	}
	for name, value := range opts.Headers {
		if web.PublicHeaders[strings.ToLower(name)] {
			continue
		}
		add(value)
		if _, token, ok := strings.Cut(value, " "); ok {
			add(token)
		}
	}
	if at, err := url.Parse(opts.URL); err == nil {
		add(at.User.String())
		add(at.RawQuery)
	}
	return all
}

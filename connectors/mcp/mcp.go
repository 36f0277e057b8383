// Package mcp makes connectors of MCP servers, over standard input and output, HTTP, or in this process.
//
// Its rule: a request that may have reached the server is never sent again by itself.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/redact"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/signals"
)

// Options say which MCP server a connector speaks to, and how. One of
// Command, URL and Client is needed.
type Options struct {
	// Command starts a server that speaks over its standard input and output.
	// It gets PATH and HOME from this process, Env, and nothing else.
	Command string
	Args    []string
	// Env values of four or more characters are taken for secrets and never appear in errors.
	Env map[string]string
	// Dir is the server's working directory. Empty: this process's.
	Dir string
	// URL reaches a server over streamable HTTP.
	URL string
	// SSE speaks the transport that streamable HTTP replaced, at URL.
	SSE bool
	// Headers are sent with every request to URL. Their values are secrets.
	Headers map[string]string
	// RoundTripper sends the requests to URL. Nil: one that takes proxies from the environment.
	RoundTripper http.RoundTripper
	// Secrets are more texts that never appear in errors, such as those among Args.
	Secrets []string
	// Instructions follow the server's own.
	Instructions string
	// IgnoreAnnotations distrusts the server's hints: every tool is a [Write].
	IgnoreAnnotations bool
	// ToolName names a tool for programs. Nil: [SanitizeToolName].
	ToolName func(tool string) string
	// MaxResponseBytes bounds each message from the server, and the list of its tools. Zero: 8 MiB. It does not count
	// for servers in this process.
	MaxResponseBytes int64
	// StartTimeout bounds start and handshake of the server. Zero: one minute.
	StartTimeout time.Duration
	// Client makes the connection instead: another transport, or a server in this
	// process ([client.NewInProcessClient]). It is called again when a connection
	// was lost, and each client is closed by the connector. The client may be
	// initialized already.
	Client func(ctx context.Context) (*client.Client, error)
}

const defaultStartTimeout = time.Minute

// New makes a connector from the tools of an MCP server. The server is started
// when it is first needed, is shared by all calls, and is started again when it
// went away. A call in flight then fails with an [*OutcomeUnknownError].
//
// A tool with readOnlyHint is a [Read], else with idempotentHint [Idempotent],
// else a [Write]. Calls carry the idempotency key, the execution id and who
// started the execution in _meta as "codemode/idempotencyKey",
// "codemode/executionId" and "codemode/caller".
func New(name string, opts Options) connectors.Connector {
	c := &connector{name: name, opts: opts, redact: redact.New(mcpSecrets(opts), redact.InErrors),
		stuckLimit: defaultStuckLimit}
	c.link = newLink(c.connect)
	return c
}

type connector struct {
	name         string
	opts         Options
	redact       *redact.Redactor
	stuckLimit   time.Duration
	link         *link
	instructions atomic.Pointer[string] // the server's
	sessions     atomic.Int64
	changed      atomic.Pointer[func()]
}

func (c *connector) Name() string { return c.name }
func (c *connector) Close() error { return c.link.close() }

func (c *connector) OnChange(changed func()) { c.changed.Store(&changed) }

// toolsChanged is called when the server says so, and when another session may
// have another server behind it.
func (c *connector) toolsChanged() {
	if changed := c.changed.Load(); changed != nil {
		(*changed)()
	}
}

func (c *connector) Instructions() string {
	var parts []string
	if server := c.instructions.Load(); server != nil && *server != "" {
		parts = append(parts, *server)
	}
	if c.opts.Instructions != "" {
		parts = append(parts, c.opts.Instructions)
	}
	return strings.Join(parts, "\n\n")
}

// connect starts the server and shakes hands. life ends with the connector: a
// transport may keep the context it is started with.
func (c *connector) connect(life context.Context) (*session, error) {
	cli, child, err := c.dial(life)
	if err != nil {
		return nil, c.startError(err, nil)
	}
	s := newSession(c, cli, child)
	if err = cli.Start(life); err == nil {
		ctx, cancel := context.WithTimeout(life, c.startTimeout())
		defer cancel()
		err = s.handshake(ctx)
	}
	if err != nil {
		s.close()
		return nil, c.startError(err, child)
	}
	s.listen(life)
	if s.instructions != "" || c.instructions.Load() == nil {
		c.instructions.Store(&s.instructions)
	}
	if c.sessions.Add(1) > 1 {
		c.toolsChanged()
	}
	return s, nil
}

func (c *connector) startTimeout() time.Duration {
	if c.opts.StartTimeout > 0 {
		return c.opts.StartTimeout
	}
	return defaultStartTimeout
}

// mcpTool is a tool as listed. mcp-go's own type would lose parts of the
// schemas and the order of their keys, which types for the model keep.
type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		ReadOnlyHint   bool `json:"readOnlyHint"`
		IdempotentHint bool `json:"idempotentHint"`
	} `json:"annotations"`
}

func (c *connector) Methods(ctx context.Context) ([]connectors.Method, error) {
	if _, err := c.link.session(ctx); err != nil {
		return nil, err
	}
	tools, err := c.listTools(ctx)
	if err != nil {
		return nil, err
	}
	methods := make([]connectors.Method, 0, len(tools))
	origins := map[string]string{}
	for _, tool := range tools {
		m := c.method(tool)
		if other, taken := origins[m.Name]; taken {
			return nil, signals.SameMCPTool(other, tool.Name, c.name, m.Name)
		}
		origins[m.Name] = tool.Name
		methods = append(methods, m)
	}
	return methods, nil
}

func (c *connector) method(tool tool) connectors.Method {
	rename := c.opts.ToolName
	if rename == nil {
		rename = connectors.SanitizeToolName
	}
	class, from := c.class(tool)
	return connectors.Method{
		Name: rename(tool.Name), Origin: tool.Name, Description: tool.Description,
		InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema, Class: class, ClassFrom: from,
		ClassAssumed: class == connectors.Write,
		Execute: func(ctx connectors.Context, args json.RawMessage) (any, error) {
			result, err := c.call(ctx, tool.Name, args)
			var large *tooLargeError
			switch {
			case !errors.As(err, &large):
				return result, err
			case class == connectors.Read:
				return nil, fmt.Errorf("%s.%s: %w", c.name, tool.Name, large)
			}
			return nil, &connectors.ResultError{Connector: c.name, Method: tool.Name, Err: large}
		},
	}
}

// class reads the tool's annotations, and says which of them counted.
func (c *connector) class(tool tool) (connectors.Class, string) {
	switch {
	case c.opts.IgnoreAnnotations:
		return connectors.Write, "annotations ignored"
	case tool.Annotations.ReadOnlyHint:
		return connectors.Read, "readOnlyHint"
	case tool.Annotations.IdempotentHint:
		return connectors.Idempotent, "idempotentHint"
	}
	return connectors.Write, "no hint"
}

const maxToolPages = 1000

// listTools reads all pages.
func (c *connector) listTools(ctx context.Context) ([]tool, error) {
	var tools []tool
	var size int64
	params := map[string]any{}
	seen := map[string]bool{}
	for range maxToolPages {
		raw, err := c.link.request(ctx, "tools/list", params, nil)
		var refused *serverError
		if errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND {
			return tools, nil // a server without tools
		}
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		if size += int64(len(raw)); size > c.maxAnswer() {
			return nil, fmt.Errorf("tools/list: the pages take more than %d bytes together", c.maxAnswer())
		}
		var page struct {
			Tools      []tool `json:"tools"`
			NextCursor string `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("tools/list: the server's answer has the wrong shape: %w", err)
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" {
			return tools, nil
		}
		if seen[page.NextCursor] {
			return nil, errors.New("tools/list: the server gave the same cursor twice, so the list would never end")
		}
		seen[page.NextCursor] = true
		params["cursor"] = page.NextCursor
	}
	return nil, fmt.Errorf("tools/list: more than %d pages", maxToolPages)
}

// call runs one tool, under the name that the server knows.
func (c *connector) call(ctx connectors.Context, tool string, args json.RawMessage) (any, error) {
	plain, err := wire.Plain(args)
	if err != nil {
		return nil, fmt.Errorf("arguments are %w", err)
	}
	params := map[string]any{"name": tool}
	if plain != nil {
		params["arguments"] = plain
	}
	if meta := callMeta(ctx); len(meta) > 0 {
		params["_meta"] = meta
	}
	raw, err := c.link.request(ctx, "tools/call", params, ctx.Progress)
	var down *downError
	if errors.As(err, &down) { // the call was not sent, and the server may come back
		return nil, &connectors.RetryableError{Message: down.text,
			Err: &connectors.UnavailableError{Connector: c.name, Err: down}}
	}
	if err != nil {
		return nil, err
	}
	result, err := unwrapToolResult(raw)
	var failed toolFailure
	if errors.As(err, &failed) {
		return nil, errors.New(c.redact.Apply(string(failed)))
	}
	return result, err
}

func callMeta(ctx connectors.Context) map[string]any {
	meta := map[string]any{}
	if ctx.IdempotencyKey != "" {
		meta["codemode/idempotencyKey"] = ctx.IdempotencyKey
	}
	if ctx.ExecutionID != "" {
		meta["codemode/executionId"] = ctx.ExecutionID
	}
	if caller := ctx.Caller; !caller.IsZero() {
		caller.StartedSubject = "" // it is for telling people apart here, and nobody else's
		meta["codemode/caller"] = caller
	}
	return meta
}

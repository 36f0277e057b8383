package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/starter/guard"
	"github.com/temporal-codemode/codemode/starter/local"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
	"github.com/temporal-codemode/codemode/starter/mcpserver/wrap"
	"github.com/temporal-codemode/codemode/worker/config"
)

type mcpFlags struct {
	http    string
	sse     bool
	tokens  string
	tls     [2]string
	url     string
	surface string
	by      string
	elicit  string
	console string
	wait    time.Duration
	budget  int
	chars   int
	limit   time.Duration
	config  string
	wrap    string
	signIn  console.AccessTokenOptions
	quotas  []string
}

func (c *cli) mcpVerb() *cobra.Command {
	var f mcpFlags
	cmd := c.verb("mcp", "Serve models over MCP", shapeRecord, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) {
			return answer{}, c.serveMCP(cmd.Context(), f)
		})
	cmd.Long = "Offer the runtime to models as an MCP server, on standard input and output or over HTTP.\n\n" +
		"--surface codemode is one tool that runs a program, utcp the tools of UTCP's code mode bridge (for RLM " +
		"and others),\n" +
		"direct each method of the connectors as a tool. No tool approves anything: where a call needs a person, " +
		"one is asked\n" +
		"at clients that can ask, and elsewhere the answer says how a person decides."
	cmd.Flags().StringVar(&f.http, "http",
		"", "serve HTTP at this `address`, at /mcp")
	cmd.Flags().BoolVar(&f.sse, "sse", false, "with --http, also serve the deprecated SSE transport, at /sse")
	cmd.Flags().StringVar(&f.tokens, "tokens", "",
		"`file` of names, roles and bearer tokens, as the console takes it; needed beyond this machine.\n"+
			"Without it the address that is printed has a key: "+guard.KeyVariable+" if it is set, else a new one")
	cmd.Flags().StringVar(&f.url, "url", "", "the `URL` by which others reach it, if a proxy in front encrypts")
	cmd.Flags().StringVar(&f.tls[0], "tls-cert", "", "`file` with the server's certificate")
	cmd.Flags().StringVar(&f.tls[1], "tls-key", "", "`file` with its key")
	f.signInFlags(cmd)
	cmd.Flags().StringVar(&f.surface, "surface", string(mcpserver.Codemode),
		"which tools there are: codemode, utcp or direct")
	cmd.Flags().StringVar(&f.by, "by", c.user,
		"`name` of who starts executions and decides at the client, for the record")
	cmd.Flags().StringVar(&f.elicit, "elicit", string(mcpserver.ElicitAsk),
		"whether approvals are asked for at clients that can ask a person: ask or never.\n"+
			"Nobody can tell whether a person answers there, or software")
	cmd.Flags().StringVar(&f.console, "console", "",
		"`URL` of the console, where clients that open addresses send people for what they cannot decide there")
	cmd.Flags().DurationVar(&f.wait, "wait", 55*time.Second,
		"answer that an execution is still running after this `duration`")
	cmd.Flags().IntVar(&f.budget, "tokens-per-answer", 6000, "`number` of tokens that an answer's text may take")
	cmd.Flags().IntVar(&f.chars, "answer-chars", 11_500, "`number` of characters of an answer, on surface utcp")
	cmd.Flags().DurationVar(&f.limit, "call-limit", 27*time.Second,
		"longest `duration` of a program, on surface utcp")
	cmd.Flags().StringVar(&f.config, "config", "",
		"run programs here, without Temporal, with the connectors of this `file`: nothing is recorded,\nand what "+
			"needs approval is left out")
	cmd.Flags().StringVar(&f.wrap, "wrap", "",
		"offer the connector of this `name` in --config alone: an MCP server as the one tool code,\nan OpenAPI "+
			"document as the tools search and execute")
	return cmd
}

func (f mcpFlags) check() error {
	switch {
	case !slices.Contains(mcpserver.Surfaces, mcpserver.Surface(f.surface)):
		return usagef("--surface %s: the surfaces are %v", f.surface, mcpserver.Surfaces)
	case f.elicit != string(mcpserver.ElicitAsk) && f.elicit != string(mcpserver.ElicitNever):
		return usagef("--elicit must be ask or never")
	case f.wait <= 0 || f.budget <= 0 || f.chars < 1000 || f.limit <= 0:
		return usagef("--wait, --tokens-per-answer and --call-limit must be more than 0, --answer-chars at least 1000")
	case f.wrap != "" && f.config == "":
		return usagef("--wrap names a connector in --config FILE")
	case (f.tls[0] == "") != (f.tls[1] == ""):
		return usagef("give --tls-cert and --tls-key, or neither")
	case f.http == "" && (f.authenticates() || f.tls[0] != "" || f.sse || f.url != ""):
		return usagef("--tokens, --oidc-issuer, --tls-cert, --url and --sse are for --http")
	case f.signIn.Issuer != "" && f.url == "":
		return usagef("--oidc-issuer needs --url, the address by which clients reach this door and get tokens for it")
	case len(f.quotas) > 0 && !f.authenticates():
		return usagef("--quota is for callers who are known: give --tokens or --oidc-issuer")
	}
	return errors.Join(f.checkConsole(), f.checkExposure())
}

func (f mcpFlags) checkExposure() error {
	if f.http == "" {
		return nil
	}
	if err := (console.Exposure{Addr: f.http, URL: f.url, Authenticated: f.authenticates(),
		TLS: f.tls[0] != ""}).Check(); err != nil {
		return usagef("--http: %w (--tokens or --oidc-issuer, --tls-cert and --tls-key, --url)", err)
	}
	return nil
}

func (c *cli) serveMCP(ctx context.Context, f mcpFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	s, closing, err := c.mcpServer(ctx, f)
	if err != nil {
		return err
	}
	defer closing()
	if f.http == "" {
		return mcpserver.ServeStdio(ctx, s, c.in, c.out)
	}
	return c.listen(ctx, s, f)
}

func (c *cli) mcpServer(ctx context.Context, f mcpFlags) (s *mcpserver.Server, closing func(), err error) {
	if f.wrap != "" {
		return wrapped(ctx, f)
	}
	runtime, closing, err := c.mcpRuntime(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	options, err := c.mcpOptions(runtime, f)
	if err == nil {
		s, err = mcpserver.New(ctx, options)
	}
	if err != nil {
		closing()
		return nil, nil, err
	}
	return s, closing, nil
}

// wrapped serves one connector of a configuration, with its rules.
func wrapped(ctx context.Context, f mcpFlags) (*mcpserver.Server, func(), error) {
	cfg, err := config.Load(f.config)
	if err != nil {
		return nil, nil, usageError{err}
	}
	at := slices.IndexFunc(cfg.Connectors, func(c config.Connector) bool { return c.Name == f.wrap })
	if at < 0 {
		return nil, nil, usagef("--wrap %s: %s has no connector of that name", f.wrap, f.config)
	}
	options, err := cfg.Options()
	if err != nil {
		return nil, nil, usageError{err}
	}
	connector := cfg.Connectors[at]
	o := wrap.Options{Executor: options.Executor, Sandbox: options.Sandbox, Modules: options.Modules,
		Timeout: options.PassTimeout, Rules: connector.Rules}
	open := func() (*mcp.Server, func() error, error) { return wrap.MCP(ctx, *connector.MCP, o) }
	if connector.OpenAPI != nil {
		if len(connector.Rules) > 0 {
			return nil, nil, usagef("--wrap %s: it has rules under tools, and programs that are offered a wrapped "+
				"OpenAPI document send requests, which these rules would not meet: use --config alone", f.wrap)
		}
		open = func() (*mcp.Server, func() error, error) { return wrap.OpenAPI(ctx, *connector.OpenAPI, o) }
	}
	s, closing, err := open()
	if err != nil {
		return nil, nil, err
	}
	return mcpserver.Plain(s), func() { _ = closing() }, nil
}

// mcpRuntime is where programs run: on Temporal, or here.
func (c *cli) mcpRuntime(ctx context.Context, f mcpFlags) (runtime mcpserver.Runtime, closing func(), err error) {
	if f.config == "" {
		conn, err := c.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return conn, conn.close, nil
	}
	cfg, err := config.Load(f.config)
	if err != nil {
		return nil, nil, usageError{err}
	}
	options, err := cfg.Options()
	if err != nil {
		return nil, nil, usageError{err}
	}
	once, err := local.New(ctx, local.Options{
		Connectors: options.Connectors, Rules: options.Rules, Executor: options.Executor, Sandbox: options.Sandbox,
		Modules: options.Modules, Hints: options.Hints, Timeout: options.PassTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	return once, func() { _ = once.Close() }, nil
}

func (c *cli) mcpOptions(runtime mcpserver.Runtime, f mcpFlags) (mcpserver.Options, error) {
	secret, err := f.secret()
	if err != nil {
		return mcpserver.Options{}, usageError{err}
	}
	return mcpserver.Options{
		Runtime: runtime, Surface: mcpserver.Surface(f.surface), Tokens: f.budget, Wait: f.wait, AnswerChars: f.chars,
		CallLimit: f.limit, By: f.by, Elicit: mcpserver.Elicit(f.elicit),
		HowToDecide: func(id string) string {
			return fmt.Sprintf("with `%s%s` or in the approval inbox", whereTemporalIs(), c.hint("approve", id))
		},
		Secret: secret, Console: f.page(c.runtime),
	}, nil
}

// whereTemporalIs stands before a command that people run in a shell of their own: what the environment of a server
// that a client starts says, theirs need not. Credentials are left to them.
func whereTemporalIs() string {
	prefix := ""
	for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"} {
		if value := os.Getenv(name); plainWord.MatchString(value) {
			prefix += name + "=" + value + " "
		}
	}
	return prefix
}

// plainWord needs no quotes in any shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

func (c *cli) listen(ctx context.Context, s *mcpserver.Server, f mcpFlags) error {
	o, err := f.httpOptions(ctx)
	if err != nil {
		return usageError{err}
	}
	handler, err := mcpserver.NewHTTP(s, o)
	if err != nil {
		return usageError{err}
	}
	defer func() { _ = handler.Close() }()
	listener, err := net.Listen("tcp", f.http)
	if err != nil {
		return usageError{err}
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10}
	defer context.AfterFunc(ctx, func() {
		_ = handler.Close() // first, since to hang up is how clients cancel
		_ = web.Close()     // streams are never idle: executions go on without them
	})()
	fmt.Fprintf(c.err, "serving MCP at %s\n", f.entry(o, listener.Addr()))
	if f.tls[0] != "" {
		err = web.ServeTLS(listener, f.tls[0], f.tls[1])
	} else {
		err = web.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// entry is the address that clients are given.
func (f mcpFlags) entry(o mcpserver.HTTPOptions, addr net.Addr) string {
	at := "http://" + addr.String()
	switch {
	case f.url != "":
		at = strings.TrimSuffix(f.url, "/")
	case f.tls[0] != "":
		at = "https://" + addr.String()
	}
	if at += "/mcp"; o.Key != "" {
		at = o.Key.In(at)
	}
	return at
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/telemetry"
	"github.com/temporal-codemode/codemode/internal/version"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// cli is one invocation.
type cli struct {
	in       io.Reader
	out, err *screen
	name     string // how this command was called, for hints
	user     string

	traces  telemetry.Traces
	tracing client.Options // what every connection is traced with
	runtime string
	json    bool
	began   bool // the arguments made sense
	id      string
	answer  answer
}

// work is what a verb does once its flags are read.
type work func(cmd *cobra.Command, args []string) (answer, error)

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "starter", Short: "Run model-written programs on Temporal, decide what they wait for, read their records",
		Long: "Run model-written programs on Temporal, decide what they wait for, read their records.\n\n" +
			"Exit codes: 0 completed or done, 1 error or rejected or not done, 2 usage, 3 paused or still running,\n" +
			"4 no such execution, 5 no server or no worker. With --json standard output is exactly one JSON document.",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error { return signals.CheckRuntime(c.runtime) },
		RunE:              func(*cobra.Command, []string) error { return usagef("say what to do: %s", c.verbs()) },
		Version:           version.Text("codemode"),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&c.runtime, "runtime", signals.DefaultRuntime, "the runtime's `name`")
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print one JSON document")
	root.AddCommand(c.runVerb(), c.approveVerb(), c.rejectVerb(), c.waitVerb(), c.cancelVerb(),
		c.pendingVerb(), c.listVerb(), c.showVerb(), c.auditVerb(), c.doctorVerb(),
		c.retryVerb(), c.resolveVerb(), c.rollbackVerb(), c.deleteVerb(), c.pruneVerb(), c.expireVerb(),
		c.searchVerb(), c.describeVerb(), c.checkVerb(), c.snippetVerb(), c.mcpVerb(), c.consoleVerb())
	return root
}

func (c *cli) verbs() string {
	var names []string
	for _, verb := range c.root().Commands() {
		names = append(names, verb.Name())
	}
	return strings.Join(names, ", ")
}

// verb makes a command; shape is that of its JSON document when it fails.
func (c *cli) verb(use, short string, s shape, args cobra.PositionalArgs, do work) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, Annotations: map[string]string{shapeKey: string(s)},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.began = true
			if len(args) > 0 && s != shapeStarted {
				c.id = args[0]
			}
			return c.traced(cmd, func() (err error) {
				c.answer, err = do(cmd, args)
				return err
			})
		},
	}
}

// traced runs a verb as one span: what comes of it is in the same trace.
func (c *cli) traced(cmd *cobra.Command, do func() error) error {
	var err error
	if c.traces, err = telemetry.Trace(cmd.Context(), &c.tracing, "codemode"); err != nil {
		return err
	}
	defer c.traces.Stop()
	if name := cmd.Name(); name != "mcp" && name != "console" { // which serve many
		ctx, span := c.traces.Start(cmd.Context(), "codemode "+name)
		defer span.End()
		cmd.SetContext(ctx)
	}
	return do()
}

// run does what the arguments say and gives the exit code.
func (c *cli) run(ctx context.Context, args []string) int {
	root := c.root()
	root.SetArgs(args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	if asksJSON(args) {
		root.SetOut(c.err) // help is no document
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !c.began {
		err = usageError{err}
		c.json = c.json || asksJSON(args) // the flag may stand after the mistake
	}
	if err != nil {
		return c.fail(cmd, err)
	}
	return c.say(c.answer)
}

// asksJSON looks for --json by hand, for when the flags cannot be read.
func asksJSON(args []string) bool {
	asked := false
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, value, given := strings.Cut(arg, "=")
		if name == "--json" {
			yes, err := strconv.ParseBool(value)
			asked = !given || yes || err != nil
		}
	}
	return asked
}

// usageError is a mistake in the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// connection is the way to the executions of the runtime.
type connection struct {
	*codemode.Client
	temporal client.Client
	options  client.Options
}

func (c *connection) close() { c.temporal.Close() }

func (c *cli) connect(ctx context.Context) (*connection, error) {
	options, err := c.serverOptions()
	if err != nil {
		return nil, err
	}
	indexed, err := indexLabels()
	if err != nil {
		return nil, err
	}
	temporal, err := codemode.Dial(ctx, options)
	if err != nil {
		return nil, err
	}
	cm, err := codemode.NewClient(temporal,
		codemode.ClientOptions{Runtime: c.runtime, DataConverter: options.DataConverter, IndexLabels: indexed})
	if err != nil {
		temporal.Close()
		return nil, err
	}
	return &connection{cm, temporal, options}, nil
}

// with does something with a connection, which it closes.
func (c *cli) with(ctx context.Context, do func(*connection) (answer, error)) (answer, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return answer{}, err
	}
	defer conn.close()
	return do(conn)
}

func (c *cli) serverOptions() (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return options, usagef("read how to reach Temporal from the environment: %w", err)
	}
	if _, err := payload.Configure(&options); err != nil {
		return options, usageError{err}
	}
	options.Interceptors = append(options.Interceptors, c.tracing.Interceptors...)
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) // errors come back as values
	return options, nil
}

// knownID is for verbs that need an execution: no other text can be one.
func knownID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("name one execution: " + cmd.UseLine())
	}
	return nil
}

// Command worker is the stock worker: it serves the executions of one runtime with the connectors of a codemode.yaml.
//
//	go run ./worker --config codemode.yaml
//
// Where Temporal is, the environment says, as for every Temporal program: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_PROFILE, TEMPORAL_API_KEY, TEMPORAL_TLS_… or a temporal.toml. CODEMODE_LOG is debug, info, warn or error.
//
// It exits with 0 when it was told to stop, 1 when it failed, 2 for a mistake in flags or configuration, and 5 without a
// server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
)

const (
	exitFailed   = 1
	exitUsage    = 2
	exitNoServer = 5
)

// usageError is a mistake of whoever started the worker.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	var usage usageError
	var mistake *connectors.ConfigError
	var none *codemode.NoServerError
	switch {
	case errors.As(err, &usage), errors.As(err, &mistake):
		return exitUsage
	case errors.As(err, &none):
		return exitNoServer
	}
	return exitFailed
}

func run(ctx context.Context, args []string) error {
	path, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return usageError{err}
	}
	log, err := logger(os.Getenv("CODEMODE_LOG"))
	if err != nil {
		return usageError{err}
	}
	config, err := codemode.LoadConfig(path)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: name it with --config FILE", err)
	}
	if err != nil {
		return usageError{err}
	}
	server, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return usageError{fmt.Errorf("read how to reach Temporal from the environment: %w", err)}
	}
	return codemode.RunWorker(ctx, config, codemode.RunOptions{
		Client: server, Log: log, Ready: func(line string) { fmt.Println(line) },
	})
}

func parse(args []string) (string, error) {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error
	path := flags.String("config", "codemode.yaml", "the `file` that names the runtime and its connectors")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(os.Stdout)
		flags.Usage()
		return "", err
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		return "", fmt.Errorf("%w: the worker takes only --config FILE", err)
	}
	return *path, nil
}

func logger(level string) (*slog.Logger, error) {
	levels := map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	at, ok := levels[level]
	if !ok {
		return nil, fmt.Errorf("CODEMODE_LOG is %q: use debug, info, warn or error", level)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: at})), nil
}

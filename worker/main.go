// Command worker is the stock worker: it serves the executions of one runtime with the connectors of a codemode.yaml.
//
//	go run ./worker --config codemode.yaml
//
// Where Temporal is, the environment says, as for every Temporal program: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_PROFILE, TEMPORAL_API_KEY, TEMPORAL_TLS_… or a temporal.toml. CODEMODE_LOG is debug, info, warn or error.
// CODEMODE_ENCRYPTION_KEYS encrypt all payloads, TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID make the worker
// a versioned one, and OTEL_EXPORTER_OTLP_ENDPOINT is where traces go. --metrics-addr serves metrics, --codec-addr the
// endpoint that lets the Web UI show what is compressed or encrypted.
//
// It exits with 0 when it was told to stop, 1 when it failed, 2 for a mistake in flags or configuration, and 5 without
// a server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/harden"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/telemetry"
	"github.com/temporal-codemode/codemode/internal/version"
	"github.com/temporal-codemode/codemode/signals/payload"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
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
	child.Main()
	if err := harden.Private(); err != nil {
		fmt.Fprintln(os.Stderr, "the environment of this process cannot be kept from the servers that it starts:", err)
	}
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
	f, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return usageError{err}
	}
	if f.version {
		fmt.Println(version.Text("codemode-worker"))
		return nil
	}
	log, err := logger(os.Getenv("CODEMODE_LOG"))
	if err != nil {
		return usageError{err}
	}
	config, err := config.Load(f.config)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: name it with --config FILE", err)
	}
	if err != nil {
		return usageError{err}
	}
	f.required = config.EncryptionRequired
	server, measured, stop, err := connection(ctx, f, log)
	if err != nil {
		return err
	}
	defer stop()
	build, err := buildOf(os.Getenv("TEMPORAL_DEPLOYMENT_NAME"), os.Getenv("TEMPORAL_WORKER_BUILD_ID"))
	if err != nil {
		return usageError{err}
	}
	options, err := config.Options()
	if err != nil {
		return usageError{err}
	}
	o := codemodeworker.RunOptions{Client: server, Log: log, Build: build,
		Ready: func(line string) { fmt.Println(line) }}
	if measured != nil {
		o.Started = measured.watch
		context.AfterFunc(ctx, func() { measured.serving.Store(false) })
	}
	return codemodeworker.Run(ctx, options, o)
}

// buildOf reads the variables that Temporal's worker controller sets.
func buildOf(deployment, id string) (worker.WorkerDeploymentVersion, error) {
	if (deployment == "") != (id == "") {
		return worker.WorkerDeploymentVersion{},
			errors.New("a versioned worker needs both TEMPORAL_DEPLOYMENT_NAME and TEMPORAL_WORKER_BUILD_ID")
	}
	return worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: id}, nil
}

// connection says how to reach Temporal, as the environment has it, and serves what the flags ask for beside.
func connection(ctx context.Context, f flags, log *slog.Logger) (server client.Options, measured *metrics,
	stop func(), err error) {
	if server, err = envconfig.LoadDefaultClientOptions(); err != nil {
		return server, nil, nil, usageError{fmt.Errorf("read how to reach Temporal from the environment: %w", err)}
	}
	payloads, err := payload.Configure(&server)
	if err != nil {
		return server, nil, nil, usageError{err}
	}
	if f.required {
		payloads.Require()
	}
	if f.codecAddr != "" {
		endpoint := payload.Endpoint{Origins: strings.Split(f.codecOrigins, ","), Token: os.Getenv(payload.TokenEnv)}
		if err := endpoint.CheckAddress(f.codecAddr); err != nil {
			return server, nil, nil, usageError{err}
		}
		if err := listen(ctx, f.codecAddr, "codec endpoint", payloads.Handler(endpoint), log); err != nil {
			return server, nil, nil, err
		}
	}
	if f.metricsAddr != "" {
		if measured, err = measure(&server, log); err == nil {
			err = listen(ctx, f.metricsAddr, "metrics", measured.handler(), log)
		}
		if err != nil {
			return server, nil, nil, err
		}
	}
	traces, err := telemetry.Trace(ctx, &server, "codemode-worker")
	return server, measured, traces.Stop, err
}

// listen serves until ctx ends.
func listen(ctx context.Context, address, what string, handler http.Handler, log *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return usageError{fmt.Errorf("serve the %s: %w", what, err)}
	}
	log.Info("serving the "+what, "address", listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the "+what+" is served no more", "error", err)
		}
	}()
	return nil
}

func logger(level string) (*slog.Logger, error) {
	levels := map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo,
		"warn": slog.LevelWarn, "error": slog.LevelError}
	at, ok := levels[level]
	if !ok {
		return nil, fmt.Errorf("CODEMODE_LOG is %q: use debug, info, warn or error", level)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: at})), nil
}

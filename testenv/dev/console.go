package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/worker/config"
)

// startConsole serves the approval console for this machine. What it returns stops it.
func (e *environment) startConsole(ctx context.Context, o options) (stop func(), err error) {
	if o.consolePort == 0 || (o.headless || o.noWorker) && !o.given["console-port"] {
		return func() {}, nil
	}
	runtime, err := e.runtime()
	if err != nil {
		return nil, err
	}
	temporal, err := client.Dial(client.Options{HostPort: e.server.Address(), Logger: quiet})
	if err != nil {
		return nil, err
	}
	cm, err := codemode.NewClient(temporal, codemode.ClientOptions{Runtime: runtime})
	if err != nil {
		return nil, err
	}
	options := console.Options{
		Runtimes: []console.Runtime{console.Serve(cm)}, User: cmp.Or(os.Getenv("USER"), "local"),
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if ui := e.server.UIURL(); ui != "" {
		options.TemporalUI = ui + "/namespaces/default"
	}
	site, err := console.New(options)
	if err != nil {
		return nil, err
	}
	listener, err := listen(o)
	if err != nil {
		return nil, err
	}
	e.console = site.Entry("http://" + listener.Addr().String())
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = console.ListenAndServe(ctx, listener, site)
	}()
	return func() { cancel(); <-done; temporal.Close() }, nil
}

// listen takes the default port if it is free; a port that was asked for must be.
func listen(o options) (net.Listener, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.consolePort))
	if err != nil && !o.given["console-port"] {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	return listener, err
}

// runtime is the one that the worker serves.
func (e *environment) runtime() (string, error) {
	cfg, err := config.Load(e.config)
	if err != nil {
		return "", err
	}
	return cfg.Runtime, nil
}

// Command dev is Code Mode all in one: an embedded Temporal server with its Web UI, the stock worker in a process of
// its own, and a demo against a real MCP server: the worker is killed while a program waits for an approval, and a
// program that failed half-way is corrected and goes on.
//
//	go run ./testenv/dev --yes              the demo, decided by itself; exits 0
//	go run ./testenv/dev                    the demo, decided at the terminal; stays up until interrupted
//	go run ./testenv/dev --config FILE      the connectors of that file instead of the demo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/temporal-codemode/codemode/testenv/tracker"
)

type options struct {
	yes, headless, noWorker bool
	config, address, db     string
	uiPort, consolePort     int
	given                   map[string]bool // flags that were set
}

func main() {
	child.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "dev:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	switch os.Getenv(roleVariable) {
	case roleWorker:
		return runWorker(ctx)
	case roleTracker:
		return tracker.Serve(ctx, os.Getenv(stateVariable))
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2) // flag has said why
	}
	return serve(ctx, o)
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("dev", flag.ContinueOnError)
	f.BoolVar(&o.yes, "yes", false, "approve what the demo asks for and exit when it is done")
	f.StringVar(&o.config, "config", "", "use the connectors of this codemode.yaml instead of the demo, and stay up")
	f.StringVar(&o.address, "address", "127.0.0.1:7233", "where Temporal listens")
	f.IntVar(&o.uiPort, "ui-port", 8233, "port of the Web UI; 0 for none")
	f.IntVar(&o.consolePort, "console-port", 8234, "port of the approval console; 0 for none")
	f.StringVar(&o.db, "db", "", "keep Temporal's state in this file; default in memory")
	f.BoolVar(&o.headless, "headless", false, "server and worker only, no demo; stay up")
	f.BoolVar(&o.noWorker, "no-worker", false, "server only; stay up")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.given = map[string]bool{}
	f.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	if f.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "dev takes flags only, not %q\n", f.Arg(0))
		return o, flag.ErrHelp
	}
	return o, nil
}

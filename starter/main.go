// Command starter is Code Mode at the command line: it runs programs, decides what they wait for, and reads records.
//
//	go run ./starter run program.ts
//	go run ./starter approve exec_…
//
// Where Temporal is, the environment says, as for every Temporal program: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_PROFILE, TEMPORAL_API_KEY, TEMPORAL_TLS_… or a temporal.toml.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/temporal-codemode/codemode/internal/invocation"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/harden"
)

func main() {
	child.Main()
	_ = harden.Private() // for the sake of servers that "mcp --config" starts; they run all the same
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal does not wait
	c := &cli{
		in: os.Stdin, out: newScreen(os.Stdout), err: newScreen(os.Stderr), name: invocation.Self("starter"),
		user: os.Getenv("USER"),
	}
	os.Exit(c.run(ctx, os.Args[1:]))
}

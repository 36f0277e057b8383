// Command chaos shows that executions survive: it runs generated programs, kills what they run on with SIGKILL, and
// compares the audit record of each with a ledger that nobody kills.
//
//	go run ./testenv/chaos --executions 1000 --seed 7     workers, sandbox children, connector servers, Temporal
//	go run ./testenv/chaos load                            200 executions, 50 kept paused, workers killed for 2 minutes
//	go run ./testenv/chaos sweep --programs 3              one program after the other, killed at each of its events in turn
//	go run ./testenv/chaos soak --for 1h                   constant load without kills; prints memory over time
//	go run ./testenv/chaos program --seed 7 N              prints execution N of a seed
//
// It exits 0 when the verdict is that nothing was done twice, lost or left hanging.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(ctx, role); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
			os.Exit(1)
		}
		return
	}
	passed, err := command(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// command runs one verb and reports whether its verdict is good.
func command(ctx context.Context, args []string, w io.Writer) (bool, error) {
	verb := "random"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		verb, args = args[0], args[1:]
	}
	o := options{Executions: 200, Concurrency: 24, Workers: 2, Every: 3 * time.Second, Patience: 3 * time.Minute, Progress: os.Stderr}
	f := flag.NewFlagSet("chaos "+verb, flag.ContinueOnError)
	asJSON := f.Bool("json", false, "print the result as JSON")
	f.Uint64Var(&o.Seed, "seed", 1, "decides programs, decisions and kills")
	f.IntVar(&o.Workers, "workers", o.Workers, "number of worker processes")
	f.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "executions at a time")
	programs, lanes := 1, 4
	f.BoolVar(&o.Keep, "keep", false, "keep the ledger and Temporal's database")
	switch verb {
	case "random":
		f.IntVar(&o.Executions, "executions", o.Executions, "number of executions")
		f.DurationVar(&o.Every, "kill-every", o.Every, "mean time between kills of a worker; all else follows")
	case "load":
		o.Paused, o.For, o.Every, o.OnlyWorkers, o.Concurrency = 50, 2*time.Minute, 4*time.Second, true, 40
	case "sweep":
		f.IntVar(&programs, "programs", 1, "programs to sweep: the first is fixed, the others come from the seed")
		f.IntVar(&lanes, "lanes", 4, "executions at a time")
	case "program":
	default:
		return false, fmt.Errorf("no verb %q: random, load, sweep, soak or program", verb)
	}
	if err := f.Parse(args); err != nil {
		return false, err
	}
	if verb == "program" {
		n, err := strconv.Atoi(f.Arg(0))
		if err == nil {
			_, err = fmt.Fprintln(w, program(o.Seed, n))
		}
		return err == nil, err
	}
	r, err := o.inDirectory(ctx, func(ctx context.Context, c *cluster) (result, error) {
		if verb == "sweep" {
			return o.sweep(ctx, c, programs, lanes, victims)
		}
		return o.run(ctx, c)
	})
	if err != nil {
		return false, err
	}
	return r.Passed, r.print(w, *asJSON)
}

// inDirectory runs it with a cluster in a directory of its own.
func (o options) inDirectory(ctx context.Context, do func(context.Context, *cluster) (result, error)) (result, error) {
	dir, remove, err := tempDir()
	if err != nil {
		return result{}, err
	}
	if o.Keep {
		_, _ = fmt.Fprintln(o.Progress, "kept in", dir)
	} else {
		defer remove()
	}
	log, err := os.Create(filepath.Join(dir, "processes.log"))
	if err != nil {
		return result{}, err
	}
	defer func() { _ = log.Close() }()
	c, err := newCluster(ctx, dir, o.Seed, o.Workers, log)
	if err != nil {
		return result{}, err
	}
	defer c.stop()
	return do(ctx, c)
}

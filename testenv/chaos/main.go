// Command chaos shows that executions survive: it runs generated programs, kills what they run on with SIGKILL, and
// compares the audit record of each with a ledger that nobody kills.
//
//	go run ./testenv/chaos --executions 1000 --seed 7     workers, sandbox children, connector servers, Temporal
//	go run ./testenv/chaos load                            200 executions, 50 kept paused, workers killed for 2 minutes
//	go run ./testenv/chaos sweep --programs 3              one program after the other, killed at each of its events in turn
//	go run ./testenv/chaos soak --for 1h                   constant load without kills; prints memory over time
//	go run ./testenv/chaos program --seed 7 N              prints the program of execution N of a seed
//
// It exits 0 when the verdict is that nothing was done twice, lost or left hanging.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"
)

func main() {
	child.Main()
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
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// verb is one mode of the command.
type verb struct {
	options         options
	programs, lanes int
	sample          time.Duration
	json            bool
}

// defaults are a verb's options before its flags.
func defaults(name string) (verb, error) {
	v := verb{programs: 1, lanes: 4, sample: 10 * time.Second, options: options{
		Executions: 200, Concurrency: 24, Workers: 2, Every: 3 * time.Second, Patience: 3 * time.Minute,
		Progress: os.Stderr,
	}}
	switch o := &v.options; name {
	case "random", "program":
	case "load":
		o.Paused, o.For, o.Every, o.OnlyWorkers, o.Concurrency = 50, 2*time.Minute, 4*time.Second, true, 40
	case "sweep":
		o.Workers = 0
	case "soak":
		o.Workers, o.Concurrency, o.For, o.Progress = 1, 8, time.Hour, io.Discard
	default:
		return v, fmt.Errorf("no verb %q: random (the default), load, sweep, soak or program", name)
	}
	return v, nil
}

func (v *verb) flags(name string) *flag.FlagSet {
	f, o := flag.NewFlagSet("chaos "+name, flag.ContinueOnError), &v.options
	f.BoolVar(&v.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.Keep, "keep", false, "keep the ledger, Temporal's database and the logs")
	f.Uint64Var(&o.Seed, "seed", 1, "decides programs, decisions and kills")
	f.IntVar(&o.HistoryEvents, "history-events", 0, "let runs continue as new after so many events")
	if name == "sweep" {
		f.IntVar(&v.programs, "programs", v.programs,
			"programs to sweep: the first is fixed, the others come from the seed")
		f.IntVar(&v.lanes, "lanes", v.lanes, "executions at a time")
		return f
	}
	f.IntVar(&o.Workers, "workers", o.Workers, "worker processes")
	f.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "executions at a time")
	switch name {
	case "random", "load":
		f.IntVar(&o.Executions, "executions", o.Executions, "executions in all")
		f.DurationVar(&o.Every, "kill-every", o.Every, "mean time between kills of a worker; all else follows from it")
	case "soak":
		f.DurationVar(&v.sample, "sample", v.sample, "time between two measurements")
		f.DurationVar(&o.For, "for", o.For, "how long")
	}
	return f
}

// command runs one verb and reports whether its verdict is good.
func command(ctx context.Context, args []string, w io.Writer) (bool, error) {
	name := "random"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	v, err := defaults(name)
	if err != nil {
		return false, err
	}
	f := v.flags(name)
	if err := f.Parse(args); err != nil {
		return false, err
	}
	if name == "program" {
		n, err := strconv.Atoi(f.Arg(0))
		if err == nil {
			_, err = fmt.Fprintln(w, program(v.options.Seed, n))
		}
		return err == nil, err
	}
	passed := false
	err = v.options.inDirectory(ctx, func(c *cluster) (err error) {
		passed, err = v.do(ctx, name, c, w)
		return err
	})
	return passed, err
}

// do runs the verb on a cluster and prints its result.
func (v *verb) do(ctx context.Context, name string, c *cluster, w io.Writer) (bool, error) {
	if name == "soak" {
		r, err := v.options.soak(ctx, c, v.sample, w)
		if err != nil {
			return false, err
		}
		return r.Passed, r.print(w, v.json)
	}
	var r result
	var err error
	if name == "sweep" {
		r, err = v.options.sweep(ctx, c, v.programs, v.lanes, victims)
	} else {
		r, err = v.options.run(ctx, c)
	}
	if err != nil {
		return false, err
	}
	return r.Passed, r.print(w, v.json)
}

// inDirectory runs something with a cluster in a directory of its own.
func (o options) inDirectory(ctx context.Context, do func(*cluster) error) error {
	dir, err := os.MkdirTemp("", "codemode-chaos-")
	if err != nil {
		return err
	}
	if o.Keep {
		_, _ = fmt.Fprintln(os.Stderr, "kept in", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	log, err := os.Create(filepath.Join(dir, "processes.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if o.HistoryEvents > 0 { // workers inherit it
		if err := os.Setenv(eventsVar, strconv.Itoa(o.HistoryEvents)); err != nil {
			return err
		}
	}
	c, err := newCluster(ctx, dir, o.Seed, o.Workers, log)
	if err != nil {
		return err
	}
	defer c.stop()
	return do(c)
}

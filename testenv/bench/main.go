// Command bench measures executions against the workflow that one would write by hand: one activity per call, on the
// same server, in the same run. The server runs in this process, each of the two workers in one of its own.
//
//	go run ./testenv/bench [--rounds N] [--quick] [--json] [--db FILE] [--in-process]
//	    [--only reads,writes,resume,throughput,long] [--markdown] [--cpuprofile FILE]
//	go run ./testenv/bench sandbox [--json]     passes alone, without a server
//	go run ./testenv/bench waiting [--json]     many programs at once that mostly wait for reads
//	go run ./testenv/bench long [--json]        executions of up to 120,000 calls, one after the other
//	go run ./testenv/bench lists [--json]       lists, and one decision about many, with many executions
//	go run ./testenv/bench doors [--json]       models' way in: starter mcp over standard input and output
//	go run ./testenv/bench discovery [--json]   large OpenAPI documents: load, describe, search
//	go run ./testenv/bench search [--json]      how well search finds what queries want
//
// Rounds interleave the two, and swap who goes first, so that a busy machine slows both alike: compare ratios of one
// run, never milliseconds of two. Every program is a text that the worker has not seen before, since a model writes
// each anew; compiling it is part of the time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/temporal-codemode/codemode/sandbox/child"
)

func main() {
	child.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if ok, err := runAsPart(os.Args); ok {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && offline[os.Args[1]] != nil {
		if err := offline[os.Args[1]](ctx, os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	measure := func() error { return run(ctx, o, os.Stdout, os.Stderr) }
	switch o.what {
	case "sandbox":
		measure = func() error { return benchSandbox(os.Stdout, o.json) }
	case "waiting":
		measure = func() error { return benchWaiting(ctx, o, os.Stdout, os.Stderr) }
	case "long":
		measure = func() error { return benchLong(ctx, o, os.Stdout, os.Stderr) }
	case "lists":
		measure = func() error { return benchLists(ctx, o, os.Stdout, os.Stderr) }
	case "doors":
		measure = func() error { return benchDoors(ctx, o, os.Stdout) }
	}
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// offline are benchmarks that need no server.
var offline = map[string]func(ctx context.Context, args []string, out io.Writer) error{"search": benchSearch,
	"discovery": benchDiscovery}

// runAsPart does what a process of the bench is started for, if this is one.
func runAsPart(args []string) (bool, error) {
	if len(args) != 3 {
		return false, nil
	}
	switch args[1] {
	case replayArg:
		calls, _ := strconv.Atoi(args[2])
		return true, replayHere(calls)
	case workerArg:
		return true, serveHere(args[2])
	}
	return false, nil
}

type options struct {
	rounds     int
	quick      bool
	json       bool
	markdown   bool
	db         string
	only       string
	inProcess  bool
	cpuProfile string
	what       string // one of others, or empty
	programs   string // of waiting
	calls      string // of long
	executions int    // of lists
	pending    int    // of these
}

// others are what is measured apart, by the first argument.
var others = []string{"sandbox", "waiting", "long", "lists", "doors"}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "rounds after the warm-up; results are medians of them")
	flags.BoolVar(&o.quick, "quick", false, "one round of few sizes: a smoke run")
	flags.BoolVar(&o.json, "json", false, "print one JSON document instead of tables")
	flags.BoolVar(&o.markdown, "markdown", false, "print the tables in Markdown")
	flags.StringVar(&o.db, "db", "", "keep the server's state in this SQLite `file` instead of memory")
	flags.StringVar(&o.only, "only", "", "run only these `parts`, of "+strings.Join(parts, ","))
	flags.StringVar(&o.programs, "programs", "", "of waiting: how many `programs` wait at once, as in 20,100")
	flags.StringVar(&o.calls, "calls", "1000+0,10000+0,0+1000,0+10000,0+100000,20000+100000",
		"of long: how many `writes+reads` each execution makes")
	flags.IntVar(&o.executions, "executions", 10_000, "of lists: how `many` there are")
	flags.IntVar(&o.pending, "pending", 2_000, "of lists: how `many` of them wait for a person")
	flags.BoolVar(&o.inProcess, "in-process", false, "run passes inside the worker instead of in child processes")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of our worker to this `file`, or beside it")
	if len(args) > 0 && slices.Contains(others, args[0]) {
		o.what, args = args[0], args[1:]
	}
	err := flags.Parse(args)
	if err == nil {
		err = o.check()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if o.quick {
		o.rounds = 1
	}
	return o, err
}

func (o options) check() error {
	if o.rounds < 1 {
		return fmt.Errorf("--rounds %d: at least 1", o.rounds)
	}
	if o.pending < 1 || o.executions < o.pending {
		return fmt.Errorf("--executions %d --pending %d: at least 1, and no more wait than there are", o.executions,
			o.pending)
	}
	if _, err := waitingSizes(o); err != nil {
		return err
	}
	if _, err := longSizes(o); err != nil {
		return err
	}
	for _, name := range o.chosen() {
		if !strings.Contains(","+strings.Join(parts, ",")+",", ","+name+",") {
			return fmt.Errorf("--only %s: the parts are %s", name, strings.Join(parts, ", "))
		}
	}
	return nil
}

// chosen are the parts to run.
func (o options) chosen() []string {
	if o.only == "" {
		return parts
	}
	return strings.Split(o.only, ",")
}

// run measures and prints: the report to out, progress to progress.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	b := newSuite(s, o, progress)
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	if err := b.run(ctx); err != nil {
		return err
	}
	r := b.report()
	if o.json {
		return r.writeJSON(out)
	}
	return r.writeTables(out, o.markdown)
}

func profiled(path string, work func() error) error {
	if path == "" {
		return work()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return work()
}

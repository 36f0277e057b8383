package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

// sandboxRow is one line of `bench sandbox`. Goal is empty where there is none.
type sandboxRow struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  string  `json:"goal,omitempty"`
}

// benchSandbox measures passes alone, without a Temporal server.
func benchSandbox(out io.Writer, asJSON bool) error {
	warm, err := child.New(child.Options{Children: 8})
	if err != nil {
		return err
	}
	defer func() { _ = warm.Close() }()
	oneShot, err := child.New(child.Options{Reuse: -1})
	if err != nil {
		return err
	}
	defer func() { _ = oneShot.Close() }()
	var rows []sandboxRow
	for _, part := range []func() ([]sandboxRow, error){
		func() ([]sandboxRow, error) { return latency("in process", &engine.InProcess{}, 300, "") },
		func() ([]sandboxRow, error) { return latency("warm child", warm, 300, "p50 ≤ 2 ms") },
		func() ([]sandboxRow, error) { return latency("one-shot child", oneShot, 20, "") },
		func() ([]sandboxRow, error) { return rates(warm) },
		func() ([]sandboxRow, error) { return replays() },
		func() ([]sandboxRow, error) { return roundTrip(warm) },
	} {
		more, err := part()
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	rows = append(rows, sandboxRow{What: "memory of an idle child, private", Value: idleMemory(), Unit: "MB"})
	return writeSandbox(out, rows, asJSON)
}

func writeSandbox(out io.Writer, rows []sandboxRow, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%s\t%.2f %s\t%s\n", r.What, r.Value, r.Unit, r.Goal)
	}
	return w.Flush()
}

// echoHost answers every call inline with its arguments.
type echoHost struct{}

func (echoHost) Admit(sandbox.Call) sandbox.Admission {
	return sandbox.Admission{Class: "read", EveryCall: true}
}

func (echoHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	return sandbox.Settlement{Value: c.Args}
}

func runPass(x sandbox.Executor, p sandbox.Pass) error {
	p.Connectors = []string{"store"}
	r, err := x.Run(context.Background(), p, echoHost{})
	if err == nil && r.End != sandbox.Completed {
		err = fmt.Errorf("a pass ended as %s: %+v", r.End, r.Failure)
	}
	return err
}

// tiny is a program that the sandbox has not seen: compiling it counts.
func tiny(n int) sandbox.Pass { return sandbox.Pass{Code: "return 1 + " + strconv.Itoa(n)} }

func latency(name string, x sandbox.Executor, passes int, goal string) ([]sandboxRow, error) {
	var times samples
	for i := range passes + 5 {
		elapsed, err := timed(func() error { return runPass(x, tiny(i)) })
		if err != nil {
			return nil, err
		}
		if i >= 5 {
			times = append(times, elapsed)
		}
	}
	slices.Sort(times)
	return []sandboxRow{
		{What: "tiny pass, " + name + ", p50", Value: times[len(times)/2], Unit: "ms", Goal: goal},
		{What: "tiny pass, " + name + ", p95", Value: times[len(times)*95/100], Unit: "ms"},
	}, nil
}

func rates(x sandbox.Executor) ([]sandboxRow, error) {
	var rows []sandboxRow
	for _, concurrent := range []int{1, 8} {
		const passes = 400
		var group sync.WaitGroup
		errs := make(chan error, concurrent)
		began := time.Now()
		for worker := range concurrent {
			group.Go(func() {
				for i := range passes / concurrent {
					if err := runPass(x, tiny(1000*worker+i)); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		group.Wait()
		select {
		case err := <-errs:
			return nil, err
		default:
		}
		rows = append(rows, sandboxRow{
			What:  fmt.Sprintf("tiny passes a second, %d at once", concurrent),
			Value: passes / time.Since(began).Seconds(), Unit: "/s", Goal: "≥ 300 /s",
		})
	}
	return rows, nil
}

// replays measures the processor time of replaying calls, in a process of its own so that nothing else counts.
func replays() ([]sandboxRow, error) {
	var rows []sandboxRow
	for _, calls := range []int{1000, 100_000} {
		cmd := exec.Command(os.Args[0], replayArg, strconv.Itoa(calls))
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("replay %d calls: %w", calls, err)
		}
		millis, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return nil, err
		}
		row := sandboxRow{What: fmt.Sprintf("replay of %d calls, processor time", calls), Value: millis, Unit: "ms"}
		if calls == 1000 {
			row.Goal = "≤ 15 ms"
		}
		rows = append(rows, row)
	}
	return rows, nil
}

const replayArg = "replay-in-this-process"

func replayHere(calls int) error {
	p := sandbox.Pass{Code: "let t = 0; for (let i = 0; i < " + strconv.Itoa(calls) +
		"; i++) t += (await store.echo({i})).i; return t"}
	for i := range calls {
		raw := json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))
		p.Log = append(p.Log, signals.Entry{ID: i, Connector: "store", Method: "echo", Args: raw, Value: raw})
	}
	x := &engine.InProcess{}
	if err := runPass(x, tiny(0)); err != nil {
		return err
	}
	before := ownCPU()
	if err := runPass(x, p); err != nil {
		return err
	}
	fmt.Println(float64(ownCPU()-before) / float64(time.Millisecond))
	return nil
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func roundTrip(x sandbox.Executor) ([]sandboxRow, error) {
	const calls = 500
	code := "for (let i = 0; i < " + strconv.Itoa(calls) + "; i++) await store.echo(i); return 1"
	var times samples
	for i := range 5 {
		elapsed, err := timed(func() error { return runPass(x, sandbox.Pass{Code: code + " + " + strconv.Itoa(i)}) })
		if err != nil {
			return nil, err
		}
		times = append(times, elapsed*1000/calls)
	}
	return []sandboxRow{{What: "live call through the pipe", Value: times.median(), Unit: "µs"}}, nil
}

// idleMemory reads the private memory of one of this process's children; 0 where the system does not tell.
func idleMemory() float64 {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", "codemode-sandbox-child").Output()
	pids := strings.Fields(string(out))
	if err != nil || len(pids) == 0 {
		return 0
	}
	text, err := os.ReadFile("/proc/" + pids[0] + "/smaps_rollup")
	if err != nil {
		return 0
	}
	kb := 0
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[0], "Private_") {
			n, _ := strconv.Atoi(fields[1])
			kb += n
		}
	}
	return float64(kb) / 1024
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// pause is a read that takes as long as it is told: what a program waits for most of its life.
type pause struct {
	ID int `json:"id"`
	Ms int `json:"ms"`
}

func wait(ctx context.Context, p pause) (item, error) {
	select {
	case <-time.After(time.Duration(p.Ms) * time.Millisecond):
		return look(ref{ID: p.ID}), nil
	case <-ctx.Done():
		return item{}, ctx.Err()
	}
}

// waitMethod is the read of our connector that waits.
func waitMethod() connectors.Method {
	m := connectors.Func("wait", "One item by its id, after some time.", connectors.Read,
		func(c connectors.Context, p pause) (item, error) { return wait(c, p) })
	m.InputSchema = connectors.SchemaFor[pause]()
	return m
}

// waits is how many reads a program makes, one after the other, and how long each takes.
type waits struct{ Reads, Ms int }

func (w waits) String() string {
	return fmt.Sprintf("%d reads of %s", w.Reads, time.Duration(w.Ms)*time.Millisecond)
}

func (w waits) sum() int { return w.Reads * (w.Reads - 1) / 2 }

// waitingBaseline is the program with an activity for each read.
func waitingBaseline(ctx workflow.Context, w waits) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	sum := 0
	for i := range w.Reads {
		var got item
		if err := workflow.ExecuteActivity(ctx, wait, pause{ID: i, Ms: w.Ms}).Get(ctx, &got); err != nil {
			return 0, err
		}
		sum += got.ID
	}
	return sum, nil
}

func (s *site) waitBaseline(ctx context.Context, w waits) error {
	o := client.StartWorkflowOptions{ID: "bench/" + uuid.NewString(), TaskQueue: baselineQueue}
	started, err := s.temporal.ExecuteWorkflow(ctx, o, waitingBaseline, w)
	if err != nil {
		return err
	}
	var sum int
	if err := started.Get(ctx, &sum); err != nil || sum != w.sum() {
		return fmt.Errorf("the baseline of %s answered %d, not %d: %w", w, sum, w.sum(), err)
	}
	return nil
}

func (s *site) waitOurs(ctx context.Context, w waits) error {
	o, err := s.client.Execute(ctx, fmt.Sprintf(`// program %d
let sum = 0;
for (let i = 0; i < %d; i++) sum += (await store.wait({ id: i, ms: %d })).id;
return sum;
`, programs.Add(1), w.Reads, w.Ms), codemode.ExecuteOptions{})
	if err == nil && (o.Status != signals.Completed || string(o.Result) != strconv.Itoa(w.sum())) {
		err = fmt.Errorf("a program of %s is %s with %s instead of %d: %s", w, o.Status, o.Result, w.sum(), o.Error)
	}
	return err
}

// waitingRow is one number of programs, all started at once.
type waitingRow struct {
	Programs int         `json:"programs"`
	Reads    string      `json:"reads"`
	Ideal    float64     `json:"idealMs"` // if nothing but the reads took time
	Baseline waitingSide `json:"baseline"`
	Ours     waitingSide `json:"ours"`
	Ratio    float64     `json:"ratio"`
}

type waitingSide struct {
	Ms float64 `json:"ms"`
	// Processor time of one program, in milliseconds.
	WorkerCPU float64 `json:"workerCPU"`
	ServerCPU float64 `json:"serverCPU"`
	// Memory of the worker and its sandbox children in MiB: before, and the most while the programs waited.
	Before float64 `json:"beforeMiB"`
	Most   float64 `json:"mostMiB"`
}

// each is what a program takes of the worker's memory, in MiB.
func (s waitingSide) each(programs int) float64 { return (s.Most - s.Before) / float64(programs) }

// waitingSizes are how many programs wait at once.
func waitingSizes(o options) ([]int, error) {
	switch {
	case o.quick:
		return []int{20, 100}, nil
	case o.programs == "":
		return []int{20, 100, 300, 1000}, nil
	}
	var sizes []int
	for _, text := range strings.Split(o.programs, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--programs %s: %q is no number of programs", o.programs, text)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// benchWaiting measures programs that mostly wait, beside one activity for each read.
func benchWaiting(ctx context.Context, o options, out, progress io.Writer) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	warm := waits{Reads: 2, Ms: 10}
	for _, side := range []func(context.Context, waits) error{s.waitBaseline, s.waitOurs} {
		if err := together(10, 50, func() error { return side(ctx, warm) }); err != nil {
			return err
		}
	}
	sizes, err := waitingSizes(o)
	if err != nil {
		return err
	}
	var rows []waitingRow
	for _, w := range []waits{{10, 200}, {3, 2000}} {
		for _, n := range sizes {
			_, _ = fmt.Fprintf(progress, "%d programs of %s\n", n, w)
			row := waitingRow{Programs: n, Reads: w.String(), Ideal: float64(w.Reads * w.Ms)}
			if row.Baseline, err = s.waitTogether(ctx, s.baseline, n, w, s.waitBaseline); err != nil {
				return err
			}
			if row.Ours, err = s.waitTogether(ctx, s.ours, n, w, s.waitOurs); err != nil {
				return err
			}
			row.Ratio = row.Ours.Ms / row.Baseline.Ms
			rows = append(rows, row)
		}
	}
	return writeWaiting(out, rows, o)
}

func (s *site) waitTogether(ctx context.Context, p *process, programs int, w waits,
	execute func(context.Context, waits) error) (waitingSide, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	rest(ctx)
	side := waitingSide{Before: p.memory()}
	most := p.watchMemory()
	u, err := measured(p, func() error {
		return together(programs, programs, func() error { return execute(ctx, w) })
	})
	side.Most = most()
	n := float64(programs)
	side.Ms, side.WorkerCPU, side.ServerCPU = u.ms, u.worker/n, u.server/n
	return side, err
}

// watchMemory looks at the worker's memory now and then until it is asked for the most.
func (p *process) watchMemory() (most func() float64) {
	stop, largest := make(chan struct{}), 0.0
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(300 * time.Millisecond)
		defer ticker.Stop()
		for {
			largest = max(largest, p.memory())
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	})
	return func() float64 {
		close(stop)
		group.Wait()
		return largest
	}
}

// memory is what the worker and its sandbox children hold, in MiB; pages that they share count once.
func (p *process) memory() float64 {
	total := pss(p.cmd.Process.Pid)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if pid, parent, _, err := readStat(path); err == nil && parent == p.cmd.Process.Pid {
			total += pss(pid)
		}
	}
	return total / 1024
}

// pss is a process's proportional share of memory in KiB; 0 where the system does not tell.
func pss(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "Pss:" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			return kb
		}
	}
	return 0
}

func writeWaiting(out io.Writer, rows []waitingRow, o options) error {
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	for _, t := range []table{waitingTable(rows), waitingGoals(rows)} {
		if err := t.write(out, o.markdown); err != nil {
			return err
		}
	}
	return nil
}

func waitingTable(rows []waitingRow) table {
	t := table{header: []string{"programs at once", "each makes", "baseline, s", "ours, s", "ours/baseline",
		"worker CPU, ms each", "server CPU, ms each", "worker memory, MiB", "MiB a program"}}
	for _, r := range rows {
		b, o := r.Baseline, r.Ours
		t.rows = append(t.rows, []string{fmt.Sprint(r.Programs), r.Reads, seconds(b.Ms), seconds(o.Ms),
			fmt.Sprintf("%.2f", r.Ratio), tenth(b.WorkerCPU) + " / " + tenth(o.WorkerCPU),
			tenth(b.ServerCPU) + " / " + tenth(o.ServerCPU), pair(b.Most, o.Most),
			fmt.Sprintf("%.2f / %.2f", b.each(r.Programs), o.each(r.Programs))})
	}
	return t
}

func seconds(ms float64) string { return fmt.Sprintf("%.1f", ms/1000) }

// waitingGoals are what programs of ten reads must reach.
func waitingGoals(rows []waitingRow) table {
	var goals []goal
	most := map[int]float64{}
	for _, r := range rows {
		if !strings.HasPrefix(r.Reads, "10 ") {
			continue
		}
		most[r.Programs] = r.Ours.Most
		switch r.Programs {
		case 100:
			goals = append(goals, atMost("100 programs, s", 3, r.Ours.Ms/1000, true))
		case 300:
			goals = append(goals, atMost("300 programs, s", 7, r.Ours.Ms/1000, true),
				atMost("300 programs: time / baseline's", 0.4, r.Ratio, true))
		case 1000:
			goals = append(goals, atMost("1000 programs: time / baseline's", 0.4, r.Ratio, true),
				atMost("MiB a program beyond the first hundred", 1, (most[1000]-most[100])/900, true))
		}
	}
	return goalTable(goals)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// undoable is the write of our connector that can be undone.
func undoable() connectors.Method {
	m := method("make", connectors.Write)
	m.Revert = func(connectors.Context, json.RawMessage, json.RawMessage) error { return nil }
	return m
}

// stretch is how many calls are timed together.
const stretch = 1000

// longWork is a long sequence of calls: a write after every so many reads, which may be none.
type longWork struct{ Writes, Reads int }

func (w longWork) calls() int { return w.Writes + w.Reads }

func (w longWork) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{w.Writes, "writes"}, {w.Reads, "reads"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, " and ")
}

// program makes the calls, each after the one before, notes the time after each stretch of them, and asks a person.
// Its clock is that of the newest result.
func (w longWork) program() string {
	each := w.calls()
	if w.Writes > 0 {
		each = max(1, w.calls()/w.Writes)
	}
	if w.Reads == 0 {
		each = 1
	}
	return fmt.Sprintf(`// program %d
const times = [Date.now()];
for (let i = 0; i < %d; i++) {
  if (%t && (i + 1) %% %d === 0) await store.write({ id: i });
  else await store.read({ id: i });
  if ((i + 1) %% %d === 0) times.push(Date.now());
}
await store.ask({ id: 0 });
return times;
`, programs.Add(1), w.calls(), w.Writes > 0, each, stretch)
}

// longRunRow is what a long execution took.
type longRunRow struct {
	Calls string `json:"calls"`
	// Seconds until the person is asked.
	Seconds float64 `json:"seconds"`
	// Milliseconds of a call among the first thousand, and among the last.
	First float64 `json:"firstMs"`
	Last  float64 `json:"lastMs"`
	Ratio float64 `json:"ratio"`
	// Runs, and the most events and bytes of one.
	Runs   int     `json:"runs"`
	Events int64   `json:"events"`
	MiB    float64 `json:"mib"`
	// ResumeMs is from an approval on a worker just started to the end.
	ResumeMs  float64 `json:"resumeMs"`
	ResumeCPU float64 `json:"resumeCPU"` // of worker and server, in milliseconds
	WorkerCPU float64 `json:"workerCPU"` // of a call, in milliseconds
	ServerCPU float64 `json:"serverCPU"`
	Worker    float64 `json:"workerMiB"` // at the end
}

// longSizes are the works to measure.
func longSizes(o options) ([]longWork, error) {
	var works []longWork
	for _, text := range strings.Split(o.calls, ",") {
		writes, reads, both := strings.Cut(text, "+")
		var w longWork
		var err error
		if w.Writes, err = strconv.Atoi(writes); err == nil && both {
			w.Reads, err = strconv.Atoi(reads)
		}
		if err != nil || min(w.Writes, w.Reads) < 0 || w.calls() < stretch || w.Reads > 0 && w.Writes > w.Reads {
			return nil, fmt.Errorf("--calls %s: %q is not writes+reads, at least %d, and no more writes than reads",
				o.calls, text, stretch)
		}
		works = append(works, w)
	}
	return works, nil
}

// benchLong measures executions of very many calls, and the rollback of writes that several runs made.
func benchLong(ctx context.Context, o options, out, progress io.Writer) error {
	works, err := longSizes(o)
	if err != nil {
		return err
	}
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.runOurs(ctx, work{Reads: 10, Writes: 10}); err != nil {
		return err
	}
	var rows []longRunRow
	for _, w := range works {
		_, _ = fmt.Fprintln(progress, w)
		row, err := s.timeLong(ctx, w, progress)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	_, _ = fmt.Fprintln(progress, "rollback")
	undone, err := s.timeRollback(ctx, o)
	if err != nil {
		return err
	}
	return writeLong(out, rows, undone, o)
}

func (s *site) timeLong(ctx context.Context, w longWork, progress io.Writer) (longRunRow, error) {
	row := longRunRow{Calls: w.String()}
	var id string
	u, err := measured(s.ours, func() error {
		o, err := s.client.Execute(ctx, w.program(), codemode.ExecuteOptions{})
		if err == nil && o.Status != signals.Paused {
			err = fmt.Errorf("a program of %s is %s: %s", w, o.Status, o.Error)
		}
		id = o.ExecutionID
		return err
	})
	if err != nil {
		return row, err
	}
	n := float64(w.calls())
	row.Seconds, row.WorkerCPU, row.ServerCPU, row.Worker = u.ms/1000, u.worker/n, u.server/n, s.ours.memory()
	_, _ = fmt.Fprintf(progress, "%s took %.0f s; approving on a new worker\n", w, row.Seconds)
	if err := s.weighRuns(ctx, id, &row); err != nil {
		return row, err
	}
	if err := s.restartOurs(ctx); err != nil {
		return row, err
	}
	rest(ctx)
	var o signals.Outcome
	u, err = measured(s.ours, func() error {
		o, err = s.client.Approve(ctx, id, signals.Approve{By: "bench"})
		return err
	})
	row.ResumeMs, row.ResumeCPU = u.ms, u.worker+u.server
	if err == nil && o.Status != signals.Completed {
		err = fmt.Errorf("a program of %s is %s: %s", w, o.Status, o.Error)
	}
	if err != nil {
		return row, err
	}
	return row, row.times(o.Result)
}

// times tells the time of a call in the first and in the last stretch.
func (r *longRunRow) times(result json.RawMessage) error {
	var at []float64
	if err := json.Unmarshal(result, &at); err != nil || len(at) < 2 {
		return fmt.Errorf("the program answered %s: %w", signals.Cut(string(result), 100), err)
	}
	last := len(at) - 1
	r.First, r.Last = (at[1]-at[0])/stretch, (at[last]-at[last-1])/stretch
	r.Ratio = r.Last / r.First
	return nil
}

// weighRuns adds how many runs an execution has, and the largest of them.
func (s *site) weighRuns(ctx context.Context, id string, row *longRunRow) error {
	runs, err := s.runs(ctx, id)
	row.Runs = len(runs)
	for _, r := range runs {
		row.Events, row.MiB = max(row.Events, r.HistoryLength), max(row.MiB, float64(r.HistorySizeBytes)/(1<<20))
	}
	return err
}

// runs are all runs of an execution. Visibility knows how large one is when it has ended.
func (s *site) runs(ctx context.Context, id string) ([]*workflow.WorkflowExecutionInfo, error) {
	workflowID := signals.WorkflowID(signals.DefaultRuntime, id)
	var runs []*workflow.WorkflowExecutionInfo
	d, err := s.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return nil, err
	}
	page, err := s.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`WorkflowId = "%s"`, workflowID)})
	for _, r := range page.GetExecutions() {
		if r.Execution.RunId != d.WorkflowExecutionInfo.Execution.RunId {
			runs = append(runs, r)
		}
	}
	return append(runs, d.WorkflowExecutionInfo), err
}

// undoneRow is the rollback of writes that several runs made.
type undoneRow struct {
	Writes  int     `json:"writes"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
	Undone  int     `json:"undone"`
	Again   int     `json:"undoneAgain"` // by a second rollback
}

// timeRollback undoes writes that three runs made.
func (s *site) timeRollback(ctx context.Context, o options) (undoneRow, error) {
	const writes, events = 1000, 2500
	row := undoneRow{Writes: writes}
	s.ours.stop()
	config := s.ours.config
	config.HistoryEvents = events
	var err error
	if s.ours, err = s.worker(config); err != nil {
		return row, err
	}
	made, err := s.client.Execute(ctx, fmt.Sprintf(
		"// program %d\nfor (let i = 0; i < %d; i++) await store.make({ id: i });\n", programs.Add(1), writes),
		codemode.ExecuteOptions{})
	if err != nil || made.Status != signals.Completed {
		return row, fmt.Errorf("a program of %d writes is %s: %s, %w", writes, made.Status, made.Error, err)
	}
	runs, err := s.runs(ctx, made.ExecutionID)
	if err != nil {
		return row, err
	}
	row.Runs = len(runs)
	began := time.Now()
	undone, err := s.client.Rollback(ctx, made.ExecutionID, signals.Rollback{By: "bench"})
	if err != nil {
		return row, err
	}
	row.Seconds = time.Since(began).Seconds()
	once := map[int]bool{}
	for _, seq := range undone.Reverted {
		once[seq] = true
	}
	row.Undone = len(once)
	again, err := s.client.Rollback(ctx, made.ExecutionID, signals.Rollback{By: "bench"})
	row.Again = len(again.Reverted) + len(undone.Reverted) - len(once)
	return row, err
}

func writeLong(out io.Writer, rows []longRunRow, undone undoneRow, o options) error {
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"long": rows, "rollback": undone})
	}
	t := table{header: []string{"calls", "s", "a call of the first 1000, ms", "of the last 1000", "last/first", "runs",
		"events of one", "MiB of one", "resume on a new worker, ms", "its CPU, ms", "worker CPU, ms a call",
		"server CPU", "worker, MiB"}}
	var goals []goal
	for _, r := range rows {
		t.rows = append(t.rows, []string{r.Calls, fmt.Sprintf("%.1f", r.Seconds), fmt.Sprintf("%.2f", r.First),
			fmt.Sprintf("%.2f", r.Last), fmt.Sprintf("%.2f", r.Ratio), fmt.Sprint(r.Runs), fmt.Sprint(r.Events),
			tenth(r.MiB), tenth(r.ResumeMs), tenth(r.ResumeCPU), fmt.Sprintf("%.2f", r.WorkerCPU),
			fmt.Sprintf("%.2f", r.ServerCPU), tenth(r.Worker)})
		goals = append(goals, atMost(r.Calls+": resume on a new worker, ms", 5000, r.ResumeMs, true))
		if !strings.Contains(r.Calls, "reads") {
			goals = append(goals, atMost(r.Calls+": last / first 1000", 1.2, r.Ratio, true))
		}
	}
	goals = append(goals, atLeast(fmt.Sprintf("of %d writes undone", undone.Writes), float64(undone.Writes),
		float64(undone.Undone), false), atMost("undone twice", 0, float64(undone.Again), false))
	rollback := table{header: []string{"rollback of writes", "runs", "s", "undone"}, rows: [][]string{{
		fmt.Sprint(undone.Writes), fmt.Sprint(undone.Runs), fmt.Sprintf("%.1f", undone.Seconds),
		fmt.Sprint(undone.Undone)}}}
	for _, t := range []table{t, rollback, goalTable(goals)} {
		if err := t.write(out, o.markdown); err != nil {
			return err
		}
	}
	return nil
}

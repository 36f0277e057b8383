package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// listed is how many rows the measured lists ask for.
const listed = 2000

// listsRow is one thing that a client does where there are many executions.
type listsRow struct {
	What    string  `json:"what"`
	Rows    int     `json:"rows"`
	Ms      float64 `json:"ms"`
	Fastest float64 `json:"fastestMs"`
	Goal    float64 `json:"goalMs,omitempty"`
	// Processor time of one decision, in milliseconds.
	WorkerCPU float64 `json:"workerCPU,omitempty"`
	ServerCPU float64 `json:"serverCPU,omitempty"`
}

// benchLists measures lists, and a decision about all that waits, where there are many executions.
func benchLists(ctx context.Context, o options, out, progress io.Writer) error {
	s, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	_, _ = fmt.Fprintf(progress, "making %d executions, of which %d wait\n", o.executions, o.pending)
	if err := s.populate(ctx, o); err != nil {
		return err
	}
	rows, err := s.timeLists(ctx, o, progress)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(progress, "approving %d\n", o.pending)
	approved, err := s.timeApproveAll(ctx, o.pending)
	if err != nil {
		return err
	}
	return writeLists(out, append(rows, approved...), o)
}

// populate makes executions that have completed, and in the end those that wait for a person.
func (s *site) populate(ctx context.Context, o options) error {
	const atOnce = 32
	err := together(atOnce, o.executions-o.pending, func() error {
		_, err := s.runOurs(ctx, work{Reads: 1})
		return err
	})
	if err == nil {
		err = together(atOnce, o.pending, func() error { _, err := s.pause(ctx, work{Reads: 1}); return err })
	}
	if err != nil {
		return err
	}
	return s.awaitListed(ctx, fmt.Sprintf(`CodemodeStatus = "%s"`, signals.Paused), o.pending)
}

// awaitListed waits until visibility has so many executions.
func (s *site) awaitListed(ctx context.Context, query string, want int) error {
	for {
		n, err := s.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Query: fmt.Sprintf(`WorkflowType = "%s" AND %s`, signals.ExecutionWorkflow, query)})
		if err != nil || n.Count == int64(want) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// timeLists measures each list o.rounds times.
func (s *site) timeLists(ctx context.Context, o options, progress io.Writer) ([]listsRow, error) {
	list := func(l codemode.ListOptions) func() (int, error) {
		return func() (int, error) {
			records, err := s.client.Executions(ctx, l)
			return len(records), err
		}
	}
	var rows []listsRow
	for _, m := range []struct {
		what string
		goal float64
		ask  func() (int, error)
	}{
		{"pending", 1000, func() (int, error) { l, err := s.client.Pending(ctx, ""); return len(l), err }},
		{"list of 20", 0, list(codemode.ListOptions{Brief: true})},
		{"list", 1000, list(codemode.ListOptions{Limit: listed, Brief: true})},
		{"list --json, with results", 1000, list(codemode.ListOptions{Limit: listed})},
		{"list of completed ones", 0,
			list(codemode.ListOptions{Limit: listed, Status: signals.Completed, Brief: true})},
		{"list of completed ones --json, with results", 0,
			list(codemode.ListOptions{Limit: listed, Status: signals.Completed})},
		{"search for what none has", 0, list(codemode.ListOptions{Text: "no program has this", Brief: true})},
	} {
		row, times := listsRow{What: m.what, Goal: m.goal}, samples{}
		for range o.rounds {
			_, _ = fmt.Fprintln(progress, m.what)
			rest(ctx)
			ms, err := timed(func() (err error) { row.Rows, err = m.ask(); return err })
			if err != nil {
				return nil, err
			}
			times = append(times, ms)
		}
		row.Ms, row.Fastest = times.median(), times.smallest()
		rows = append(rows, row)
	}
	return rows, nil
}

// timeApproveAll measures an approval of all that waits: to the last verdict, and until all have completed.
func (s *site) timeApproveAll(ctx context.Context, pending int) ([]listsRow, error) {
	var told float64
	u, err := measured(s.ours, func() error {
		began := time.Now()
		items, err := s.client.Select(ctx, codemode.Selection{})
		if err != nil {
			return err
		}
		list, err := s.client.ApproveAll(ctx, items, codemode.ApproveAllOptions{By: "bench"})
		told = millis(time.Since(began))
		if err != nil {
			return err
		}
		accepted := 0
		for _, d := range list {
			accepted += len(d.Accepted)
		}
		if accepted != pending {
			return fmt.Errorf("%d calls were approved of %d that wait", accepted, pending)
		}
		return s.awaitListed(ctx, `ExecutionStatus = "Running"`, 0)
	})
	n := float64(pending)
	return []listsRow{
		{What: "approve --all", Rows: pending, Ms: told, Fastest: told, Goal: 25_000},
		{What: "approve --all, until all have completed", Rows: pending, Ms: u.ms, Fastest: u.ms,
			WorkerCPU: u.worker / n, ServerCPU: u.server / n},
	}, err
}

func writeLists(out io.Writer, rows []listsRow, o options) error {
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	t := table{header: []string{"with " + fmt.Sprint(o.executions) + " executions", "rows", "ms", "fastest",
		"worker CPU, ms each", "server CPU, ms each"}}
	var goals []goal
	for _, r := range rows {
		cpu := []string{"", ""}
		if r.ServerCPU > 0 {
			cpu = []string{tenth(r.WorkerCPU), tenth(r.ServerCPU)}
		}
		t.rows = append(t.rows, append([]string{r.What, fmt.Sprint(r.Rows), tenth(r.Ms), tenth(r.Fastest)}, cpu...))
		if r.Goal > 0 {
			goals = append(goals, atMost(r.What+", ms", r.Goal, r.Ms, true))
		}
	}
	for _, t := range []table{t, goalTable(goals)} {
		if err := t.write(out, o.markdown); err != nil {
			return err
		}
	}
	return nil
}

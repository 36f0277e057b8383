package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
)

// report is what a run prints; its JSON is the document of --json.
type report struct {
	Environment environment     `json:"environment"`
	Reads       []comparisonRow `json:"reads,omitempty"`
	Writes      []comparisonRow `json:"writes,omitempty"`
	Resume      []resumeRow     `json:"resume,omitempty"`
	Throughput  []loadRow       `json:"throughput,omitempty"`
	Goals       []goal          `json:"goals"`
}

type environment struct {
	Go   string `json:"go"`
	CPUs int    `json:"cpus"`
	DB   string `json:"db"`
	// Sandbox is where passes run: "child processes" or "in process".
	Sandbox string `json:"sandbox"`
	Rounds  int    `json:"rounds"`
	Quick   bool   `json:"quick"`
}

// spread is a median and how far the rounds lay apart.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

type sideRow struct {
	Ms     spread  `json:"ms"`
	Events float64 `json:"events"`
	Bytes  float64 `json:"bytes"`
}

type comparisonRow struct {
	Calls    int     `json:"calls"`
	Baseline sideRow `json:"baseline"`
	Ours     sideRow `json:"ours"`
	// Ratio is our time through the baseline's, round by round.
	Ratio spread `json:"ratio"`
}

type resumeRow struct {
	Calls int    `json:"calls"`
	Ms    spread `json:"ms"`
	// Ratio is to the smallest log.
	Ratio spread `json:"ratio"`
}

type loadRow struct {
	Concurrent int `json:"concurrent"`
	Executions int `json:"executions"`
	// Executions per second.
	Baseline spread `json:"baseline"`
	Ours     spread `json:"ours"`
	Ratio    spread `json:"ratio"`
}

func spreadOf(s samples) spread {
	if len(s) == 0 {
		return spread{}
	}
	return spread{Median: s.median(), Min: slices.Min(s), Max: slices.Max(s)}
}

func (b *suite) report() report {
	r := report{
		Environment: environment{Go: runtime.Version(), CPUs: runtime.NumCPU(), DB: "memory", Sandbox: "child processes", Rounds: b.options.rounds, Quick: b.options.quick},
		Reads:       comparisonRows(b.reads), Writes: comparisonRows(b.writes), Goals: b.goals(),
	}
	if b.options.db != "" {
		r.Environment.DB = b.options.db
	}
	if b.options.inProcess {
		r.Environment.Sandbox = "in process"
	}
	for _, x := range b.resume {
		r.Resume = append(r.Resume, resumeRow{Calls: x.calls, Ms: spreadOf(x.ms), Ratio: spreadOf(x.ms.over(b.resume[0].ms))})
	}
	for _, l := range b.throughput {
		r.Throughput = append(r.Throughput, loadRow{
			Concurrent: l.concurrent, Executions: l.executions,
			Baseline: spreadOf(l.baseline), Ours: spreadOf(l.ours), Ratio: spreadOf(l.ours.over(l.baseline)),
		})
	}
	return r
}

func comparisonRows(list []*comparison) []comparisonRow {
	var rows []comparisonRow
	for _, c := range list {
		rows = append(rows, comparisonRow{
			Calls: c.work.Reads + c.work.Writes, Baseline: rowOf(c.baseline), Ours: rowOf(c.ours), Ratio: spreadOf(c.ours.ms.over(c.baseline.ms)),
		})
	}
	return rows
}

func rowOf(s side) sideRow {
	return sideRow{Ms: spreadOf(s.ms), Events: s.events.median(), Bytes: s.bytes.median()}
}

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r report) writeTables(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "%s, %d CPUs, state in %s, sandbox: %s, medians of %d round(s), minimum to maximum in brackets\n",
		r.Environment.Go, r.Environment.CPUs, r.Environment.DB, r.Environment.Sandbox, r.Environment.Rounds)
	writeComparison(t, "reads", r.Reads)
	writeComparison(t, "writes", r.Writes)
	writeResume(t, r.Resume)
	writeLoad(t, r.Throughput)
	writeGoals(t, r.Goals)
	return t.Flush()
}

func writeComparison(w io.Writer, name string, rows []comparisonRow) {
	if len(rows) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\n%s\tbaseline, ms\t\tours, ms\t\tours/baseline\t\tevents: baseline\tours\tbytes: baseline\tours\n", name)
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\n",
			r.Calls, ms(r.Baseline.Ms), ms(r.Ours.Ms), ratio(r.Ratio), r.Baseline.Events, r.Ours.Events, r.Baseline.Bytes, r.Ours.Bytes)
	}
}

func writeResume(w io.Writer, rows []resumeRow) {
	if len(rows) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\ncalls in the log\tapprove to completed, ms\t\tto the first\n")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\n", r.Calls, ms(r.Ms), ratio(r.Ratio))
	}
}

func writeLoad(w io.Writer, rows []loadRow) {
	if len(rows) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\nconcurrent\tbaseline, executions of 10 reads a second\t\tours\t\tours/baseline\n")
	for _, r := range rows {
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", r.Concurrent, ms(r.Baseline), ms(r.Ours), ratio(r.Ratio))
	}
}

func writeGoals(w io.Writer, goals []goal) {
	if len(goals) == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "\ngoal\twant\tgot\t\n")
	for _, g := range goals {
		mark := "✗"
		if g.Pass {
			mark = "✓"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\n", g.Name, g.Want, g.Got, mark)
	}
}

// ms shows a median and its range in two cells.
func ms(s spread) string { return fmt.Sprintf("%.1f\t(%.1f to %.1f)", s.Median, s.Min, s.Max) }

func ratio(s spread) string { return fmt.Sprintf("%.2f\t(%.2f to %.2f)", s.Median, s.Min, s.Max) }

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is one part of the report as people read it.
type table struct {
	header []string
	rows   [][]string
}

// writeTables prints the report as aligned text or in Markdown.
func (r report) writeTables(w io.Writer, markdown bool) error {
	e := r.Environment
	_, err := fmt.Fprintf(w,
		"%s, %d CPUs, state in %s, sandbox: %s, medians of %d round(s), minimum to maximum in brackets\n",
		e.Go, e.CPUs, e.DB, e.Sandbox, e.Rounds)
	for _, t := range []table{
		comparisonTable("reads", r.Reads), costTable("reads", r.Reads), comparisonTable("writes", r.Writes),
		costTable("writes", r.Writes),
		resumeTable(r.Resume), loadTable(r.Throughput), longTable(r.Long), goalTable(r.Goals),
	} {
		if err == nil && len(t.rows) > 0 {
			err = t.write(w, markdown)
		}
	}
	return err
}

func (t table) write(w io.Writer, markdown bool) error {
	if markdown {
		return t.writeMarkdown(w)
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{{}, t.header}, t.rows...) {
		_, _ = fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	return aligned.Flush()
}

func (t table) writeMarkdown(w io.Writer) error {
	rule := make([]string, len(t.header))
	for i := range rule {
		rule[i] = "---"
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, row := range append([][]string{t.header, rule}, t.rows...) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func comparisonTable(name string, rows []comparisonRow) table {
	t := table{header: []string{name, "baseline, ms", "ours, ms", "ours/baseline"}}
	for _, r := range rows {
		t.rows = append(t.rows,
			[]string{fmt.Sprint(r.Calls), tenths(r.Baseline.Ms), tenths(r.Ours.Ms), hundredths(r.Ratio)})
	}
	return t
}

// costTable tells what one execution takes beside time, as baseline / ours.
func costTable(name string, rows []comparisonRow) table {
	t := table{header: []string{name, "events", "bytes", "Cloud actions", "worker CPU, ms", "server CPU, ms"}}
	for _, r := range rows {
		b, o := r.Baseline, r.Ours
		t.rows = append(t.rows,
			[]string{fmt.Sprint(r.Calls), pair(b.Events, o.Events), pair(b.Bytes, o.Bytes), pair(b.Actions, o.Actions),
				pair(b.WorkerCPU.Median, o.WorkerCPU.Median), pair(b.ServerCPU.Median, o.ServerCPU.Median)})
	}
	return t
}

func resumeTable(rows []resumeRow) table {
	t := table{header: []string{"calls in the log", "approved", "approve to completed, ms", "to the first"}}
	for _, r := range rows {
		t.rows = append(t.rows, []string{fmt.Sprint(r.Calls), r.Approved, tenths(r.Ms), hundredths(r.Ratio)})
	}
	return t
}

func loadTable(rows []loadRow) table {
	t := table{header: []string{"at once", "baseline, executions of 10 reads a second", "ours", "ours/baseline",
		"worker CPU, ms each", "server CPU, ms each"}}
	for _, r := range rows {
		t.rows = append(t.rows, []string{
			fmt.Sprint(r.Concurrent), tenths(r.Baseline.PerSecond), tenths(r.Ours.PerSecond), hundredths(r.Ratio),
			tenth(r.Baseline.WorkerCPU.Median) + " / " + tenth(r.Ours.WorkerCPU.Median),
			tenth(r.Baseline.ServerCPU.Median) + " / " + tenth(r.Ours.ServerCPU.Median),
		})
	}
	return t
}

func longTable(r *longRow) table {
	t := table{header: []string{"during a long pass", "ms"}}
	if r != nil {
		t.rows = [][]string{{"query", tenths(r.Query)}, {"decision", tenths(r.Decision)},
			{"cancel, to the end", tenths(r.Cancel)}}
	}
	return t
}

func goalTable(goals []goal) table {
	t := table{header: []string{"goal", "want", "got", ""}}
	for _, g := range goals {
		mark := "✗"
		if g.Pass {
			mark = "✓"
		}
		t.rows = append(t.rows, []string{g.Name, g.Want, fmt.Sprintf("%.3g", g.Got), mark})
	}
	return t
}

func pair(baseline, ours float64) string { return fmt.Sprintf("%.0f / %.0f", baseline, ours) }

func tenth(v float64) string { return fmt.Sprintf("%.1f", v) }

// tenths and hundredths show a median and its range.
func tenths(s spread) string { return fmt.Sprintf("%.1f (%.1f to %.1f)", s.Median, s.Min, s.Max) }

func hundredths(s spread) string { return fmt.Sprintf("%.2f (%.2f to %.2f)", s.Median, s.Min, s.Max) }

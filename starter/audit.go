package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// auditFlags say which decisions, and as what they are printed.
type auditFlags struct {
	codemode.AuditOptions
	since, until string
	form         string
}

const (
	formTable = "table"
	formCSV   = "csv"
	formLines = "jsonl"
)

func (c *cli) auditVerb() *cobra.Command {
	var f auditFlags
	cmd := c.verb("audit", "List who decided what, and when, over all executions", shapeAudit, cobra.NoArgs,
		func(cmd *cobra.Command, _ []string) (answer, error) { return c.audit(cmd.Context(), f) })
	cmd.Long = "List who decided what, and when, over all executions: approvals, rejections, edits, retries, given " +
		"results,\nexpiries, cancellations and rollbacks, the oldest first. Histories are read for that. What the " +
		"namespace's\nretention has removed is not there any more: store an export of each day."
	cmd.Flags().StringVar(&f.since, "since", "", "only what was decided from this `time` on: 2026-01-31, "+
		"2026-01-31T15:04:05Z, or so long ago: 24h")
	cmd.Flags().StringVar(&f.until, "until", "", "only what was decided before this `time`")
	cmd.Flags().StringVar(&f.By, "by", "", "only decisions of this `person`")
	cmd.Flags().StringVar(&f.Method, "method", "", "only about calls of this method, a `connector.method` in which * "+
		"may stand")
	cmd.Flags().StringVar(&f.Kind, "kind", "", "only this `kind`: approve, reject, retry, resolve, rollback, expire "+
		"or cancel")
	cmd.Flags().StringVar(&f.form, "format", formTable, "print a `form`: table, csv or jsonl, with one decision on "+
		"each line")
	return cmd
}

func (c *cli) audit(ctx context.Context, f auditFlags) (answer, error) {
	if err := f.read(time.Now()); err != nil {
		return answer{}, usageError{err}
	}
	if c.json && f.form != formTable {
		return answer{}, usagef("--json is one document, --format %s another: say one of them", f.form)
	}
	return c.with(ctx, func(conn *connection) (answer, error) {
		audit, err := conn.Audit(ctx, f.AuditOptions)
		if err != nil {
			return answer{}, err
		}
		a := answer{document: audit}
		if len(audit.Unreadable) > 0 {
			a.code = exitError
			defer c.warnUnreadable(audit.Unreadable)
		}
		if c.json {
			return a, nil
		}
		switch f.form {
		case formCSV:
			err = writeCSV(c.out, audit.Entries)
		case formLines:
			err = writeLines(c.out, audit.Entries)
		default:
			a.text = func(p *page) { showAudit(p, audit.Entries) }
		}
		return a, err
	})
}

func (c *cli) warnUnreadable(why map[string]string) {
	for id, reason := range why {
		fmt.Fprintf(c.err, "%s is missing: %s\n", id, reason)
	}
}

// read understands the flags.
func (f *auditFlags) read(now time.Time) (err error) {
	if f.Since, err = moment("--since", f.since, now); err != nil {
		return err
	}
	if f.Until, err = moment("--until", f.until, now); err != nil {
		return err
	}
	if f.form != formTable && f.form != formCSV && f.form != formLines {
		return fmt.Errorf("--format %q: table, csv or jsonl", f.form)
	}
	return f.Check()
}

// moment is a point in time, or so long before now; a date begins where the person is.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q: a time such as 2026-01-31, 2026-01-31T15:04:05Z or 24h (ago)", flag, text)
}

func showAudit(p *page, entries []codemode.AuditEntry) {
	if len(entries) == 0 {
		p.styled(dim, "no decisions\n")
		return
	}
	rows := [][]string{{"AT", "DECISION", "BY", "CALL", "WHAT BECAME OF IT", "EXECUTION", "NOTE"}}
	for _, e := range entries {
		note, _ := short(e.Note, 60)
		rows = append(rows, []string{atOf(e), verdictOf(e), who(e.Decision), callOf(e),
			cmp.Or(e.Call, string(e.Execution)), e.ExecutionID, note})
	}
	p.table(rows)
}

func atOf(e codemode.AuditEntry) string {
	return time.UnixMilli(e.At).Format("2006-01-02 15:04:05 -07:00")
}

// verdictOf is a decision in the words of people.
func verdictOf(e codemode.AuditEntry) string {
	words := map[string]string{signals.SignalApprove: "approved", signals.SignalReject: "rejected",
		signals.SignalRetry: "retried", signals.SignalResolve: "gave the result", signals.SignalRollback: "rolled back",
		signals.SignalExpire: "expired", "cancel": "cancelled"}
	text := cmp.Or(words[e.Kind], e.Kind)
	switch {
	case len(e.EditedArgs) > 0:
		text += ", edited"
	case e.Remembered:
		text += ", by an earlier always"
	case e.Always:
		text += ", always"
	}
	if e.Void {
		text += ", void"
	}
	return text
}

// who is the person whom a front door authenticated, or whom the sender claims to be.
func who(d signals.Decision) string {
	if d.AssertedBy != "" && d.AssertedBy != d.By && d.By != "" {
		return d.AssertedBy + " (says " + d.By + ")"
	}
	return cmp.Or(d.AssertedBy, d.By)
}

func callOf(e codemode.AuditEntry) string {
	if e.Seq == nil {
		return ""
	}
	return fmt.Sprintf("%d %s", *e.Seq, e.Method)
}

var csvHeader = []string{"at", "kind", "approved", "by", "assertedBy", "executionId", "seq", "method", "call",
	"execution", "note", "always", "remembered", "void", "args", "editedArgs", "argsDigest", "purpose",
	"startedBy", "startedAs", "onBehalfOf"}

// writeCSV writes RFC 4180 with a header, in UTC.
func writeCSV(to io.Writer, entries []codemode.AuditEntry) error {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	_ = w.Write(csvHeader)
	for _, e := range entries {
		seq := ""
		if e.Seq != nil {
			seq = strconv.Itoa(*e.Seq)
		}
		row := []string{time.UnixMilli(e.At).UTC().Format("2006-01-02T15:04:05.000Z"), e.Kind,
			strconv.FormatBool(e.Approved), e.By, e.AssertedBy, e.ExecutionID, seq, e.Method, e.Call,
			string(e.Execution), e.Note, strconv.FormatBool(e.Always), strconv.FormatBool(e.Remembered),
			strconv.FormatBool(e.Void), string(e.Args), string(e.EditedArgs), e.ArgsDigest, e.Purpose,
			e.Caller.StartedBy, e.Caller.StartedAs, e.Caller.OnBehalfOf}
		for i, cell := range row {
			row[i] = noFormula(cell)
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// noFormula keeps spreadsheets from running what a program or a stranger wrote (CSV injection).
func noFormula(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func writeLines(to io.Writer, entries []codemode.AuditEntry) error {
	for _, e := range entries {
		text, err := signals.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/signals"
)

// marks are what a status looks like.
var marks = map[signals.Status]struct {
	sign string
	style
}{
	signals.Running:    {"…", warn},
	signals.Paused:     {"‖", warn},
	signals.Completed:  {"✓", good},
	signals.Failed:     {"✗", bad},
	signals.Rejected:   {"✗", bad},
	signals.RolledBack: {"↩", warn},
}

func (p *page) headline(status signals.Status, id string) {
	mark := marks[status]
	p.styled(mark.style, "%s %s", mark.sign, status)
	p.line("  %s", id)
}

func (c *cli) showOutcome(p *page, o signals.Outcome, source string) {
	p.headline(o.Status, o.ExecutionID)
	if p.failure(o.Error, o.Position, source); source == "" {
		p.excerpt(o.Position, o.Excerpt)
	}
	p.hints(beside(o.Hints, o.Error))
	p.warnings(o.Warnings)
	if o.Status == signals.Completed {
		p.value(o.Result)
	}
	if !strings.Contains(o.Error, "\n\nConsole output:") {
		p.console(o.Logs)
	}
	if len(o.Calls) > 0 {
		p.styled(dim, "%s\n", tally(o.Calls))
	}
	if effects := o.Effects(); effects != "" && o.HowToGoOn() != "" {
		p.styled(warn, "%s\n", effects)
	}
	p.leftOver(o.LeftOver)
	done := len(o.Calls)+len(o.LeftOver) > 0 || o.CallsOmitted
	if done && o.Pass > 0 && o.HowToGoOn() != "" {
		p.styled(dim, "go on with a corrected program: %s\n", c.hint("run", "FILE", "--continues", o.ExecutionID))
	}
	switch o.Status {
	case signals.Paused:
		p.line("")
		c.showPending(p, o.Pending)
	case signals.Running:
		p.styled(dim, "it goes on; wait for it: %s\n", c.hint("wait", o.ExecutionID))
	}
}

// failure shows an error, and where it is in the program.
func (p *page) failure(message string, at *signals.Position, source string) {
	if message == "" {
		return
	}
	p.styled(bad, "%s\n", message)
	if at == nil {
		return
	}
	p.styled(dim, "at %d:%d\n", at.Line, at.Column)
	lines := strings.Split(source, "\n")
	if at.Line < 1 || at.Line > len(lines) || source == "" {
		return
	}
	number := fmt.Sprintf("%5d | ", at.Line)
	text := strings.ReplaceAll(strings.TrimRight(lines[at.Line-1], "\r"), "\t", " ")
	if len(text) > 300 {
		return // a program on one line says nothing when shown
	}
	p.line("%s%s", number, text)
	p.styled(bad, "%s^\n", strings.Repeat(" ", len(number)+max(0, at.Column-1)))
}

// excerpt shows where in the program an error is, whose whole text is not at hand.
func (p *page) excerpt(at *signals.Position, text string) {
	line, caret, ok := strings.Cut(text, "\n")
	if !ok || at == nil {
		return
	}
	number := fmt.Sprintf("%5d | ", at.Line)
	p.line("%s%s", number, line)
	p.styled(bad, "%s%s\n", strings.Repeat(" ", len(number)), caret)
}

func (p *page) warnings(list []string) {
	for _, warning := range list {
		p.styled(warn, "warning: ")
		p.line("%s", warning)
	}
}

func (p *page) value(raw json.RawMessage) {
	if len(raw) == 0 {
		p.styled(dim, "no result\n")
		return
	}
	p.line("%s", pretty(raw))
}

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if plain, err := wire.Plain(raw); err == nil {
		raw = plain
	}
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func (p *page) console(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.styled(dim, "console:\n")
	for _, line := range lines {
		p.line("  %s", strings.ReplaceAll(line, "\n", "\n  "))
	}
}

// tally counts calls by state.
func tally(calls []signals.Call) string {
	counts := map[signals.CallState]int{}
	for _, call := range calls {
		counts[call.State]++
	}
	var parts []string
	for state, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	sort.Strings(parts)
	noun := "calls"
	if len(calls) == 1 {
		noun = "call"
	}
	return fmt.Sprintf("%d %s: %s", len(calls), noun, strings.Join(parts, ", "))
}

// argumentCell is how much of a call's arguments a table shows.
const argumentCell = 60

// showAllPending lists what waits in several executions.
func (c *cli) showAllPending(p *page, list []signals.PendingAction) {
	if len(list) == 0 {
		p.line("nothing is pending")
	}
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].ExecutionID == list[from].ExecutionID {
			to++
		}
		if from > 0 {
			p.line("")
		}
		p.headline(signals.Paused, list[from].ExecutionID)
		c.showPending(p, list[from:to])
		from = to
	}
}

// showPending lists what waits in one execution, each with the command that approves it. Arguments are never cut for
// good: nobody should approve what was not shown.
func (c *cli) showPending(p *page, list []signals.PendingAction) {
	rows := [][]string{{"SEQ", "CALL", "ARGUMENTS", "EXPIRES"}}
	var long []signals.PendingAction
	for _, a := range list {
		cell, cut := short(string(a.Current()), argumentCell)
		if cut {
			long = append(long, a)
		}
		rows = append(rows, []string{fmt.Sprint(a.Seq), a.Connector + "." + a.Method,
			cell, expiry(a.ExpiresAt, time.Now())})
	}
	p.table(rows)
	for _, a := range long {
		p.line("")
		p.styled(dim, "arguments of %d %s.%s:\n", a.Seq, a.Connector, a.Method)
		p.line("%s", pretty(a.Current()))
	}
	for _, a := range list {
		if a.Refused != "" {
			p.line("")
			p.styled(bad, "the last approval of %d could not be used: %s\n", a.Seq, a.Refused)
		}
	}
	p.line("")
	for _, a := range list {
		c.showDecision(p, a)
	}
	p.styled(dim, "refuse:     %s\n", c.hint("reject", list[0].ExecutionID, "--seq", list[0].Seq))
}

// showDecision tells what a call waits for, and the command that gives it.
func (c *cli) showDecision(p *page, a signals.PendingAction) {
	switch {
	case a.Reason == signals.ReasonUnknown:
		p.styled(bad, "%s\n", a.Error.Message)
		p.line("retry %d:    %s", a.Seq, c.hint("retry", a.ExecutionID, "--seq", a.Seq))
		p.line("resolve %d:  %s", a.Seq, c.hint("resolve", a.ExecutionID, "--seq", a.Seq, "--result", "JSON"))
	case a.Resolution == signals.ByClient:
		p.line("resolve %d:  %s", a.Seq, c.hint("resolve", a.ExecutionID, "--seq", a.Seq, "--result", "JSON"))
	default:
		if a.ApproverRule != nil {
			p.line("%d needs the approval of %s", a.Seq, a.ApproverRule)
		}
		if a.ApprovalsNeeded > 0 {
			p.line("%d needs %d approvals by different people; so far: %s", a.Seq, a.ApprovalsNeeded,
				cmp.Or(strings.Join(a.ApprovedBy, ", "), "none"))
		}
		p.line("approve %d:  %s", a.Seq, c.hint("approve", a.ExecutionID, "--seq", a.Seq))
	}
}

func expiry(at int64, now time.Time) string {
	left := time.UnixMilli(at).Sub(now)
	switch {
	case at == 0:
		return ""
	case left <= 0:
		return "now"
	}
	return "in " + span(left)
}

// span is a duration in its largest unit.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", d.Round(time.Hour)/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
}

func showList(p *page, records []signals.Record, now time.Time) {
	if len(records) == 0 {
		p.line("no executions")
		return
	}
	rows := [][]string{{"EXECUTION", "STATUS", "STARTED", "PURPOSE"}}
	for _, r := range records {
		purpose, _ := short(cmp.Or(orFirstLine(r), r.Error), 60)
		age := span(now.Sub(time.UnixMilli(r.CreatedAt))) + " ago"
		rows = append(rows, []string{r.ID, string(r.Status), age, purpose})
	}
	p.table(rows)
}

func orFirstLine(r signals.Record) string {
	if r.Purpose != "" {
		return r.Purpose
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.Code), "\n")
	return line
}

func (c *cli) showRecord(p *page, r *signals.Record) {
	p.headline(r.Status, r.ID)
	p.styled(dim, "runtime %s · %d passes · started %s · connectors %s\n", r.Runtime, r.Passes,
		time.UnixMilli(r.CreatedAt).Format(time.DateTime), strings.Join(r.Connectors, ", "))
	if !r.Caller.IsZero() {
		p.styled(dim, "%s\n", r.Caller)
	}
	if r.Continues != "" {
		p.styled(dim, "continues %s\n", r.Continues)
	}
	if r.Purpose != "" {
		p.line("%s", r.Purpose)
	}
	p.line("")
	p.styled(dim, "program:\n")
	for i, line := range strings.Split(strings.TrimRight(r.Code, "\n"), "\n") {
		p.line("%5d | %s", i+1, strings.TrimRight(line, "\r"))
	}
	if r.Program != nil {
		p.styled(dim, "%s\n", r.Program)
	}
	p.hints(r.Hints)
	p.calls(r.Log)
	p.line("")
	p.leftOver(r.LeftOver)
	p.failure(r.Error, r.Position, r.Code)
	p.warnings(r.Warnings)
	if r.Status == signals.Completed {
		p.styled(dim, "result:\n")
		p.value(r.Result)
	}
	if !strings.Contains(r.Error, "\n\nConsole output:") {
		p.console(r.Logs)
	}
	if r.Status == signals.Paused {
		p.styled(dim, "decide: %s\n", c.hint("pending", r.ID))
	}
}

func (p *page) calls(calls []signals.Call) {
	if len(calls) == 0 {
		return
	}
	p.line("")
	rows := [][]string{{"SEQ", "CALL", "STATE", "ARGUMENTS", "RESULT", "DECIDED BY", "UNDO"}}
	for _, call := range calls {
		args, _ := short(signals.Summary(call.Args, 200), 40)
		result, _ := short(string(call.Result), 40)
		if call.Error != "" {
			result, _ = short(call.Error, 60)
		}
		rows = append(rows, []string{fmt.Sprint(call.Seq), call.Connector + "." + call.Method, state(call), args,
			result, call.DecidedBy, undo(call)})
	}
	p.table(rows)
}

// state is where a call stands, and whether another execution made it.
func state(call signals.Call) string {
	if call.CarriedFrom != nil {
		return string(call.State) + ", carried"
	}
	return string(call.State)
}

// leftOver lists what the program that was corrected did, and the corrected one did not ask for.
func (p *page) leftOver(list []signals.LeftOver) {
	if len(list) == 0 {
		return
	}
	p.styled(warn, "left over, which the corrected program did not ask for:\n")
	for _, l := range list {
		args, _ := short(signals.Summary(l.Args, 200), 60)
		p.line("  %s #%d %s.%s %s", l.ExecutionID, l.Seq, l.Connector, l.Method, args)
	}
}

// undo tells whether a rollback can undo a call, did, or could not.
func undo(call signals.Call) string {
	switch {
	case call.RevertedAt > 0:
		return "undone"
	case call.RevertError != "":
		text, _ := short("failed: "+call.RevertError, 60)
		return text
	case call.Undoable(), call.Revertable && (call.State == signals.Pending || call.State == signals.Executing):
		return "can be undone"
	}
	return ""
}

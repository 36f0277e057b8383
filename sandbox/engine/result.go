package engine

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/signals"
)

// finish assembles the result.
func (e *Engine) finish() sandbox.Result {
	r := &e.result
	if e.fatal == nil && r.End == sandbox.Completed {
		e.takeValue()
	}
	if e.fatal == nil && r.End == sandbox.Failed {
		e.fatal = e.thrown()
	}
	e.takeWarnings()
	if e.fatal != nil {
		e.fail()
	}
	if r.End == sandbox.Left {
		r.Entries, r.Left = e.entries, e.leave()
		return *r
	}
	e.takeBlocked()
	e.takeTimers()
	r.Entries, r.Logs, r.Lines = e.entries, e.console.report(), e.console.printed()
	return *r
}

// takeValue serializes the program's value; one that does not fit beside the rest waits for the next pass.
func (e *Engine) takeValue() {
	if s, ok := e.main.value.(goja.String); ok && s.Length() > maxFinalUnits {
		e.fatal = &sandbox.Failure{Kind: sandbox.TooLarge, Subject: "The final result"}
		e.fatal.Size, e.fatal.Limit = s.Length(), e.limits.ValueUnits
		return
	}
	text, failure := e.encode(e.main.value)
	switch {
	case failure != nil:
		failure.Subject = "The final result"
		e.fatal = failure
	case len(text) > e.limits.ValueBytes:
		e.result.Oversize = len(text)
	case e.holds() > 0 && e.holds()+len(text) > e.limits.ResultBytes:
		e.result.End = sandbox.More
	default:
		e.result.Value = text
	}
}

// maxFinalUnits is the length past which a final text is not even looked at.
const maxFinalUnits = 64 << 20

// fail turns the result into a failure; calls cut off in flight are recorded as such.
func (e *Engine) fail() {
	r := &e.result
	r.End, r.Failure = sandbox.Failed, e.fatal
	if e.fatal.Kind == sandbox.Thrown && e.main.threw {
		return
	}
	r.Stopped = true
	for _, c := range e.running {
		e.entries = append(e.entries, droppedEntry(c, sandbox.DroppedError()))
	}
}

// takeTimers lists the timers that the program still waits for.
func (e *Engine) takeTimers() {
	if e.main.settled || e.suspended { // nothing reaches a program that stands in a call
		return
	}
	for _, t := range e.timers {
		e.result.Timers = append(e.result.Timers, signals.Timer{ID: t.id, Due: t.due})
	}
	slices.SortFunc(e.result.Timers,
		func(a, b signals.Timer) int { return cmp.Or(cmp.Compare(a.Due, b.Due), a.ID-b.ID) })
}

// takeBlocked lists the new gated calls as far as they fit, in seq order.
func (e *Engine) takeBlocked() {
	size := e.holds() + len(e.result.Value)
	for _, c := range e.blocked {
		size += len(c.Args) + entryOverhead
		if size > e.limits.ResultBytes && (size > len(c.Args)+entryOverhead) {
			e.result.Partial = true
			if e.result.End == sandbox.Blocked && len(e.result.Blocked) == 0 {
				e.result.End = sandbox.More
			}
			return
		}
		e.result.Blocked = append(e.result.Blocked, sandbox.BlockedCall{
			Call: c.Call, Class: c.admission.Class, Approval: c.admission.Approval, Timeout: c.admission.Timeout,
		})
	}
}

// thrown describes the exception that ended the program.
func (e *Engine) thrown() *sandbox.Failure {
	f := &sandbox.Failure{Kind: sandbox.Thrown, Message: "The program threw a value that cannot be described"}
	pair, err := e.js.describe(goja.Undefined(), e.main.value)
	if err != nil { // the value's own getters may have been cut off
		return e.failureOf(err)
	}
	object := pair.ToObject(e.vm)
	f.Message = cut(object.Get("0").String(), 8192)
	f.Position = stackPosition(object.Get("1").String())
	if f.Position == nil {
		f.Position = e.issuedAt(e.main.value)
	}
	if strings.Contains(f.Message, "is not defined") {
		f.Message += sandbox.OnlyGlobals(e.pass.Connectors)
	}
	return f
}

var stackFrame = regexp.MustCompile(regexp.QuoteMeta(compile.ProgramSource) + `:(\d+):(\d+)`)

// stackPosition reads the first frame of a stack that lies in the program. The wrapper's line is taken off.
func stackPosition(stack string) *signals.Position {
	m := stackFrame.FindStringSubmatch(stack)
	if m == nil {
		return nil
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	return &signals.Position{Line: max(1, line-1), Column: column + 1} // source maps count columns from 0
}

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

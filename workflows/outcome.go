package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// preview holds items while they are few bytes; past that it only knows that there were more.
type preview[T any] struct {
	items []T
	bytes int
	more  bool
}

// Bytes that an outcome repeats of what history holds already: in one that is followed by others, and in the last.
const (
	outcomeBytes = 4096
	lastBytes    = 32 * 1024
)

func (p *preview[T]) add(item T, size int) {
	if p.bytes += size + 1; p.bytes > lastBytes {
		p.items, p.more = nil, true
		return
	}
	p.items = append(p.items, item)
}

// setStatus tells visibility and the Web UI. What Temporal's own status tells needs no search attribute: an execution
// that has none runs, or has completed.
func (e *execution) setStatus(ctx workflow.Context, status signals.Status) {
	e.status = status
	plain := e.shown == "" && (status == signals.Running || status == signals.Completed)
	if e.attributes && e.shown != status && !plain {
		e.shown = status
		_ = workflow.UpsertTypedSearchAttributes(ctx, runtimeKey.ValueSet(e.in.Runtime),
			statusKey.ValueSet(string(status)))
	}
	workflow.SetCurrentDetails(ctx, e.details())
}

// publish makes the newest outcome, which waiters get.
func (e *execution) publish(ctx workflow.Context) {
	o := signals.Outcome{Status: e.status, ExecutionID: e.id, Pass: e.passes, Calls: []signals.Call{}}
	if e.status == signals.Paused {
		o.Pending = e.actions(pendingBytes, pendingBytes)
		for _, a := range o.Pending {
			o.Partial = o.Partial || a.Omitted
		}
	}
	if end := e.end; end != nil {
		o.Error, o.Position, o.Status = end.message, end.position, end.status
		o.Excerpt, o.Warnings = end.excerpt, end.warnings
		if o.Partial = end.omitted || len(end.value) > lastBytes; !o.Partial {
			o.Result = end.value
		}
	}
	e.addLeftOver(&o)
	if e.pinned != nil {
		o.Hints = e.pinned.Preflight.Hints
	}
	e.addHistory(&o)
	e.outcome = &o
	e.updatedAt = workflow.Now(ctx).UnixMilli()
}

// addHistory adds console output and calls if they are few; else the client reads them from history.
func (e *execution) addHistory(o *signals.Outcome) {
	limit := lastBytes
	if e.end == nil {
		limit = outcomeBytes
	}
	if limit -= e.logs.bytes + len(o.Result); o.Partial || e.logs.more || limit < 0 {
		o.Partial = true
		return
	}
	o.Logs = e.logs.items
	var calls preview[signals.Call]
	for _, c := range e.order {
		rec := c.rec
		if calls.more = calls.more || rec.Omitted; calls.more {
			break
		}
		calls.add(rec, recordBytes(rec))
	}
	if o.CallsOmitted = calls.more || calls.bytes > limit; o.CallsOmitted {
		o.Partial = true
		return
	}
	o.Calls = append(o.Calls, calls.items...)
	o.Error = signals.ErrorText(o.Error, e.errorLogs())
}

// recordBytes is about what a call takes in an outcome.
func recordBytes(c signals.Call) int {
	size := len(c.Connector) + len(c.Method) + len(c.Args) + len(c.Result) + len(c.Error) + len(c.ErrorName) +
		len(c.Note) + 200
	for _, d := range c.Decisions {
		size += len(d.By) + len(d.AssertedBy) + len(d.Note) + len(d.EditedArgs) + 200
	}
	return size
}

// errorLogs is the console output that belongs to the error of a failed program.
func (e *execution) errorLogs() []string {
	if e.end != nil && e.end.status == signals.Failed {
		return e.logs.items
	}
	return nil
}

// Bytes of arguments that lists of pending calls show: in one call, in all, and of those that earlier approvers edited
// in all, which nothing but a query tells until the last one has approved.
const (
	pendingValue = 4096
	pendingBytes = 64 * 1024
	editedBytes  = 1 << 20
)

// actions lists the calls that wait for a person, with their arguments, and what others made of these, as far as they
// fit.
func (e *execution) actions(budget, edited int) []signals.PendingAction {
	list := []signals.PendingAction{}
	for _, c := range e.pending() {
		a := e.action(c)
		absent := len(c.args) == 0 && c.rec.ArgsDigest != signals.Digest(nil) // in the log of the runs before
		if budget -= len(c.args) + len(a.Refused); absent || len(c.args) > pendingValue || budget < 0 {
			a.Omitted, a.Refused = true, signals.Cut(a.Refused, 256)
		} else {
			a.Args = c.args
		}
		if edited -= len(c.editedArgs); edited >= 0 {
			a.EditedArgs = c.editedArgs
		} else if len(c.editedArgs) > 0 {
			a.Omitted = true
		}
		list = append(list, a)
	}
	return list
}

func (e *execution) action(c *call) signals.PendingAction {
	a := signals.PendingAction{
		ExecutionID: e.id, Seq: c.rec.Seq, Connector: c.rec.Connector, Method: c.rec.Method,
		ArgsDigest: c.rec.ArgsDigest, Position: c.rec.Position,
		Class: c.rec.Class, RequestedAt: c.requestedAt, ExpiresAt: c.requestedAt + e.limits.PausedTTLMs,
		Refused:    c.refused,
		Revertable: c.rec.Revertable, ApprovedBy: c.approvers, ApproverRule: c.approverRule,
	}
	a.ArgsDigest = c.digest()
	if c.approvalsNeeded > 1 {
		a.ApprovalsNeeded = c.approvalsNeeded
	}
	if c.client {
		a.Resolution = signals.ByClient
	}
	if c.phase == unknown {
		a.Reason, a.Error = signals.ReasonUnknown, c.interrupted
	}
	return a
}

// record answers the state query.
func (e *execution) record(p signals.Page) signals.Record {
	r := signals.Record{
		ID: e.id, Runtime: e.in.Runtime, Purpose: e.in.Purpose, Status: e.status, Passes: e.passes,
		CreatedAt: e.startedAt, Caller: e.in.Caller,
		UpdatedAt: e.updatedAt, Connectors: []string{}, Logs: e.logs.items, Log: []signals.Call{}, Total: len(e.calls),
	}
	if e.pinned != nil {
		r.Engine, r.Connectors = e.pinned.Engine, append(r.Connectors, e.pinned.Connectors...)
		r.Hints, r.Program = e.pinned.Preflight.Hints, e.pinned.Preflight.Program
	}
	if e.end != nil {
		r.Error, r.Position = e.end.message, e.end.position
		r.Excerpt, r.Warnings = e.end.excerpt, e.end.warnings
	}
	if p.Limit <= 0 {
		p.Limit = 1000
	}
	for i, c := range e.order {
		if i >= p.Offset && i < p.Offset+p.Limit {
			r.Log = append(r.Log, c.rec)
		}
	}
	return r
}

// details is the Current Details page of the Web UI.
func (e *execution) details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · pass %d · %d calls", e.status, e.passes, len(e.calls))
	if e.end != nil && e.end.message != "" {
		fmt.Fprintf(&b, "\n\n%s", words.Fenced("", signals.Cut(e.end.message, 1000)))
	}
	list := e.actions(pendingBytes, 0)
	if len(list) == 0 {
		return b.String()
	}
	b.WriteString("\n\n| seq | call | arguments | expires |\n| --- | --- | --- | --- |\n")
	var decisions strings.Builder
	for i, a := range list {
		if i == maxDetails {
			fmt.Fprintf(&b, "| … | %d more | | |\n", len(list)-i)
			break
		}
		args := signals.Summary(e.calls[a.Seq].dispatchArgs(), shownArguments)
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", a.Seq, words.CodeSpan(a.Connector+"."+a.Method),
			words.CodeSpan(args), time.UnixMilli(a.ExpiresAt).UTC().Format("2006-01-02 15:04 UTC"))
		decisions.WriteString(decision(a, strings.HasSuffix(args, "…")))
	}
	fmt.Fprintf(&b, "\nDecide with the update or signal named first, refuse with `reject`:\n\n%s\n",
		words.Fenced("", decisions.String()))
	return b.String()
}

// decision is the update that a pending call waits for. Nobody approves arguments that are not shown whole.
func decision(a signals.PendingAction, cut bool) string {
	switch {
	case a.Reason == signals.ReasonUnknown:
		return fmt.Sprintf("retry    {\"seq\": %d, \"by\": \"your name\"}\n", a.Seq)
	case a.Resolution == signals.ByClient:
		return fmt.Sprintf("resolve  {\"seq\": %d, \"result\": null, \"by\": \"your name\"}\n", a.Seq)
	}
	if cut {
		return fmt.Sprintf("call %d has more arguments than are shown here: read them in the console or in the event "+
			"of the pass\n", a.Seq)
	}
	return fmt.Sprintf("approve  {\"seqs\": [%d], \"argsDigest\": %q, \"by\": \"your name\"}\n", a.Seq, a.ArgsDigest)
}

// maxDetails is how many pending calls the page lists, shownArguments how many bytes of the arguments of each.
const (
	maxDetails     = 20
	shownArguments = 200
)

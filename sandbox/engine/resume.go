package engine

import (
	"context"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// A pass that ended because calls are made, or decided on, between it and the next one can leave its runtime where it
// stands: the next pass then delivers what settled since, instead of replaying all that went before. It is the same
// runtime doing the same things in the same order, so that nobody can tell; only replaying costs more the longer the
// log is. The runtime stays for seconds, in a child that nothing else needs: an execution that waits longer keeps
// nothing.

// Parkable says that the pass ended with everything delivered, on gated calls. What was read anew stands elsewhere in
// the log than it was recorded. What a step's function left behind beside its value is in no log: it is gone for the
// next pass, wherever that runs.
func (e *Engine) Parkable() bool {
	return e.result.End == sandbox.Blocked && !e.result.Partial && e.fatal == nil &&
		!e.stopped.Load() && !e.suspended && !e.closed && !e.refreshed && !e.stepped &&
		e.gates > 0 && len(e.queue)+len(e.ready)+len(e.held)+len(e.running) == 0
}

// Resume drives a parked runtime through the next pass, whose log holds only what settled since.
func (e *Engine) Resume(ctx context.Context, n Next) (sandbox.Result, error) {
	e.vm.ClearInterrupt()
	e.stopped.Store(false)
	e.expired.Store(false)
	e.killed.Store(nil)
	e.ctx, e.limits, e.started = ctx, n.Limits.WithDefaults(), time.Now()
	e.pass.Log, e.pass.Open, e.cursor, e.live = n.Log, n.Open, 0, false
	e.open, e.unseen = map[int]sandbox.OpenCall{}, 0 // all open calls were issued here
	for i := range n.Log {
		if entry := &n.Log[i]; !entry.Timer {
			e.recorded[entry.ID] = entry
		}
	}
	e.blocked, e.gates, e.waiting, e.inline = nil, 0, 0, 0
	e.entries, e.size, e.result = nil, 0, sandbox.Result{}
	e.console = console{skip: n.Lines, count: e.console.count}
	e.console.maxBytes, e.console.maxLines = e.limits.ConsoleBytes, e.limits.ConsoleLines
	return e.drive(func() error { return nil })
}

// Next is what a parked runtime is given.
type Next struct {
	Log    []signals.Entry // settled since
	Open   []sandbox.OpenCall
	Lines  int
	Limits sandbox.Limits
}

// NextOf leaves out what the runtime of a pass has seen: the first entries of the log, and the arguments of open calls.
func NextOf(p sandbox.Pass, seen int) Next {
	n := Next{Log: p.Log[seen:], Lines: p.Lines, Limits: p.Limits, Open: make([]sandbox.OpenCall, len(p.Open))}
	for i, o := range p.Open {
		n.Open[i] = sandbox.OpenCall{Seq: o.Seq, Pending: o.Pending}
	}
	return n
}

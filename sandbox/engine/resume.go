package engine

import (
	"context"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// A pass that ends on gated calls can leave its runtime parked. The next pass then delivers what settled since, instead
// of replaying the whole log: the same things happen in the same order, at a cost that does not grow with the log. A
// runtime stays parked for seconds, in an idle child; an execution that waits longer replays.

// Parkable reports whether the pass ended on gated calls with everything else delivered. A pass that repeated reads is
// not parkable, since their entries are out of order; nor one that ran a step's function, whose side effects on the
// program's variables a replay would not have.
func (e *Engine) Parkable() bool {
	return e.result.End == sandbox.Blocked && !e.result.Partial && e.fatal == nil &&
		!e.stopped.Load() && !e.suspended && !e.closed && !e.refreshed && !e.stepped &&
		e.gates > 0 && len(e.queue)+len(e.ready)+len(e.held)+len(e.running) == 0
}

// Renew gives a parked runtime the next pass, whose log holds only what settled since.
func (e *Engine) Renew(ctx context.Context, n Next) {
	e.renew(ctx)
	e.limits, e.started = n.Limits.WithDefaults(), time.Now()
	e.pass.Log, e.pass.Open, e.cursor, e.live = n.Log, n.Open, 0, false
	e.open, e.unseen = map[int]sandbox.OpenCall{}, 0 // all open calls were issued here
	for i := range n.Log {
		if entry := &n.Log[i]; !entry.Timer {
			e.recorded[entry.ID] = entry
		}
	}
	e.until.Store(e.started.Add(e.limits.Timeout).UnixNano())
	e.pass.Left, e.begun, e.ended = nil, nil, time.Time{}
	e.blocked, e.gates, e.waiting, e.inline = nil, 0, 0, 0
	e.entries, e.size, e.result = nil, 0, sandbox.Result{}
	e.console = console{skip: n.Lines, count: e.console.count}
	e.console.maxBytes, e.console.maxLines = e.limits.ConsoleBytes, e.limits.ConsoleLines
}

// renew makes ready to be driven again.
func (e *Engine) renew(ctx context.Context) {
	e.vm.ClearInterrupt()
	e.stopped.Store(false)
	e.expired.Store(false)
	e.asked.Store(false)
	e.timesUp = false
	e.killed.Store(nil)
	e.ctx = ctx
}

// Resume drives a parked runtime through the pass that it was given.
func (e *Engine) Resume() (sandbox.Result, error) { return e.drive(func() error { return nil }) }

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

package engine

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// A pass whose program can only wait can leave its sandbox to others: it ends as Left, its calls go on wherever the
// host makes them, and a later engine replays the entries delivered so far and goes on with what the calls came to. To
// the program that is the same as if it had waited here.

// Leave asks the pass to leave as soon as its program can only wait; from another goroutine than the engine's.
func (e *Engine) Leave() {
	e.asked.Store(true)
	e.rouse()
}

// leaves reports whether the pass leaves now that it can only wait. One that ran a step's function stays, since what
// that left in the program's variables is in no log.
func (e *Engine) leaves() bool {
	return e.asked.Load() && !e.timesUp && !e.stepped && !e.main.settled && !e.stopped.Load()
}

// linger is how long a pass waits before it leaves: its calls are on their way then, and many have come back.
const linger = 300 * time.Microsecond

// leave describes what the pass waits for, and how it stands.
func (e *Engine) leave() *sandbox.LeftState {
	l := &sandbox.LeftState{Size: e.size, Running: len(e.running), Stands: !e.suspended}
	l.Inline = e.inline - len(e.running) - len(e.queue)
	if t := e.inlineTimer(); t != nil && e.mayFire(t) {
		l.Wake = t.due
	}
	if e.gates > 0 {
		l.GateOpen, l.Deliveries, l.Timers = time.Since(e.gate), e.since, e.gateTimers
	}
	return l
}

// returned takes up where a pass stood that left another sandbox.
func (e *Engine) returned(l *sandbox.LeftState) {
	e.started = time.Now().Add(-l.Spent)
	e.until.Store(time.Now().Add(max(l.Remaining, leastTime)).UnixNano())
	e.timesUp = l.Remaining < leastTime
	e.begun = make(map[int]*sandbox.LeftCall, len(l.Calls))
	for i := range l.Calls {
		e.begun[l.Calls[i].Seq] = &l.Calls[i]
	}
	e.size, e.inline = l.Size, l.Inline
}

// ComeBack lets a runtime that stands where its pass left it go on, without a replay.
func (e *Engine) ComeBack(ctx context.Context, l *sandbox.LeftState) {
	e.renew(ctx)
	size, inline := e.size, e.inline
	e.returned(l)
	e.size, e.inline = size, inline
	e.entries, e.result, e.lingered = nil, sandbox.Result{}, false
	e.inbox = make(chan completion, e.limits.Parallel)
}

// GoOn drives a runtime that came back.
func (e *Engine) GoOn() (sandbox.Result, error) {
	return e.drive(func() error {
		waiting := slices.SortedFunc(maps.Values(e.running), func(a, b *call) int { return a.Seq - b.Seq })
		clear(e.running)
		var unsent []*call
		for _, c := range waiting {
			if b := e.begun[c.Seq]; b != nil {
				e.attach(c, b)
			} else { // it left before it was made
				unsent = append(unsent, c)
			}
		}
		e.queue = append(unsent, e.queue...)
		e.inOrder()
		return nil
	})
}

// leastTime is what a pass has that returns at the end of its time, so that it can tell of that.
const leastTime = time.Second

// attach goes on with a call that was begun before the pass left.
func (e *Engine) attach(c *call, b *sandbox.LeftCall) {
	c.admission = b.Admission
	if b.Settlement == nil {
		e.start(c, b.Age)
		return
	}
	e.running[c.Seq] = c
	e.arrived(completionOf(c, *b.Settlement, b.At))
}

// inOrder sorts what settled while the pass was away.
func (e *Engine) inOrder() {
	slices.SortStableFunc(e.ready, func(a, b completion) int {
		if a.order+b.order > 0 { // one that was carried comes first
			return cmp.Compare(cmp.Or(a.order, math.MaxInt), cmp.Or(b.order, math.MaxInt))
		}
		return int(a.at - b.at)
	})
}

// unawaited is how long the calls of a program that has ended are waited for. Quick ones count, as what a program does
// last is often not awaited; a read that lost a race delays nothing.
const unawaited = 100 * time.Millisecond

// over reports whether the program has ended and its calls have had their time.
func (e *Engine) over() bool {
	return !e.ended.IsZero() && time.Since(e.ended) > unawaited
}

// noteEnd notes when the program ended.
func (e *Engine) noteEnd() {
	if e.main.settled && e.ended.IsZero() {
		e.ended = time.Now()
	}
}

// giveUp cancels the calls that the program did not wait for. They are recorded, and never delivered.
func (e *Engine) giveUp() {
	seqs := make([]int, 0, len(e.running))
	for seq := range e.running {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		e.record(droppedEntry(e.running[seq], sandbox.UnawaitedError()))
		delete(e.calls, seq)
	}
	clear(e.running)
	e.queue = nil
	e.ready = slices.DeleteFunc(e.ready, func(c completion) bool { return c.call.late })
}

// droppedEntry records a call that was cut off.
func droppedEntry(c *call, why *signals.CallError) signals.Entry {
	return signals.Entry{
		ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, At: time.Now().UnixMilli(),
		Class: c.admission.Class, Position: c.Position, Dropped: true, Error: why,
	}
}

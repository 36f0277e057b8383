package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/signals"
)

// Engine runs one pass. One goroutine owns it and its runtime; calls run on others and report through inbox.
type Engine struct {
	// Programs keeps compiled snippets; those of one engine if nil.
	Programs *compile.Cache
	// Heavy tells whether much memory is in use; a child sets it.
	Heavy func() bool

	pass    sandbox.Pass
	limits  sandbox.Limits
	host    sandbox.Host
	ctx     context.Context
	vm      *goja.Runtime
	js      bridge
	console console
	random  *rand.Rand
	step    *scope
	clock   int64 // virtual, epoch milliseconds
	started time.Time

	next     int                    // seq of the next call
	internal int                    // internal calls issued
	calls    map[int]*call          // issued and not delivered
	recorded map[int]*signals.Entry // the log's calls, by seq
	cursor   int                    // next log entry to replay
	open     map[int]sandbox.OpenCall
	unseen   int // open calls not issued again yet

	live    bool    // the log is replayed
	held    []*call // issued during replay, not in the log: admitted when live
	queue   []*call // inline, not started
	running map[int]*call
	inbox   chan completion
	ready   []completion
	blocked []*call // gated, new in this pass
	gates   int     // gated calls open, those of a person too
	waiting int     // of these, calls that wait for a person
	gate    time.Time
	since   int // deliveries since the gate opened
	inline  int // inline calls admitted in this pass
	// gateTimers is how many timers were set before the gate opened: beside an open gate only these fire.
	gateTimers int
	begun      map[int]*sandbox.LeftCall // calls made before the pass left another sandbox

	timers    map[int]*timer
	nextTimer int

	main     mainState
	entries  []signals.Entry
	size     int // encoded bytes that the result holds so far
	result   sandbox.Result
	fatal    *sandbox.Failure
	stopped  atomic.Bool // the interrupt flag, kept here because goja clears its own when it unwinds
	expired  atomic.Bool
	asked    atomic.Bool // to leave
	killed   atomic.Pointer[sandbox.Failure]
	wake     chan struct{} // rouses an idle loop that was killed, or asked to leave
	idle     atomic.Bool   // the loop waits
	stirred  chan struct{} // has something once it goes on
	until    atomic.Int64  // when the pass's time is up, in Unix nanoseconds
	deadline *time.Timer   // wakes an idle loop then
	cutoff   *time.Timer   // interrupts the program then
	ended    time.Time     // when the program ended
	lingered bool          // it has waited for a moment since something happened
	timesUp  bool          // it came back to tell of that
	closed   bool          // a completion did not fit: the pass ends here
	// refreshed says that a read of the log was made anew.
	refreshed bool
	// stepped says that the function of a step ran, which a replay does not run.
	stepped bool
	// suspended says that the pass ended inside a call of the synchronous mode.
	suspended bool

	errorsAt   []errorAt
	rejections []*goja.Promise // that nothing handles
}

type mainState struct {
	settled, threw bool
	value          goja.Value
}

type call struct {
	sandbox.Call
	resolve, reject func(any) error
	admission       sandbox.Admission
	step            *scope     // of a step: its own
	late            bool       // settled by itself while the pass was closing: left to the next pass
	began           time.Time  // when it was started, of an inline call
	value, thrown   goja.Value // how it was delivered, in the synchronous mode
}

type completion struct {
	call  *call
	value json.RawMessage
	err   *signals.CallError
	at    int64
	gated bool // escalated instead of settled
	as    *sandbox.Admission
	order int // of a call that was carried: its place among these, which come first
}

// errStopped unwinds the loop after the first interrupt; nothing may drive the runtime after it.
var errStopped = errors.New("pass stopped")

const (
	gateGrace     = 250 * time.Millisecond
	gateDelivery  = 100
	inlineTimerMs = 1000
	entryOverhead = 200 // bytes of an encoded entry beside its values
)

func New(ctx context.Context, pass sandbox.Pass, host sandbox.Host) *Engine {
	e := &Engine{host: host, vm: goja.New()}
	e.Take(ctx, pass)
	return e
}

// Alike is what two passes must have in common so that a runtime built for one suits the other.
func Alike(p sandbox.Pass) sandbox.Pass {
	return sandbox.Pass{Connectors: p.Connectors, Synchronous: p.Synchronous}
}

// Ahead returns an engine whose runtime is built already, for a later pass that is like this one.
func Ahead(pass sandbox.Pass, host sandbox.Host) *Engine {
	e := New(context.Background(), Alike(pass), host)
	if e.build() != nil { // whoever needs it will say so
		return nil
	}
	return e
}

// Suits reports whether the runtime was built as the pass needs it.
func (e *Engine) Suits(pass sandbox.Pass) bool {
	return e != nil && e.pass.Synchronous == pass.Synchronous && slices.Equal(e.pass.Connectors, pass.Connectors)
}

// Take gives a pass to an engine that has run nothing yet.
func (e *Engine) Take(ctx context.Context, pass sandbox.Pass) {
	e.ctx, e.pass, e.limits, e.started = ctx, pass, pass.Limits.WithDefaults(), time.Now()
	e.clock, e.random = pass.Start, seeded(pass.Seed)
	e.calls, e.running, e.timers = map[int]*call{}, map[int]*call{}, map[int]*timer{}
	e.recorded, e.open = map[int]*signals.Entry{}, map[int]sandbox.OpenCall{}
	e.wake, e.inbox = make(chan struct{}, 1), make(chan completion, e.limits.Parallel)
	e.stirred = make(chan struct{}, 1)
	e.console = console{skip: pass.Lines, maxBytes: e.limits.ConsoleBytes, maxLines: e.limits.ConsoleLines}
	for i := range pass.Log {
		if entry := &pass.Log[i]; !entry.Timer {
			e.recorded[entry.ID] = entry
		}
	}
	for _, o := range pass.Open {
		e.open[o.Seq] = o
	}
	e.unseen = len(e.open)
	e.until.Store(e.started.Add(e.limits.Timeout).UnixNano())
	if pass.Left != nil {
		e.returned(pass.Left)
	}
}

// Run drives the program to the end of the pass. The error is the context's, when the pass was cancelled.
func (e *Engine) Run(p *compile.Program) (sandbox.Result, error) {
	return e.drive(func() error {
		if err := e.newRuntime(); err != nil {
			return err
		}
		return e.startMain(p)
	})
}

func (e *Engine) drive(begin func() error) (sandbox.Result, error) {
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.ctx = ctx
	e.deadline = time.NewTimer(time.Until(e.Until())) // the interrupt alone does not wake an idle loop
	defer e.deadline.Stop()
	e.cutoff = time.AfterFunc(time.Until(e.Until()), e.timeUp)
	defer e.cutoff.Stop()
	defer context.AfterFunc(ctx, e.interrupt)()

	err := begin()
	if err == nil {
		err = e.loop()
	}
	if cause := context.Cause(ctx); cause != nil {
		return sandbox.Result{}, cause
	}
	if err != nil && e.fatal == nil && !e.suspended {
		e.fatal = e.failureOf(err)
	}
	return e.finish(), nil
}

func (e *Engine) timeUp() {
	e.expired.Store(true)
	e.interrupt()
}

func (e *Engine) interrupt() {
	e.stopped.Store(true)
	e.vm.Interrupt("stopped")
}

// Until is when the pass's time is up: after its timeout, or that of the longest call that has one of its own.
func (e *Engine) Until() time.Time { return time.Unix(0, e.until.Load()) }

// allow gives the pass the time that a call may take by a timeout of its own.
func (e *Engine) allow(call time.Duration) {
	until := time.Now().Add(call + sandbox.TimeoutGrace)
	if call <= 0 || !until.After(e.Until()) {
		return
	}
	e.until.Store(until.UnixNano())
	e.deadline.Reset(time.Until(until))
	e.cutoff.Reset(time.Until(until))
}

// Limits are those of the pass.
func (e *Engine) Limits() sandbox.Limits { return e.limits }

// Kill ends the pass with a failure from another goroutine than the engine's.
func (e *Engine) Kill(f *sandbox.Failure) {
	e.killed.CompareAndSwap(nil, f)
	e.interrupt()
	e.rouse()
}

func (e *Engine) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// abort ends the pass with a failure that the program cannot catch.
func (e *Engine) abort(f *sandbox.Failure) {
	if e.fatal == nil {
		e.fatal = f
	}
	e.interrupt()
}

func (e *Engine) failureOf(err error) *sandbox.Failure {
	var overflow *goja.StackOverflowError
	switch killed := e.killed.Load(); {
	case killed != nil:
		located := *killed
		located.Position = interruptedAt(err)
		return &located
	case errors.As(err, &overflow):
		return &sandbox.Failure{Kind: sandbox.StackOverflow, Message: "RangeError: Maximum call stack size exceeded"}
	case e.expired.Load() && e.Heavy != nil && e.Heavy():
		return &sandbox.Failure{Kind: sandbox.OutOfMemory, Message: "Execution timed out while it used much memory. " +
			"Work on less at once: read in pages, and keep only what you need."}
	case e.expired.Load():
		return e.timeIsUp(err)
	}
	return &sandbox.Failure{Kind: sandbox.Thrown, Message: err.Error()}
}

// timeIsUp says where the program stood: in its own code, or at the first of the calls that it waited for.
func (e *Engine) timeIsUp(err error) *sandbox.Failure {
	f := sandbox.TimeUp(e.limits.Told)
	if f.Position = interruptedAt(err); f.Position != nil || len(e.running) == 0 {
		return f
	}
	first := e.running[slices.Min(slices.Collect(maps.Keys(e.running)))]
	return f.WaitedFor(first.Call)
}

// interruptedAt is where in the program an interrupt came; nil where that did not run.
func interruptedAt(err error) *signals.Position {
	var interrupted *goja.InterruptedError
	if !errors.As(err, &interrupted) {
		return nil
	}
	return firstInProgram(interrupted.Stack())
}

func (e *Engine) startMain(p *compile.Program) error {
	fn, err := e.vm.RunProgram(p.Compiled)
	if err != nil {
		return e.uncaught(err)
	}
	main, _ := goja.AssertFunction(fn)
	value, err := main(goja.Undefined())
	if err != nil {
		return e.uncaught(err)
	}
	return e.follow(value, func(v goja.Value) error {
		f, ok := goja.AssertFunction(v)
		if !p.CallResult || !ok {
			e.main = mainState{settled: true, value: v}
			return nil
		}
		inner, err := f(goja.Undefined())
		if err != nil {
			return e.uncaught(err)
		}
		return e.follow(inner, func(v goja.Value) error {
			e.main = mainState{settled: true, value: v}
			return nil
		})
	})
}

// follow calls then with what the value resolves to; a rejection ends the program.
func (e *Engine) follow(value goja.Value, then func(goja.Value) error) error {
	promise, resolve, _ := e.vm.NewPromise()
	if err := resolve(value); err != nil {
		return err
	}
	onValue := func(c goja.FunctionCall) goja.Value {
		if err := then(c.Argument(0)); err != nil {
			e.abort(e.failureOf(err))
		}
		return goja.Undefined()
	}
	onError := func(c goja.FunctionCall) goja.Value {
		e.throw(c.Argument(0))
		return goja.Undefined()
	}
	object := e.vm.ToValue(promise).ToObject(e.vm)
	_, err := method(object, "then")(object, e.vm.ToValue(onValue), e.vm.ToValue(onError))
	return err
}

// uncaught records an exception that left the program synchronously; other errors pass through.
func (e *Engine) uncaught(err error) error {
	var exception *goja.Exception
	if errors.As(err, &exception) {
		e.throw(exception.Value())
		return nil
	}
	return err
}

func (e *Engine) throw(value goja.Value) {
	if !e.main.settled {
		e.main = mainState{settled: true, threw: true, value: value}
	}
}

// loop delivers one thing at a time, each a macrotask, until the pass ends.
func (e *Engine) loop() error {
	for {
		if e.stopped.Load() {
			return errStopped
		}
		progressed, err := e.turn()
		if err != nil {
			return err
		}
		if !progressed {
			return nil
		}
	}
}

func (e *Engine) turn() (bool, error) {
	switch {
	case e.cursor < len(e.pass.Log):
		return true, e.replay(&e.pass.Log[e.cursor])
	case !e.live:
		return true, e.goLive()
	}
	if e.noteEnd(); e.over() {
		e.giveUp()
	}
	e.pump()
	e.collect()
	if done, err := e.deliverNext(); done || err != nil {
		return !e.closed, err
	}
	if e.finished() {
		e.result.End = sandbox.Completed
		if e.main.threw {
			e.result.End = sandbox.Failed
		}
		return false, nil
	}
	switch {
	case e.waitable() && e.leaves() && e.lingered:
		e.result.End = sandbox.Left
		return false, nil
	case e.waitable():
		return true, e.wait()
	}
	return false, e.endOpen()
}

// goLive starts what the program issued beyond the log.
func (e *Engine) goLive() error {
	if e.unseen > 0 {
		for seq, o := range e.open {
			if e.calls[seq] == nil {
				return e.diverge(seq, notCalled(o.Connector, o.Method))
			}
		}
	}
	e.live = true
	for _, o := range e.pass.Open {
		e.openGate(o.Pending)
	}
	held := e.held
	e.held = nil
	for _, c := range held {
		e.admit(c)
	}
	e.inOrder()
	return nil
}

func (e *Engine) openGate(pending bool) {
	e.gates++
	if pending {
		e.waiting++
	}
	if e.gates > 1 {
		return
	}
	e.gate, e.since, e.gateTimers = time.Now(), 0, e.nextTimer
	if l := e.pass.Left; l != nil && l.GateOpen > 0 {
		e.gate, e.since, e.gateTimers = e.gate.Add(-l.GateOpen), l.Deliveries, l.Timers
	}
}

// closing reports whether the pass starts nothing more: a gate must not starve, nor a result grow without bound.
func (e *Engine) closing() bool {
	if e.gates > 0 && (time.Since(e.gate) > gateGrace || e.since >= gateDelivery) {
		return true
	}
	return e.holds() > e.limits.BufferBytes || e.over() || time.Since(e.started) > e.limits.Rollover && !e.keptOpen()
}

// longCall is how long a call has to be under way for the others of the program not to wait until it has settled: the
// pass cannot end before.
const longCall = 5 * time.Second

// keptOpen reports whether a call that takes long keeps the pass from ending.
func (e *Engine) keptOpen() bool {
	for _, c := range e.running {
		if time.Since(c.began) > longCall {
			return true
		}
	}
	return false
}

// holds is what the result would hold if the pass ended now.
func (e *Engine) holds() int { return e.size + e.console.bytes }

// pump starts queued inline calls as far as the limits allow; what waits for delivery counts too, or results would pile
// up.
func (e *Engine) pump() {
	for len(e.queue) > 0 && len(e.running)+len(e.ready) < e.limits.Parallel && !e.closing() {
		c := e.queue[0]
		e.queue = e.queue[1:]
		e.start(c, 0)
	}
}

// late reports whether the pass's time is up, even if a busy machine has not run the timer yet.
func (e *Engine) late() bool { return time.Now().After(e.Until()) }

// collect moves finished calls to the ready queue without waiting.
func (e *Engine) collect() {
	for {
		select {
		case c := <-e.inbox:
			e.arrived(c)
		default:
			return
		}
	}
}

func (e *Engine) arrived(c completion) {
	if e.late() || e.running[c.call.Seq] != c.call {
		return // and stays in running: cut off; or was given up
	}
	delete(e.running, c.call.Seq)
	if c.gated {
		if c.as != nil {
			c.call.admission = *c.as
		}
		e.block(c.call)
		return
	}
	if c.call.Connector == sandbox.PlatformConnector {
		c.at = min(c.at, e.now())
	}
	e.ready = append(e.ready, c)
}

// deliverNext delivers the earlier of the oldest ready completion and the next due timer.
func (e *Engine) deliverNext() (bool, error) {
	t := e.dueTimer()
	next := slices.IndexFunc(e.ready, func(c completion) bool { return !c.call.late })
	if next >= 0 && (t == nil || e.ready[next].at <= t.due) {
		c := e.ready[next]
		e.ready = slices.Delete(e.ready, next, next+1)
		return true, e.deliverLive(c)
	}
	if t != nil {
		e.since++
		// On time, however late this machine is: the order of timers must not hang on its load.
		return true, e.fire(t, t.due, true)
	}
	return false, nil
}

// finished reports whether the program has ended and nothing that counts is open. After a throw, calls that wait for a
// person lapse.
func (e *Engine) finished() bool {
	if !e.main.settled || len(e.running)+len(e.queue)+len(e.ready) > 0 {
		return false
	}
	return e.gates == 0 || e.main.threw && e.gates == e.waiting
}

// waitable reports whether anything is under way that this pass may wait for.
func (e *Engine) waitable() bool {
	return len(e.running) > 0 || e.gates == 0 && !e.closing() && !e.main.settled && e.inlineTimer() != nil
}

func (e *Engine) wait() error {
	sleep := e.untilTimer()
	if e.main.settled {
		sleep = max(0, time.Until(e.ended.Add(unawaited))) + time.Millisecond
	}
	if e.leaves() {
		sleep = min(sleep, linger)
	}
	timeout := time.NewTimer(sleep)
	defer timeout.Stop()
	e.lingered = false
	e.idle.Store(true)
	defer e.stir()
	select {
	case c := <-e.inbox:
		e.arrived(c)
	case <-timeout.C:
		e.lingered = true
	case <-e.ctx.Done():
	case <-e.wake:
	case <-e.deadline.C:
		e.timeUp()
	}
	return nil
}

// stir tells whoever waits for it that the loop goes on.
func (e *Engine) stir() {
	e.idle.Store(false)
	select {
	case e.stirred <- struct{}{}:
	default:
	}
}

// Idle reports whether the pass only waits; Stirred has something when it goes on.
func (e *Engine) Idle() bool               { return e.idle.Load() }
func (e *Engine) Stirred() <-chan struct{} { return e.stirred }

// endOpen ends a pass that cannot go on by itself.
func (e *Engine) endOpen() error {
	switch {
	case e.gates > 0 || len(e.queue)+len(e.ready) == 0 && len(e.timers) > 0 && !e.main.settled:
		e.result.End = sandbox.Blocked
	case len(e.queue)+len(e.ready) > 0:
		e.result.End = sandbox.More
	default:
		e.abort(&sandbox.Failure{Kind: sandbox.Deadlock, Message: "The program can never finish: " +
			"it awaits a promise that nothing will settle. " +
			"Check for a resolve that is never called, or a promise that waits for itself."})
		return errStopped
	}
	return nil
}

// diverge ends the pass because the program did something else than the log says.
func (e *Engine) diverge(seq int, what string) error {
	message := fmt.Sprintf("Codemode replay divergence at %s: %s. Code must be deterministic up to tool calls and "+
		"steps. "+
		"Wrap nondeterministic work in codemode.step(name, fn).", stepName(seq), what)
	e.abort(&sandbox.Failure{Kind: sandbox.Diverged, Seq: seq, Message: message})
	return errStopped
}

func notCalled(connector, method string) string {
	return fmt.Sprintf("expected %s.%s, which the program did not call this time", connector, method)
}

func stepName(seq int) string {
	if seq < 0 {
		return fmt.Sprintf("look-up %d", -seq)
	}
	return fmt.Sprintf("step %d", seq)
}

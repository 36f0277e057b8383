package child

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
)

// Options configure a Pool. The zero value is ready for production.
type Options struct {
	// Children is how many passes run at once; 0 is twice the processors, at least 4, as far as memory has room for
	// their budgets.
	Children int
	// Reuse is how many passes a child serves before it is replaced; 0 is 1,000, negative is one pass per child. A
	// child runs one pass at a time, in a fresh runtime each, and is never used again after anything abnormal. It
	// serves one Pool, and so one runtime name, only.
	Reuse int
	// Memory is the budget of one pass in bytes; 0 is 256 MiB.
	Memory int64
	// Require names the layers, of harden.LayerNames, without which nothing runs.
	Require []string
}

// Pool runs each pass in a hardened child process: this binary, run again. Its zero value is not usable; see
// New.
type Pool struct {
	options Options
	seats   seats
	crowded atomic.Int64 // when too many passes ran at once for busy-polling, in Unix nanoseconds: see quiet
	mu      sync.Mutex
	idle    []*process
	atWork  int // children that run passes
	warming int // children that will soon be idle: started ahead of need, or dropping their parked runtime
	closed  bool
	layers  []harden.Layer // of the first child
	plain   bool           // the host refused namespaces to the first child

	forgetting sync.Mutex // one child at a time drops its parked runtime: meanwhile it is neither idle nor at work
}

// New starts a first child to learn what the host allows, and refuses if a required layer is missing, or with
// ErrNoMain.
func New(o Options) (*Pool, error) {
	if !mainCalled.Load() {
		return nil, ErrNoMain
	}
	o.Reuse = cmp.Or(o.Reuse, 1000)
	o.Memory = cmp.Or(o.Memory, 256<<20)
	o.Children = cmp.Or(o.Children, defaultChildren(o.Memory))
	x := &Pool{options: o, seats: seats{free: o.Children}}
	p, err := x.first()
	if err != nil {
		return nil, fmt.Errorf("start a sandbox child: %w", err)
	}
	x.layers = p.layers
	x.keep(p)
	x.watchIdle()
	return x, x.checkRequired()
}

// first starts a child with namespaces of its own, or where the host refuses them, without.
func (x *Pool) first() (*process, error) {
	p, err := startProcess(x.options.Memory, true)
	if err == nil {
		return p, nil
	}
	x.plain = true
	return startProcess(x.options.Memory, false)
}

func (x *Pool) checkRequired() error {
	for _, name := range x.options.Require {
		if layer := layerOf(x.layers, name); !layer.Active {
			_ = x.Close()
			return fmt.Errorf("the sandbox layer %q is required but not available here: %s", name, layer.Detail)
		}
	}
	return nil
}

func layerOf(layers []harden.Layer, name string) harden.Layer {
	for _, l := range layers {
		if l.Name == name {
			return l
		}
	}
	return harden.Layer{Name: name, Detail: "unknown layer"}
}

// Version names the engine, which is the same as in process.
func (x *Pool) Version() string { return engine.Version() }

// Layers tells which protections the children have, and why not the others.
func (x *Pool) Layers() []harden.Layer { return x.layers }

// Close ends the children.
func (x *Pool) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, p := range x.idle {
		p.kill()
	}
	x.idle = nil
	return nil
}

// Run waits for a free child within ctx and runs the pass there. A pass that can only wait for its calls may leave the
// child to others, and goes on in any, once there is something to go on with.
func (x *Pool) Run(ctx context.Context, pass sandbox.Pass, host sandbox.Host) (sandbox.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(ctx, pass, host)
	defer s.close()
	for killed := 0; ; {
		result, err := x.stay(s, killed > 0)
		switch {
		case err == errGone:
		case err == errKilled:
			if killed++; killed == maxKilled {
				return result, nil
			}
			s.lost()
		case err != nil || result.End != sandbox.Left:
			return result, err
		default:
			killed = 0 // it got somewhere
			if err := s.wait(); err != nil {
				return sandbox.Result{}, err
			}
		}
	}
}

// Survey reads a program in a child and runs nothing.
func (x *Pool) Survey(ctx context.Context, pass sandbox.Pass) (*preflight.Survey, error) {
	return preflight.Through(ctx, x, pass)
}

// stay runs a pass in a child, until it ends or leaves. One whose child was killed is given a new one.
func (x *Pool) stay(s *session, anew bool) (sandbox.Result, error) {
	if err := x.sit(s); err != nil {
		return sandbox.Result{}, err
	}
	var p *process
	defer func() { x.seats.leave(p) }()
	var err error
	if p, err = x.child(s, anew); err != nil {
		return sandbox.Result{}, fmt.Errorf("start a sandbox child: %w", err)
	}
	x.work(1)
	p.busyPoll = x.quiet()
	st := s.enter(p)
	x.seats.enter(st)
	defer x.seats.exit(st)
	result, healthy, err := p.run(st)
	x.work(-1)
	x.release(p, healthy)
	return result, err
}

// work counts the children that run passes.
func (x *Pool) work(more int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.atWork += more
}

// child takes the child in which the pass's runtime stands, if that is idle, or any other.
func (x *Pool) child(s *session, anew bool) (*process, error) {
	if anew {
		return x.spawn()
	}
	x.mu.Lock()
	if at := slices.Index(x.idle, s.away.stands); at >= 0 {
		p := x.idle[at]
		x.idle = slices.Delete(x.idle, at, at+1)
		x.mu.Unlock()
		return p, nil
	}
	x.mu.Unlock()
	return x.acquire(s.pass)
}

// quiet reports whether at most GOMAXPROCS/2 passes ran at once during the last second. Only then may both ends of a
// pipe busy-poll: on a loaded host that would slow down other passes.
func (x *Pool) quiet() bool {
	now := time.Now().UnixNano()
	if x.seats.taken() > runtime.GOMAXPROCS(0)/2 { // a container's share, where it has less than the machine
		x.crowded.Store(now)
	}
	return now-x.crowded.Load() > int64(time.Second)
}

// maxKilled is how many children may be killed from outside, one after the other, before the pass in them has failed.
const maxKilled = 5

// tellAfter is how long a pass waits for a child before it tells.
const tellAfter = time.Second

// sit takes one of the places for passes, and tells when it has to wait long for that.
func (x *Pool) sit(s *session) error {
	began := time.Now()
	defer func() { s.waited(time.Since(began)) }()
	a := x.seats.apply(s)
	if a == nil {
		return nil
	}
	timer := time.NewTimer(tellAfter)
	defer timer.Stop()
	for {
		select {
		case <-a.seated:
			return nil
		case <-timer.C:
			sandbox.ReportWaiting(s.ctx, true)
			defer sandbox.ReportWaiting(s.ctx, false)
		case <-s.ctx.Done():
			x.seats.withdraw(a)
			return context.Cause(s.ctx)
		}
	}
}

// acquire takes an idle child, in this order: the one in which the pass's runtime is parked; of those without a parked
// runtime the one that has served most passes, so that it reaches Reuse before its successor; the one whose runtime has
// been parked longest. In the last case another child is started ahead of need, up to the limit.
func (x *Pool) acquire(pass sandbox.Pass) (*process, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.idle) == 0 {
		x.mu.Unlock()
		p, err := x.spawn()
		x.mu.Lock()
		return p, err
	}
	at := slices.IndexFunc(x.idle, func(p *process) bool { return p.parked != "" && follows(pass, p.parked) })
	if at < 0 {
		at = x.mostUsed()
	}
	if at < 0 {
		at = 0
		go x.prewarm(x.options.Children)
	}
	p := x.idle[at]
	x.idle = slices.Delete(x.idle, at, at+1)
	return p, nil
}

// mostUsed finds, among the idle children that keep no runtime, the one that has served most passes; -1 if there is
// none.
func (x *Pool) mostUsed() int {
	at := -1
	for i, p := range x.idle {
		if p.parked == "" && (at < 0 || p.passes > x.idle[at].passes) {
			at = i
		}
	}
	return at
}

// release keeps a healthy child for the next pass, up to its number of passes, and replaces any other.
func (x *Pool) release(p *process, healthy bool) {
	switch left := x.options.Reuse - p.passes; {
	case healthy && left > 0:
		if left == prewarmBefore {
			go x.prewarm(x.options.Children + 2) // it still counts, and so does its successor
		}
		state := p.parked // of the next pass, once another may have the child
		x.keep(p)
		if state != "" {
			time.AfterFunc(parkedFor, func() { x.forget(p, state) })
		}
	case x.options.Reuse < 0 || healthy && p.passes > prewarmBefore:
		p.kill()
	default:
		p.kill()
		go x.prewarm(x.options.Children + 1) // the child that is gone still counts
	}
}

// prewarmBefore is how many passes before its retirement a child's successor is started.
const prewarmBefore = 5

// keep makes a child available, unless there is one for each pass that may run at once, and a successor for one.
func (x *Pool) keep(p *process) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || len(x.idle)+x.atWork > x.options.Children {
		p.kill()
		return
	}
	p.rests()
	x.idle = append(x.idle, p)
}

// parkedFor is how long a runtime stays parked for the next pass.
const parkedFor = 20 * time.Second

// forget drops a parked runtime, if it still is parked. A child that does not read the frame is ended; meanwhile no
// lock is held that others need.
func (x *Pool) forget(p *process, state string) {
	x.forgetting.Lock()
	defer x.forgetting.Unlock()
	if !x.take(p, state) {
		return
	}
	timer := time.AfterFunc(killGrace, p.kill)
	err := p.link.send(frameForget, struct{}{})
	healthy := timer.Stop() && err == nil
	x.mu.Lock()
	x.warming--
	x.mu.Unlock()
	if healthy {
		x.keep(p)
		return
	}
	p.kill()
	x.prewarm(x.options.Children)
}

// take removes the child in which the runtime of a state is parked from the idle ones. A busy child has none, or soon
// another.
func (x *Pool) take(p *process, state string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	at := slices.Index(x.idle, p)
	if at < 0 || p.parked != state {
		return false
	}
	x.idle = slices.Delete(x.idle, at, at+1)
	p.parked, p.before = "", loggedCalls{}
	x.warming++
	return true
}

// prewarm starts a child if there are fewer than most, with those that are being started.
func (x *Pool) prewarm(most int) {
	x.mu.Lock()
	needed := !x.closed && len(x.idle)+x.atWork+x.warming < most
	if needed {
		x.warming++
	}
	x.mu.Unlock()
	if !needed {
		return
	}
	p, err := x.spawn()
	x.mu.Lock()
	x.warming--
	x.mu.Unlock()
	if err == nil { // else the next pass meets the error
		x.keep(p)
	}
}

// spawn starts a child that has every protection of the first one, which is what Layers tells.
func (x *Pool) spawn() (*process, error) {
	p, err := startProcess(x.options.Memory, !x.plain)
	if err != nil {
		return nil, err
	}
	if err := x.checkLayers(p.layers); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (x *Pool) checkLayers(layers []harden.Layer) error {
	for _, first := range x.layers {
		if layer := layerOf(layers, first.Name); first.Active && !layer.Active {
			const missing = "the sandbox layer %q, which the first child has, is missing: %s"
			return fmt.Errorf(missing, layer.Name, layer.Detail)
		}
	}
	return nil
}

// killGrace is what a pass has beyond its own timeout before the worker ends its child.
const killGrace = time.Second

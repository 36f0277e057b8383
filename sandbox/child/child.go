package child

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

// Exit codes by which a child tells why it ended itself.
const (
	exitDone   = 0
	exitBroken = 80
	exitMemory = 81
	exitCPU    = 82
	exitTime   = 83
)

// childConfig is the child's only argument.
type childConfig struct {
	Memory int64
	Pivot  bool // it has namespaces of its own
}

func parseChildConfig(args []string) childConfig {
	var c childConfig
	if len(args) != 3 {
		os.Exit(exitBroken)
	}
	if _, err := fmt.Sscanf(args[1], "memory=%d", &c.Memory); err != nil {
		os.Exit(exitBroken)
	}
	c.Pivot = args[2] == "namespaces"
	return c
}

// child serves passes one at a time. It is the Host of the engine it runs: calls go to the worker.
type child struct {
	link     *link
	programs compile.Cache
	memory   int64
	parked   *engine.Engine // the newest pass's, to go on with
	newest   *sandbox.Pass  // the newest pass: the next one is likely to resemble it
	ready    *engine.Engine // prepared for a pass like newest

	inline map[string]sandbox.Admission // methods whose every call is inline; used by the engine's goroutine only

	// calling is held while a call is sent. It is not mu: settlements are read while a write waits for the pipe.
	calling   sync.Mutex
	mu        sync.Mutex
	pending   map[int]chan sandbox.Settlement
	admission chan sandbox.Admission
	standing  standing
	running   *engine.Engine // the pass's, once it is there
	leaving   bool           // the worker wants the child for another pass
}

// serve runs the next pass; false when the worker has closed the pipe.
func (c *child) serve() bool {
	kind, body, err := c.link.receive()
	if err != nil {
		return false
	}
	switch kind {
	case framePass:
		return c.pass(body, c.first)
	case frameNext:
		return c.pass(body, c.resume)
	case frameReturn:
		return c.comeBack(body)
	case frameDrop:
		c.drop(body)
	case frameForget:
		c.parked = nil
		debug.FreeOSMemory()
		c.prepare()
	case frameProbe:
		return c.link.send(frameProbed, harden.TryToEscape()) == nil
	}
	return true // an answer that came too late for its pass
}

// pass runs one pass: the body says which.
func (c *child) pass(body []byte, run func(body []byte) sandbox.Result) bool {
	c.mu.Lock()
	c.pending, c.admission = map[int]chan sandbox.Settlement{}, make(chan sandbox.Admission, 1)
	c.inline = map[string]sandbox.Admission{}
	c.running, c.leaving = nil, false
	c.mu.Unlock()
	answers := make(chan bool)
	go c.listen(answers)
	result := run(body) // here, on a stack that has grown with the passes before
	c.calling.Lock()    // no call follows the result
	err := c.link.send(frameResult, result)
	c.calling.Unlock()
	if err != nil {
		return false
	}
	// The worker answers a result with one more frame, so that the listener ends before the next pass begins.
	if !<-answers {
		return false
	}
	c.link.setBusyPoll(false) // the next pass may come at any time
	c.prepare()
	return true
}

// prepare builds the runtime of the next pass ahead of time, when mostly nobody waits.
func (c *child) prepare() {
	if c.parked == nil && c.ready == nil && c.newest != nil {
		c.ready = engine.Ahead(*c.newest, c)
	}
}

// listen takes the worker's answers until it has taken the result.
func (c *child) listen(answers chan<- bool) {
	for {
		kind, body, err := c.link.receive()
		if err != nil {
			os.Exit(exitDone) // the worker is gone
		}
		switch kind {
		case frameAdmission:
			var a sandbox.Admission
			if decodeFrame(body, &a) != nil {
				os.Exit(exitBroken)
			}
			c.admission <- a
		case frameSettlement:
			var s settledMessage
			if decodeFrame(body, &s) != nil {
				os.Exit(exitBroken)
			}
			c.settled(s)
		case frameLeave:
			c.leave(nil)
		case frameDrop:
			c.drop(body)
		case frameResult:
			answers <- true
			return
		}
	}
}

func (c *child) settled(s settledMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.pending[s.Seq]; ch != nil {
		ch <- s.Settlement
		delete(c.pending, s.Seq)
	}
}

// leave asks the pass to leave: when the worker wants that, or when the pass has an engine, if it was wanted before.
func (c *child) leave(e *engine.Engine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e != nil {
		c.running = e
	} else {
		c.leaving = true
	}
	if c.leaving && c.running != nil {
		c.running.Leave()
	}
}

// begin notes what the worker says of a pass beside the pass.
func (c *child) begin(s Stay) {
	c.link.setBusyPoll(s.BusyPoll)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = c.leaving || s.Leave
}

// first runs a pass from the program's first line. A parked runtime is dropped.
func (c *child) first(body []byte) sandbox.Result {
	c.parked = nil
	var m passMessage
	if decodeFrame(body, &m) != nil {
		os.Exit(exitBroken)
	}
	p := m.Pass
	c.begin(m.Stay)
	if p.Survey {
		return preflight.Result(p)
	}
	if crowded(uint64(c.memory)) {
		c.programs.Clear()
	}
	program, failure := c.programs.Get(p.Code, p.Modules, compile.ProgramSource)
	if failure != nil {
		return sandbox.Result{End: sandbox.Failed, Failure: failure}
	}
	e := c.engine(p)
	e.Programs = &c.programs
	e.Heavy = func() bool { return heavy(uint64(c.memory)) }
	c.leave(e)
	return c.watched(m.ID, e, p.As != "", func() (sandbox.Result, error) { return e.Run(program) })
}

// engine returns the engine for a pass: the prepared one, if it fits.
func (c *child) engine(p sandbox.Pass) *engine.Engine {
	e, alike := c.ready, engine.Alike(p)
	c.newest, c.ready = &alike, nil
	if !e.Suits(p) {
		return engine.New(context.Background(), p, c)
	}
	e.Take(context.Background(), p)
	return e
}

// resume runs a pass in the parked runtime.
func (c *child) resume(body []byte) sandbox.Result {
	var m nextMessage
	if decodeFrame(body, &m) != nil || c.parked == nil {
		os.Exit(exitBroken)
	}
	c.begin(m.Stay)
	e := c.parked
	return c.watched(m.ID, e, true, func() (sandbox.Result, error) {
		e.Renew(context.Background(), m.Next)
		c.leave(e)
		return e.Resume()
	})
}

// watched runs a pass under the watchdog, and keeps its runtime where a later one may need it.
func (c *child) watched(id uint64, e *engine.Engine, park bool, run func() (sandbox.Result, error)) sandbox.Result {
	c.parked = nil
	stop := watch(e, c.memory, c.spare)
	defer stop()
	result, err := run()
	if err != nil {
		failure := &sandbox.Failure{Kind: sandbox.Crashed, Message: "The sandbox failed: " + err.Error()}
		return sandbox.Result{End: sandbox.Failed, Stopped: true, Failure: failure}
	}
	switch {
	case result.End == sandbox.Left:
		result.Left.Stands = result.Left.Stands && c.standing.keep(id, kept{e, park}, c.memory)
	case park && e.Parkable():
		c.parked, result.Parked = e, true
	}
	return result
}

// Admit asks the worker; it is called by the engine's goroutine only.
func (c *child) Admit(call sandbox.Call) sandbox.Admission {
	method := call.Connector + "." + call.Method
	if a, known := c.inline[method]; known {
		return a // the worker looks at the arguments when it is asked to make the call
	}
	if c.link.send(frameAdmit, call) != nil {
		os.Exit(exitDone)
	}
	a := <-c.admission
	if a.EveryCall {
		c.inline[method] = a
	}
	return a
}

// Call asks the worker to make a call and waits for its settlement, or for the end of the pass.
func (c *child) Call(ctx context.Context, call sandbox.Call) sandbox.Settlement {
	ch := make(chan sandbox.Settlement, 1)
	c.calling.Lock()
	if ctx.Err() == nil { // else its pass is over, and the call would be taken for one of the next pass
		c.mu.Lock()
		c.pending[call.Seq] = ch
		c.mu.Unlock()
		if c.link.send(frameCall, call) != nil {
			os.Exit(exitDone)
		}
	}
	c.calling.Unlock()
	select {
	case s := <-ch:
		return s
	case <-ctx.Done():
		return sandbox.Settlement{Err: &signals.CallError{Message: "the pass is over"}}
	}
}

// watchEvery is how often the watchdog looks.
const watchEvery = 10 * time.Millisecond

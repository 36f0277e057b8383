package engine

import (
	"time"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// The synchronous mode. A call is delivered when it returns, so the log's order is the order of the calls, mixed with
// what the loop delivers between them. A call that this pass may not make ends the pass where it stands: the program is
// interrupted, as when its time is up, so neither catch nor finally runs, and the replay returns the call's value.

// issueSync numbers a call, settles it now, and gives its value or throws its error.
func (e *Engine) issueSync(c *call) goja.Value {
	c.keep()
	entry, open := e.enlist(c)
	switch {
	case e.stopped.Load(): // it diverged
		return goja.Undefined()
	case entry != nil && !e.isNext(entry):
		_ = e.diverge(c.Seq, "the program issued it at another place than the recorded run")
		return goja.Undefined()
	case entry != nil:
		return e.value(c, e.replay(entry))
	case open: // it is being made, or will be when this pass has issued it again
		return e.suspend(sandbox.Blocked)
	}
	return e.liveCall(c)
}

// isNext reports whether the log's next entry is this one.
func (e *Engine) isNext(entry *signals.Entry) bool {
	return e.cursor < len(e.pass.Log) && &e.pass.Log[e.cursor] == entry
}

func (e *Engine) liveCall(c *call) goja.Value {
	if e.cursor < len(e.pass.Log) {
		_ = e.diverge(c.Seq,
			"the program called "+c.Connector+"."+c.Method+" before all of the recorded run was replayed")
		return goja.Undefined()
	}
	if !e.live {
		if err := e.goLive(); err != nil {
			return goja.Undefined()
		}
	}
	if e.begun[c.Seq] == nil && e.closing() && e.size > 0 { // a pass that delivered nothing would be repeated for ever
		return e.suspend(sandbox.More)
	}
	c.Position = e.position()
	e.admit(c)
	switch {
	case e.stopped.Load():
		return goja.Undefined()
	case c.admission.Gated:
		return e.suspend(sandbox.Blocked)
	}
	return e.value(c, e.complete(c))
}

// complete makes an admitted call and delivers how it ended.
func (e *Engine) complete(c *call) error {
	if last := len(e.queue) - 1; last >= 0 && e.queue[last] == c {
		e.queue = e.queue[:last] // what waits there for a place may go on waiting
		e.start(c, 0)
	}
	for {
		for i, done := range e.ready {
			if done.call == c {
				e.ready = append(e.ready[:i:i], e.ready[i+1:]...)
				return e.deliverLive(done)
			}
		}
		if len(e.blocked) > 0 { // it was escalated
			e.suspend(sandbox.Blocked)
		}
		if e.stopped.Load() {
			return errStopped
		}
		if e.leaves() && e.lingered {
			e.suspend(sandbox.Left)
			return errStopped
		}
		e.await()
	}
}

// await waits for a call to finish, or for the end of the pass.
func (e *Engine) await() {
	sleep := time.Hour
	if e.leaves() {
		sleep = linger
	}
	timeout := time.NewTimer(sleep)
	defer timeout.Stop()
	e.lingered = false
	e.idle.Store(true)
	defer e.stir()
	select {
	case <-timeout.C:
		e.lingered = true
	case done := <-e.inbox:
		e.arrived(done)
	case <-e.ctx.Done():
		e.interrupt()
	case <-e.wake: // by whoever killed the pass, or wants its sandbox
	case <-e.deadline.C:
		e.timeUp()
	}
}

// value is what the call came to, once it has been delivered.
func (e *Engine) value(c *call, err error) goja.Value {
	switch {
	case err != nil:
		if e.fatal == nil && !e.stopped.Load() {
			e.abort(e.failureOf(err))
		}
		return goja.Undefined()
	case e.closed: // the result holds no more: the next pass makes the call again
		return e.suspend(e.result.End)
	case c.thrown != nil:
		panic(c.thrown)
	}
	return c.value
}

// suspend ends the pass inside a call of the program.
func (e *Engine) suspend(end sandbox.End) goja.Value {
	e.result.End, e.suspended = end, true
	e.interrupt()
	return goja.Undefined()
}

// keep holds what deliver gives until the call returns.
func (c *call) keep() {
	c.resolve = func(v any) error {
		c.value, _ = v.(goja.Value)
		return nil
	}
	c.reject = func(v any) error {
		c.thrown, _ = v.(goja.Value)
		return nil
	}
}

// start makes an inline call on a goroutine of its own, or goes on with one that was begun some time ago.
func (e *Engine) start(c *call, ago time.Duration) {
	e.running[c.Seq] = c
	c.began = time.Now().Add(-ago)
	e.allow(c.admission.Timeout - ago)
	ctx, inbox := e.ctx, e.inbox // of this stay, whenever the goroutine begins and ends
	go func() {
		s := e.host.Call(ctx, c.Call)
		inbox <- completionOf(c, s, time.Now().UnixMilli())
	}()
}

func completionOf(c *call, s sandbox.Settlement, at int64) completion {
	return completion{call: c, value: s.Value, err: s.Err, at: at, gated: s.Escalate, as: s.As}
}

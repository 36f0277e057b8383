package engine

import (
	"errors"
	"math"
	"time"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/signals"
)

// timer is a setTimeout or one tick of a setInterval. Timers are numbered apart from calls, each tick anew.
type timer struct {
	id       int
	delay    int64 // as it was set, milliseconds
	due      int64 // virtual, epoch milliseconds
	interval int64 // of setInterval; 0 for setTimeout
	handle   int   // what the program clears it by: the number of the first tick
	fn       goja.Callable
	args     []goja.Value
	step     *scope
}

const maxDelay = float64(100 * 365 * 24 * 3600 * 1000)

// jsSetTimer takes a function, a delay, whether to repeat, and the function's arguments.
func (e *Engine) jsSetTimer(f goja.FunctionCall) goja.Value {
	fn, ok := goja.AssertFunction(f.Argument(0))
	if !ok {
		panic(e.vm.NewTypeError("setTimeout and setInterval take a function"))
	}
	delay := f.Argument(1).ToFloat()
	if math.IsNaN(delay) || delay < 1 {
		delay = 1
	}
	t := &timer{fn: fn, step: e.step, delay: int64(min(delay, maxDelay))}
	t.due = e.clock + t.delay
	if f.Argument(2).ToBoolean() {
		t.interval = t.delay
	}
	if list := f.Argument(3).ToObject(e.vm); list != nil {
		for i := range int(list.Get("length").ToInteger()) {
			t.args = append(t.args, list.Get(e.vm.ToValue(i).String()))
		}
	}
	e.arm(t)
	t.handle = t.id
	return e.vm.ToValue(t.handle + 1) // handles are truthy, as in browsers
}

func (e *Engine) arm(t *timer) {
	e.step.markNested()
	t.id = e.nextTimer
	e.nextTimer++
	e.timers[t.id] = t
}

func (e *Engine) jsClearTimer(f goja.FunctionCall) goja.Value {
	if v := f.Argument(0); !goja.IsUndefined(v) && !goja.IsNull(v) {
		handle := int(v.ToInteger()) - 1
		for id, t := range e.timers {
			if t.handle == handle {
				delete(e.timers, id)
			}
		}
	}
	return goja.Undefined()
}

// nextDue is the timer that fires first: by due time, then by number.
func (e *Engine) nextDue() *timer {
	var next *timer
	for _, t := range e.timers {
		if next == nil || t.due < next.due || t.due == next.due && t.id < next.id {
			next = t
		}
	}
	return next
}

// dueTimer is the timer to fire now, if any. Beside an open gate only timers set before it fire.
func (e *Engine) dueTimer() *timer {
	t := e.nextDue()
	if t == nil || e.main.settled || t.due > time.Now().UnixMilli() {
		return nil
	}
	if !e.mayFire(t) {
		return nil
	}
	return t
}

// mayFire reports whether a timer may fire inside this pass, beside an open gate.
func (e *Engine) mayFire(t *timer) bool { return e.gates == 0 || t.id < e.gateTimers && !e.closing() }

// inlineTimer is the next timer, if this pass may wait for it. A long sleep is durable however little is left of it.
func (e *Engine) inlineTimer() *timer {
	t := e.nextDue()
	now := time.Now().UnixMilli()
	if t == nil || t.due > now && (t.delay > inlineTimerMs || t.due > now+inlineTimerMs) {
		return nil
	}
	return t
}

// untilTimer is how long the loop may sleep before it must look at the timers again.
func (e *Engine) untilTimer() time.Duration {
	t := e.inlineTimer()
	if t == nil || e.main.settled || !e.mayFire(t) {
		return time.Hour
	}
	return max(0, time.Until(time.UnixMilli(t.due)))
}

// fire runs a timer's function; an exception in it ends the program, as an uncaught one does.
func (e *Engine) fire(t *timer, at int64, live bool) error {
	delete(e.timers, t.id)
	e.clock = max(e.clock, at, t.due)
	if live {
		e.record(signals.Entry{Timer: true, ID: t.id, At: at})
	}
	e.step = t.step
	if t.interval > 0 {
		next := *t
		next.due = t.due + t.interval
		next.due = max(next.due, e.clock+1)
		e.arm(&next)
	}
	_, err := t.fn(goja.Undefined(), t.args...)
	e.step = nil
	var exception *goja.Exception
	if errors.As(err, &exception) {
		e.throw(exception.Value())
		return nil
	}
	return err
}

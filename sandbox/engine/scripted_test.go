package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/signals"
)

// Uninterrupted runs the program once, live, delivering results in the order of the other run's log.
func Uninterrupted(code string, as sandbox.Pass) (result string, logs []string, err error) {
	p, failure := (&compile.Cache{}).Get(code, nil, compile.ProgramSource)
	if failure != nil {
		return "", nil, fmt.Errorf("%+v", *failure)
	}
	script := as.Log
	as.Log, as.Open, as.Lines, as.Limits = nil, nil, 0, sandbox.Limits{}
	e := New(context.Background(), as, scriptHost(script))
	e.deadline = time.NewTimer(time.Hour)
	if err := e.newRuntime(); err != nil {
		return "", nil, err
	}
	if err := e.startMain(p); err != nil {
		return "", nil, err
	}
	if !e.live {
		if err := e.goLive(); err != nil {
			return "", nil, err
		}
	}
	returned := 0
	for i, entry := range script {
		if as.Synchronous && entry.Connector == "store" {
			if returned = e.returnedAfter(returned, entry); returned == 0 {
				return "", nil, fmt.Errorf("entry %d of the log, %+v, did not return in this place", i, entry)
			}
		} else if err := e.deliverScripted(entry); err != nil {
			return "", nil, fmt.Errorf("entry %d of the log, %+v: %w", i, entry, err)
		}
	}
	if !e.main.settled || e.main.threw {
		return "", nil, fmt.Errorf("live, the program has not returned after all %d entries", len(script))
	}
	value, _ := e.encode(e.main.value)
	return string(value), e.console.report(), nil
}

func (e *Engine) deliverScripted(entry signals.Entry) error {
	if entry.Timer {
		t := e.timers[entry.ID]
		if t == nil {
			return fmt.Errorf("no such timer")
		}
		return e.fire(t, entry.At, true)
	}
	c := e.calls[entry.ID]
	if c == nil {
		return fmt.Errorf("no such call")
	}
	if c.Connector != entry.Connector || c.Method != entry.Method || string(c.Args) != string(entry.Args) {
		return fmt.Errorf("issued as %s.%s(%s)", c.Connector, c.Method, c.Args)
	}
	if entry.Dropped { // the program had ended without waiting for it
		delete(e.calls, c.Seq)
		return nil
	}
	if c.Connector == sandbox.StepConnector {
		return e.deliverStep(entry)
	}
	return e.deliver(c, entry.Value, entry.Error, entry.At)
}

// deliverStep delivers what the step's function, which ran just now, came to.
func (e *Engine) deliverStep(entry signals.Entry) error {
	for i, done := range e.ready {
		if done.call.Seq == entry.ID {
			e.ready = append(e.ready[:i:i], e.ready[i+1:]...)
			if string(done.value) != string(entry.Value) {
				return fmt.Errorf("the step gave %s", done.value)
			}
			return e.deliver(done.call, done.value, done.err, entry.At)
		}
	}
	return fmt.Errorf("the step has not ended")
}

// returnedAfter finds the next call that returned to the program among what the engine recorded, and gives the place
// after it; 0 if that is another than the entry's.
func (e *Engine) returnedAfter(place int, entry signals.Entry) int {
	for ; place < len(e.entries); place++ {
		if got := e.entries[place]; got.Connector == "store" {
			if got.ID != entry.ID || got.Method != entry.Method || string(got.Args) != string(entry.Args) {
				return 0
			}
			return place + 1
		}
	}
	return 0
}

// scriptHost makes every call inline, and answers those that return with what the log says.
type scriptHost []signals.Entry

func (scriptHost) Admit(sandbox.Call) sandbox.Admission { return sandbox.Admission{} }

func (h scriptHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	for _, entry := range h {
		if !entry.Timer && entry.ID == c.Seq {
			return sandbox.Settlement{Value: entry.Value, Err: entry.Error}
		}
	}
	return sandbox.Settlement{Err: &signals.CallError{Message: "not in the log"}}
}

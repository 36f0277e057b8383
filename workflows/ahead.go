package workflows

import (
	"github.com/temporal-codemode/codemode/signals"
)

// A write that a program awaits costs one activity: the worker that made it and holds the program's runtime goes on
// with the pass that follows, and answers with both.

// nextPass is the pass that follows once a call has succeeded, for its activity to go on with; nil unless what that
// call answers is all that the pass will be given.
func (e *execution) nextPass(c *call) *signals.NextPass {
	passing := e.nextPassNow || e.cancelPass != nil
	if !e.pinned.LocalPasses || passing || e.end != nil || c.queue != "" || c.target != nil || c.resolution != nil ||
		len(e.timers)+len(e.settled)+len(e.decisions) > 0 {
		return nil
	}
	for _, other := range e.order {
		if other.open() && other != c {
			return nil
		}
	}
	next := &signals.NextPass{Pass: e.passes + 1, After: e.nonce}
	if c.scheduled > 1 {
		next.Attempts = c.scheduled
	}
	return next
}

// takeEarlyPass is the result of the pass that input asks for, if a call's activity went on with it.
func (e *execution) takeEarlyPass(input signals.PassInput) (signals.PassResult, bool) {
	next := e.earlyPass
	e.earlyPass = nil
	if next == nil || next.Pass != input.Pass || input.Decided || len(input.Open) > 0 || len(next.Given) != 1 ||
		len(input.Given) != 1 {
		return signals.PassResult{}, false
	}
	return *next, next.Given[0].Same(input.Given[0])
}

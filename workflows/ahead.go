package workflows

import (
	"cmp"

	"github.com/temporal-codemode/codemode/signals"
)

// A write that a program awaits costs one activity: the worker that made it and holds the program's runtime goes on with
// the pass that follows, and answers with both.

// nextPass is the pass that follows once a call has succeeded, for its activity to go on with; nil unless that call is all
// that the execution waits for. Decisions are no matter: they are for calls that wait for a person, and there is none.
func (e *execution) nextPass(c *call) *signals.NextPass {
	passing := e.again || e.cancelPass != nil
	if !e.pinned.LocalPasses || passing || e.end != nil || c.queue != "" || c.given != nil || len(e.timers)+len(e.settled) > 0 {
		return nil
	}
	for _, other := range e.order {
		if other.open && other != c {
			return nil
		}
	}
	next := &signals.NextPass{Pass: e.passes + 1, After: e.nonce}
	if c.tries > 1 {
		next.Attempts = c.tries
	}
	return next
}

// settledAt is when a call settled: its activity says, if it went on with the pass that follows.
func settledAt(out signals.CallOutput, now int64) int64 {
	if out.Next != nil && len(out.Next.Given) == 1 {
		return out.Next.Given[0].At
	}
	return cmp.Or(out.At, now)
}

// ahead is the result of the pass that input asks for, if a call's activity went on with it.
func (e *execution) ahead(input signals.PassInput) (signals.PassResult, bool) {
	next := e.next
	e.next = nil
	if next == nil || next.Pass != input.Pass || input.Decided || len(input.Open) > 0 || len(next.Given) != 1 || len(input.Given) != 1 {
		return signals.PassResult{}, false
	}
	was, is := next.Given[0], input.Given[0]
	return *next, was.Kind == is.Kind && was.ID == is.ID && was.At == is.At
}

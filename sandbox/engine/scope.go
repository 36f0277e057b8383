package engine

import "math/rand/v2"

// scope is what the running code belongs to, followed through its awaits: a step's function, or a snippet. The program
// itself has none.
type scope struct {
	parent  *scope
	random  *rand.Rand // of a step: what a replay skips must not shift what the rest draws
	nested  bool       // something that has a number was issued within
	snippet string     // the snippet's name
	depth   int        // of snippets in one another
}

// markNested notes in every scope around a call that a replay has to enter it.
func (s *scope) markNested() {
	for ; s != nil; s = s.parent {
		s.nested = true
	}
}

func (s *scope) snippetName() string {
	for ; s != nil; s = s.parent {
		if s.snippet != "" {
			return s.snippet
		}
	}
	return ""
}

// snippetDepth counts the snippets that run in one another here.
func (s *scope) snippetDepth() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// tracker is told by goja of promise reactions, and carries the current scope across them.
type tracker struct{ e *Engine }

// Grab is called when a reaction is registered.
func (t tracker) Grab() any { return t.e.step }

// Resumed is called before a reaction runs.
func (t tracker) Resumed(context any) { t.e.step, _ = context.(*scope) }

// Exited is called after a reaction ran.
func (t tracker) Exited() { t.e.step = nil }

// generator is the program's, or that of the step around.
func (e *Engine) generator() *rand.Rand {
	for s := e.step; s != nil; s = s.parent {
		if s.random != nil {
			return s.random
		}
	}
	return e.random
}

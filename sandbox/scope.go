package sandbox

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

// Grab, Resumed and Exited carry the current scope across promise reactions.
func (e *engine) Grab() any { return e.step }

// Resumed is called before a promise reaction runs.
func (e *engine) Resumed(context any) { e.step, _ = context.(*scope) }

// Exited is called after a promise reaction ran.
func (e *engine) Exited() { e.step = nil }

// generator is the program's, or that of the step around.
func (e *engine) generator() *rand.Rand {
	for s := e.step; s != nil; s = s.parent {
		if s.random != nil {
			return s.random
		}
	}
	return e.random
}

package engine

import (
	_ "embed"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
)

// goja reads two things from its process: the local time zone, and how far a regular expression may backtrack. Programs
// must see the same everywhere, and importing this package must change neither for anybody else.

// OwnProcess is for a process that runs nothing but passes, as a child does: there, the process itself is set. It is
// called before anything else runs.
func OwnProcess() {
	time.Local = time.UTC
	liftBacktracking()
}

// liftBacktracking takes away regexp2's bound on backtracking: goja takes a match that needs more for no match at all,
// a wrong answer instead of none. The time and memory of a pass bound it instead. goja gives no options to regexp2, so
// that this can be set for the whole process only. Whoever runs passes in a process of his own gets it with the first
// one, and right answers; what he compiles by regexp2 (v2) before that, or with an option, is not affected.
var liftBacktracking = sync.OnceFunc(func() { regexp2.DefaultOptimizationOptions.MaxBacktrackingStackSize = -1 })

//go:embed utc.js
var utcText string

// utcScript is no part of Version: it makes a process in another zone show what all others show.
var utcScript = sync.OnceValue(func() *goja.Program { return goja.MustCompile("codemode", utcText, true) })

// useUTC gives a runtime dates in UTC where the process is not in UTC itself. Setting time.Local instead would be
// shorter, but it is the host's, whose goroutines read it in every time.Now.
func (e *Engine) useUTC() error {
	if time.Local.String() == "UTC" {
		return nil
	}
	value, err := e.vm.RunProgram(utcScript())
	if err != nil {
		return err
	}
	script, _ := goja.AssertFunction(value)
	_, err = script(goja.Undefined(), e.vm.GlobalObject())
	return err
}

package child

import (
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// watch stops a pass in a child that uses too much memory or processor time: first by an interrupt, and if native code
// does not notice that, by ending the child. The worker's own kill comes last.
//
// Runtimes that stand in the child and compiled programs are not the pass's fault: where memory is short, drop lets go
// of them first, and tells whether there were any.
func watch(e *engine.Engine, memory int64, drop func() bool) (stop func()) {
	done := make(chan struct{})
	go func() {
		w := watchdog{e: e, memory: uint64(memory), drop: drop, cpu: harden.ProcessCPU()}
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				w.look()
			}
			if e.Idle() && !w.rest(done) {
				return
			}
		}
	}()
	return func() { close(done) }
}

// rest waits while the program does: there is nothing to see, and looking costs. It is false when the pass has ended.
func (w *watchdog) rest(done <-chan struct{}) bool {
	for w.e.Idle() {
		select {
		case <-done:
			return false
		case <-w.e.Stirred():
		}
	}
	return true
}

type watchdog struct {
	e      *engine.Engine
	memory uint64
	drop   func() bool
	cpu    time.Duration // used before the pass
	over   time.Time     // when the pass was interrupted
	exit   int
}

// Grace that a pass has to end after an interrupt.
const interruptGrace = 300 * time.Millisecond

func (w *watchdog) look() {
	allocated, live := heap()
	if (allocated > w.memory || live > w.memory/2) && w.drop() {
		runtime.GC()
		return
	}
	if allocated > w.memory+w.memory/2 {
		os.Exit(exitMemory)
	}
	switch {
	case !w.over.IsZero():
		if time.Since(w.over) > interruptGrace {
			os.Exit(w.exit)
		}
	case time.Since(w.e.Until()) > interruptGrace:
		if heavy(w.memory) {
			os.Exit(exitMemory)
		}
		os.Exit(exitTime)
	case live > w.memory:
		w.stop(exitMemory, &sandbox.Failure{Kind: sandbox.OutOfMemory, Message: memoryMessage})
	case harden.ProcessCPU()-w.cpu > w.e.Limits().CPU && heavy(w.memory): // most of it went into collecting garbage
		w.stop(exitMemory, &sandbox.Failure{Kind: sandbox.OutOfMemory, Message: memoryMessage})
	case harden.ProcessCPU()-w.cpu > w.e.Limits().CPU:
		w.stop(exitCPU, sandbox.CPUUsed(w.e.Limits().CPU))
	}
}

// heavy reports whether so much memory is in use that collecting garbage explains why a program ran out of time.
func heavy(memory uint64) bool {
	allocated, _ := heap()
	return allocated > memory/4
}

// crowded reports whether what earlier passes left takes a good part of the budget of the next.
func crowded(memory uint64) bool {
	_, live := heap()
	return live > memory/4
}

const (
	memoryMessage = "The program used too much memory. Work on less at once: read in pages, and keep only what you " +
		"need."
	stackMessage = "RangeError: Maximum call stack size exceeded"
	crashMessage = "The sandbox ended unexpectedly while it ran the program."
)

func (w *watchdog) stop(exit int, f *sandbox.Failure) {
	w.over, w.exit = time.Now(), exit
	w.e.Kill(f)
}

// heap tells what is allocated, garbage included, and what the latest collection found alive.
func heap() (allocated, live uint64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

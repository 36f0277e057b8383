package child

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// childName is the argv[0] under which this binary is a sandbox child.
const childName = "codemode-sandbox-child"

// mainCalled says that Main has run: this process is no child, and the children it starts will find out that they are.
var mainCalled atomic.Bool

// ErrNoMain is New's answer where Main was not called: the binary, started again, would not know that it is a child,
// and do once more whatever the program does.
var ErrNoMain = errors.New("this program does not call child.Main, so it cannot run passes in child processes: " +
	"import github.com/temporal-codemode/codemode/sandbox/child and write child.Main() as the first statement of " +
	"func main, and in tests of func TestMain(m *testing.M)")

// Main must be the first statement of the main function of every program that runs passes in children, and of TestMain
// where tests do:
//
//	func main() {
//		child.Main()
//		...
//	}
//
// A child is this binary, started again under another name. In a child Main serves passes and never returns; in any
// other process it only notes that it was called. What the program's packages initialise runs in a child too, before
// Main and without its protections: with an empty environment, in the root directory, and with a pipe to the worker as
// standard input and output, which nothing may read or write.
func Main() {
	if len(os.Args) > 0 && os.Args[0] == childName {
		serveWorker()
	}
	mainCalled.Store(true)
}

// serveWorker is the whole life of a child.
func serveWorker() {
	engine.OwnProcess()
	config := parseChildConfig(os.Args)
	// One program runs at a time. A goroutine that wakes another then runs it next, instead of waking a thread for it.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(config.Memory)
	debug.SetMaxStack(64 << 20)
	engine.Warm()
	layers := harden.Apply(config.Memory, config.Pivot)
	c := &child{link: newLink(nonblocking(os.Stdin), os.Stdout, maxFrameToChild), memory: config.Memory}
	if err := c.link.send(frameReady, readyMessage{Version: engine.Version(), Layers: layers}); err != nil {
		os.Exit(exitBroken)
	}
	ended := make(chan struct{})
	go func() { // a program may have tied its first goroutine to a thread, which every switch to it would wake
		defer close(ended)
		for c.serve() {
		}
	}()
	<-ended
	os.Exit(exitDone)
}

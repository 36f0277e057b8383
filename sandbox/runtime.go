package sandbox

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// goja's local time is the process's; programs must see the same everywhere.
func init() { time.Local = time.UTC }

//go:embed prelude.js
var preludeSource string

var preludeProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("codemode", preludeSource, true)
})

// engineVersion changes with everything that may change how a log replays.
var engineVersion = sync.OnceValue(func() string {
	hash := sha256.Sum256([]byte(preludeSource))
	return fmt.Sprintf("goja %s, esbuild %s, prelude %s", gojaVersion, esbuildVersion, hex.EncodeToString(hash[:4]))
})

// The versions in go.mod; a test compares them. Build information would not do: test binaries have none.
const (
	gojaVersion    = "v0.0.0-20260917113740-793a2a65c13b"
	esbuildVersion = "v0.28.2"
)

// bridge holds the prelude's functions that the engine calls.
type bridge struct {
	encode, decode, describe, nameOf, makeError, run goja.Callable
}

func (e *engine) newRuntime() error {
	vm := e.vm
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	vm.SetMaxCallStackSize(e.limits.Stack)
	vm.SetTimeSource(func() time.Time { return time.UnixMilli(e.clock).UTC() })
	vm.SetRandSource(func() float64 { return e.generator().Float64() })
	vm.SetAsyncContextTracker(e)
	prelude, err := vm.RunProgram(preludeProgram())
	if err != nil {
		return err
	}
	start, _ := goja.AssertFunction(prelude)
	exports, err := start(goja.Undefined(), e.hostObject(), vm.ToValue(vm.NewArray(stringValues(vm, e.pass.Connectors)...)))
	if err != nil {
		return err
	}
	object := exports.ToObject(vm)
	e.js = bridge{
		encode: method(object, "encode"), decode: method(object, "decode"), describe: method(object, "describe"),
		nameOf: method(object, "nameOf"), makeError: method(object, "makeError"), run: method(object, "run"),
	}
	return nil
}

func method(o *goja.Object, name string) goja.Callable {
	f, _ := goja.AssertFunction(o.Get(name))
	return f
}

func stringValues(vm *goja.Runtime, names []string) []any {
	values := make([]any, len(names))
	for i, n := range names {
		values[i] = vm.ToValue(n)
	}
	return values
}

// hostObject is what the prelude may call. Only strings, numbers and functions cross; never Go maps, structs or errors.
func (e *engine) hostObject() *goja.Object {
	host := e.vm.NewObject()
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"issue": e.jsIssue, "step": e.jsStep, "print": e.jsPrint, "now": e.jsNow,
		"random": e.jsRandom, "setTimer": e.jsSetTimer, "clearTimer": e.jsClearTimer,
	} {
		_ = host.Set(name, f)
	}
	_ = host.Set("start", e.pass.Start)
	return host
}

func (e *engine) jsNow(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.clock) }

func (e *engine) jsPrint(call goja.FunctionCall) goja.Value {
	e.console.print(call.Argument(0).String())
	return goja.Undefined()
}

// jsRandom fills a Uint8Array from the seeded generator.
func (e *engine) jsRandom(call goja.FunctionCall) goja.Value {
	bytes, ok := call.Argument(0).Export().([]byte)
	if !ok {
		panic(e.vm.NewTypeError("random takes a Uint8Array"))
	}
	random := e.generator()
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return goja.Undefined()
}

// stepContext follows a step's function through its awaits.
type stepContext struct {
	parent *stepContext
	random *rand.Rand
	nested bool
}

// markNested notes that the step, and every step around it, issued something that has a number.
func (s *stepContext) markNested() {
	for ; s != nil; s = s.parent {
		s.nested = true
	}
}

// Grab, Resumed and Exited carry the current step across promise reactions.
func (e *engine) Grab() any { return e.step }

// Resumed is called before a promise reaction runs.
func (e *engine) Resumed(context any) { e.step, _ = context.(*stepContext) }

// Exited is called after a promise reaction ran.
func (e *engine) Exited() { e.step = nil }

// generator is the program's, or the current step's own: a step that a replay skips must not shift what the rest draws.
func (e *engine) generator() *rand.Rand {
	if e.step != nil {
		return e.step.random
	}
	return e.random
}

func seeded(seed string) *rand.Rand {
	hash := sha256.Sum256([]byte(seed))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:8]), binary.LittleEndian.Uint64(hash[8:16])))
}

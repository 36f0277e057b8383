package engine

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"golang.org/x/text/collate"
)

// The prelude. What runs in every runtime comes in this order; the rest is loaded when a program first touches it.
//
//go:embed prelude/*.js prelude/dist/*.js
var preludeFiles embed.FS

var eagerScripts = []string{"core", "console", "globals"}

//go:generate sh -c "cd prelude && npm ci --ignore-scripts && go run ./build"

// preludeScripts holds every script of the prelude by name, compiled when first used and then shared.
var preludeScripts = sync.OnceValue(func() map[string]func() *goja.Program {
	scripts := map[string]func() *goja.Program{}
	for _, path := range preludePaths() {
		text, _ := preludeFiles.ReadFile(path)
		scripts[scriptName(path)] = sync.OnceValue(func() *goja.Program {
			return goja.MustCompile("codemode", string(text), true)
		})
	}
	return scripts
})

func preludePaths() []string {
	own, _ := fs.Glob(preludeFiles, "prelude/*.js")
	bundled, _ := fs.Glob(preludeFiles, "prelude/dist/*.js")
	return append(own, bundled...)
}

// Warm compiles what most programs use, as a child does before its first pass. The bundles of core-js take four
// times as long as all the rest; they are compiled by the first program that needs them, then kept.
func Warm() {
	own, _ := fs.Glob(preludeFiles, "prelude/*.js")
	for _, path := range own {
		preludeScripts()[scriptName(path)]()
	}
}

func scriptName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".js") }

// Version changes with everything that may change how a log replays. Go's mathematics differ between
// architectures in the last bit.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	hash := sha256.New()
	for _, path := range preludePaths() {
		text, _ := preludeFiles.ReadFile(path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(text), text)
	}
	digest := hex.EncodeToString(hash.Sum(nil)[:4])
	return fmt.Sprintf("goja %s, esbuild %s, prelude %d-%s, %s",
		gojaVersion, esbuildVersion, languageVersion, digest, runtime.GOARCH)
})

// languageVersion is raised when Go code of this package or of package compile changes what programs see: transform,
// regular expressions, JSON, host functions.
const languageVersion = 3

// The versions in go.mod; a test compares them. Build information would not do: test binaries have none.
const (
	gojaVersion    = "v0.0.0-20260917113740-793a2a65c13b"
	esbuildVersion = "v0.28.2"
)

// bridge holds the prelude's functions that the engine calls, and what its host functions keep.
type bridge struct {
	encode, describe, nameOf, makeError, run, snippet goja.Callable

	inspector inspector

	collators map[collatorKey]*collate.Collator
	zones     map[string]*time.Location
	uint8     goja.Value // the Uint8Array constructor
	bigint    goja.Callable
	kit       *goja.Object            // what the parts of the prelude share
	loaded    map[string]*goja.Object // the exports of modules loaded on first use
	loading   map[string]bool
}

// newRuntime makes the runtime that of the pass.
func (e *Engine) newRuntime() error {
	if e.js.run == nil {
		if err := e.build(); err != nil {
			return err
		}
	}
	e.vm.SetMaxCallStackSize(e.limits.Stack)
	return e.js.kit.Get("host").ToObject(e.vm).Set("start", e.pass.Start)
}

// build runs the prelude, which must see nothing of the pass but its connectors and its mode: a child builds the
// runtime of the next pass while it has nothing to do.
func (e *Engine) build() error {
	vm := e.vm
	if err := e.useUTC(); err != nil {
		return err
	}
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	vm.SetTimeSource(func() time.Time { return time.UnixMilli(e.clock).UTC() })
	vm.SetRandSource(func() float64 {
		if len(e.js.loading) > 0 { // a module loaded in a step is loaded elsewhere when the step is skipped
			return 0.5
		}
		return e.generator().Float64()
	})
	vm.SetAsyncContextTracker(tracker{e})
	vm.SetPromiseRejectionTracker(e.trackRejection)
	e.js.inspector = inspectorOf(vm)
	e.js.uint8 = vm.Get("Uint8Array")
	e.js.bigint, _ = goja.AssertFunction(vm.Get("BigInt"))
	e.js.loaded, e.js.loading = map[string]*goja.Object{}, map[string]bool{}
	e.js.collators, e.js.zones = map[collatorKey]*collate.Collator{}, map[string]*time.Location{}
	kit := vm.NewObject()
	e.js.kit = kit
	_ = kit.Set("host", e.hostObject())
	_ = kit.Set("namespaces", vm.NewArray(stringValues(vm, e.pass.Connectors)...))
	scripts := eagerScripts
	if e.pass.Synchronous {
		scripts = append(scripts[:len(scripts):len(scripts)], "utcp")
	}
	for _, name := range scripts {
		if _, err := e.runScript(name, kit); err != nil {
			return err
		}
	}
	exports := kit.Get("exports").ToObject(vm)
	e.js.encode, e.js.describe = method(exports, "encode"), method(exports, "describe")
	e.js.nameOf = method(exports, "nameOf")
	e.js.makeError, e.js.run = method(exports, "makeError"), method(exports, "run")
	e.js.snippet = method(exports, "runSnippet")
	return nil
}

// runScript calls the function that a script of the prelude is.
func (e *Engine) runScript(name string, args ...goja.Value) (goja.Value, error) {
	value, err := e.vm.RunProgram(preludeScripts()[name]())
	if err != nil {
		return nil, err
	}
	script, _ := goja.AssertFunction(value)
	return script(goja.Undefined(), args...)
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

// hostFunctions are listed, not mapped: their order is the order in which every runtime is built.
var hostFunctions = []struct {
	name string
	call func(*Engine, goja.FunctionCall) goja.Value
}{
	{"issue", (*Engine).jsIssue}, {"step", (*Engine).jsStep}, {"snippet", (*Engine).jsSnippet},
	{"print", (*Engine).jsPrint}, {"now", (*Engine).jsNow},
	{"random", (*Engine).jsRandom}, {"setTimer", (*Engine).jsSetTimer}, {"clearTimer", (*Engine).jsClearTimer},
	{"load", (*Engine).jsLoad}, {"shelve", (*Engine).jsShelve},
	{"parse", (*Engine).jsParse}, {"markers", (*Engine).jsMarkers},
	{"regexp", (*Engine).jsRegExp}, {"indices", (*Engine).jsIndices},
	{"utf8", (*Engine).jsUTF8}, {"decodeText", (*Engine).jsDecodeText},
	{"digest", (*Engine).jsDigest}, {"hmac", (*Engine).jsHMAC},
	{"compare", (*Engine).jsCompare}, {"zone", (*Engine).jsZone},
}

// hostObject is what the prelude may call. Only strings, numbers and functions cross; never Go maps, structs or errors.
func (e *Engine) hostObject() *goja.Object {
	host := e.vm.NewObject()
	for _, f := range hostFunctions {
		_ = host.Set(f.name, func(call goja.FunctionCall) goja.Value { return f.call(e, call) })
	}
	_ = host.Set("synchronous", e.pass.Synchronous)
	return host
}

func (e *Engine) jsNow(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.clock) }

func (e *Engine) jsPrint(call goja.FunctionCall) goja.Value {
	line := call.Argument(0).String()
	if name := e.step.snippetName(); name != "" {
		line = "[" + name + "] " + line
	}
	e.console.print(line)
	return goja.Undefined()
}

// jsRandom fills a Uint8Array from the seeded generator.
func (e *Engine) jsRandom(call goja.FunctionCall) goja.Value {
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

func seeded(seed string) *rand.Rand {
	hash := sha256.Sum256([]byte(seed))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:8]), binary.LittleEndian.Uint64(hash[8:16])))
}

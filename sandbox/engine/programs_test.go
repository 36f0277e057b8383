package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

// children are shared by the tests of this package.
var children = sync.OnceValue(func() *child.Pool {
	x, err := child.New(child.Options{})
	if err != nil {
		panic(err)
	}
	return x
})

// programExecutors run the corpus of programs.
var programExecutors = map[string]func(*testing.T) sandbox.Executor{
	"in process": func(*testing.T) sandbox.Executor { return &engine.InProcess{} },
	"isolated":   func(*testing.T) sandbox.Executor { return children() },
}

// TestPrograms runs every program of a directory, by default testdata/programs: line 1 says what it must give, the
// rest is the body of an async function; the connector `tools` has the methods that _tools.js defines.
func TestPrograms(t *testing.T) {
	dir := os.Getenv("CODEMODE_PROGRAMS")
	if dir == "" {
		dir = "testdata/programs"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.[jt]s"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no programs in %s", dir)
	tools, err := os.ReadFile(filepath.Join(dir, "_tools.js"))
	require.NoError(t, err)
	for name, executor := range programExecutors {
		x := executor(t)
		for _, file := range files {
			if base := filepath.Base(file); base != "_tools.js" {
				t.Run(name+"/"+base, func(t *testing.T) { runProgramFile(t, x, file, string(tools)) })
			}
		}
	}
}

func runProgramFile(t *testing.T, x sandbox.Executor, file, tools string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	want := strings.TrimSpace(strings.TrimPrefix(line, "// expect:"))
	pass := sandbox.Pass{Code: string(text), Seed: "exec_program", Start: 1_700_000_000_000,
		Connectors: []string{"tools"}}
	r, err := x.Run(context.Background(), pass, newToolHost(t, tools))
	require.NoError(t, err)
	if r.Failure != nil {
		t.Fatalf("failed: %s %s at %+v", r.Failure.Kind, r.Failure.Message, r.Failure.Position)
	}
	require.Equal(t, sandbox.Completed, r.End)
	requireSame(t, want, orUndefined(r.Value))
}

// requireSame compares long texts, and shows where they begin to differ.
func requireSame(t *testing.T, want, got string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Fatalf("at %d, wanted\n%s\ngot\n%s", at, around(want, at), around(got, at))
}

// around is what a long text says near a place.
func around(text string, at int) string { return text[max(0, at-200):min(len(text), at+200)] }

func orUndefined(value json.RawMessage) string {
	if value == nil {
		return "undefined"
	}
	return string(value)
}

// toolHost answers calls with the methods of _tools.js, in a runtime of its own.
type toolHost struct {
	vm   *goja.Runtime
	call goja.Callable
	turn chan struct{}
}

func newToolHost(t *testing.T, tools string) *toolHost {
	h := &toolHost{vm: goja.New(), turn: make(chan struct{}, 1)}
	_, err := h.vm.RunString(tools + `
var __tools = makeTools();
function __call(name, args) {
	if (!(name in __tools)) return JSON.stringify({error: 'no such tool: ' + name});
	try { return JSON.stringify({value: __tools[name](args === undefined ? undefined : JSON.parse(args))}) }
	catch (e) { return JSON.stringify({error: e.message}) }
}`)
	require.NoError(t, err)
	h.call, _ = goja.AssertFunction(h.vm.Get("__call"))
	return h
}

func (h *toolHost) Admit(sandbox.Call) sandbox.Admission { return sandbox.Admission{Class: "read"} }

func (h *toolHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	args := goja.Undefined()
	if c.Args != nil {
		args = h.vm.ToValue(string(c.Args))
	}
	text, err := h.call(goja.Undefined(), h.vm.ToValue(c.Method), args)
	if err != nil {
		return sandbox.Settlement{Err: &signals.CallError{Message: err.Error()}}
	}
	var answer struct {
		Value json.RawMessage
		Error string
	}
	if err := json.Unmarshal([]byte(text.String()), &answer); err != nil {
		return sandbox.Settlement{Err: &signals.CallError{Message: err.Error()}}
	}
	if answer.Error != "" {
		return sandbox.Settlement{Err: &signals.CallError{Message: answer.Error}}
	}
	return sandbox.Settlement{Value: answer.Value}
}

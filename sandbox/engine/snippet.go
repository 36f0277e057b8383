package engine

import (
	"errors"
	"fmt"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
)

// maxSnippetDepth bounds how deep snippets run one another.
const maxSnippetDepth = 8

// jsSnippet runs the source that codemode.run looked up: name, source, input. Its calls join the program's numbering, a
// failure is one that the program can catch.
func (e *Engine) jsSnippet(f goja.FunctionCall) goja.Value {
	name, source := f.Argument(0).String(), f.Argument(1).String()
	depth := e.step.snippetDepth() + 1
	if depth > maxSnippetDepth {
		const tooDeep = "Snippet %q is not run: snippets run one another more than %d deep."
		return e.rejected(fmt.Sprintf(tooDeep, name, maxSnippetDepth))
	}
	program, failure := e.compileSnippet(source)
	if failure != nil {
		return e.rejected("Code execution failed: " + failure.Message)
	}
	main, err := e.vm.RunProgram(program.Compiled)
	if err != nil {
		panic(err)
	}
	outer := e.step
	e.step = &scope{parent: outer, snippet: name, depth: depth}
	defer func() { e.step = outer }()
	promise, err := e.js.snippet(goja.Undefined(), main, e.vm.ToValue(program.CallResult), e.copied(f.Argument(2)))
	if err != nil {
		panic(err)
	}
	return promise
}

func (e *Engine) compileSnippet(source string) (*compile.Program, *sandbox.Failure) {
	if e.Programs == nil {
		e.Programs = &compile.Cache{}
	}
	return e.Programs.Get(source, e.pass.Modules, compile.SnippetSource)
}

// copied is a value as it would come back from the log.
func (e *Engine) copied(v goja.Value) goja.Value {
	text, failure := e.encode(v)
	if failure != nil {
		panic(e.vm.NewGoError(errors.New(failure.Message)))
	}
	value, err := e.decode(text)
	if err != nil {
		panic(err)
	}
	return value
}

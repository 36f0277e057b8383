package compile

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Tree is the syntax of a program as goja would run it: types dropped, its value returned by the last statement.
type Tree struct {
	Body []ast.Statement // of the async function that is the program
	// CallResult says that a program whose value is a function is run by calling that function.
	CallResult bool

	file *file.File
}

// IsDefault reports whether a name is the one that a program's default export is kept under.
func (t *Tree) IsDefault(name string) bool { return name == exportName }

// Position is where a node stands in the model's own text.
func (t *Tree) Position(at file.Idx) *signals.Position {
	p := t.file.Position(int(at) - t.file.Base())
	return &signals.Position{Line: max(1, p.Line-1), Column: p.Column + 1} // source maps count columns from 0
}

// Parse gives the syntax of a program, for those who look at it without running it.
func Parse(code string, modules map[string]string) (tree *Tree, failure *sandbox.Failure) {
	defer func() {
		if recover() != nil { // as in assemble
			tree, failure = nil, &sandbox.Failure{Kind: sandbox.SyntaxError,
				Message: "SyntaxError: the program cannot be parsed"}
		}
	}()
	out, failure := transformProgram(NormalizeFences(code), modules)
	if failure != nil {
		return nil, failure
	}
	parsed, err := parseLowered(out, "", ProgramSource)
	if err != nil {
		return nil, unparsed(err, out)
	}
	main := mainBody(parsed)
	if main == nil {
		return nil, &sandbox.Failure{Kind: sandbox.SyntaxError, Message: "SyntaxError: the program has no body"}
	}
	tree = &Tree{CallResult: returnLast(main), file: parsed.File}
	tree.Body = main.List
	return tree, nil
}

package compile

import (
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
	"github.com/go-sourcemap/sourcemap"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// The names that stack frames carry: positions are reported in the program only.
const (
	ProgramSource = "program.ts"
	SnippetSource = "snippet.ts"
)

// Program is compiled source; it may be run by many runtimes at once.
type Program struct {
	Compiled *goja.Program // evaluates to the async function that is the program
	// CallResult says that a program whose value is a function is run by calling that function.
	CallResult bool

	size int // of its text, before and after the transform
}

// compile turns the text that a model wrote into a runnable program.
func compile(code string, modules map[string]string, name string) (*Program, *sandbox.Failure) {
	source := NormalizeFences(code)
	out, failure := transformProgram(source, modules)
	if failure != nil {
		if at := failure.Position; at != nil { // the end of the program is seen on the line after it
			at.Line = min(at.Line, strings.Count(strings.TrimRight(source, "\r\n"), "\n")+1)
		}
		return nil, failure
	}
	loader, failure := moduleLoader(source, modules)
	if failure != nil {
		return nil, failure
	}
	p, failure := assemble(out, loader, name)
	if failure == nil {
		p.size = len(code) + len(out.code) + len(loader)
	}
	return p, failure
}

// assemble has goja compile a transformed program. Its compiler panics at some input that it should refuse.
func assemble(out transformed, loader, name string) (p *Program, failure *sandbox.Failure) {
	defer func() {
		if recover() != nil {
			const message = "SyntaxError: the program cannot be compiled"
			p, failure = nil, &sandbox.Failure{Kind: sandbox.SyntaxError, Message: message}
		}
	}()
	tree, err := parseLowered(out, loader, name)
	if err != nil {
		return nil, unparsed(err, out)
	}
	if hasSpecialLiterals(out.code) {
		if failure := rewriteLiterals(tree); failure != nil {
			return nil, failure
		}
	}
	p = &Program{}
	if main := mainBody(tree); main != nil {
		p.CallResult = returnLast(main)
	}
	p.Compiled, err = goja.CompileAST(tree, true)
	if err != nil {
		return nil, loweredFailure(err)
	}
	return p, nil
}

func parseLowered(out transformed, loader, name string) (*ast.Program, error) {
	text := "(function(){" + out.code + "\n;return " + mainName + ";" + loader + "})()\n" +
		"//# sourceMappingURL=" + name + ".map"
	load := func(string) ([]byte, error) { return out.smap, nil }
	return parser.ParseFile(nil, name, text, 0, parser.WithSourceMapLoader(load))
}

// unparsed explains what goja's parser refuses; its positions are those of the transformed text.
func unparsed(err error, out transformed) *sandbox.Failure {
	var list parser.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return loweredFailure(err)
	}
	f := &sandbox.Failure{Kind: sandbox.SyntaxError, Message: "SyntaxError: " + list[0].Message}
	at := list[0].Position
	f.Position = &signals.Position{Line: max(1, at.Line-1), Column: max(1, at.Column)}
	if consumer, err := sourcemap.Parse("", out.smap); err == nil {
		if _, _, line, column, ok := consumer.Source(at.Line, at.Column); ok {
			f.Position = &signals.Position{Line: max(1, line-1), Column: column + 1}
		}
	}
	return f
}

func loweredFailure(err error) *sandbox.Failure {
	f := &sandbox.Failure{Kind: sandbox.SyntaxError, Message: "SyntaxError: " + err.Error()}
	var syntax *goja.CompilerSyntaxError
	if errors.As(err, &syntax) {
		f.Message = "SyntaxError: " + syntax.Message
		if syntax.File != nil {
			at := syntax.File.Position(syntax.Offset)
			f.Position = &signals.Position{Line: max(1, at.Line-1), Column: at.Column}
		}
	}
	return f
}

// mainBody finds the body of the wrapper function in the transformed program.
func mainBody(tree *ast.Program) *ast.BlockStatement {
	outer, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	call, ok := outer.Expression.(*ast.CallExpression)
	if !ok {
		return nil
	}
	wrapper, ok := call.Callee.(*ast.FunctionLiteral)
	if !ok {
		return nil
	}
	for _, statement := range wrapper.Body.List {
		if d, ok := statement.(*ast.FunctionDeclaration); ok && d.Function.Name != nil &&
			d.Function.Name.Name == mainName {
			return d.Function.Body
		}
	}
	return nil
}

// returnLast makes the program's value that of its last expression, or of the one function it consists of, and reports
// whether that value is a function to call.
func returnLast(body *ast.BlockStatement) (callResult bool) {
	list := body.List
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	if value := defaultExport(list); value != nil {
		body.List = append(list, returnName(exportName, last.Idx0()))
		return isFunction(value)
	}
	switch s := last.(type) {
	case *ast.ExpressionStatement:
		list[len(list)-1] = &ast.ReturnStatement{Return: s.Idx0(), Argument: s.Expression}
		return isFunction(s.Expression)
	case *ast.ReturnStatement: // the bare expression form is wrapped as one
		return len(list) == 1 && isFunction(s.Argument)
	}
	name, ok := entryPoint(list)
	if !ok {
		return false
	}
	body.List = append(list, returnName(name, last.Idx0()))
	return true
}

func returnName(name unistring.String, at file.Idx) ast.Statement {
	return &ast.ReturnStatement{Return: at, Argument: &ast.Identifier{Name: name, Idx: at}}
}

// defaultExport finds what the program exports as default, which transformExports made an assignment.
func defaultExport(list []ast.Statement) ast.Expression {
	for _, s := range list {
		if e, ok := s.(*ast.ExpressionStatement); ok {
			if a, ok := e.Expression.(*ast.AssignExpression); ok {
				if target, ok := a.Left.(*ast.Identifier); ok && target.Name == exportName {
					return a.Right
				}
			}
		}
	}
	return nil
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// entryPoint names the function that a program of nothing but declarations means to be called: its only one, or main.
func entryPoint(list []ast.Statement) (unistring.String, bool) {
	var names []unistring.String
	for _, s := range list {
		name, isFunction, ok := declared(s)
		if !ok {
			return "", false
		}
		if isFunction {
			names = append(names, name)
		}
	}
	for _, n := range names {
		if n == "main" || len(names) == 1 && len(list) == 1 {
			return n, true
		}
	}
	return "", false
}

// declared looks at a declaration: its name and whether it is of a function; ok is false for other statements.
func declared(s ast.Statement) (name unistring.String, function, ok bool) {
	var bindings []*ast.Binding
	switch s := s.(type) {
	case *ast.FunctionDeclaration:
		return s.Function.Name.Name, true, true
	case *ast.ClassDeclaration:
		return "", false, true
	case *ast.LexicalDeclaration:
		bindings = s.List
	case *ast.VariableStatement:
		bindings = s.List
	default:
		return "", false, false
	}
	id, isName := bindings[0].Target.(*ast.Identifier)
	if isName && len(bindings) == 1 && isFunction(bindings[0].Initializer) {
		return id.Name, true, true
	}
	return "", false, true
}

// Cache keeps the most recently compiled programs of this process.
type Cache struct {
	mu    sync.Mutex
	byKey map[string]*Program
	order []string
	size  int
}

// What is kept counts against the memory of the passes to come, which are others'. Compiled, a program may take twenty
// times as much as its text before and after the transform.
const (
	programsKept     = 128
	programBytesKept = 2 << 20
)

func (c *Cache) Get(code string, modules map[string]string, name string) (*Program, *sandbox.Failure) {
	key := name + "\x00" + code + "\x00" + ModulesVersion(modules)
	c.mu.Lock()
	p := c.byKey[key]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, failure := compile(code, modules, name)
	if failure == nil {
		c.put(key, p)
	}
	return p, failure
}

func (c *Cache) put(key string, p *Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[string]*Program{}
	}
	if c.byKey[key] != nil {
		return
	}
	c.order = append(c.order, key)
	c.byKey[key] = p
	c.size += p.size
	for len(c.order) > 1 && (len(c.order) > programsKept || c.size > programBytesKept) {
		oldest := c.order[0]
		c.size -= c.byKey[oldest].size
		delete(c.byKey, oldest)
		c.order = c.order[1:]
	}
}

// Clear forgets all programs, and reports whether there were any.
func (c *Cache) Clear() (had bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	had = len(c.order) > 0
	c.byKey, c.order, c.size = nil, nil, 0
	return had
}

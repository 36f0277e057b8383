package preflight_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

// Programs by others: CODEMODE_PREFLIGHT_CORPUS is a folder of JavaScript and TypeScript files. The body of each async
// function in them that awaits methods of something is a program, and what it awaits is its catalogue. What is found is
// printed, for a person to say whether it is true.
func TestProgramsByOthers(t *testing.T) {
	dir := os.Getenv("CODEMODE_PREFLIGHT_CORPUS")
	if dir == "" {
		t.Skip("CODEMODE_PREFLIGHT_CORPUS names a folder of programs by others")
	}
	programs, alarms, refused := 0, 0, 0
	made, found := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, body := range asyncBodies(name) {
			if seen[body] {
				continue
			}
			seen[body] = true
			tree, failure := compile.Parse(body, nil)
			if failure != nil {
				refused++
				continue
			}
			catalogue, awaits := derived(tree)
			if awaits == 0 {
				continue
			}
			report := preflight.Read(tree).Judge(catalogue, "")
			if len(report.Program.Methods) == 0 {
				continue // it makes its clients itself
			}
			programs++
			for kind, broken := range brokenAwaits(body) {
				if tree, failure := compile.Parse(broken, nil); failure == nil && calls(report, body) {
					made[kind]++
					if hints(preflight.Read(tree).Judge(catalogue, ""), kind) {
						found[kind]++
					} else if len(body) < 1500 {
						t.Logf("missed %s:\n%s", kind, broken)
					}
				}
			}
			report.Hints = slices.DeleteFunc(report.Hints, func(h signals.Hint) bool {
				return h.Kind == signals.HintMethod // one that is not awaited, and so none of the catalogue's
			})
			if len(report.Hints) > 0 {
				alarms++
				t.Logf("%s\n%s\n%s", name, said(report), body)
			}
		}
		return nil
	}))
	t.Logf("seeded: %v, found: %v", made, found)
	t.Logf("%d programs, %d with hints, %d that do not compile", programs, alarms, refused)
}

var statementAwait = regexp.MustCompile(`(?m)^\s*(await )([A-Za-z_$][\w$]*)\.([A-Za-z_$][\w$]*)\([^()]*\);$`)

// calls reports whether the program calls what the statement awaits of one of its connectors.
func calls(r preflight.Report, body string) bool {
	at := statementAwait.FindStringSubmatch(body)
	return slices.ContainsFunc(r.Program.Methods, func(m signals.ProgramMethod) bool {
		return m.Connector == at[2] && m.Method == at[3]
	})
}

// brokenAwaits leaves out the await of a statement, and misspells its method.
func brokenAwaits(body string) map[string]string {
	at := statementAwait.FindStringSubmatchIndex(body)
	if at == nil || preflight.IsGlobal(body[at[4]:at[5]]) || strings.TrimSpace(body[at[1]:]) == "" {
		return nil // the last expression is the program's value
	}
	return map[string]string{
		signals.HintAwait:  body[:at[2]] + body[at[3]:],
		signals.HintMethod: body[:at[7]] + "Z" + body[at[7]:],
	}
}

// derived is a catalogue of what a program awaits. Every other name may be that of a module.
func derived(tree *compile.Tree) (c others, awaits int) {
	c = others{}
	eachNode(reflect.ValueOf(tree.Body), map[any]bool{}, func(node any) {
		switch node := node.(type) {
		case *ast.Identifier:
			c[node.Name.String()] = append(c[node.Name.String()], "")
		case *ast.AwaitExpression:
			call, ok := node.Argument.(*ast.CallExpression)
			if !ok {
				return
			}
			dot, ok := call.Callee.(*ast.DotExpression)
			if !ok {
				return
			}
			if of, ok := dot.Left.(*ast.Identifier); ok && !preflight.IsGlobal(of.Name.String()) {
				awaits++
				c[of.Name.String()] = append(c[of.Name.String()], dot.Identifier.Name.String())
			}
		}
	})
	return c, awaits
}

// others is a catalogue of which nothing is known but names. Of methods that it does not have nothing is said, and so
// of names that are no connectors.
type others map[string][]string

func (c others) Known(connector string) bool       { return strings.Join(c[connector], "") != "" }
func (c others) Methods(connector string) []string { return c[connector] }

func (c others) Names() (list []string) {
	for name := range c {
		list = append(list, name)
	}
	return list
}

var writing = regexp.MustCompile(`^(create|update|delete|remove|send|post|put|add|set|insert|write)`)

func (c others) Method(connector, method string) (*preflight.Method, error) {
	if method == "" || !slices.Contains(c[connector], method) {
		return nil, fmt.Errorf("unknown")
	}
	class := signals.Read
	if writing.MatchString(method) {
		class = signals.Write
	}
	return &preflight.Method{Class: class, Assumed: true, Input: func() json.RawMessage { return nil },
		Validate: func(json.RawMessage) error { return nil }}, nil
}

// asyncBodies are the bodies of the async functions of a file.
func asyncBodies(name string) (bodies []string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	loader := api.LoaderTSX
	if strings.HasSuffix(name, ".ts") {
		loader = api.LoaderTS
	}
	out := api.Transform(string(text), api.TransformOptions{Loader: loader, Format: api.FormatCommonJS,
		Target: api.ES2022, Charset: api.CharsetUTF8, JSX: api.JSXTransform})
	tree, err := parser.ParseFile(nil, "", string(out.Code), 0, parser.WithDisableSourceMaps)
	if len(out.Errors) > 0 || err != nil {
		return nil
	}
	eachNode(reflect.ValueOf(tree), map[any]bool{}, func(node any) {
		var body *ast.BlockStatement
		switch f := node.(type) {
		case *ast.FunctionLiteral:
			if f.Async && !f.Generator {
				body = f.Body
			}
		case *ast.ArrowFunctionLiteral:
			if b, ok := f.Body.(*ast.BlockStatement); ok && f.Async {
				body = b
			}
		}
		if body != nil {
			bodies = append(bodies, string(out.Code[body.LeftBrace:body.RightBrace-1]))
		}
	})
	return bodies
}

func eachNode(v reflect.Value, seen map[any]bool, visit func(node any)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			eachNode(v.Elem(), seen, visit)
		}
	case reflect.Pointer:
		if v.IsNil() || seen[v.Interface()] || strings.HasSuffix(v.Type().String(), "file.File") {
			return
		}
		seen[v.Interface()] = true
		visit(v.Interface())
		eachNode(v.Elem(), seen, visit)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachNode(v.Field(i), seen, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachNode(v.Index(i), seen, visit)
		}
	}
}

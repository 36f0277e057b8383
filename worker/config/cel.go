package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/wire"
)

// expression is a CEL expression over the plain JSON of a call's arguments, and for reverts of its result.
type expression struct {
	program cel.Program
	names   []string // of members that it looks for, those of caller and program left out
	caller  bool     // it looks at who started the execution
	text    bool     // it looks at what the program's text shows
}

// celCost ends expressions that would compute for long over large arguments: after about half a second.
const celCost = 500_000

var approvalEnv = sync.OnceValues(func() (*cel.Env, error) {
	return newCELEnv(append(callerVariables(), programVariables()...), "args")
})
var revertEnv = sync.OnceValues(func() (*cel.Env, error) { return newCELEnv(nil, "args", "result") })

func newCELEnv(options []cel.EnvOption, variables ...string) (*cel.Env, error) {
	// Arguments come from JavaScript, where 1 and 1.0 are one number; and they may be missing.
	options = append(options, cel.CrossTypeNumericComparisons(true), cel.OptionalTypes())
	for _, name := range variables {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
}

// compile checks an expression; nil after a mistake.
func (r *reader) compile(key string, n *yaml.Node, text configText, revert bool) *expression {
	env, err := approvalEnv()
	if revert {
		env, err = revertEnv()
	}
	if err != nil {
		r.fail(n, "CEL cannot be used: %v", err)
		return nil
	}
	ast, issues := env.Compile(text.value)
	if issues.Err() != nil {
		r.reject(n, text, "%s is not a CEL expression: %s%s", key, celIssues(issues),
			fieldsHint(env, text.value, revert))
		return nil
	}
	if out := ast.OutputType(); !revert && !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		r.reject(n, text, "%s must give true or false, but this expression gives %s", key, cel.FormatCELType(out))
		return nil
	}
	program, err := env.Program(ast, cel.CostLimit(celCost))
	if err != nil {
		r.reject(n, text, "%s is not a CEL expression: %v", key, err)
		return nil
	}
	return &expression{program, memberNames(ast.NativeRep()), uses(ast.NativeRep(), callerPrefix),
		uses(ast.NativeRep(), programPrefix)}
}

// memberNames lists the names that an expression looks for in objects: args.a, args["a"], args.?a, "a" in args.
func memberNames(parsed *celast.AST) (names []string) {
	celast.MatchDescendants(celast.NavigateAST(parsed), func(e celast.NavigableExpr) bool {
		switch e.Kind() {
		case celast.SelectKind:
			if !ofContext(e.AsSelect().Operand()) {
				names = append(names, e.AsSelect().FieldName())
			}
		case celast.CallKind:
			args := e.AsCall().Args()
			if slices.Contains(lookups, e.AsCall().FunctionName()) && !slices.ContainsFunc(args, ofContext) {
				names = append(names, literalTexts(args)...)
			}
		}
		return false
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// lookups are the operators that take a name as a value.
var lookups = []string{operators.Index, operators.OptIndex, operators.OptSelect, operators.In}

func literalTexts(list []celast.Expr) (texts []string) {
	for _, e := range list {
		if e.Kind() != celast.LiteralKind {
			continue
		}
		if text, ok := e.AsLiteral().Value().(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func celIssues(issues *cel.Issues) string {
	var list []string
	for _, e := range issues.Errors() {
		list = append(list, fmt.Sprintf("%s (column %d)", e.Message, e.Location.Column()+1))
	}
	return strings.Join(list, "; ")
}

type approvalFor = func(connectors.Asked, json.RawMessage) (bool, error)

// predicate makes the decision of an approval by arguments and by who started the execution. Whatever does not give a
// plain answer is an error, and the call is refused.
func (r *reader) predicate(key string, n *yaml.Node, text configText) (decide approvalFor, names []string) {
	x := r.compile(key, n, text, false)
	if x == nil {
		return nil, nil
	}
	decide = func(asked connectors.Asked, args json.RawMessage) (bool, error) {
		input := map[string]any{}
		if x.caller {
			input = callerValues(asked.Caller)
		}
		if x.text && asked.Program == nil {
			return true, nil // nobody has looked at the program: a person does
		}
		if x.text {
			maps.Copy(input, programValues(*asked.Program))
		}
		out, err := x.eval(input, map[string]json.RawMessage{"args": args})
		if err != nil {
			return true, err
		}
		yes, ok := out.Value().(bool)
		if !ok {
			return true, fmt.Errorf("the approval expression gave %s instead of true or false", out.Type().TypeName())
		}
		return yes, nil
	}
	return decide, x.names
}

type revertArgs = func(args, result json.RawMessage) (json.RawMessage, error)

// evalRevert makes the arguments of an undoing call; an optional without a value leaves its argument out.
func evalRevert(exprs map[string]*expression) revertArgs {
	return func(args, result json.RawMessage) (json.RawMessage, error) {
		undoing := map[string]any{}
		for name, x := range exprs {
			out, err := x.eval(map[string]any{}, map[string]json.RawMessage{"args": args, "result": result})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if absent(out) {
				continue
			}
			if undoing[name], err = fromCEL(out); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return wire.Encode(undoing)
	}
}

// eval evaluates over input, to which it adds wire JSON; undefined is null.
func (x *expression) eval(input map[string]any, variables map[string]json.RawMessage) (ref.Val, error) {
	for name, raw := range variables {
		plain, err := wire.Plain(raw)
		if err != nil {
			return nil, err
		}
		if input[name], err = toCEL(plain); err != nil {
			return nil, err
		}
	}
	out, _, err := x.program.Eval(input)
	return out, err
}

// toCEL decodes JSON with whole numbers as integers, since doubles would round large ids.
func toCEL(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return withNumbers(v), nil
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return celNumber(v)
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withNumbers(v[k])
		}
	}
	return v
}

func celNumber(n json.Number) any {
	if whole, ok := new(big.Int).SetString(n.String(), 10); ok {
		switch {
		case whole.IsInt64():
			return whole.Int64()
		case whole.IsUint64():
			return whole.Uint64()
		}
	}
	f, _ := n.Float64() // out of range gives an infinity, which compares as it should
	return f
}

// fromCEL is the Go value of a result, without the roundings of CEL's own conversion to JSON.
func fromCEL(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool, types.Int, types.Uint, types.Double, types.String, types.Bytes:
		return v.Value(), nil
	case *types.Optional:
		if absent(v) {
			return nil, nil
		}
		return fromCEL(v.GetValue())
	case traits.Mapper:
		return celMap(v)
	case traits.Lister:
		return celList(v)
	}
	return nil, fmt.Errorf("the expression gave %s, which is not JSON", v.Type().TypeName())
}

func absent(v ref.Val) bool {
	optional, ok := v.(*types.Optional)
	return ok && !optional.HasValue()
}

func celMap(m traits.Mapper) (any, error) {
	values := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.Value().(string)
		if !ok {
			return nil, fmt.Errorf("the expression gave a map with a key of type %s, which is not JSON",
				key.Type().TypeName())
		}
		value, err := fromCEL(m.Get(key))
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

func celList(l traits.Lister) (any, error) {
	values := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		value, err := fromCEL(it.Next())
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

package preflight

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

func (r *reader) expression(e ast.Expression) val {
	if e == nil {
		return val{}
	}
	r.enter()
	defer r.leave()
	switch e := e.(type) {
	case *ast.Identifier:
		return r.identifier(e)
	case *ast.AwaitExpression:
		return r.awaits(e.Argument, true, true)
	case *ast.CallExpression:
		return r.call(e, false)
	case *ast.DotExpression:
		return r.member(e.Left, e.Identifier.Name.String(), e.Identifier.Idx0(), needed)
	case *ast.BracketExpression:
		return r.bracket(e)
	case *ast.OptionalChain:
		return r.expression(e.Expression)
	case *ast.Optional:
		return r.expression(e.Expression)
	case *ast.AssignExpression:
		return r.assignment(e)
	case *ast.ConditionalExpression:
		r.test(e.Test)
		r.guess(true, func() { r.escapes(e.Consequent) })
		r.guess(true, func() { r.escapes(e.Alternate) })
	case *ast.BinaryExpression:
		return r.binary(e)
	case *ast.UnaryExpression:
		return r.unary(e)
	case *ast.SequenceExpression:
		var last val
		for _, part := range e.Sequence {
			last = r.expression(part)
		}
		return last
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		r.maybe(func() { r.function(e, nil, perhaps) })
	default:
		return r.literal(e)
	}
	return val{}
}

func (r *reader) literal(e ast.Expression) val {
	switch e := e.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return val{literal: primitive(e)}
	case *ast.TemplateLiteral:
		return r.template(e)
	case *ast.ArrayLiteral:
		v := val{items: []val{}}
		for _, part := range e.Value {
			v.items = append(v.items, r.escapes(part))
		}
		return v
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			r.property(p)
		}
	case *ast.NewExpression:
		r.expression(e.Callee)
		for _, a := range e.ArgumentList {
			r.escapes(a)
		}
	case *ast.ClassLiteral:
		r.class(e)
	case *ast.SpreadElement:
		r.taken(r.expression(e.Expression), e.Expression)
	case *ast.YieldExpression:
		r.escapes(e.Argument)
		for _, l := range r.loops[r.fn.loops:] {
			l.exits = true
		}
	}
	return val{}
}

// primitive is what a literal says.
func primitive(e ast.Expression) *Argument {
	var value any
	switch e := e.(type) {
	case *ast.StringLiteral:
		value = e.Value.String()
	case *ast.NumberLiteral:
		switch e.Value.(type) {
		case int64, float64:
			value = e.Value
		default:
			return &Argument{Shape: Anything} // a bigint
		}
	case *ast.BooleanLiteral:
		value = e.Value
	}
	text, err := json.Marshal(value)
	if err != nil {
		return &Argument{}
	}
	return &Argument{Shape: Literal, JSON: text}
}

func (r *reader) template(e *ast.TemplateLiteral) val {
	if e.Tag != nil {
		r.expression(e.Tag)
	}
	for _, part := range e.Expressions {
		r.taken(r.expression(part), part)
	}
	if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
		return val{literal: primitive(&ast.StringLiteral{Value: e.Elements[0].Parsed})}
	}
	return val{}
}

func (r *reader) property(p ast.Property) {
	switch p := p.(type) {
	case *ast.PropertyKeyed:
		if p.Computed {
			r.taken(r.expression(p.Key), p.Key)
		}
		if p.Kind == ast.PropertyKindGet || p.Kind == ast.PropertyKindSet || p.Kind == ast.PropertyKindMethod {
			r.maybe(func() { r.function(p.Value, nil, perhaps) })
			return
		}
		r.escapes(p.Value)
	case *ast.PropertyShort:
		r.escapes(&p.Name)
	case *ast.SpreadElement:
		r.taken(r.expression(p.Expression), p.Expression)
	}
}

// escapes reads what is kept or handed on.
func (r *reader) escapes(e ast.Expression) val {
	v := r.expression(e)
	if v.space != "" {
		r.survey.Partial = true
	}
	return v
}

func (r *reader) identifier(e *ast.Identifier) val {
	name := e.Name.String()
	b := r.scope.find(name)
	switch {
	case b == nil && !r.isGlobal(name):
		return val{space: name}
	case b == nil:
		return val{}
	}
	b.reads++
	if !r.final {
		r.names.read[name]++
		r.names.loops[name] = max(r.names.loops[name], r.loop)
	}
	if n := r.names.assigned[name]; n > 1 || n == 1 && !b.late {
		return val{}
	}
	return b.value
}

// isGlobal reports whether a name that the program does not declare is something else than a namespace.
func (r *reader) isGlobal(name string) bool {
	return globals[name] || r.names.tested[name] || r.names.written[name] || strings.HasPrefix(name, "__")
}

func (r *reader) unary(e *ast.UnaryExpression) val {
	switch e.Operator {
	case token.TYPEOF:
		if id, ok := e.Operand.(*ast.Identifier); ok {
			r.names.tested[id.Name.String()] = true
		}
		r.probe(e.Operand)
		return val{}
	case token.DELETE:
		r.assign(e.Operand)
	case token.INCREMENT, token.DECREMENT:
		r.assign(e.Operand)
		r.expression(e.Operand)
		return val{}
	case token.NOT:
		r.test(e.Operand)
		return val{}
	case token.MINUS:
		if n, ok := e.Operand.(*ast.NumberLiteral); ok {
			if a := primitive(n); a.Shape == Literal {
				return val{literal: &Argument{Shape: Literal, JSON: append(json.RawMessage("-"), a.JSON...)}}
			}
		}
	}
	r.expression(e.Operand)
	return val{}
}

func (r *reader) binary(e *ast.BinaryExpression) val {
	switch e.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		r.test(e.Left)
		_, compared := e.Right.(*ast.BinaryExpression) // else a || b is one or the other
		r.guess(e.Operator != token.LOGICAL_AND && !compared || narrows(e.Left), func() { r.escapes(e.Right) })
	case token.IN:
		r.expression(e.Left)
		r.expression(e.Right)
		if s, ok := e.Left.(*ast.StringLiteral); ok {
			r.names.written[s.Value.String()] = true // whoever asks knows that it may be missing
		}
	case token.INSTANCEOF:
		r.expression(e.Left)
		r.expression(e.Right)
	case token.EQUAL, token.STRICT_EQUAL, token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		if isMissing(e.Left) || isMissing(e.Right) {
			r.probe(e.Left)
			r.probe(e.Right)
			break
		}
		r.expression(e.Left)
		r.expression(e.Right)
	default:
		r.taken(r.expression(e.Left), e.Left)
		r.taken(r.expression(e.Right), e.Right)
	}
	return val{}
}

// guess reads what a condition leads to.
func (r *reader) guess(guessing bool, read func()) {
	before := r.guessing
	r.guessing = before || guessing
	r.maybe(read)
	r.guessing = before
}

// narrows reports whether a condition asks what kind of value something is.
func narrows(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.UnaryExpression:
		return e.Operator == token.TYPEOF || narrows(e.Operand)
	case *ast.BinaryExpression:
		return e.Operator == token.IN || e.Operator == token.INSTANCEOF || narrows(e.Left) || narrows(e.Right)
	case *ast.CallExpression:
		dot, ok := e.Callee.(*ast.DotExpression)
		return ok && (dot.Identifier.Name == "isArray" || dot.Identifier.Name == "hasOwn")
	}
	return false
}

func isMissing(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NullLiteral:
		return true
	case *ast.Identifier:
		return e.Name == "undefined"
	case *ast.UnaryExpression:
		return e.Operator == token.VOID
	}
	return false
}

// test reads a condition: what it asks of a result may be missing, a promise it asks about was not meant.
func (r *reader) test(e ast.Expression) {
	r.taken(r.probe(e), e)
}

// probe reads what may be missing.
func (r *reader) probe(e ast.Expression) val {
	switch e := e.(type) {
	case *ast.OptionalChain:
		return r.probe(e.Expression)
	case *ast.Optional:
		return r.probe(e.Expression)
	case *ast.DotExpression:
		r.enter()
		defer r.leave()
		r.names.probed[e.Identifier.Name.String()] = true
		return r.member(e.Left, e.Identifier.Name.String(), e.Identifier.Idx0(), needed)
	}
	return r.expression(e)
}

// taken notes a promise that stands where its value was meant.
func (r *reader) taken(v val, e ast.Expression) {
	if v.promise > 0 {
		r.note(Taken, v.promise, e.Idx0())
	}
}

// member reads a field, or names a method.
func (r *reader) member(left ast.Expression, name string, at position, n need) val {
	v := r.base(left)
	switch {
	case v.space != "" && v.method == "":
		return val{space: v.space, method: name}
	case v.method != "": // tracker.list.call
		r.reference(v, at)
		r.survey.Partial = true
	case v.promise > 0 && !promiseMethods[name]:
		r.note(Taken, v.promise, left.Idx0())
	case v.promise == 0 && v.of > 0:
		return r.field(v.of, name, at, n)
	}
	return val{}
}

// need says whether the program goes on without a field.
type need bool

const (
	needed   need = false
	optional need = true
)

// field reads a field of a result. Of one that the program itself sets nothing is known; one that it asks for first it
// can do without.
func (r *reader) field(of int, name string, at position, n need) val {
	if r.names.written[name] {
		return val{}
	}
	optional := bool(n) || r.guessing || r.names.probed[name]
	r.survey.Reads = append(r.survey.Reads, Field{of, name, r.at(at), optional})
	return val{of: r.value(FieldOf, of, name)}
}

// base reads what a field is read of. Of a.b?.c the field b may be missing.
func (r *reader) base(e ast.Expression) val {
	o, ok := e.(*ast.Optional)
	if !ok {
		return r.expression(e)
	}
	if dot, ok := o.Expression.(*ast.DotExpression); ok {
		r.enter()
		defer r.leave()
		return r.member(dot.Left, dot.Identifier.Name.String(), dot.Identifier.Idx0(), optional)
	}
	return r.expression(o.Expression)
}

var promiseMethods = map[string]bool{"then": true, "catch": true, "finally": true}

func (r *reader) bracket(e *ast.BracketExpression) val {
	left := unwrapped(e.Left)
	switch m := e.Member.(type) {
	case *ast.StringLiteral:
		return r.member(e.Left, m.Value.String(), m.Idx0(), needed)
	case *ast.NumberLiteral:
		v := r.expression(left)
		return r.at0(v, m)
	}
	v := r.expression(left)
	r.taken(r.expression(e.Member), e.Member)
	if v.space != "" {
		r.survey.Partial = true
	}
	return val{}
}

// at0 is an element of a list.
func (r *reader) at0(v val, n *ast.NumberLiteral) val {
	if i, err := strconv.Atoi(n.Literal); err == nil && i < len(v.items) {
		return v.items[i]
	}
	if v.list > 0 {
		return v.one()
	}
	return val{of: r.value(ElementOf, v.of, "")}
}

package preflight

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

type position = file.Idx

// call reads a call. fatal says that its failure, if it gives a promise, ends the function.
func (r *reader) call(e *ast.CallExpression, fatal bool) val {
	callee := unwrapped(e.Callee)
	if dot, ok := callee.(*ast.DotExpression); ok {
		if v, done := r.known(dot, e, fatal); done {
			return v
		}
		id, ok := dot.Left.(*ast.Identifier)
		if ok && globals[nameOf(id)] && r.scope.find(nameOf(id)) == nil {
			return r.global(nameOf(id)+"."+dot.Identifier.Name.String(), e, fatal)
		}
	}
	if isFunction(callee) {
		return r.local(val{fn: callee}, e, fatal)
	}
	v := r.base(callee)
	switch {
	case v.method != "":
		return r.use(v, e, fatal)
	case v.fn != nil:
		return r.local(v, e, fatal)
	case v.space != "":
		r.arguments(e.ArgumentList) // a function that nothing declares
		return val{}
	}
	r.arguments(e.ArgumentList)
	return val{}
}

func (r *reader) arguments(list []ast.Expression) (params []val) {
	spread := false
	for _, a := range list {
		v := r.escapes(a)
		if _, is := a.(*ast.SpreadElement); is {
			spread = true
		}
		params = append(params, v)
		if v.method != "" {
			r.reference(v, a.Idx0())
			r.survey.Partial = true
		}
	}
	if spread {
		return nil
	}
	return params
}

// once reports whether a function with a name is not read yet, and is named here and nowhere else: what it is given
// here is all that it is given.
func (r *reader) once(b *binding) bool {
	return b != nil && b.pending && r.names.read[b.name] == 1 && r.names.assigned[b.name] == 0
}

// reference notes a method that is named and not called.
func (r *reader) reference(v val, at position) {
	r.survey.Uses = append(r.survey.Uses, Use{Name: v.space, Method: v.method, At: r.at(at), Reference: true,
		Spread: true, Loop: r.loop})
}

// use notes a call of a method.
func (r *reader) use(v val, e *ast.CallExpression, fatal bool) val {
	u := Use{Name: v.space, Method: v.method, At: r.at(e.Idx0()), Always: r.certain, Guarded: r.guarded}
	var argument *Argument
	notes := len(r.survey.Notes)
	for i, a := range e.ArgumentList {
		if s, ok := a.(*ast.SpreadElement); ok {
			r.expression(s.Expression)
			u.Spread = true
			continue
		}
		said := r.argument(a)
		if i == 0 {
			argument = &said
		}
	}
	u.Args, u.Loop = argument, r.loop
	if argument != nil && argument.Shape == Absent {
		u.Args = nil
	}
	u.Fatal = fatal && r.certain && !r.guarded
	r.survey.Uses = append(r.survey.Uses, u)
	n := len(r.survey.Uses)
	for i := range r.survey.Notes[notes:] {
		if note := &r.survey.Notes[notes+i]; note.Into == 0 {
			note.Into = n
		}
	}
	if v.space == "codemode" && v.method == "run" {
		r.survey.Partial = true
	}
	return val{promise: n}
}

// argument reads what a method is given. Promises in it would lose their values.
func (r *reader) argument(e ast.Expression) Argument {
	r.enter()
	defer r.leave()
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		return r.objectArgument(e)
	case *ast.ArrayLiteral:
		a := Argument{Shape: List}
		for _, part := range e.Value {
			if s, ok := part.(*ast.SpreadElement); ok || part == nil {
				a.More = true
				if ok {
					r.taken(r.expression(s.Expression), s.Expression)
				}
				continue
			}
			a.Parts = append(a.Parts, r.argument(part))
		}
		return a
	case *ast.TemplateLiteral:
		if v := r.template(e); v.literal != nil {
			return *v.literal
		}
		if e.Tag == nil {
			return Argument{Shape: Text}
		}
		return Argument{}
	case *ast.Identifier:
		if isMissing(e) {
			return Argument{Shape: Absent}
		}
	case *ast.ConditionalExpression, *ast.BinaryExpression:
		r.expression(e)
		return Argument{}
	}
	v := r.escapes(e)
	r.taken(v, e)
	if v.list > 0 {
		r.note(Listed, v.list, e.Idx0())
	}
	if v.literal != nil {
		return *v.literal
	}
	return Argument{}
}

func (r *reader) objectArgument(e *ast.ObjectLiteral) Argument {
	a := Argument{Shape: Object}
	for _, p := range e.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			name := p.Name.Name.String()
			a.Keys, a.Parts = append(a.Keys, name), append(a.Parts, r.argument(&p.Name))
		case *ast.PropertyKeyed:
			key, ok := keyOf(p)
			if !ok || p.Kind != ast.PropertyKindValue {
				r.property(p)
				a.More = true
				continue
			}
			a.Keys, a.Parts = append(a.Keys, key), append(a.Parts, r.argument(p.Value))
		default:
			r.property(p)
			a.More = true
		}
	}
	if a.has("__proto__") || a.has("toJSON") {
		return Argument{}
	}
	return a
}

func (a *Argument) has(key string) bool {
	for _, k := range a.Keys {
		if k == key {
			return true
		}
	}
	return false
}

func keyOf(p *ast.PropertyKeyed) (string, bool) {
	switch k := p.Key.(type) {
	case *ast.StringLiteral:
		return k.Value.String(), true
	case *ast.Identifier:
		return k.Name.String(), !p.Computed
	}
	return "", false
}

// local reads a call of one of the program's own functions.
func (r *reader) local(v val, e *ast.CallExpression, fatal bool) val {
	params := r.arguments(e.ArgumentList)
	async := false
	switch f := v.fn.(type) {
	case *ast.FunctionLiteral:
		async = f.Async
		if f.Generator {
			return val{}
		}
	case *ast.ArrowFunctionLiteral:
		async = f.Async
	}
	h, o := perhaps, v.owner
	if r.certain && (fatal || !async) {
		h = sure
	}
	switch {
	case o == nil: // called where it is written
		f := r.called(func() *function { return r.function(v.fn, params, h) }, h)
		r.certain = r.certain && !f.throws
		return val{}
	case o.pending:
		if !r.once(o) {
			params = nil
		}
		r.called(func() *function { r.readWith(o, params, h); return nil }, h)
	}
	r.certain = r.certain && !o.throws
	if async && !fatal {
		return val{}
	}
	return o.result
}

func (r *reader) called(read func() *function, h how) (f *function) {
	if h == sure {
		return read()
	}
	r.maybe(func() { f = read() })
	return f
}

// readWith reads a function that was declared elsewhere.
func (r *reader) readWith(b *binding, params []val, h how) {
	outer, loop := r.scope, r.loop
	b.pending, r.scope, r.loop = false, b.scope, max(r.loop, r.names.loops[b.name])
	done := r.function(b.body, params, h)
	b.throws, r.scope, r.loop = done.throws, outer, loop
	if v := done.value; done.returns == 1 {
		if done.async {
			v = r.awaited(v)
		}
		b.result = val{of: v.of}
		if v.promise > 0 {
			b.result = v
		}
	}
}

// unwrapped is an expression without the question mark of an optional chain.
func unwrapped(e ast.Expression) ast.Expression {
	if o, ok := e.(*ast.Optional); ok {
		return o.Expression
	}
	return e
}

package preflight

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// bind gives the names of a pattern what is known of their values.
func (r *reader) bind(target ast.Expression, v val, at ast.Node) {
	switch t := target.(type) {
	case *ast.Identifier:
		b := r.scope.find(t.Name.String())
		if b == nil {
			return
		}
		if b.bound {
			r.assigned(b.name, 2)
		}
		b.bound = true
		b.value = v
		if v.promise > 0 {
			b.at = at
		}
	case *ast.AssignExpression: // with a default
		r.maybe(func() { r.escapes(t.Right) })
		r.bind(t.Left, val{}, nil)
	case *ast.ObjectPattern:
		r.bindObject(t, v)
	case *ast.ArrayPattern:
		for i, e := range t.Elements {
			if e == nil {
				continue
			}
			part := val{of: r.value(ElementOf, v.of, "")}
			if i < len(v.items) {
				part = v.items[i]
			}
			r.bind(e, part, nil)
		}
		if t.Rest != nil {
			r.bind(t.Rest, val{}, nil)
		}
	}
}

func (r *reader) bindObject(t *ast.ObjectPattern, v val) {
	if v.promise > 0 {
		r.note(Taken, v.promise, t.Idx0())
		v = val{}
	}
	for _, p := range t.Properties {
		switch p := p.(type) {
		case *ast.PropertyShort:
			if p.Initializer != nil {
				r.maybe(func() { r.escapes(p.Initializer) })
			}
			if p.Initializer != nil { // it may be missing
				r.bind(&p.Name, val{}, nil)
				continue
			}
			r.bind(&p.Name, r.part(v, p.Name.Name.String(), p.Name.Idx), nil)
		case *ast.PropertyKeyed:
			key, ok := keyOf(p)
			if !ok {
				r.expression(p.Key)
				r.bind(p.Value, val{}, nil)
				continue
			}
			if _, defaults := p.Value.(*ast.AssignExpression); defaults {
				r.bind(p.Value, val{}, nil)
				continue
			}
			r.bind(p.Value, r.part(v, key, p.Key.Idx0()), nil)
		}
	}
	if t.Rest != nil {
		r.bind(t.Rest, val{}, nil)
	}
}

// part is a field that a pattern takes.
func (r *reader) part(v val, name string, at position) val {
	switch {
	case v.space != "" && v.method == "":
		return val{space: v.space, method: name}
	case v.of > 0:
		return r.field(v.of, name, at, needed)
	}
	return val{}
}

func (r *reader) assignment(e *ast.AssignExpression) val {
	if e.Operator != token.ASSIGN { // a += b reads a
		r.expression(e.Left)
		r.taken(r.expression(e.Right), e.Right)
		r.assign(e.Left)
		return val{}
	}
	if id, ok := e.Left.(*ast.Identifier); ok && r.tree.IsDefault(id.Name.String()) && isFunction(e.Right) {
		r.exported = e.Right
		return val{}
	}
	v := r.escapes(e.Right)
	r.assign(e.Left)
	r.assignOnce(e.Left, v)
	switch e.Left.(type) {
	case *ast.ObjectPattern, *ast.ArrayPattern:
		if v.promise > 0 {
			r.note(Taken, v.promise, e.Right.Idx0())
		}
	}
	return val{}
}

// assignOnce takes up the value of a variable that had none before, and gets no other.
func (r *reader) assignOnce(target ast.Expression, v val) {
	id, ok := target.(*ast.Identifier)
	if !ok || !r.final || r.names.assigned[id.Name.String()] != 1 {
		return
	}
	if b := r.scope.find(id.Name.String()); b != nil && b.empty {
		b.value, b.late = v, true
	}
}

func (r *reader) assigned(name string, times int) {
	if !r.final {
		r.names.assigned[name] += times
	}
}

// assign notes what changes.
func (r *reader) assign(target ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		r.assigned(t.Name.String(), 1)
	case *ast.AssignExpression:
		r.escapes(t.Right)
		r.assign(t.Left)
	case *ast.DotExpression:
		r.expression(t.Left)
		r.names.written[t.Identifier.Name.String()] = true
	case *ast.BracketExpression:
		v := r.expression(t.Left)
		r.expression(t.Member)
		if s, ok := t.Member.(*ast.StringLiteral); ok {
			r.names.written[s.Value.String()] = true
		} else if v.of > 0 {
			r.names.elsewhere = true
		}
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				r.assigned(p.Name.Name.String(), 2)
			case *ast.PropertyKeyed:
				r.assign(p.Value)
			}
		}
		r.assign(t.Rest)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			r.assign(e)
		}
		r.assign(t.Rest)
	}
}

package preflight

import "github.com/dop251/goja/ast"

// inside finds promises within what the program returns, where their values would be lost.
func (r *reader) inside(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ArrayLiteral:
		for _, part := range e.Value {
			r.insidePart(part)
		}
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			switch p := p.(type) {
			case *ast.PropertyKeyed:
				r.insidePart(p.Value)
			case *ast.PropertyShort:
				r.insidePart(&p.Name)
			}
		}
	}
}

func (r *reader) insidePart(e ast.Expression) {
	switch e := e.(type) {
	case *ast.CallExpression:
		for i := len(r.survey.Uses) - 1; i >= 0; i-- { // it was read before
			if *r.survey.Uses[i].At == *r.at(e.Idx0()) && !r.survey.Uses[i].Reference {
				dot, ok := e.Callee.(*ast.DotExpression)
				if ok && dot.Identifier.Name.String() == r.survey.Uses[i].Method {
					r.note(Taken, i+1, e.Idx0())
				}
				return
			}
		}
	case *ast.Identifier:
		if b := r.scope.find(e.Name.String()); b != nil && r.names.assigned[b.name] == 0 {
			switch v := b.value; {
			case v.promise > 0:
				r.note(Taken, v.promise, e.Idx0())
			case v.list > 0:
				r.note(Listed, v.list, e.Idx0())
			}
		}
	default:
		r.inside(e)
	}
}

// awaits reads what is awaited, or returned.
// fatal says that the function ends if what it awaits fails; explicit, that it says await.
func (r *reader) awaits(e ast.Expression, fatal, explicit bool) val {
	return r.settled(r.promised(e, fatal), e, explicit)
}

// promised reads what is awaited, or returned, before that.
func (r *reader) promised(e ast.Expression, fatal bool) val {
	c, ok := e.(*ast.CallExpression)
	if !ok {
		return r.escapes(e)
	}
	r.enter()
	defer r.leave()
	return r.call(c, fatal)
}

func (r *reader) settled(v val, e ast.Expression, explicit bool) val {
	if v.list > 0 && explicit { // await does not look into lists
		r.note(Listed, v.list, e.Idx0())
		return val{}
	}
	return r.awaited(v)
}

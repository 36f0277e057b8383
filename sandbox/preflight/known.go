package preflight

import (
	"github.com/dop251/goja/ast"
)

// Methods of lists by what they do with a callback: callback gets an element at this place of its parameters.
var eachElement = map[string]int{
	"map": 0, "filter": 0, "forEach": 0, "find": 0, "findLast": 0, "findIndex": 0, "findLastIndex": 0, "some": 0,
	"every": 0, "flatMap": 0, "sort": 0, "toSorted": 0, "reduce": 1, "reduceRight": 1,
}

// known reads a call of a method of something that is known: a list, a promise. done is false for others.
func (r *reader) known(dot *ast.DotExpression, e *ast.CallExpression, fatal bool) (v val, done bool) {
	name := dot.Identifier.Name.String()
	at, list := eachElement[name]
	if !list && !promiseMethods[name] && !resultMethods[name] {
		return val{}, false
	}
	base := r.base(dot.Left)
	switch {
	case base.space != "" && base.method == "":
		return r.use(val{space: base.space, method: name}, e, fatal), true
	case base.promise > 0 && promiseMethods[name]:
		return r.chained(base, name, e), true
	case list && len(e.ArgumentList) > 0:
		return r.callback(base, name, at, dot, e), true
	}
	r.arguments(e.ArgumentList)
	if base.promise > 0 {
		r.taken(base, dot.Left)
	}
	if base.promise > 0 || base.of == 0 || promiseMethods[name] {
		return val{}, true
	}
	r.field(base.of, name, dot.Identifier.Idx, needed)
	return val{of: r.value(MethodOf, base.of, name)}, true
}

// resultMethods give what is known where it is known of what they are called.
var resultMethods = map[string]bool{
	"slice": true, "concat": true, "reverse": true, "toReversed": true, "at": true, "pop": true, "shift": true,
	"values": true,
}

// chained reads promise.then(…): what the callback gets is the value.
func (r *reader) chained(base val, name string, e *ast.CallExpression) val {
	value := r.awaited(base)
	var result val
	for i, a := range e.ArgumentList {
		if !isFunction(a) {
			r.escapes(a)
			continue
		}
		var params []val
		if name == "then" && i == 0 {
			params = []val{value}
		}
		r.maybe(func() {
			if f := r.function(a, params, perhaps); name == "then" && i == 0 && f.returns == 1 {
				result = r.awaited(f.value)
			}
		})
	}
	if name == "finally" {
		result = value
	}
	if name == "catch" || len(e.ArgumentList) > 1 || result.of == 0 {
		return val{}
	}
	return val{promise: base.promise, of: result.of, vague: true}
}

// callback reads list.map(element => …) and its like.
func (r *reader) callback(base val, name string, at int, dot *ast.DotExpression, e *ast.CallExpression) val {
	element := base.one()
	switch {
	case base.promise > 0:
		r.taken(base, dot.Left)
		base = val{}
	case base.of > 0:
		r.field(base.of, name, dot.Identifier.Idx, needed)
		element = val{of: r.value(ElementOf, base.of, "")}
	}
	for _, a := range e.ArgumentList[1:] {
		r.escapes(a)
	}
	f := e.ArgumentList[0]
	if !isFunction(f) {
		if r.named(f, element) == nil {
			return val{}
		}
		return r.mapped(base, name, nil)
	}
	params := make([]val, at, at+2)
	params = append(params, element)
	if name == "sort" || name == "toSorted" {
		params = append(params, element)
	}
	var done *function
	uses := len(r.survey.Uses)
	r.repeated(Bounded, func() { done = r.function(f, params, perhaps) })
	calls := len(r.survey.Uses) > uses && !r.survey.Uses[uses].Reference
	switch {
	case name == "forEach" && calls && (done.async || done.value.promise > 0):
		r.note(Dropped, uses+1, e.Idx0())
	case name == "map" && calls && done.async:
		v := r.awaited(done.value)
		if done.returns != 1 {
			v = val{}
		}
		return val{list: uses + 1, element: v.of}
	}
	return r.mapped(base, name, done)
}

// named reads a callback that is a function with a name, which is called in a loop.
func (r *reader) named(f ast.Expression, element val) ast.Expression {
	before := r.loop
	r.loop = max(r.loop, Bounded)
	defer func() { r.loop = before }()
	v := r.escapes(f)
	if r.once(v.owner) {
		r.maybe(func() { r.readWith(v.owner, []val{element}, perhaps) })
	}
	if v.method != "" {
		r.reference(v, f.Idx0())
		r.survey.Partial = true
	}
	if v.fn == nil {
		return nil
	}
	return v.fn
}

// mapped is what a method of a list with a callback gives.
func (r *reader) mapped(base val, name string, f *function) val {
	switch name {
	case "filter", "sort", "toSorted":
		return val{of: r.value(MethodOf, base.of, "filter"), list: base.list, element: base.element,
			direct: base.direct}
	case "find", "findLast":
		return val{of: r.value(ElementOf, base.of, "")}
	case "map":
		if f == nil || f.returns != 1 {
			return val{}
		}
		v := f.value
		switch {
		case v.promise > 0:
			return val{list: v.promise, element: v.of, direct: !v.vague}
		case f.async:
			return val{}
		}
		return val{of: r.value(ListOf, v.of, "")}
	}
	return val{}
}

// global reads a call of a function of JavaScript's own.
func (r *reader) global(name string, e *ast.CallExpression, fatal bool) val {
	switch name {
	case "Promise.all":
		uses := len(r.survey.Uses)
		return r.ofAll(r.together(e, fatal), uses)
	case "Promise.allSettled", "Promise.race", "Promise.any":
		uses := len(r.survey.Uses)
		r.arguments(e.ArgumentList)
		return r.ofAll(val{}, uses)
	case "JSON.stringify", "Object.keys", "Object.values", "Object.entries", "console.log":
		for _, a := range e.ArgumentList {
			v := r.escapes(a)
			r.taken(v, a)
			if v.list > 0 {
				r.note(Listed, v.list, a.Idx0())
			}
		}
		return val{}
	case "Object.assign", "Object.defineProperty", "Object.defineProperties", "Reflect.set":
		r.assigns(e.ArgumentList)
	}
	r.arguments(e.ArgumentList)
	return val{}
}

// ofAll is a promise of what several calls give, of which the first is named.
func (r *reader) ofAll(v val, uses int) val {
	if len(r.survey.Uses) > uses && !r.survey.Uses[uses].Reference {
		v.promise, v.vague = uses+1, true
	}
	return v
}

// assigns notes the fields that Object.assign and its like set.
func (r *reader) assigns(list []ast.Expression) {
	for i, a := range list {
		switch a := a.(type) {
		case *ast.ObjectLiteral:
			for _, p := range a.Value {
				switch p := p.(type) {
				case *ast.PropertyShort:
					r.names.written[p.Name.Name.String()] = true
				case *ast.PropertyKeyed:
					if key, ok := keyOf(p); ok {
						r.names.written[key] = true
					}
				}
			}
		case *ast.StringLiteral:
			r.names.written[a.Value.String()] = true
		default:
			if i > 0 {
				r.names.elsewhere = true
			}
		}
	}
}

// together reads Promise.all.
func (r *reader) together(e *ast.CallExpression, fatal bool) val {
	if len(e.ArgumentList) != 1 {
		r.arguments(e.ArgumentList)
		return val{}
	}
	if list, ok := e.ArgumentList[0].(*ast.ArrayLiteral); ok {
		v := val{items: []val{}}
		for _, part := range list.Value {
			if _, spread := part.(*ast.SpreadElement); spread || part == nil {
				r.expression(part)
				v.items = nil
				continue
			}
			one := r.awaits(part, fatal, false)
			if v.items != nil {
				v.items = append(v.items, one)
			}
		}
		return v
	}
	v := r.expression(e.ArgumentList[0])
	switch {
	case v.list > 0 && v.element > 0:
		return val{of: r.value(ListOf, v.element, "")}
	case v.list > 0 && v.direct:
		return val{of: r.value(ListOf, r.value(ResultOf, v.list, ""), "")}
	case v.items != nil:
		all := val{items: []val{}}
		for _, one := range v.items {
			all.items = append(all.items, r.awaited(one))
		}
		return all
	}
	return val{}
}

// one is an element of a list of promises.
func (v val) one() val {
	if v.list == 0 {
		return val{}
	}
	return val{promise: v.list, of: v.element, vague: !v.direct}
}

package preflight

import "github.com/dop251/goja/ast"

// function reads the body of a function that is given what is known of its parameters.
func (r *reader) function(e ast.Expression, params []val, h how) *function {
	outer, certain, leaves := r.fn, r.certain, r.leaves
	r.fn = &function{main: h == program, loops: len(r.loops)}
	r.certain = certain && h >= sure
	var list *ast.ParameterList
	var body *ast.BlockStatement
	var value ast.Expression
	switch f := e.(type) {
	case *ast.FunctionLiteral:
		list, body, r.fn.async = f.ParameterList, f.Body, f.Async
	case *ast.ArrowFunctionLiteral:
		list, r.fn.async = f.ParameterList, f.Async
		switch b := f.Body.(type) {
		case *ast.BlockStatement:
			body = b
		case *ast.ExpressionBody:
			value = b.Expression
		}
	}
	r.within(true, func() {
		r.parameters(list, params)
		if body != nil {
			r.hoist(body.List, true)
			r.statements(body.List)
		} else {
			r.returned(&ast.ReturnStatement{Argument: value})
		}
	})
	done := r.fn
	r.fn, r.certain, r.leaves = outer, certain, leaves
	return done
}

func (r *reader) parameters(list *ast.ParameterList, params []val) {
	if list == nil {
		return
	}
	r.declareAll(list.List)
	r.declareTarget(list.Rest)
	for i, b := range list.List {
		if b.Initializer != nil {
			r.maybe(func() { r.expression(b.Initializer) })
			continue
		}
		if i < len(params) {
			r.bind(b.Target, params[i], nil)
		} else {
			r.bind(b.Target, val{}, nil)
		}
	}
}

func (r *reader) class(c *ast.ClassLiteral) {
	r.expression(c.SuperClass)
	for _, part := range c.Body {
		switch part := part.(type) {
		case *ast.FieldDefinition:
			r.maybe(func() { r.expression(part.Initializer) })
		case *ast.MethodDefinition:
			r.maybe(func() { r.function(part.Body, nil, perhaps) })
		case *ast.ClassStaticBlock:
			r.maybe(func() { r.block(part.Block.List) })
		}
	}
}

package preflight

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (r *reader) inLoop(l *loop, read func()) {
	r.loops = append(r.loops, l)
	read()
	r.loops = r.loops[:len(r.loops)-1]
}

func (r *reader) loopStatement(s ast.Statement, label string) {
	switch s := s.(type) {
	case *ast.WhileStatement:
		r.conditional(s, label, s.Test, func() { r.test(s.Test); r.statement(s.Body) })
	case *ast.DoWhileStatement:
		r.conditional(s, label, s.Test, func() { r.statement(s.Body); r.test(s.Test) })
	case *ast.ForStatement:
		r.within(false, func() { r.forStatement(s, label) })
	case *ast.ForOfStatement:
		list := r.expression(s.Source)
		r.taken(list, s.Source)
		element := list.one()
		if list.of > 0 && list.promise == 0 {
			element = val{of: r.value(ElementOf, list.of, "")}
		}
		r.each(s.Into, s.Body, label, element)
	case *ast.ForInStatement:
		r.expression(s.Source)
		r.each(s.Into, s.Body, label, val{})
	}
}

func (r *reader) forStatement(s *ast.ForStatement, label string) {
	switch i := s.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		r.expression(i.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		r.declarations(i.List)
	case *ast.ForLoopInitializerLexicalDecl:
		r.declareAll(i.LexicalDeclaration.List)
		r.declarations(i.LexicalDeclaration.List)
	}
	r.conditional(s, label, s.Test, func() {
		if s.Test != nil {
			r.test(s.Test)
		}
		r.statement(s.Body)
		if s.Update != nil {
			r.expression(s.Update)
		}
	})
}

// each is a loop over what there is.
func (r *reader) each(into ast.ForInto, body ast.Statement, label string, element val) {
	r.inLoop(&loop{label: label, isLoop: true, counted: true}, func() {
		r.repeated(Bounded, func() {
			r.within(false, func() {
				switch i := into.(type) {
				case *ast.ForIntoVar:
					r.bind(i.Binding.Target, element, nil)
				case *ast.ForDeclaration:
					r.declareTarget(i.Target)
					r.bind(i.Target, element, nil)
				case *ast.ForIntoExpression:
					r.assign(i.Expression)
				}
				r.statement(body)
			})
		})
	})
}

// conditional is a loop that a condition ends, or something in its body.
func (r *reader) conditional(s ast.Statement, label string, test ast.Expression, read func()) {
	l := &loop{label: label, isLoop: true, forever: test == nil || isTrue(test)}
	l.counted = test != nil && compares(test)
	uses := len(r.survey.Uses)
	guarded := r.guarded
	r.inLoop(l, func() { r.repeated(Bounded, read) })
	fails := guarded && len(r.survey.Uses) > uses // a failing call may be what ends it
	if !l.exits && !fails && (l.forever || r.unchanging(test)) {
		r.survey.Notes = append(r.survey.Notes, Note{Kind: Endless, At: r.at(s.Idx0())})
		return
	}
	if l.counted {
		return
	}
	for i := range r.survey.Uses[uses:] {
		r.survey.Uses[uses+i].Loop = Open
	}
}

func isTrue(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.BooleanLiteral:
		return e.Value
	case *ast.NumberLiteral:
		return e.Literal != "0"
	case *ast.UnaryExpression:
		n, ok := e.Operand.(*ast.NumberLiteral)
		return e.Operator == token.NOT && ok && n.Literal == "0"
	}
	return false
}

// compares reports whether a condition looks at how many, or how much.
func compares(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LESS, token.GREATER, token.LESS_OR_EQUAL, token.GREATER_OR_EQUAL:
			return true
		}
		return compares(e.Left) || compares(e.Right)
	case *ast.UnaryExpression:
		return e.Operator == token.DECREMENT || e.Operator == token.INCREMENT || compares(e.Operand)
	case *ast.DotExpression:
		name := e.Identifier.Name
		return name == "length" || name == "size" || name == "aborted"
	case *ast.AssignExpression:
		return compares(e.Right)
	case *ast.CallExpression: // while (re.exec(text)), while (queue.shift()): they use something up
		_, isMethod := e.Callee.(*ast.DotExpression)
		return isMethod
	}
	return false
}

// unchanging reports whether a condition looks only at variables that nothing changes.
func (r *reader) unchanging(e ast.Expression) bool {
	found := false
	var same func(ast.Expression) bool
	same = func(e ast.Expression) bool {
		switch e := e.(type) {
		case *ast.Identifier:
			b := r.scope.find(e.Name.String())
			found = true
			return b != nil && r.names.assigned[b.name] == 0
		case *ast.NumberLiteral, *ast.StringLiteral, *ast.NullLiteral:
			return true
		case *ast.BinaryExpression:
			return e.Comparison && same(e.Left) && same(e.Right)
		case *ast.UnaryExpression:
			return e.Operator == token.NOT && same(e.Operand)
		}
		return false
	}
	return same(e) && found
}

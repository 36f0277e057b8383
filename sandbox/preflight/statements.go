package preflight

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (r *reader) statements(list []ast.Statement) {
	for _, s := range list {
		r.statement(s)
	}
}

func (r *reader) block(list []ast.Statement) {
	r.within(false, func() {
		r.hoist(list, false)
		r.statements(list)
	})
}

func (r *reader) statement(s ast.Statement) {
	r.enter()
	defer r.leave()
	switch s := s.(type) {
	case *ast.ExpressionStatement:
		r.dropped(s.Expression)
	case *ast.VariableStatement:
		r.declarations(s.List)
	case *ast.LexicalDeclaration:
		r.declarations(s.List)
	case *ast.BlockStatement:
		r.block(s.List)
	case *ast.IfStatement:
		r.ifStatement(s)
	case *ast.ReturnStatement:
		r.returned(s)
	case *ast.ThrowStatement:
		r.expression(s.Argument)
		r.fn.throws = true
		r.left()
	case *ast.TryStatement:
		r.tryStatement(s)
	case *ast.LabelledStatement:
		r.labelled(s)
	case *ast.SwitchStatement:
		r.switchStatement(s)
	case *ast.BranchStatement:
		r.branch(s)
	case *ast.ClassDeclaration:
		r.class(s.Class)
	default:
		r.loopStatement(s, "")
	}
}

// dropped reads an expression whose value nobody uses.
func (r *reader) dropped(e ast.Expression) {
	if u, ok := e.(*ast.UnaryExpression); ok && u.Operator == token.VOID {
		r.expression(u.Operand) // said to be meant
		return
	}
	v := r.expression(e)
	if _, isCall := e.(*ast.CallExpression); isCall && v.promise > 0 && v.of == 0 {
		r.note(Dropped, v.promise, e.Idx0())
	}
}

func (r *reader) declarations(list []*ast.Binding) {
	for _, b := range list {
		id, simple := b.Target.(*ast.Identifier)
		if b.Initializer == nil || isMissing(b.Initializer) {
			if known := r.scope.bindings[nameOf(id)]; simple && known != nil {
				known.empty = true
			}
			continue
		}
		if simple && isFunction(b.Initializer) {
			if known := r.scope.find(id.Name.String()); known != nil {
				r.keepFunction(known, b.Initializer)
				continue
			}
		}
		v := r.expression(b.Initializer)
		r.bind(b.Target, v, b)
	}
}

// left notes that the function may have ended here.
func (r *reader) left() {
	r.leaves++
	r.certain = false
	for _, l := range r.loops[r.fn.loops:] {
		l.exits = true
	}
}

func (r *reader) returned(s *ast.ReturnStatement) {
	if s.Argument == nil {
		r.left()
		return
	}
	if f := r.main(s.Argument); f != nil {
		r.entered = true
		r.function(f, nil, program)
		r.left()
		return
	}
	v := r.promised(s.Argument, r.fn.main)
	switch {
	case !r.fn.main:
	case v.list > 0:
		r.note(Listed, v.list, s.Argument.Idx0())
	case v.promise == 0:
		r.inside(s.Argument)
	}
	if r.fn.main && r.tree.CallResult && !r.entered && v.owner != nil {
		r.entered = true
		r.entry(v.owner)
	}
	r.fn.returns++
	r.fn.value = v
	r.left()
}

// main is the function that a program consists of, where it is returned as it stands, or exported.
func (r *reader) main(returned ast.Expression) ast.Expression {
	if !r.fn.main || !r.tree.CallResult || r.entered {
		return nil
	}
	if id, ok := returned.(*ast.Identifier); ok && r.tree.IsDefault(id.Name.String()) {
		return r.exported
	}
	if isFunction(returned) {
		return returned
	}
	return nil
}

// entry reads the function that a program consists of.
func (r *reader) entry(b *binding) {
	if b.pending {
		r.readWith(b, nil, program)
	}
}

func (r *reader) ifStatement(s *ast.IfStatement) {
	r.test(s.Test)
	leaves := r.exits()
	certain := r.certain
	asks := narrows(s.Test)
	r.guess(asks, func() { r.statement(s.Consequent) })
	if r.exits() > leaves && compares(s.Test) {
		for _, l := range r.loops[r.fn.loops:] {
			l.counted = true
		}
	}
	if s.Alternate != nil {
		after := r.certain
		r.certain = certain
		r.guess(asks, func() { r.statement(s.Alternate) })
		r.certain = r.certain && after
	}
}

// exits counts the ways out of the loops around.
func (r *reader) exits() (n int) {
	n = r.leaves
	for _, l := range r.loops[r.fn.loops:] {
		if l.exits {
			n++
		}
	}
	return n
}

func (r *reader) tryStatement(s *ast.TryStatement) {
	guarded := r.guarded
	r.guarded = true
	r.block(s.Body.List)
	r.guarded = guarded
	r.certain = r.certain && s.Catch == nil
	if s.Catch != nil {
		r.maybe(func() {
			r.within(false, func() {
				if s.Catch.Parameter != nil {
					r.declareTarget(s.Catch.Parameter)
				}
				r.block(s.Catch.Body.List)
			})
		})
		// A program whose try failed goes on after it as well: what follows is reached unless one of the two left.
	}
	if s.Finally != nil {
		r.maybe(func() { r.block(s.Finally.List) })
	}
}

func (r *reader) labelled(s *ast.LabelledStatement) {
	label := s.Label.Name.String()
	switch s.Statement.(type) {
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement, *ast.WhileStatement, *ast.DoWhileStatement:
		r.loopStatement(s.Statement, label)
		return
	}
	r.inLoop(&loop{label: label, labels: true}, func() { r.maybe(func() { r.statement(s.Statement) }) })
}

func (r *reader) switchStatement(s *ast.SwitchStatement) {
	r.test(s.Discriminant)
	r.inLoop(&loop{}, func() {
		r.maybe(func() {
			r.within(false, func() {
				for _, c := range s.Body {
					r.hoist(c.Consequent, false)
				}
				for _, c := range s.Body {
					if c.Test != nil {
						r.expression(c.Test)
					}
					r.statements(c.Consequent)
				}
			})
		})
	})
}

// branch is a break or a continue.
func (r *reader) branch(s *ast.BranchStatement) {
	r.certain = false
	inner := r.loops[r.fn.loops:]
	for i := len(inner) - 1; i >= 0; i-- {
		l := inner[i]
		hit := s.Label == nil && !l.labels && (l.isLoop || s.Token == token.BREAK) ||
			s.Label != nil && l.label == s.Label.Name.String()
		if hit && s.Token == token.BREAK {
			l.exits = true
		}
		if hit {
			return
		}
		if s.Label != nil { // it leaves this one too
			l.exits = true
		}
	}
}

func nameOf(id *ast.Identifier) string {
	if id == nil {
		return ""
	}
	return id.Name.String()
}

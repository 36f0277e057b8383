package preflight

import (
	"github.com/dop251/goja/ast"
)

// scope holds what a block or a function declares.
type scope struct {
	outer    *scope
	function bool
	bindings map[string]*binding
	order    []*binding
}

// binding is a declared name.
type binding struct {
	name  string
	value val
	reads int
	bound bool
	empty bool // declared without a value
	late  bool // its value is the one that it is assigned
	at    ast.Node
	// Of a function with a name: it is read when it is first certain to be called, or else when its scope ends.
	body    ast.Expression
	scope   *scope
	pending bool
	throws  bool
	result  val // what it returns, where it does so at one place
}

func newScope(outer *scope) *scope { return &scope{outer: outer, bindings: map[string]*binding{}} }

func (s *scope) find(name string) *binding {
	for ; s != nil; s = s.outer {
		if b := s.bindings[name]; b != nil {
			return b
		}
	}
	return nil
}

func (s *scope) declare(name string) *binding {
	if b := s.bindings[name]; b != nil {
		return b
	}
	b := &binding{name: name}
	s.bindings[name] = b
	s.order = append(s.order, b)
	return b
}

func (r *reader) within(function bool, read func()) {
	r.scope = newScope(r.scope)
	r.scope.function = function
	read()
	r.leaveScope()
	r.scope = r.scope.outer
}

// leaveScope reads the functions that nothing was certain to call, and finds promises that were kept for nobody.
func (r *reader) leaveScope() {
	for i := 0; i < len(r.scope.order); i++ {
		if b := r.scope.order[i]; b.pending {
			r.maybe(func() { r.later(b) })
		}
	}
	for _, b := range r.scope.order {
		if b.reads == 0 && b.value.promise > 0 && b.at != nil {
			r.note(Dropped, b.value.promise, b.at.Idx0())
		}
	}
}

// later reads the body of a named function, once.
func (r *reader) later(b *binding) {
	r.readWith(b, nil, perhaps)
}

// hoist declares what a block, or a function's body, declares, before its statements are read.
func (r *reader) hoist(list []ast.Statement, function bool) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			r.declareAll(s.List)
		case *ast.ClassDeclaration:
			r.scope.declare(s.Class.Name.Name.String())
		case *ast.FunctionDeclaration:
			b := r.scope.declare(s.Function.Name.Name.String())
			if b.body != nil { // declared twice
				r.assigned(b.name, 2)
			}
			r.keepFunction(b, s.Function)
		}
		if function {
			r.hoistVars(s)
		}
	}
}

func (r *reader) keepFunction(b *binding, f ast.Expression) {
	b.body, b.scope, b.pending = f, r.scope, true
	b.value = val{fn: f, owner: b}
}

func (r *reader) declareAll(list []*ast.Binding) {
	for _, b := range list {
		r.declareTarget(b.Target)
	}
}

func (r *reader) declareTarget(target ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		r.scope.declare(t.Name.String())
	case *ast.AssignExpression: // with a default
		r.declareTarget(t.Left)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			r.declareTarget(e)
		}
		r.declareTarget(t.Rest)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				r.scope.declare(p.Name.Name.String())
			case *ast.PropertyKeyed:
				r.declareTarget(p.Value)
			}
		}
		r.declareTarget(t.Rest)
	}
}

// hoistVars declares what var declares anywhere in a function. Such names may change before they are read, so nothing
// is known of their values but where they are declared once, at the function's own level.
func (r *reader) hoistVars(s ast.Statement) {
	switch s := s.(type) {
	case *ast.VariableStatement:
		r.declareAll(s.List)
	case *ast.BlockStatement:
		r.hoistList(s.List)
	case *ast.IfStatement:
		r.hoistVars(s.Consequent)
		if s.Alternate != nil {
			r.hoistVars(s.Alternate)
		}
	case *ast.ForStatement:
		if v, ok := s.Initializer.(*ast.ForLoopInitializerVarDeclList); ok {
			r.declareAll(v.List)
		}
		r.hoistVars(s.Body)
	case *ast.ForInStatement:
		r.hoistInto(s.Into, s.Body)
	case *ast.ForOfStatement:
		r.hoistInto(s.Into, s.Body)
	case *ast.WhileStatement:
		r.hoistVars(s.Body)
	case *ast.DoWhileStatement:
		r.hoistVars(s.Body)
	case *ast.LabelledStatement:
		r.hoistVars(s.Statement)
	case *ast.SwitchStatement:
		for _, c := range s.Body {
			r.hoistList(c.Consequent)
		}
	case *ast.TryStatement:
		r.hoistList(s.Body.List)
		if s.Catch != nil {
			r.hoistList(s.Catch.Body.List)
		}
		if s.Finally != nil {
			r.hoistList(s.Finally.List)
		}
	}
}

func (r *reader) hoistInto(into ast.ForInto, body ast.Statement) {
	if v, ok := into.(*ast.ForIntoVar); ok {
		r.declareTarget(v.Binding.Target)
	}
	r.hoistVars(body)
}

func (r *reader) hoistList(list []ast.Statement) {
	r.enter()
	defer r.leave()
	for _, s := range list {
		r.hoistVars(s)
	}
}

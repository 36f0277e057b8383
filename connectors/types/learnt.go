package types

import (
	"fmt"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// WithResults gives the same types, but that the result of a method that declares none has the type that is learnt.
// results may give nil.
func (s *Connector) WithResults(results func(method string) *learnt.Shape) *Connector {
	other := *s
	other.results = results
	return &other
}

// learn types the result of a method by what is known of it, unless it has a declared type: t.
func (s *Connector) learn(c *converter, m *connectors.Bound, t *typ, name string) (learned *typ, results int) {
	if s.results == nil || !vague(t) {
		return t, 0
	}
	shape := s.results(m.Method.Name)
	if shape == nil || !t.is("unknown") && shape.Kinds != learnt.Object { // an object was declared
		return t, 0
	}
	return c.split(c.learnt(shape, name), name), shape.Seen
}

// observed stands above a type that is learnt.
func observed(results int) string {
	if results == 1 {
		return "// observed in 1 result, not declared"
	}
	return fmt.Sprintf("// observed in %d results, not declared", results)
}

// learnt makes a type of what was seen.
func (c *converter) learnt(s *learnt.Shape, scope string) *typ {
	var parts []*typ
	for _, name := range s.Kinds.Names() {
		switch name {
		case "array":
			parts = append(parts, &typ{op: array, parts: []*typ{c.learntInside(s.Items, scope+"Item")}})
		case "object":
			parts = append(parts, c.learntObject(s, scope))
		default:
			parts = append(parts, plainType(name))
		}
	}
	if len(parts) == 0 || s.Kinds == learnt.Null {
		return unknownType() // of what is null so far nobody knows what else it may be
	}
	return join(union, parts)
}

func (c *converter) learntInside(s *learnt.Shape, scope string) *typ {
	if s == nil {
		return unknownType()
	}
	return c.nameable(c.split(c.learnt(s, scope), scope), scope)
}

var nullSoFar = &docs{description: "Null so far."}

func (c *converter) learntObject(s *learnt.Shape, scope string) *typ {
	if c.deepest > 0 && c.inside == c.deepest {
		return plainType("Record<string, unknown>")
	}
	c.inside++
	defer func() { c.inside-- }()
	if s.Mapping() {
		return &typ{op: record, index: c.learntInside(s.Values(), scope+"Value")}
	}
	t := &typ{op: record}
	for i := range s.Fields {
		f := &s.Fields[i]
		p := prop{name: f.Name, optional: f.Seen < s.Objects, t: c.learntInside(&f.Shape, scope+pascal(f.Name))}
		if f.Kinds == learnt.Null {
			p.docs = nullSoFar
		}
		t.props = append(t.props, p)
	}
	var index *typ
	switch {
	case s.More:
		index = unknownType()
	case s.Other != nil:
		index = c.learntInside(s.Other, scope+"Value")
	case len(t.props) == 0:
		return plainType("Record<string, unknown>")
	}
	return c.withIndex(t, index, scope)
}

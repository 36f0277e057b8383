package types

import (
	"github.com/temporal-codemode/codemode/connectors"
)

// Nested is how [Connector.NestedInput] writes types: one inside another, as UTCP's bridge does.
type Nested struct {
	// Depth is how many objects are shown inside one another; what lies deeper is any object.
	Depth int
	// Bare leaves out the comments of properties.
	Bare bool
	// Key gives the name by which a property is shown; nil is its own.
	Key func(name string) string
}

const (
	nestedIndent = "  "
	// maxNested bounds the schemas of one type.
	maxNested = 1500
	anyObject = "{ [key: string]: any }"
)

// NestedInput writes what a method takes, under a name: an interface where that is an object, else a type. What cannot
// be resolved or said is any. complete is false where so much is inside one another that some of it became any, too.
func (s *Connector) NestedInput(m *connectors.Bound, name string, n Nested) (text string, complete bool) {
	return s.nested(m, input, name, n)
}

// NestedOutput writes what a method gives, as NestedInput does what it takes.
func (s *Connector) NestedOutput(m *connectors.Bound, name string, n Nested) (text string, complete bool) {
	return s.nested(m, output, name, n)
}

func (s *Connector) nested(m *connectors.Bound, at side, name string, n Nested) (text string, complete bool) {
	complete = true
	t := unknownType()
	raw := m.InputSchema
	if at == output {
		raw = m.OutputSchema
	}
	// A type that contains itself is never declared apart, so its name need not be free.
	c := converter{claim: func(name string) string { return name }, most: maxNested, deepest: n.Depth}
	if doc, err := newDocument(raw, s.shared()); err == nil {
		c.doc = doc
		t = c.root(doc.root, name)
		complete = !c.full()
	}
	if at == output {
		t, _ = s.learn(&c, m, t, name)
	}
	p := printer{nested: &n, root: name}
	if n.Bare {
		p.detail = bare
	}
	if t.op != record {
		p.print(t, nestedIndent)
		return nestedIndent + "type " + name + " = " + p.b.String() + ";\n", complete
	}
	p.object(t, nestedIndent)
	return nestedIndent + "interface " + name + " " + p.b.String() + "\n", complete
}

// nestedText is a text in the words of nested types.
func nestedText(text string) string {
	switch text {
	case "unknown":
		return "any"
	case "Record<string, unknown>":
		return anyObject
	}
	return text
}

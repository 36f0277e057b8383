package types

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/connectors"
)

// Nested is how [Connector.NestedTypes] writes types: one inside another, as UTCP's bridge does.
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
	anyObject    = "{ [key: string]: any }"
)

// NestedTypes writes what a method takes and what it gives: an interface where that is an object, else a type. What
// cannot be resolved or said is any.
func (s *Connector) NestedTypes(m *connectors.Bound, name string, n Nested) (takes, gives string) {
	return s.nested(m.InputSchema, name+"Input", n), s.nested(m.OutputSchema, name+"Output", n)
}

func (s *Connector) nested(raw json.RawMessage, name string, n Nested) string {
	t := unknownType()
	if doc, err := newDocument(raw, s.shared()); err == nil {
		// A type that contains itself is never declared apart, so its name need not be free.
		c := converter{doc: doc, claim: func(name string) string { return name }}
		t = c.root(doc.root, name)
	}
	p := printer{nested: &n, root: name}
	if n.Bare {
		p.detail = bare
	}
	if t.op != record {
		p.print(t, nestedIndent)
		return nestedIndent + "type " + name + " = " + p.b.String() + ";\n"
	}
	p.object(t, nestedIndent)
	return nestedIndent + "interface " + name + " " + p.b.String() + "\n"
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

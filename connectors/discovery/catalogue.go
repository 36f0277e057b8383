package discovery

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
)

// Snippet is saved code that is found and described like a method.
type Snippet struct {
	Name, Description, Code string
}

// Catalogue answers what a set of connectors offers. It does not change and may
// be used by many goroutines at once; what searching and describing need is
// worked out when they are first used.
type Catalogue struct {
	set      *connectors.Set
	order    []string
	spaces   map[string]*space
	index    func() *index
	snippets []Snippet
	saved    func() *index // of the snippets
}

// space is one connector of a catalogue.
type space struct {
	name    string
	methods []*connectors.Bound
	byName  map[string]*connectors.Bound
	shared  func() *document
	names   func() *names
}

// New makes a catalogue of a set.
func New(set *connectors.Set) *Catalogue {
	c := &Catalogue{set: set, order: set.Names(), spaces: map[string]*space{}}
	for _, name := range c.order {
		c.spaces[name] = c.newSpace(name)
	}
	c.index = sync.OnceValue(func() *index { return newIndex(c.documents()) })
	return c
}

func (c *Catalogue) newSpace(name string) *space {
	s := &space{name: name, methods: c.set.Methods(name), byName: map[string]*connectors.Bound{}}
	for _, m := range s.methods {
		s.byName[m.Method.Name] = m
	}
	s.shared = sync.OnceValue(func() *document {
		definitions := c.set.Definitions(name)
		if definitions == nil {
			return nil
		}
		doc, err := newDocument(definitions, nil)
		if err != nil {
			return nil
		}
		return doc
	})
	s.names = sync.OnceValue(func() *names { return newNames(s.methods, s.shared()) })
	return s
}

// With gives a catalogue that has snippets, too, instead of those it had. It
// shares everything else with this one.
func (c *Catalogue) With(snippets ...Snippet) *Catalogue {
	other := *c
	other.snippets = slices.Clone(snippets)
	other.saved = sync.OnceValue(func() *index { return newIndex(other.snippetItems()) })
	return &other
}

// document opens one side of a method, its definitions bound to their names.
func (s *space) document(m *connectors.Bound, at side) (*document, error) {
	raw := m.InputSchema
	if at == output {
		raw = m.OutputSchema
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(defaultSchema[at])
	}
	doc, err := newDocument(raw, s.shared())
	if err != nil {
		return newDocument([]byte("true"), nil)
	}
	s.names().bind(doc, s.typeName(m, at))
	return doc, nil
}

// defaultSchema is that of a method without: any object goes in, anything comes out.
var defaultSchema = map[side]string{input: `{"type":"object"}`, output: `true`}

func (s *space) typeName(m *connectors.Bound, at side) string {
	return s.names().methods[m.Method.Name] + at.String()
}

// sheet is an empty page for declarations of this connector.
func (s *space) sheet() *sheet {
	used, names := map[string]bool{}, s.names()
	sheet := newSheet(s.name, func(name string) string {
		name = numbered(name, func(n string) bool { return names.taken[n] || used[n] })
		used[name] = true
		return name
	})
	if shared := s.shared(); shared != nil {
		sheet.offer(shared)
	}
	return sheet
}

// declare puts both types of a method on a sheet.
func (s *space) declare(sheet *sheet, m *connectors.Bound) {
	for _, at := range []side{input, output} {
		if doc, err := s.document(m, at); err == nil {
			sheet.add(doc, doc.root, s.typeName(m, at))
		}
	}
}

func (s *space) methodSheet(m *connectors.Bound) *sheet {
	sheet := s.sheet()
	s.declare(sheet, m)
	return sheet
}

package catalogue

import (
	"slices"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/signals/learnt"
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
	spaces   map[string]*types.Connector
	index    func() *search.Index
	snippets []Snippet
	saved    func() *search.Index // of the snippets
	learnt   Learnt               // nil knows nothing
}

// Learnt tells what results of a connector's methods look like, as far as that is known.
type Learnt func(connector string) (results func(method string) *learnt.Shape)

// New makes a catalogue of a set.
func New(set *connectors.Set) *Catalogue {
	c := &Catalogue{set: set, order: set.Names(), spaces: map[string]*types.Connector{}}
	for _, name := range c.order {
		c.spaces[name] = types.Of(set, name)
	}
	c.index = sync.OnceValue(func() *search.Index { return search.New(c.methodItems(), c.abouts()) })
	return c
}

// With gives a catalogue that has snippets, too, instead of those it had. It
// shares everything else with this one.
func (c *Catalogue) With(snippets ...Snippet) *Catalogue {
	other := *c
	other.snippets = slices.Clone(snippets)
	other.saved = sync.OnceValue(func() *search.Index { return search.New(other.snippetItems(), nil) })
	return &other
}

// WithLearnt gives a catalogue that types results by what they look like where nothing is declared. It shares
// everything else with this one.
func (c *Catalogue) WithLearnt(l Learnt) *Catalogue {
	other := *c
	other.learnt = l
	return &other
}

// Connector gives the types of a connector, declared and learnt; nil for an unknown one.
func (c *Catalogue) Connector(name string) *types.Connector {
	s := c.spaces[name]
	if s == nil || c.learnt == nil {
		return s
	}
	return s.WithResults(c.learnt(name))
}

// GenerateTypes writes a connector's methods as TypeScript: all their types,
// and a constant of the connector's name with the methods in it.
func GenerateTypes(set *connectors.Set, connector string) string {
	return New(set).Types(connector)
}

// Types writes all of a connector as TypeScript, however long it gets. Only
// declared types are shown by name; the rest stands in its place, as the
// reference prints it. An unknown connector gives "".
func (c *Catalogue) Types(connector string) string {
	s, ok := c.spaces[connector]
	if !ok {
		return ""
	}
	text, _ := s.Declarations(0)
	return text
}

package types

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// Connector is the declared types of one connector. What they need is worked out when it is first used.
type Connector struct {
	Name    string
	Methods []*connectors.Bound
	byName  map[string]*connectors.Bound
	shared  func() *document
	names   func() *names
	results func(method string) *learnt.Shape // nil knows nothing
}

// Of reads a connector's methods as they are now.
func Of(set *connectors.Set, name string) *Connector {
	s := &Connector{Name: name, Methods: set.Methods(name), byName: map[string]*connectors.Bound{}}
	for _, m := range s.Methods {
		s.byName[m.Method.Name] = m
	}
	s.shared = sync.OnceValue(func() *document {
		definitions := set.Definitions(name)
		if definitions == nil {
			return nil
		}
		doc, err := newDocument(definitions, nil)
		if err != nil {
			return nil
		}
		return doc
	})
	s.names = sync.OnceValue(func() *names { return newNames(s.Methods, s.shared()) })
	return s
}

// document opens one side of a method, its definitions bound to their names.
func (s *Connector) document(m *connectors.Bound, at side) (*document, error) {
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

func (s *Connector) typeName(m *connectors.Bound, at side) string {
	return s.names().methods[m.Method.Name] + at.String()
}

// sheet is an empty page for declarations of this connector.
func (s *Connector) sheet() *sheet {
	used, names := map[string]bool{}, s.names()
	sheet := newSheet(s.Name, func(name string) string {
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
func (s *Connector) declare(sheet *sheet, m *connectors.Bound) {
	for _, at := range []side{input, output} {
		s.declareSide(sheet, m, at)
	}
}

func (s *Connector) declareSide(sheet *sheet, m *connectors.Bound, at side) {
	doc, err := s.document(m, at)
	if err != nil {
		return
	}
	name := s.typeName(m, at)
	sheet.add(doc, doc.root, name)
	if at == output {
		root := &sheet.roots[len(sheet.roots)-1]
		root.t, root.results = s.learn(&converter{claim: sheet.claim}, m, root.t, name)
	}
}

func (s *Connector) methodSheet(m *connectors.Bound) *sheet {
	sheet := s.sheet()
	s.declare(sheet, m)
	return sheet
}

// LikeNamed takes get-item and getItem for get_item.
func (s *Connector) LikeNamed(name string) *connectors.Bound {
	want := words.Fold(name)
	for _, m := range s.Methods {
		if want != "" && (words.Fold(m.Method.Name) == want || words.Fold(m.Origin) == want) {
			return m
		}
	}
	return nil
}

func (s *Connector) Signature(m *connectors.Bound) string {
	base := s.names().methods[m.Method.Name]
	return fmt.Sprintf("%s(input: %sInput): Promise<%sOutput>", Callee(m), base, base)
}

// Callee is what a program writes before the parentheses of a call.
func Callee(m *connectors.Bound) string {
	if !IsIdentifier(m.Method.Name) {
		return m.Connector + "[" + quote(m.Method.Name) + "]"
	}
	return m.Connector + "." + m.Method.Name
}

// MethodTypes writes the types of one method within a budget of tokens.
func (s *Connector) MethodTypes(m *connectors.Bound, budget int) string {
	return s.methodSheet(m).within(budget)
}

// TypeNamed writes a type that is shown under a name; false when there is none.
func (s *Connector) TypeNamed(name string, budget int) (string, bool) {
	sheet := s.typeSheet(name)
	if sheet == nil {
		return "", false
	}
	return sheet.within(budget), true
}

// Method finds a method by its name.
func (s *Connector) Method(name string) *connectors.Bound { return s.byName[name] }

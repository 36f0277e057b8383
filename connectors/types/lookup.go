package types

import (
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
)

// typeSheet finds a type by its name: a method's, a definition, or a part of
// either that was left out for length. It gives nil when there is none.
func (s *Connector) typeSheet(name string) *sheet {
	names := s.names()
	if at, ok := names.found[name]; ok {
		return s.definitionSheet(name, at)
	}
	for _, m := range s.Methods {
		base := names.methods[m.Method.Name]
		if tail, ok := strings.CutPrefix(name, base); ok {
			for _, at := range []side{input, output} {
				if strings.HasPrefix(tail, at.String()) {
					if sheet := s.rootSheet(name, s.methodRoot(m, at)); sheet != nil {
						return sheet
					}
				}
			}
		}
	}
	for owner := len(name) - 1; owner > 0; owner-- {
		if at, ok := names.found[name[:owner]]; ok {
			if sheet := s.rootSheet(name, s.definitionSheet(name[:owner], at)); sheet != nil {
				return sheet
			}
		}
	}
	return nil
}

// methodRoot is a sheet of one side of a method.
func (s *Connector) methodRoot(m *connectors.Bound, at side) *sheet {
	sheet := s.sheet()
	s.declareSide(sheet, m, at)
	return sheet
}

func (s *Connector) definitionSheet(name string, at place) *sheet {
	sheet := s.sheet()
	if at.method != nil {
		doc, err := s.document(at.method, at.side)
		if err != nil {
			return nil
		}
		sheet.offer(doc)
	}
	t := sheet.definition(name)
	if t == nil {
		return nil
	}
	sheet.roots = []declaration{{name: name, t: t}}
	return sheet
}

// rootSheet makes the named part of a sheet's root its root.
func (s *Connector) rootSheet(name string, from *sheet) *sheet {
	if from == nil || len(from.roots) == 0 {
		return nil
	}
	if from.roots[0].name == name {
		return from
	}
	part := from.roots[0].t.part(name)
	if part == nil {
		return nil
	}
	// Names are claimed in the order of the whole, so the rest of it stays.
	from.roots = []declaration{{name: name, t: part}}
	return from
}

// part finds the type that is shown under a name.
func (t *typ) part(name string) (found *typ) {
	t.each(func(inner *typ) {
		switch {
		case found != nil:
		case inner.name == name:
			found = inner
		default:
			found = inner.part(name)
		}
	})
	return found
}

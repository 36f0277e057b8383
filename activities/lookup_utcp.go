package activities

import (
	"github.com/temporal-codemode/codemode/connectors/utcp"
	"github.com/temporal-codemode/codemode/signals"
)

// maxInterfaces bounds the interfaces that a program gets as one text, in characters.
const maxInterfaces = 200_000

// utcp answers what UTCP's bridge would; ok is false for other questions.
func (l lookups) utcp(in signals.CatalogueInput) (answer any, ok bool) {
	c := utcp.New(l.connectors, l.catalogue)
	switch in.Kind {
	case signals.CatalogueUTCPSearch:
		return c.Search(in.Query, in.Most, in.Budget), true
	case signals.CatalogueUTCPList:
		return c.List(), true
	case signals.CatalogueUTCPInfo:
		return c.Info(in.Names, in.Budget), true
	case signals.CatalogueUTCPKeys:
		return c.Keys(in.Target), true
	case signals.CatalogueUTCPInterface:
		return c.Interface(in.Target), true
	case signals.CatalogueUTCPInterfaces:
		return c.Interfaces(maxInterfaces), true
	}
	return nil, false
}

// methodsBytes bounds one page of methods; history takes less than 2 MiB.
const methodsBytes = 1_000_000

// methods lists all methods, a page at a time, as far as their schemas leave room.
func (l lookups) methods(from int) signals.Methods {
	page := signals.Methods{Methods: []signals.Method{}}
	size, at := 0, 0
	for _, connector := range l.connectors.Names() {
		for _, b := range l.connectors.Methods(connector) {
			if at++; at <= from {
				continue
			}
			m := l.method(b.Path())
			if m == nil {
				continue // gone since
			}
			if size += len(m.Description) + len(m.InputSchema) + 200; size > methodsBytes && len(page.Methods) > 0 {
				page.Next = at - 1
				return page
			}
			page.Methods = append(page.Methods, *m)
		}
	}
	return page
}

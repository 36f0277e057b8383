package lookup

import (
	"context"

	"github.com/temporal-codemode/codemode/connectors/utcp"
	"github.com/temporal-codemode/codemode/signals"
)

// maxInterfaces bounds the interfaces that a program gets as one text, in characters.
const maxInterfaces = 200_000

// utcp answers what UTCP's bridge would; ok is false for other questions.
func (l Lookups) utcp(ctx context.Context, in signals.CatalogueInput) (answer any, ok bool) {
	c := utcp.New(l.Connectors, l.catalogue(ctx))
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

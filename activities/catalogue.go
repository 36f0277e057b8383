package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/internal/snippets"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// lookups answers for a runtime out of an activity.
func (a *Activities) lookups(ctx context.Context, runtime string) lookup.Lookups {
	store := snippets.Store{Client: activity.GetClient(ctx), Runtime: runtime, DataConverter: a.DataConverter}
	return lookup.Lookups{
		Connectors: a.Connectors, Catalogue: a.catalogue(), Hints: a.Hints, Snippets: a.snippets.Of(store),
		Learnt: a.results(teller(ctx)),
	}
}

// Catalogue is the activity by which clients, which know no connectors, search and describe.
func (a *Activities) Catalogue(ctx context.Context, in signals.CatalogueInput) (converter.RawValue, error) {
	answer, err := a.lookups(ctx, in.Runtime).Answer(ctx, in)
	if err != nil {
		return converter.RawValue{}, err
	}
	return payload.Raw(answer)
}

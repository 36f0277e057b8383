package activities

import (
	"context"

	"github.com/temporal-codemode/codemode/activities/snippets"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
)

// lookups answers for a runtime out of an activity.
func (a *Activities) lookups(ctx context.Context, runtime string) lookups {
	return lookups{
		connectors: a.Connectors, catalogue: a.catalogue(), hints: a.Hints,
		snippets: snippets.Store{Client: activity.GetClient(ctx), Runtime: runtime, DataConverter: a.DataConverter},
	}
}

// Catalogue is the activity by which clients, which know no connectors, search and describe.
func (a *Activities) Catalogue(ctx context.Context, in signals.CatalogueInput) (converter.RawValue, error) {
	answer, err := a.lookups(ctx, in.Runtime).answer(ctx, in)
	if err != nil {
		return converter.RawValue{}, err
	}
	return payload.Raw(answer)
}

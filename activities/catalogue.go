package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/internal/snippets"
	"github.com/temporal-codemode/codemode/sandbox"
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
	lookups := a.lookups(ctx, in.Runtime)
	if in.Kind == signals.CatalogueCheck {
		answer, err := lookups.Checked(ctx, a.Executor, sandbox.Pass{Code: in.Code, Modules: a.Modules}, a.Preflight)
		if err != nil {
			return converter.RawValue{}, err
		}
		return payload.Raw(answer)
	}
	answer, err := lookups.Answer(ctx, in)
	if err != nil {
		return converter.RawValue{}, err
	}
	return payload.Raw(answer)
}

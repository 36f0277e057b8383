package local

import (
	"context"
	"encoding/json"

	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/internal/lookup"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// host answers programs that run without Temporal. There are no snippets.
type host struct {
	Calls
	Catalogue *catalogue.Catalogue
	Hints     map[string]string
}

// Admit looks a call up and checks its arguments.
func (d *host) Admit(c sandbox.Call) sandbox.Admission {
	if c.Connector == sandbox.PlatformConnector {
		return lookup.Admit(c.Method)
	}
	return d.Calls.Admit(c)
}

// Call makes a call.
func (d *host) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Connector == sandbox.PlatformConnector {
		return d.lookups().Call(ctx, c)
	}
	return d.Calls.Call(ctx, c)
}

// Answer is that of the catalogue, as clients get it from a worker.
func (d *host) Answer(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error) {
	answer, err := d.lookups().Answer(ctx, question)
	if err != nil {
		return nil, err
	}
	return signals.Marshal(answer)
}

func (d *host) lookups() lookup.Lookups {
	return lookup.Lookups{Connectors: d.Connectors, Catalogue: d.Catalogue, Hints: d.Hints, Snippets: noSnippets{}}
}

type noSnippets struct{}

func (noSnippets) Get(context.Context, string, int) (*signals.Snippet, error) { return nil, nil }

func (noSnippets) List(context.Context) ([]signals.Snippet, error) { return nil, nil }

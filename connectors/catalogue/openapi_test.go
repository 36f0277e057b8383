package catalogue

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/openapi"
)

// apiCatalogue is the catalogue of an OpenAPI document.
func apiCatalogue(t testing.TB, name, file string) *Catalogue {
	t.Helper()
	api := openapi.New(name, openapi.Options{Document: file, BaseURL: "http://127.0.0.1"})
	t.Cleanup(func() { _ = api.Close() })
	c := catalogueOf(t, api)
	require.NoError(t, c.set.Err(name))
	return c
}

// catalogueOnly is a connector whose schemas nobody compiles.
type catalogueOnly struct {
	name    string
	methods []connectors.Method
}

func (c catalogueOnly) Name() string                                         { return c.name }
func (c catalogueOnly) Instructions() string                                 { return "" }
func (c catalogueOnly) Methods(context.Context) ([]connectors.Method, error) { return c.methods, nil }
func (c catalogueOnly) Close() error                                         { return nil }

// sharing is a connector whose schemas lead into a document.
type sharing struct {
	catalogueOnly
	definitions json.RawMessage
}

func (c sharing) Large(context.Context) (*connectors.LargeCatalogue, error) {
	return &connectors.LargeCatalogue{Methods: c.methods, Definitions: func() json.RawMessage { return c.definitions }},
		nil
}

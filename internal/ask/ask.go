// Package ask puts questions to a catalogue: what methods there are, and what a model is told of them.
//
// Its rule: it does not matter who answers, a worker or a runner in this process.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// ErrNotFound is in the error of everything that was asked about something that does not exist.
var ErrNotFound = errors.New("not found")

// Catalogue answers a question with JSON.
type Catalogue func(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error)

// Method tells about one method of a connector.
func (c Catalogue) Method(ctx context.Context, connector, method string) (*signals.Method, error) {
	answer, err := c(ctx, signals.CatalogueInput{Kind: signals.CatalogueMethod, Target: connector + "." + method})
	if err != nil {
		return nil, err
	}
	var m *signals.Method
	if err = json.Unmarshal(answer, &m); err == nil && m == nil {
		err = fmt.Errorf("there is no method %s.%s: %w", connector, method, ErrNotFound)
	}
	return m, err
}

// Methods lists all methods, page by page.
func (c Catalogue) Methods(ctx context.Context) ([]signals.Method, error) {
	var all []signals.Method
	for from := 0; ; {
		answer, err := c(ctx, signals.CatalogueInput{Kind: signals.CatalogueMethods, From: from})
		if err != nil {
			return nil, err
		}
		var page signals.Methods
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Methods...)
		if from = page.Next; from == 0 {
			return all, nil
		}
	}
}

// Tool is what a model is offered. A description replaces the whole text; hints are added to the worker's.
func (c Catalogue) Tool(ctx context.Context, description string, hints map[string]string) (signals.Tool, error) {
	var tool signals.Tool
	answer, err := c(ctx, signals.CatalogueInput{Kind: signals.CatalogueTool, Description: description, Hints: hints})
	if err != nil {
		return tool, err
	}
	return tool, json.Unmarshal(answer, &tool)
}

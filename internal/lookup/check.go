package lookup

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

// Check reads a program and compares it with the catalogue. Nothing of it runs. An executor that reads no programs
// finds nothing.
func (l Lookups) Check(ctx context.Context, x sandbox.Executor, pass sandbox.Pass,
	mode signals.PreflightMode) (preflight.Report, error) {
	reader, ok := x.(preflight.Surveyor)
	if !ok || mode == signals.PreflightOff {
		return preflight.Report{}, nil
	}
	pass.Connectors = l.Connectors.Names()
	survey, err := reader.Survey(ctx, pass)
	if err != nil || survey == nil {
		return preflight.Report{}, err
	}
	return survey.Judge(callable{l}, mode), nil
}

// Checked answers a client that asks about a program.
func (l Lookups) Checked(ctx context.Context, x sandbox.Executor, pass sandbox.Pass,
	mode signals.PreflightMode) (signals.Checked, error) {
	var answer signals.Checked
	reader, ok := x.(preflight.Surveyor)
	if !ok {
		return answer, errors.New("this worker's executor reads no programs without running them")
	}
	pass.Connectors = l.Connectors.Names()
	survey, err := reader.Survey(ctx, pass)
	switch {
	case err != nil:
		return answer, err
	case survey == nil:
		return answer, nil
	case survey.Failure != nil:
		answer.Error, answer.Position = survey.Failure.Message, survey.Failure.Position
		return answer, nil
	}
	report := survey.Judge(callable{l}, mode)
	answer.Preflight = report.Preflight
	if report.Stop != nil {
		answer.Error, answer.Position = report.Stop.Message, report.Stop.Position
	}
	return answer, nil
}

// callable is the catalogue as package preflight wants it.
type callable struct{ Lookups }

func (c callable) Names() []string { return c.Connectors.Names() }

func (c callable) Known(connector string) bool { return c.Connectors.Err(connector) == nil }

func (c callable) Methods(connector string) (names []string) {
	for _, b := range c.Connectors.Methods(connector) {
		names = append(names, b.Method.Name)
	}
	return names
}

func (c callable) Method(connector, method string) (*preflight.Method, error) {
	b, err := c.Connectors.Lookup(connector, method)
	if err != nil {
		return nil, err
	}
	return &preflight.Method{
		Class: b.Class, Assumed: b.ClassAssumed, Approval: b.MayNeedApproval() || b.ResolvedByClient,
		Input: input(b), Output: b.OutputSchema,
		Definitions: func() json.RawMessage { return c.Connectors.Definitions(connector) },
		Validate:    b.Validate, Mode: b.Preflight,
		Signature: func() string { return c.Catalogue.Describe(b.Path()).Signature },
	}, nil
}

func input(b *connectors.Bound) func() json.RawMessage {
	return func() json.RawMessage {
		if b.Arguments != nil {
			return b.Arguments()
		}
		return b.InputSchema
	}
}

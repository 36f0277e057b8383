package connectors

import (
	"context"
	"slices"
)

// Decorate makes a connector of the same methods after change went over each of
// them: to ask for approval, to set a class, to add a Revert in Go, to wrap
// Execute. Rules are applied after it. change is called each time the methods
// are listed, by one goroutine at a time for each connector.
func Decorate(c Connector, change func(m *Method)) Connector {
	return &decorated{Connector: c, change: change}
}

type decorated struct {
	Connector
	change func(m *Method)
}

func (d *decorated) Methods(ctx context.Context) ([]Method, error) {
	methods, err := d.Connector.Methods(ctx)
	return d.over(methods), err
}

func (d *decorated) Large(ctx context.Context) (*LargeCatalogue, error) {
	methods, definitions, err := listMethods(ctx, d.Connector)
	return &LargeCatalogue{Methods: d.over(methods), Definitions: definitions}, err
}

func (d *decorated) over(methods []Method) []Method {
	methods = slices.Clone(methods)
	for i := range methods {
		d.change(&methods[i])
	}
	return methods
}

// as finds what a connector can do beside its methods, whatever decorates it.
func as[T any](c Connector) (T, bool) {
	for {
		if able, ok := c.(T); ok {
			return able, true
		}
		d, ok := c.(*decorated)
		if !ok {
			var none T
			return none, false
		}
		c = d.Connector
	}
}

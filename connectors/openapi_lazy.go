package connectors

import (
	"context"
	"encoding/json"
)

// Warner is implemented by connectors that accept what is probably not meant.
type Warner interface {
	// Warnings tell the operator what of the methods listed last was left out or
	// changed. It may look through the whole catalogue.
	Warnings() []string
}

// LazyConnector is implemented by connectors with catalogues so large that
// schemas are made only of the methods that are looked at.
type LazyConnector interface {
	Connector
	// LazyMethods lists the same methods as Methods, without their schemas.
	LazyMethods(ctx context.Context) ([]LazyMethod, error)
	// Definition is the schema behind a name in the "$defs" of the methods listed
	// last, nil for an unknown one.
	Definition(name string) json.RawMessage
}

// LazyMethod is a [Method] without schemas, and how to come by them. All
// functions may be called at any time and from any goroutine.
type LazyMethod struct {
	Method
	// Tags are the groups that the source puts the method in.
	Tags []string
	// Parameters lists the names of the properties of the argument.
	Parameters func() []string
	// Schemas gives what InputSchema and OutputSchema would be. They are made anew by every call.
	Schemas func() (input, output json.RawMessage)
	// Normalize turns numbers and booleans into strings where the input schema
	// wants a string and the difference is lost on the way to the server.
	// Arguments are to be validated in this form. What it cannot read it returns
	// as it is.
	Normalize func(args json.RawMessage) json.RawMessage
}

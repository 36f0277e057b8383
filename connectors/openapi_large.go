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

// LargeConnector is implemented by connectors whose methods share schemas that
// are too many, or too large, to be repeated in each method.
type LargeConnector interface {
	Connector
	// Large lists the same methods as Methods does.
	Large(ctx context.Context) (*LargeCatalogue, error)
}

// LargeCatalogue is methods and the definitions that their schemas share.
type LargeCatalogue struct {
	Methods []LargeMethod
	// Definitions gives a JSON object with the "$defs" that the methods' schemas
	// refer to. Properties in them may be marked readOnly and writeOnly. It is
	// made when first asked for.
	Definitions func() json.RawMessage
}

// LargeMethod is a [Method] whose InputSchema and OutputSchema refer to the
// definitions of its catalogue.
type LargeMethod struct {
	Method
	// Tags are the groups that the source puts the method in.
	Tags []string
	// Arguments gives the schema to validate arguments against in place of
	// InputSchema. It is complete, and lets through numbers and booleans where
	// InputSchema wants a string that is only written into a request. It is made
	// anew by every call.
	Arguments func() json.RawMessage
}

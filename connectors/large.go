package connectors

import (
	"context"
	"encoding/json"
)

// LargeConnector is implemented by connectors whose methods share schemas that
// are too many, or too large, to be repeated in each method.
type LargeConnector interface {
	Connector
	// Large lists the same methods as Methods does.
	Large(ctx context.Context) (*LargeCatalogue, error)
}

// LargeCatalogue is methods and the definitions that their schemas share: the
// InputSchema and OutputSchema refer to them, Arguments is complete.
type LargeCatalogue struct {
	Methods []Method
	// Definitions gives a JSON object with the "$defs" that the methods' schemas
	// refer to. Properties in them may be marked readOnly and writeOnly. It is
	// made when first asked for.
	Definitions func() json.RawMessage
}

package codemode

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/internal/truncate"
)

// TruncateOptions say how much of a result a model gets. Zero is 6,000 tokens.
type TruncateOptions = truncate.Options

// TruncateResult cuts a JSON value to a budget so that it stays JSON of the same shape, with marks where something is
// missing. What fits stays as it is.
func TruncateResult(value json.RawMessage, o TruncateOptions) json.RawMessage {
	return truncate.Result(value, o)
}

// TruncateResponse cuts a text to a budget and says so at its end.
func TruncateResponse(text string, o TruncateOptions) string {
	return truncate.Response(text, o)
}

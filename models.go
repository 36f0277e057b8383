package codemode

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/connectors/discovery"
	"github.com/temporal-codemode/codemode/sandbox"
)

// NormalizeCode turns a model's answer into one async arrow function without arguments: code fences are stripped, a
// function stays what it is, the last expression of statements is returned. Programs are run as they are written; this
// is for who wants to show or combine them.
func NormalizeCode(code string) string { return sandbox.NormalizeCode(code) }

// TruncateOptions say how much of a result a model gets. Zero is 6,000 tokens.
type TruncateOptions = discovery.TruncateOptions

// TruncateResult cuts a JSON value to a budget so that it stays JSON of the same shape, with marks where something is
// missing. What fits stays as it is.
func TruncateResult(value json.RawMessage, o TruncateOptions) json.RawMessage {
	return discovery.TruncateResult(value, o)
}

// TruncateResponse cuts a text to a budget and says so at its end.
func TruncateResponse(text string, o TruncateOptions) string {
	return discovery.TruncateResponse(text, o)
}

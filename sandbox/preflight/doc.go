// Package preflight finds mistakes of a program before it runs, and tells what it is about to do.
//
// It works in two halves, so that nobody parses a model's text outside a sandbox. [Read] looks at the syntax alone and
// runs where programs run; its [Survey] says which methods the text calls, with what, and which fields of results it
// reads. [Survey.Judge] compares that with a [Catalogue] and runs where the connectors are.
//
// Its rule: it says nothing that may be untrue. What it cannot follow, such as a variable that is assigned twice, it
// passes over; and a program is stopped only for what it would certainly have failed of.
package preflight

// Package connectors holds the namespaces that programs call: what a namespace
// and its methods are, and the rules laid over them. The connectors that come
// with Code Mode are the packages mcp, openapi and outbound below it.
//
// A [Connector] answers its methods; [New] makes one from Go functions. A [Set] is the connectors of one runtime after
// their names were checked, their methods loaded and the [Rule]s applied. It
// gives out each method as a [Bound], which validates arguments, decides on
// approval, executes and undoes.
//
// The package knows neither Temporal nor the sandbox: it answers what a method
// is and does one call. When a call runs, how often, and what is recorded is
// for its callers, who decide by [Class] and by the type of an error:
//
//   - [*OutcomeUnknownError]: the call may have taken effect.
//   - [*RetryableError]: it did not, and another attempt may succeed.
//   - [*NotFoundError], [*UnavailableError], [*InvalidArgumentsError]: nothing ran.
//   - [*ResultError]: it took effect, but its result cannot be passed on.
//   - any other error is the method's own, final answer.
package connectors

// Package connectors holds the namespaces that programs call: what a namespace
// and its methods are, the rules laid over them, and the connectors that come
// with Code Mode.
//
// A [Connector] answers its methods; [New] makes one from Go functions and
// [MCP] from an MCP server. A [Set] is the connectors of one runtime after
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
//
// # Wire JSON
//
// Arguments and results cross as JSON with two tags for what JSON lacks:
//
//	{"__codemode_binary_v1__":"Uint8Array","data":"<base64>"}
//	{"__codemode_bigint_v1__":"123"}
//
// A nil json.RawMessage is JavaScript's undefined. [EncodeValue] makes wire
// JSON from Go values, [PlainJSON] makes ordinary JSON from it for those who do
// not know the tags: schemas, approval predicates, MCP servers, Go structs.
package connectors

// Package wire reads and writes wire JSON, the form in which arguments and results cross between programs, connectors
// and the log. It is JSON with two tags for what JSON lacks:
//
//	{"__codemode_binary_v1__":"Uint8Array","data":"<base64>"}
//	{"__codemode_bigint_v1__":"123"}
//
// A nil json.RawMessage is JavaScript's undefined. [Encode] makes wire JSON from Go values, [Plain] makes ordinary JSON
// from it for those who do not know the tags: schemas, approval predicates, MCP servers, Go structs.
//
// Its rule: no integer loses a digit, and nothing but the tags changes a byte.
package wire

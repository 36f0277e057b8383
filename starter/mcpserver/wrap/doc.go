// Package wrap puts one source of tools behind programs: an MCP server behind a single tool that runs code, and an
// OpenAPI document behind two, one to look at it and one to call it.
//
// Its one rule: nothing lasts. Programs run in the sandbox, without Temporal, approvals or a log; what needs those goes
// through a runtime.
package wrap

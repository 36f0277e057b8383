// Package mcpserver is the door for models: it offers the executions of a runtime as an MCP server.
//
// There are three surfaces. "codemode" is one tool that runs a program. "utcp" offers the tools of UTCP's code mode
// bridge, so that its clients, RLM among them, work as they are. "direct" offers every method of the connectors as a
// tool of its own, for small catalogues; each use is an execution of one call, with the same policies, approvals and
// log.
//
// The server holds no state: executions live in Temporal, go on when a client goes away, and are found again by their
// id. Its one rule: no tool decides. Where a call needs approval, the person at a client that can ask people is asked
// by elicitation, which models do not see; anywhere else the answer says what is pending and how a person decides.
package mcpserver

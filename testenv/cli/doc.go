// Package cli holds the end-to-end tests of the commands: worker and starter as processes, against a real server and
// a real MCP server.
package cli

package mcpserver

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/signals"
)

// stateless is the revision of MCP from which on servers ask by results, and requests carry what handshakes said.
const stateless = "2026-07-28"

// client is what a request says of the client that sent it.
type client struct {
	name   string
	modern bool // it takes questions as results, and repeats its request with the answers
	form   bool // it shows people forms
	url    bool // it opens addresses for people
}

// described is a request of any method.
type described interface {
	ProtocolVersion() string
	ClientInfo() *mcp.Implementation
	ClientCapabilities() *mcp.ClientCapabilities
}

// maxClientName bounds what a client calls itself in records.
const maxClientName = 64

func clientOf(r described) client {
	c := client{modern: r.ProtocolVersion() >= stateless}
	if info := r.ClientInfo(); info != nil {
		c.name = signals.Cut(signals.Visible(info.Name), maxClientName)
	}
	if can := r.ClientCapabilities(); can != nil && can.Elicitation != nil {
		c.url = can.Elicitation.URL != nil
		c.form = can.Elicitation.Form != nil || !c.url // before there were two, it was always a form
	}
	return c
}

package mcpserver

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// said is an answer of text alone.
func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// failed is an answer that a model can correct itself by.
func failed(format string, args ...any) *mcp.CallToolResult {
	r := said(fmt.Sprintf(format, args...))
	r.IsError = true
	return r
}

// structured is a value for programs, with the text that models read.
func structured(value any, text string) *mcp.CallToolResult {
	r := said(text)
	r.StructuredContent = value
	return r
}

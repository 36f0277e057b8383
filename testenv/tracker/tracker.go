// Package tracker is the issue tracker of the demo: an MCP server on standard input and output.
//
// Its state is one JSON file, which also lists the effects of all writing calls in order, so that tests and the demo
// can count what really happened, also after a process was killed. Several processes may serve the same file.
package tracker

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const instructions = `Issue tracker of the demo. Issues are addressed by their number, "id". ` +
	`list_issues and get_issue hold no comments, list_comments has them. ` +
	`create_issue has no protection against duplicates: look before you create.`

// Serve answers MCP requests on standard input and output until the input ends or ctx is done. A missing state file is
// created with a few issues to work on.
func Serve(ctx context.Context, statePath string) error {
	s, err := newServer(statePath)
	if err != nil {
		return err
	}
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(os.Stderr, "tracker: ", 0))
	if err := stdio.Listen(ctx, os.Stdin, os.Stdout); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the tracker on standard input and output: %w", err)
	}
	return nil
}

func newServer(statePath string) (*server.MCPServer, error) {
	if err := update(statePath, func(*State) error { return nil }); err != nil {
		return nil, err
	}
	s := server.NewMCPServer("tracker", "1.0.0",
		server.WithToolCapabilities(false),
		server.WithInstructions(instructions),
		server.WithInputSchemaValidation(),
		server.WithOutputSchemaValidation(),
	)
	for _, t := range tools {
		s.AddTool(t.describe(), t.handler(statePath))
	}
	return s, nil
}

func (t tool) handler(statePath string) server.ToolHandlerFunc {
	return func(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := rawArguments(request)
		if err != nil {
			return nil, err
		}
		result, err := t.call(statePath, idempotencyKey(request), args)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultStructuredOnly(result), nil
	}
}

func (t tool) call(statePath, key string, args json.RawMessage) (result any, err error) {
	if t.reads() {
		state, err := Load(statePath)
		if err != nil {
			return nil, err
		}
		return t.run(&state, args)
	}
	err = update(statePath, func(state *State) error {
		if result, err = t.run(state, args); err != nil {
			return err
		}
		state.Effects = append(state.Effects, Effect{Key: key, Tool: t.name, Args: args})
		return nil
	})
	return result, err
}

func rawArguments(request mcp.CallToolRequest) (json.RawMessage, error) {
	raw := request.GetRawArguments()
	if raw == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(raw)
}

// idempotencyKey reads the key that a client sent in _meta, whether it put a vendor prefix before the name or not.
func idempotencyKey(request mcp.CallToolRequest) string {
	if request.Params.Meta == nil {
		return ""
	}
	for name, value := range request.Params.Meta.AdditionalFields {
		if key, ok := value.(string); ok && strings.HasSuffix("/"+name, "/idempotencyKey") {
			return key
		}
	}
	return ""
}

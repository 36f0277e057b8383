package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// inputSchema has no required member, since either is enough; runProgram says so to who gives neither or both.
const inputSchema = `{"type":"object","properties":{` +
	`"code":{"type":"string","description":"JavaScript or TypeScript: an async function, or statements whose last expression is the result"},` +
	`"executionId":{"type":"string","description":"Instead of code: the id of an earlier execution, to get its outcome"}},` +
	`"additionalProperties":false}`

const laterText = "\n\n## Outcomes\n\nThe answer names the execution. While its status is running or paused, call " +
	"this tool " +
	"again with {\"executionId\"} instead of code, never with the same code: that would do everything twice."

func codemodeTool() *mcp.Tool {
	yes := true
	return &mcp.Tool{Name: signals.ToolName, Description: "Runs a program that calls tools." + laterText,
		InputSchema: json.RawMessage(inputSchema),
		Annotations: &mcp.ToolAnnotations{Title: "Code Mode", DestructiveHint: &yes, OpenWorldHint: &yes}}
}

// describing gives the tool the text of the runtime's present connectors, if a worker can tell.
func (d *door) describing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			d.describe(ctx, list)
		}
		return result, err
	}
}

func (d *door) describe(ctx context.Context, list *mcp.ListToolsResult) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tool, err := d.Runtime.Tool(ctx, d.Tool)
	if err != nil {
		return // a call will say why nothing works
	}
	for i, t := range list.Tools {
		described := *t
		described.Description = tool.Description + laterText
		list.Tools[i] = &described
	}
}

func (d *door) runProgram(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Code        *string `json:"code"`
		ExecutionID string  `json:"executionId"`
	}
	if err := json.Unmarshal(arguments(request), &in); err != nil || (in.Code == nil) == (in.ExecutionID == "") {
		return failed("Give either code, a string with the program, or executionId, the id of an execution whose " +
			"outcome you want."), nil
	}
	s := d.session(ctx, request)
	if in.Code == nil {
		return s.look(ctx, in.ExecutionID, d.answer)
	}
	return s.run(ctx, *in.Code, codemode.ExecuteOptions{}, d.answer)
}

// arguments are a request's as they were sent.
func arguments(request *mcp.CallToolRequest) json.RawMessage {
	if args := request.Params.Arguments; len(args) > 0 && string(args) != "null" {
		return args
	}
	return json.RawMessage("{}")
}

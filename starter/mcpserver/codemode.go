package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/tool"
	"github.com/temporal-codemode/codemode/signals"
)

// inputSchema has no required member, since either is enough; runProgram says so to who gives neither or both.
const inputSchema = `{"type":"object","properties":{` +
	`"code":{"type":"string","description":"JavaScript or TypeScript: an async function, or statements whose last expression is the result"},` +
	`"executionId":{"type":"string","description":"Instead of code: the id of an earlier execution, to get its outcome"}` +
	`%s},"additionalProperties":false}`

const laterText = "\n\n## Outcomes\n\nThe answer names the execution. While its status is running or paused, call " +
	"this tool " +
	"again with {\"executionId\"} instead of code, never with the same code: that would do everything twice."

const goOnText = " After an error call it with the corrected code and {\"continues\"}: what is done is not done again."

func (d *door) codemodeTool() *mcp.Tool {
	yes, members := true, ""
	if d.durable() {
		members = "," + tool.Continues
	}
	return &mcp.Tool{Name: signals.ToolName, Description: "Runs a program that calls tools." + d.later(),
		InputSchema: json.RawMessage(fmt.Sprintf(inputSchema, members)),
		Annotations: &mcp.ToolAnnotations{Title: "Code Mode", DestructiveHint: &yes, OpenWorldHint: &yes}}
}

// durable reports whether anything is kept of executions.
func (d *door) durable() bool {
	_, ok := d.Runtime.(Durable)
	return ok
}

// later is what the tool's description says of outcomes.
func (d *door) later() string {
	if d.durable() {
		return laterText + goOnText
	}
	return laterText
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
	described, err := d.Runtime.Tool(ctx, d.Tool)
	if err != nil {
		return // a call will say why nothing works
	}
	for i, t := range list.Tools {
		copied := *t
		copied.Description = described.Description + d.later()
		list.Tools[i] = &copied
	}
}

func (d *door) runProgram(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Code        *string `json:"code"`
		ExecutionID string  `json:"executionId"`
		Continues   string  `json:"continues"`
		Fresh       bool    `json:"fresh"`
	}
	if err := json.Unmarshal(arguments(request), &in); err != nil || (in.Code == nil) == (in.ExecutionID == "") {
		return failed("Give either code, a string with the program, or executionId, the id of an execution whose " +
			"outcome you want."), nil
	}
	s := d.session(ctx, request)
	if in.Code == nil {
		return s.look(ctx, in.ExecutionID, d.answer)
	}
	return s.goOn(ctx, *in.Code, in.Continues, in.Fresh, codemode.ExecuteOptions{}, d.answer)
}

// arguments are a request's as they were sent.
func arguments(request *mcp.CallToolRequest) json.RawMessage {
	if args := request.Params.Arguments; len(args) > 0 && string(args) != "null" {
		return args
	}
	return json.RawMessage("{}")
}

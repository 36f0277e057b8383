package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

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

func (d *door) codemodeTool() mcp.Tool {
	members := ""
	if d.durable() {
		members = "," + tool.Continues
	}
	t := mcp.NewToolWithRawSchema(signals.ToolName, "Runs a program that calls tools."+d.later(),
		json.RawMessage(fmt.Sprintf(inputSchema, members)))
	t.Annotations = mcp.ToolAnnotation{Title: "Code Mode", ReadOnlyHint: mcp.ToBoolPtr(false),
		DestructiveHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(true)}
	return t
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

// describe gives the tool the text of the runtime's present connectors, if a worker can tell.
func (d *door) describe(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	described, err := d.Runtime.Tool(ctx, d.Tool)
	if err != nil {
		return tools // a call will say why nothing works
	}
	list := append([]mcp.Tool(nil), tools...)
	for i := range list {
		list[i].Description = described.Description + d.later()
	}
	return list
}

func (d *door) runProgram(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
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
		return d.answer(s.outcome(ctx, in.ExecutionID)), nil
	}
	return d.answer(s.goOn(ctx, *in.Code, in.Continues, in.Fresh, codemode.ExecuteOptions{})), nil
}

// arguments are a request's as they were sent.
func arguments(request mcp.CallToolRequest) json.RawMessage {
	if len(request.Params.RawArguments) > 0 {
		return request.Params.RawArguments
	}
	text, err := json.Marshal(request.Params.Arguments)
	if err != nil || string(text) == "null" {
		return json.RawMessage("{}")
	}
	return text
}

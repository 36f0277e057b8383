package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/internal/truncate"
	"github.com/temporal-codemode/codemode/signals"
)

// outcomeTool finds executions again on the surface Direct.
const outcomeTool = "codemode_outcome"

// addMethods offers every method as a tool.
func (d *door) addMethods(ctx context.Context) error {
	methods, err := d.Runtime.Methods(ctx)
	if err != nil {
		return fmt.Errorf("list the methods of the runtime: %w", err)
	}
	d.mcp.AddTool(&mcp.Tool{Name: outcomeTool,
		Description: "Gives the outcome of an earlier call that was still running or waited for a person.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"executionId":{"type":"string"}},` +
			`"required":["executionId"],"additionalProperties":false}`)}, d.laterOutcome)
	taken := map[string]bool{outcomeTool: true}
	for _, m := range methods {
		name := toolName(m, taken)
		d.mcp.AddTool(methodTool(name, m),
			func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return d.callMethod(ctx, request, m)
			})
	}
	return nil
}

// maxToolName is what the APIs of models take.
const maxToolName = 64

// toolName is unique, and made of letters, digits and "_" only.
func toolName(m signals.Method, taken map[string]bool) string {
	base := m.Connector + "_" + m.Method
	name := base[:min(len(base), maxToolName)]
	for i := 2; taken[name]; i++ {
		suffix := "_" + strconv.Itoa(i)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	taken[name] = true
	return name
}

func methodTool(name string, m signals.Method) *mcp.Tool {
	description := m.Description
	if m.RequiresApproval {
		description += "\n\nNeeds a person's approval: the call waits for it."
	}
	writes := m.Class != signals.Read
	return &mcp.Tool{Name: name, Description: description, InputSchema: toolSchema(m.InputSchema),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !writes, IdempotentHint: m.Class != signals.Write,
			DestructiveHint: &writes}}
}

// takesObject reports whether a method's argument is an object, as that of every MCP tool is. What a method takes
// instead is handed to its tool as "input".
func takesObject(schema json.RawMessage) bool {
	var s struct {
		Type       json.RawMessage `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	return len(schema) == 0 || json.Unmarshal(schema, &s) == nil &&
		(string(s.Type) == `"object"` || len(s.Type) == 0 && len(s.Properties) > 0)
}

func toolSchema(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	switch {
	case len(schema) == 0:
		return json.RawMessage(`{"type":"object"}`)
	case !takesObject(schema):
		wrapped, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"input": schema},
			"required": []string{"input"}})
		return wrapped
	case json.Unmarshal(schema, &s) == nil && len(s["type"]) == 0:
		s["type"] = json.RawMessage(`"object"`)
		typed, _ := json.Marshal(s)
		return typed
	}
	return schema
}

// callMethod runs a program of one call.
func (d *door) callMethod(ctx context.Context, request *mcp.CallToolRequest, m signals.Method) (*mcp.CallToolResult,
	error) {
	args := arguments(request)
	if !takesObject(m.InputSchema) {
		var wrapped struct {
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(args, &wrapped); err != nil {
			return failed("the arguments are no object"), nil
		}
		args = wrapped.Input
	}
	path := m.Connector + "." + m.Method
	// parsed there: as a literal, the key __proto__ would mean something else
	literal, _ := signals.Marshal(string(args))
	code := fmt.Sprintf("return await %s(JSON.parse(%s))", path, literal)
	return d.session(ctx, request).run(ctx, code, codemode.ExecuteOptions{Purpose: path}, d.plainAnswer)
}

// plainAnswer is what the method gave, or the outcome where it gave nothing.
func (d *door) plainAnswer(out signals.Outcome, err error) *mcp.CallToolResult {
	if err != nil || out.Status != signals.Completed {
		return d.answer(out, err)
	}
	value := ordinary(out.Result)
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	text := truncate.Result(value, truncate.Options{MaxTokens: d.Tokens})
	var plainText string
	if json.Unmarshal(text, &plainText) != nil {
		plainText = string(text)
	}
	return structured(map[string]any{"result": text, "executionId": out.ExecutionID}, plainText)
}

func (d *door) laterOutcome(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		ExecutionID string `json:"executionId"`
	}
	if err := json.Unmarshal(arguments(request), &in); err != nil {
		return failed("give executionId, a string"), nil
	}
	return d.session(ctx, request).look(ctx, in.ExecutionID, d.plainAnswer)
}

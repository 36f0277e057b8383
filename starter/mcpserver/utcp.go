package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors/utcp"
	"github.com/temporal-codemode/codemode/internal/tool"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

// utcpTool is one tool of the bridge. Its arguments are checked against its schema; keys that this does not name are
// dropped, although it says that there must be none, as the bridge does.
type utcpTool struct {
	name, description string
	properties        string
	required          []string
	handle            func(*door, context.Context, *mcp.CallToolRequest, utcpInput) (*mcp.CallToolResult, error)
}

// utcpInput holds the arguments of all tools.
type utcpInput struct {
	TaskDescription string   `json:"task_description"`
	Limit           *float64 `json:"limit"`
	Code            string   `json:"code"`
	Timeout         *float64 `json:"timeout"`
	MaxOutputSize   *float64 `json:"max_output_size"`
	ToolNames       []string `json:"tool_names"`
	ToolName        string   `json:"tool_name"`
	Continues       string   `json:"continues"`
	Fresh           bool     `json:"fresh"`
}

var utcpTools = []utcpTool{
	{"search_tools", "Searches for tools that fit a task and gives their TypeScript interfaces. Use it first, then " +
		"write one program for call_tool_chain.",
		`"task_description":{"type":"string","description":"What is to be done."},
		"limit":{"type":"number","default":10,"description":"How many tools to give; 0 gives all."}`, []string{"task_description"}, (*door).searchTools},
	{"call_tool_chain", "Runs TypeScript or JavaScript that calls tools as <manual>.<tool>(args). It is the body " +
		"of an async function: return gives the result. " +
		"Calls give their results at once; await and Promise.all work, too. console.log goes into the logs.",
		`"code":{"type":"string","description":"The program."},
		"timeout":{"type":"number","default":30000,"description":"Milliseconds that the program may take."},
		"max_output_size":{"type":"number","default":200000,"description":"Characters that the result may take; more is cut."},
		` + tool.Continues, []string{"code"}, (*door).callToolChain},
	{"list_tools", "Lists the names of all tools.", ``, nil, (*door).listTools},
	{"tools_info", "Gives the TypeScript interfaces of tools by name.",
		`"tool_names":{"type":"array","items":{"type":"string"},"description":"Names as search_tools and list_tools give them."}`, []string{"tool_names"}, (*door).toolsInfo},
	{"get_required_keys_for_tool", "Says which variables a tool needs.",
		`"tool_name":{"type":"string","description":"The tool's name."}`, []string{"tool_name"}, (*door).requiredKeys},
}

func (t utcpTool) schema(additional string) json.RawMessage {
	required, _ := json.Marshal(append([]string{}, t.required...))
	return json.RawMessage(`{"type":"object","properties":{` + t.properties + `},"required":` +
		string(required) + additional + `}`)
}

func (d *door) addUTCP() {
	for _, t := range utcpTools {
		described := &mcp.Tool{Name: t.name, Description: t.description,
			InputSchema: t.schema(`,"additionalProperties":false`)}
		checked := t.schema("")
		d.mcp.AddTool(described, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			given := arguments(request)
			if problems := validate.Value(checked, given); problems != "" {
				return failed("MCP error -32602: Invalid arguments for tool %s: %s", t.name, problems), nil
			}
			var in utcpInput
			if err := json.Unmarshal(given, &in); err != nil {
				return failed("MCP error -32602: Invalid arguments for tool %s: %s", t.name, err), nil
			}
			return t.handle(d, ctx, request, in)
		})
	}
	d.mcp.AddPrompt(&mcp.Prompt{Name: "utcp_codemode_usage", Description: usageTitle}, usagePrompt)
}

const usageTitle = "How to use these tools."

func usagePrompt(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text := "Find tools with search_tools, then write one program for call_tool_chain that does the whole task: " +
		"call tools as <manual>.<tool>(args), use loops and variables for what lies between, and return what " +
		"matters, and only that."
	return &mcp.GetPromptResult{Description: usageTitle,
		Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
}

func (d *door) searchTools(ctx context.Context, _ *mcp.CallToolRequest, in utcpInput) (*mcp.CallToolResult,
	error) {
	q := signals.CatalogueInput{Kind: signals.CatalogueUTCPSearch, Query: in.TaskDescription, Budget: d.AnswerChars}
	if in.Limit != nil {
		most := max(0, int(min(*in.Limit, 1e6)))
		q.Most = &most
	}
	answer, err := d.Runtime.Ask(ctx, q)
	if err != nil {
		text, _ := signals.Marshal(map[string]string{"error": err.Error()})
		return failed("%s", text), nil
	}
	return said(string(answer)), nil
}

func (d *door) listTools(ctx context.Context, _ *mcp.CallToolRequest, _ utcpInput) (*mcp.CallToolResult,
	error) {
	answer, err := d.Runtime.Ask(ctx, signals.CatalogueInput{Kind: signals.CatalogueUTCPList})
	if err != nil {
		return failed("%s", err), nil
	}
	return said(string(answer)), nil
}

func (d *door) toolsInfo(ctx context.Context, _ *mcp.CallToolRequest, in utcpInput) (*mcp.CallToolResult,
	error) {
	answer, err := d.Runtime.Ask(ctx,
		signals.CatalogueInput{Kind: signals.CatalogueUTCPInfo, Names: in.ToolNames, Budget: d.AnswerChars})
	var info utcp.InfoOutput
	if err == nil {
		err = json.Unmarshal(answer, &info)
	}
	switch {
	case err != nil:
		return failed("%s", err), nil
	case info.Found == 0 && len(in.ToolNames) > 0:
		return failed("%s", info.Text), nil
	}
	return said(info.Text), nil
}

func (d *door) requiredKeys(ctx context.Context, _ *mcp.CallToolRequest, in utcpInput) (*mcp.CallToolResult,
	error) {
	answer, err := d.Runtime.Ask(ctx, signals.CatalogueInput{Kind: signals.CatalogueUTCPKeys, Target: in.ToolName})
	var keys utcp.KeysOutput
	if err == nil {
		err = json.Unmarshal(answer, &keys)
	}
	switch {
	case err != nil:
		text, _ := signals.Marshal(map[string]string{"tool_name": in.ToolName, "error": err.Error()})
		return failed("%s", text), nil
	case !keys.Success:
		return failed("%s", keys.Error), nil
	}
	return said(string(answer)), nil
}

// The bridge's defaults.
const (
	chainTimeout = 30 * time.Second
	chainOutput  = 200_000
)

func (d *door) callToolChain(ctx context.Context, request *mcp.CallToolRequest, in utcpInput) (*mcp.CallToolResult,
	error) {
	asked := chainTimeout
	if in.Timeout != nil {
		asked = time.Duration(max(1, min(*in.Timeout, 1e9))) * time.Millisecond
	}
	limit := chainOutput
	if in.MaxOutputSize != nil {
		limit = int(max(0, min(*in.MaxOutputSize, 1e9)))
	}
	timeout := min(asked, d.CallLimit)
	timed, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer := chain{limit: limit, chars: d.AnswerChars}
	return d.session(ctx, request).goOn(timed, utcp.Unguard(in.Code), in.Continues, in.Fresh,
		codemode.ExecuteOptions{Synchronous: true},
		func(out signals.Outcome, err error) *mcp.CallToolResult {
			if ctx.Err() == nil && overdue(timed) && (err != nil || !settled(out)) {
				logs := d.abandon(ctx, out)
				return answer.failure("Script execution timeout after "+milliseconds(timeout), logs)
			}
			return d.chainAnswer(answer, out, err)
		})
}

func (d *door) chainAnswer(answer chain, out signals.Outcome, err error) *mcp.CallToolResult {
	switch {
	case err != nil:
		return answer.failure(err.Error(), nil)
	case out.Status == signals.Completed:
		return answer.success(out)
	case out.Status == signals.Paused:
		return answer.failure(d.pausedChain(out), out.Logs)
	case out.Status == signals.Running:
		return answer.failure("Execution "+out.ExecutionID+" is still running.", out.Logs)
	}
	return answer.failure(failureText(out), out.Logs)
}

// failureText is an error with its place in the program, and how to go on.
func failureText(out signals.Outcome) string {
	parts := []string{cause(out.Error), out.Excerpt, out.HowToGoOn()}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
}

func settled(out signals.Outcome) bool { return out.Status.Terminal() || out.Status == signals.Paused }

// abandonWithin is how long an answer may take beyond the time of its program.
const abandonWithin = time.Second

// abandon stops a program whose time is up: none of its later calls is made. It does not wait for those that run, and
// gives what the program has printed, as far as that is known.
func (d *door) abandon(ctx context.Context, out signals.Outcome) []string {
	durable, ok := d.Runtime.(Durable)
	if !ok || out.ExecutionID == "" {
		return out.Logs
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	// An execution that cannot be reached now ends by its own limits.
	_, _ = durable.Cancel(ctx, out.ExecutionID, signals.Cancellation{})
	if at, err := durable.Standing(ctx, out.ExecutionID); err == nil && len(at.Logs) > 0 {
		return at.Logs
	}
	return out.Logs
}

func (d *door) pausedChain(out signals.Outcome) string {
	p := out.Pending[0]
	return "Execution " + out.ExecutionID + " waits for a person to approve " + p.Connector + "." + p.Method +
		", " + d.HowToDecide(out.ExecutionID) +
		". It goes on by itself after that; do not run the program again."
}

// cause is the message of a failed program alone.
func cause(text string) string {
	text, _, _ = strings.Cut(text, "\n\nConsole output:")
	if text = strings.TrimPrefix(text, "Code execution failed: "); text == "" {
		return "The program failed without a message."
	}
	return text
}

package wrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/version"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/local"
)

// Options of a wrapper. The zero value runs programs in hardened child processes.
type Options struct {
	// Executor runs the programs; nil runs each in a hardened child process, for which main begins with
	// child.Main().
	Executor sandbox.Executor
	// Sandbox configures these children.
	Sandbox child.Options
	// Modules are what programs may import.
	Modules map[string]string
	// Rules change the methods of a connector. What always needs a person is left out. OpenAPI documents take none:
	// programs send requests there, which no rule for an operation would meet.
	Rules []connectors.Rule
	// Timeout bounds a program; 0 is 60 s.
	Timeout time.Duration
	// Description replaces that of the tool code, where the first {{types}} and the first {{example}} are filled in; of
	// an OpenAPI document it is added to that of the tool execute.
	Description string
}

func (o Options) withDefaults() (Options, error) {
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	var err error
	if o.Executor == nil {
		o.Executor, err = child.New(o.Sandbox)
	}
	return o, err
}

// namespace is the only global of wrapped programs.
const namespace = "codemode"

// host makes the calls of a program, which knows the connector as codemode.
type host struct {
	local.Calls
	connector string
	offered   []string // nil: all methods
}

// Admit looks a call up and checks its arguments.
func (h host) Admit(c sandbox.Call) sandbox.Admission {
	if h.offered != nil && !slices.Contains(h.offered, c.Method) {
		return sandbox.Refuse(errors.New(signals.ToolNotFound(c.Method, namespace)))
	}
	_, err := h.Connectors.Lookup(h.connector, c.Method)
	var missing *connectors.NotFoundError
	if errors.As(err, &missing) { // programs know it by another name
		renamed := *missing
		renamed.Connector = namespace
		return sandbox.Refuse(&renamed)
	}
	c.Connector = h.connector
	admission := h.Calls.Admit(c)
	if refused := admission.Refused; refused != nil {
		refused.Message = strings.ReplaceAll(refused.Message, h.connector+".", namespace+".")
	}
	return admission
}

// Call makes a call.
func (h host) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	c.Connector = h.connector
	return h.Calls.Call(ctx, c)
}

// resultUnits is how long an answer may get, in UTF-16 units.
const resultUnits = 24_000

// run runs a program to its end.
func (o Options) run(ctx context.Context, code string, h host) *mcp.CallToolResult {
	h.ExecutionID = signals.NewExecutionID(time.Now())
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	now := time.Now()
	passes := local.Passes{Executor: o.Executor, Host: h, Ends: now.Add(o.Timeout)}
	passes.Pass = sandbox.Pass{Code: code, Seed: now.String(), Start: now.UnixMilli(), Connectors: []string{namespace},
		Modules: o.Modules}
	passes.Pass.Limits = sandbox.Limits{ValueUnits: documentBytes, ValueBytes: documentBytes, ResultBytes: resultBytes}
	r, err := passes.Run(ctx)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed(signals.ErrTimedOut.Error())
	case err != nil:
		return failed(err.Error())
	case r.End == sandbox.Failed:
		return failed(r.Failure.Message)
	}
	return answer(r.Value)
}

// Bounds of single values: a document goes into the sandbox whole, what comes out of it is small.
const (
	documentBytes = 64 << 20
	resultBytes   = 4 << 20
)

func failed(message string) *mcp.CallToolResult {
	r := said("Error: " + message)
	r.IsError = true
	return r
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// answer writes a program's value: texts as they are, all else as JSON that is cut to fit and indented where that fits.
func answer(value json.RawMessage) *mcp.CallToolResult {
	if len(value) == 0 {
		return said("undefined")
	}
	value = codemode.TruncateResult(value, codemode.TruncateOptions{MaxChars: resultUnits})
	var text string
	if json.Unmarshal(value, &text) == nil && string(value) != "null" {
		return said(text)
	}
	var indented bytes.Buffer
	if json.Indent(&indented, value, "", "  ") == nil && indented.Len() <= resultUnits {
		return said(indented.String())
	}
	return said(string(value))
}

// code reads the one argument of every tool here.
func code(request *mcp.CallToolRequest) (string, error) {
	var in struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(request.Params.Arguments, &in); err != nil || strings.TrimSpace(in.Code) == "" {
		return "", signals.ErrNoCode
	}
	return in.Code, nil
}

const inputSchema = `{"type":"object","properties":{"code":{"type":"string","description":"%s"}},"required":["code"],"additionalProperties":false}`

func codeTool(name, description, of string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description,
		InputSchema: json.RawMessage(fmt.Sprintf(inputSchema, of))}
}

func newServer(name string) *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: name, Version: version.Number},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
}

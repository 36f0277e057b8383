package wrap

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/openapi"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/starter/local"
)

const (
	searchText = "Look at an OpenAPI document with a program: `codemode.spec()` gives the whole document with its " +
		"references resolved " +
		"(cycles are {$circular}). Return only what you need, for example " +
		"`async () => Object.entries((await codemode.spec()).paths).filter(([p]) => p.includes(\"user\")).map(([p, " +
		"o]) => [p, Object.keys(o)])`."
	executeText = "Call the API with a program: `codemode.request({ method, path, query?, body?, headers?, " +
		"contentType? })` gives the response's body, " +
		"`codemode.spec()` the document. Find paths and parameters with search first. For example " +
		"`async () => { const r = await codemode.request({ method: \"GET\", path: \"/users\", query: { limit: 5 } " +
		"}); return r; }`."
)

// OpenAPI makes a server with two tools: search runs programs that look at the document, execute those that send
// requests below its base URL, with headers and credentials that programs never see. Close the connection when the
// server is no longer used.
func OpenAPI(ctx context.Context, source openapi.Options, o Options) (s *mcp.Server, closing func() error,
	err error) {
	if len(o.Rules) > 0 {
		return nil, nil, errors.New("an OpenAPI document is wrapped by the requests that programs send, which its " +
			"rules would not meet: offer it without wrapping")
	}
	source.RawRequest, source.ExposeSpec = true, true
	set, err := connectors.NewSet(ctx, []connectors.Connector{openapi.New(upstream, source)}, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := set.Err(upstream); err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	description := executeText
	if o.Description != "" {
		description += "\n\n" + o.Description
	}
	s = newServer("openapi")
	s.AddTool(codeTool("search", searchText, "an async arrow function that looks at the document"), o.tool(set, "spec"))
	s.AddTool(codeTool("execute", description, "an async arrow function that calls the API"),
		o.tool(set, "spec", "request"))
	return s, set.Close, nil
}

// facade gives programs their codemode object: references are resolved in the sandbox, where they are looked at.
//
//go:embed facade.js
var facade string

func (o Options) tool(set *connectors.Set, offered ...string) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := code(request)
		if err != nil {
			return failed(err.Error()), nil
		}
		names, _ := json.Marshal(offered)
		program := fmt.Sprintf("return (%s)(codemode, %s, (codemode) => (%s\n))", strings.TrimSpace(facade),
			names, compile.NormalizeCode(text))
		calls := host{Calls: local.Calls{Connectors: set}, connector: upstream, offered: offered}
		return o.run(ctx, program, calls), nil
	}
}

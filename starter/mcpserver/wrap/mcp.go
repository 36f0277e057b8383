package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/starter/local"
)

const codeText = `Run JavaScript or TypeScript that calls tools. Write an async arrow function; what it returns is the result.

Tools are methods of the global codemode:

` + "```ts\n{{types}}\n```" + `

Example: ` + "`{{example}}`"

// upstream is what the wrapped server is called inside; programs know it as codemode.
const upstream = "upstream"

// MCP makes a server with the single tool code, which runs a program that calls the tools of an MCP server as
// codemode.<tool>. They are listed once. Close the connection when the server is no longer used.
func MCP(ctx context.Context, source mcpconnector.Options, o Options) (s *mcp.Server, closing func() error,
	err error) {
	return Connector(ctx, mcpconnector.New(upstream, source), o)
}

// Connector wraps any connector; its name must be a JavaScript identifier.
func Connector(ctx context.Context, c connectors.Connector, o Options) (s *mcp.Server, closing func() error,
	err error) {
	whole, err := connectors.NewSet(ctx, []connectors.Connector{c}, map[string][]connectors.Rule{c.Name(): o.Rules})
	if err != nil {
		return nil, nil, err
	}
	if err := whole.Err(c.Name()); err != nil {
		return nil, nil, errors.Join(err, whole.Close())
	}
	set, err := local.Unattended(ctx, whole)
	if err != nil {
		return nil, nil, errors.Join(err, whole.Close())
	}
	if o, err = o.withDefaults(); err != nil {
		return nil, nil, errors.Join(err, whole.Close())
	}
	s = newServer("codemode")
	s.AddTool(codeTool("code", describe(set, c.Name(), o.Description), "an async arrow function that calls tools"),
		func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := code(request)
			if err != nil {
				return failed(err.Error()), nil
			}
			return o.run(ctx, text, host{Calls: local.Calls{Connectors: set}, connector: c.Name()}), nil
		})
	return s, whole.Close, nil
}

func describe(set *connectors.Set, connector, custom string) string {
	if custom == "" {
		custom = codeText
	}
	types := strings.Replace(catalogue.GenerateTypes(set, connector), "declare const "+connector+":",
		"declare const "+namespace+":", 1)
	for mark, text := range map[string]string{"{{types}}": types, "{{example}}": example(set.Methods(connector))} {
		before, after, found := strings.Cut(custom, mark)
		if found {
			custom = before + text + after
		}
	}
	return custom
}

// example calls the first tool with made up arguments.
func example(methods []*connectors.Bound) string {
	if len(methods) == 0 {
		return "async () => {}"
	}
	var schema struct {
		Properties members `json:"properties"`
	}
	_ = json.Unmarshal(methods[0].InputSchema, &schema)
	var args []string
	for _, p := range schema.Properties {
		value := `"..."`
		switch p.kind {
		case "number", "integer":
			value = "0"
		case "boolean":
			value = "true"
		}
		key := p.name
		if !identifier.MatchString(key) {
			text, _ := json.Marshal(key)
			key = string(text)
		}
		args = append(args, key+": "+value)
	}
	return fmt.Sprintf("async () => { const r = await %s.%s({ %s }); return r; }", namespace, methods[0].Method.Name,
		strings.Join(args, ", "))
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// members are properties in the order in which they were written.
type members []member

type member struct{ name, kind string }

// UnmarshalJSON reads the names and plain types of an object's members.
func (m *members) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		var s struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(raw, &s) // a list of types has no plain one
		key, _ := name.(string)
		*m = append(*m, member{key, s.Type})
	}
	return nil
}

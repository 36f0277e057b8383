package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

// Both connectors have the same methods: shop in Go, in the worker itself; depot as an MCP server in a process of its
// own.
var classes = map[string]connectors.Class{
	"read": connectors.Read, "put": connectors.Idempotent, "write": connectors.Write, "ask": connectors.Write,
}

func truth() ledger.Client { return ledger.Client{Address: os.Getenv(ledgerVar)} }

// shopConnector is the connector in Go.
func shopConnector() connectors.Connector {
	var methods []connectors.Method
	for _, name := range []string{"read", "put", "write", "ask"} {
		class := classes[name]
		m := connectors.Method{Name: name, Description: "Writes to the ledger.", Class: class,
			RequiresApproval: name == "ask"}
		m.Execute = func(c connectors.Context, args json.RawMessage) (any, error) {
			return callLedger(c,
				ledger.Entry{Execution: c.ExecutionID, Key: c.IdempotencyKey, Method: "shop." + name,
					Class: string(class), Args: args})
		}
		if class == connectors.Write {
			m.Revert = func(c connectors.Context, args, _ json.RawMessage) error {
				_, err := callLedger(c, ledger.Entry{
					Execution: c.ExecutionID, Key: c.IdempotencyKey, Method: "shop.undo",
					Class: string(connectors.Idempotent), Args: undoing(args),
				})
				return err
			}
		}
		methods = append(methods, m)
	}
	return connectors.New("shop", "Methods of the chaos programs.", methods...)
}

// undoing makes the arguments that undo a call: those of the call, without its wishes to fail.
func undoing(args json.RawMessage) json.RawMessage {
	var a ledger.Args
	_ = json.Unmarshal(args, &a)
	text, _ := json.Marshal(ledger.Args{Tag: a.Tag})
	return text
}

// callLedger is one call. Unless the ledger answered, nobody knows whether it happened.
func callLedger(ctx context.Context, e ledger.Entry) (any, error) {
	done, err := truth().Call(ctx, e)
	switch {
	case err != nil:
		return nil, &connectors.OutcomeUnknownError{Err: err}
	case done.Refusal == ledger.TryAgain:
		return nil, &connectors.RetryableError{Message: ledger.TryAgain, RetryAfter: 20 * time.Millisecond}
	case done.Refusal != "":
		return nil, fmt.Errorf("%s", done.Refusal)
	}
	return done.Result, nil
}

// depotConnector starts this binary again as an MCP server.
func depotConnector() (connectors.Connector, error) {
	self, err := os.Executable()
	return mcpconnector.New("depot", mcpconnector.Options{
		Command: self, Env: map[string]string{roleVariable: roleDepot, ledgerVar: os.Getenv(ledgerVar)},
	}), err
}

var (
	yes      = true
	undoRule = &connectors.RevertRule{Method: "undo",
		Args: func(args, _ json.RawMessage) (json.RawMessage, error) { return undoing(args), nil }}
	depotRules = []connectors.Rule{
		{Pattern: "ask", RequiresApproval: &yes, Revert: undoRule},
		{Pattern: "write", Revert: undoRule},
		{Pattern: "undo", Hidden: true, Class: connectors.Idempotent},
	}
)

// serveDepot is the MCP server, until its input ends.
func serveDepot(ctx context.Context) error {
	s := server.NewMCPServer("depot", "1.0.0", server.WithToolCapabilities(false))
	for _, name := range []string{"read", "put", "write", "ask", "undo"} {
		tool := mcp.NewToolWithRawSchema(name, "Writes to the ledger.",
			json.RawMessage(`{"type":"object","properties":{"tag":{"type":"string"}},"required":["tag"]}`))
		readOnly, idempotent := name == "read", name == "put"
		tool.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &readOnly, IdempotentHint: &idempotent}
		s.AddTool(tool, depotHandler(name))
	}
	stdio := server.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(os.Stderr, "depot: ", 0))
	return stdio.Listen(ctx, os.Stdin, os.Stdout)
}

func depotHandler(name string) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := json.Marshal(request.GetRawArguments())
		if err != nil {
			return nil, err
		}
		class := classes[name]
		if name == "undo" {
			class = connectors.Idempotent
		}
		done, err := truth().Call(ctx, ledger.Entry{
			Execution: meta(request, "executionId"), Key: meta(request, "idempotencyKey"),
			Method: "depot." + name, Class: string(class), Args: args,
		})
		if err != nil {
			return nil, err
		}
		if done.Refusal != "" {
			return mcp.NewToolResultError(done.Refusal), nil
		}
		return mcp.NewToolResultStructuredOnly(done.Result), nil
	}
}

// meta is what the connector says of a call beside its arguments.
func meta(request mcp.CallToolRequest, name string) string {
	if request.Params.Meta == nil {
		return ""
	}
	for key, value := range request.Params.Meta.AdditionalFields {
		if text, ok := value.(string); ok && strings.HasSuffix(key, "/"+name) {
			return text
		}
	}
	return ""
}

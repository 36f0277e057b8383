package codemode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/internal/ask"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// SearchOptions narrow a search. The zero value searches everything and gives up to 50 results.
type SearchOptions struct {
	// Connector, when set, is the only one searched; "snippet" stands for the snippets.
	Connector string
	// Limit is the number of results wanted, at most 50; 0 is 50.
	Limit int
}

// Search finds methods and snippets by a few words or a name: the JSON that codemode.search gives a program. A worker
// of the runtime answers.
func (c *Client) Search(ctx context.Context, query string, o SearchOptions) (json.RawMessage, error) {
	return c.ask(ctx, signals.CatalogueInput{Kind: signals.CatalogueSearch, Query: query, Connector: o.Connector,
		Limit: o.Limit})
}

// Describe explains a connector, a method, a type or a snippet: the JSON that codemode.describe gives a program.
func (c *Client) Describe(ctx context.Context, target string) (json.RawMessage, error) {
	return c.ask(ctx, signals.CatalogueInput{Kind: signals.CatalogueDescribe, Target: target})
}

// Method tells about one method of a connector, such as the schema of its arguments.
func (c *Client) Method(ctx context.Context, connector, method string) (*signals.Method, error) {
	return ask.Catalogue(c.Ask).Method(ctx, connector, method)
}

// Methods lists all methods of the runtime's connectors.
func (c *Client) Methods(ctx context.Context) ([]signals.Method, error) {
	return ask.Catalogue(c.Ask).Methods(ctx)
}

// Check looks at a program without running it: what it would fail of, and what it is about to do. A worker of the
// runtime answers.
func (c *Client) Check(ctx context.Context, code string) (signals.Checked, error) {
	var checked signals.Checked
	if message := signals.CheckSize("The execution code", code); message != "" {
		return signals.Checked{Error: message}, nil
	}
	answer, err := c.ask(ctx, signals.CatalogueInput{Kind: signals.CatalogueCheck, Code: code})
	if err != nil {
		return checked, err
	}
	return checked, json.Unmarshal(answer, &checked)
}

// Ask puts a question to the catalogue of a worker and gives the answer's JSON: the one way behind Search, Describe,
// Method and Tool, for questions that have no method of their own.
func (c *Client) Ask(ctx context.Context, question signals.CatalogueInput) (json.RawMessage, error) {
	return c.ask(ctx, question)
}

// ToolOptions change what a model is told. The zero value tells it what the worker's configuration says.
type ToolOptions struct {
	// Description replaces the whole text.
	Description string
	// Hints say in a few words what connectors are for, by name.
	Hints map[string]string
}

// Tool is what a model is offered: one tool whose input {code} goes to Execute.
func (c *Client) Tool(ctx context.Context, o ToolOptions) (signals.Tool, error) {
	return ask.Catalogue(c.Ask).Tool(ctx, o.Description, o.Hints)
}

// askWithin bounds a question to the catalogue, the first of a large one included.
const askWithin = time.Minute

func (c *Client) ask(ctx context.Context, in signals.CatalogueInput) (json.RawMessage, error) {
	guarded, stop := c.guard(ctx, "")
	defer stop()
	in.Runtime = c.runtime
	var answer json.RawMessage
	err := c.askActivity(guarded, in, &answer)
	if rpcerr.Unimplemented(err) {
		err = c.askWorkflow(guarded, in, &answer)
	}
	return answer, guardError(guarded, err)
}

func (c *Client) askActivity(ctx context.Context, in signals.CatalogueInput, answer *json.RawMessage) error {
	handle, err := c.temporal.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: c.catalogueID(), TaskQueue: signals.TaskQueue(c.runtime), ScheduleToCloseTimeout: askWithin,
		Summary: in.Kind,
	}, signals.CatalogueActivity, payload.MustRaw(in))
	if err != nil {
		return err
	}
	return handle.Get(ctx, answer)
}

func (c *Client) askWorkflow(ctx context.Context, in signals.CatalogueInput, answer *json.RawMessage) error {
	run, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: c.catalogueID(), TaskQueue: signals.TaskQueue(c.runtime), WorkflowExecutionTimeout: askWithin,
		StaticSummary: in.Kind,
	}, signals.CatalogueWorkflow, payload.MustRaw(in))
	if err != nil {
		return err
	}
	return run.Get(ctx, answer)
}

func (c *Client) catalogueID() string { return "codemode/" + c.runtime + "/catalogue/" + rand.Text() }

// Package temporal makes a connector of a team's own activities and workflows. It only names them: the execution
// schedules an activity or a child workflow of that type on the team's task queue, as the team's own workflows do.
//
// Arguments travel as plain JSON, in the first argument. Workers may be written with any SDK.
package temporal

import (
	"context"
	"encoding/json"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// Options name what a connector offers.
type Options struct {
	// TaskQueue is that of the team's workers. Required.
	TaskQueue string
	// Instructions tell the model when and how to use the connector.
	Instructions string
	Activities   []Activity
	Workflows    []Workflow
}

// Tool is what activities and workflows have in common.
type Tool struct {
	// Type is the registered name. Programs call it by that name, as far as JavaScript can say it. Required.
	Type        string
	Description string
	// Input and Output are JSON Schemas, such as connectors.SchemaFor makes of a Go type. Empty takes any argument.
	Input, Output json.RawMessage
	// Class is connectors.Write when empty. A write is attempted once, and more often only where Retry says so: then it
	// is repeated after it failed, never after a timeout.
	Class connectors.Class
	// Timeout bounds one attempt of an activity, 10 minutes when zero; and a whole workflow, which has none when zero.
	Timeout time.Duration
	// Retry becomes the retry policy of an activity.
	Retry connectors.RetryLimits
	// KeyArgument gives the idempotency key of the call as the second argument, a string.
	KeyArgument bool
}

// Activity is one of the team's own.
type Activity struct {
	Tool
	// Heartbeat is the heartbeat timeout, by which an activity learns that it is cancelled. Zero: it sends none.
	Heartbeat time.Duration
}

// Workflow is one of the team's own.
type Workflow struct {
	Tool
	// ID makes the workflow id of the arguments, given as wire JSON. Nil, or an empty id: the idempotency key.
	ID func(args json.RawMessage) (string, error)
	// NoWait ends the call once the workflow has started. Its result is {workflowId, runId} then, and it goes on when
	// the execution ends.
	NoWait bool
}

// New makes a connector. It starts nothing.
func New(name string, o Options) connectors.Connector {
	return &connector{name: name, options: o}
}

type connector struct {
	name    string
	options Options
}

func (c *connector) Name() string         { return c.name }
func (c *connector) Instructions() string { return c.options.Instructions }
func (c *connector) Close() error         { return nil }

// maxName bounds types and task queues, in bytes: the server takes 1,000.
const maxName = 800

func (c *connector) Methods(ctx context.Context) ([]connectors.Method, error) {
	if queue := c.options.TaskQueue; queue == "" || len(queue) > maxName {
		return nil, connectors.ConfigErrorf("connector %q over Temporal needs the name of a task queue, of %d bytes "+
			"at most", c.name, maxName)
	}
	var methods []connectors.Method
	for _, a := range c.options.Activities {
		target := signals.Target{Activity: a.Type, HeartbeatMs: a.Heartbeat.Milliseconds()}
		methods = append(methods, c.method(a.Tool, target, nil))
	}
	for _, w := range c.options.Workflows {
		methods = append(methods, c.method(w.Tool, signals.Target{Workflow: w.Type, NoWait: w.NoWait}, w.ID))
	}
	for _, m := range methods {
		if m.Origin == "" || len(m.Origin) > maxName {
			return nil, connectors.ConfigErrorf("connector %q names an activity or workflow with a type of %d "+
				"bytes — use 1 to %d", c.name, len(m.Origin), maxName)
		}
	}
	return connectors.New(c.name, "", methods...).Methods(ctx)
}

func (c *connector) method(t Tool, target signals.Target, id func(json.RawMessage) (string, error)) connectors.Method {
	target.Queue, target.KeyArgument = c.options.TaskQueue, t.KeyArgument
	return connectors.Method{
		Name: connectors.SanitizeToolName(t.Type), Origin: t.Type, Description: t.Description,
		InputSchema: t.Input, OutputSchema: t.Output, Class: t.Class, Timeout: t.Timeout,
		Policy: connectors.Policy{Retry: t.Retry},
		Target: func(args json.RawMessage) (*signals.Target, error) {
			own := target
			var err error
			if id != nil {
				own.ID, err = id(args)
			}
			return &own, err
		},
		Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, errNoTemporal },
	}
}

// errNoTemporal is what runs without a server answer.
var errNoTemporal = &noTemporalError{}

type noTemporalError struct{}

func (*noTemporalError) Error() string {
	return "this tool is an activity or a workflow of a Temporal worker: only an execution on Temporal can call it"
}

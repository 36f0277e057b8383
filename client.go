package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/internal/invocation"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// ClientOptions configure a Client. The zero value is for the runtime "default".
type ClientOptions struct {
	// Runtime is the runtime's name; empty is "default".
	Runtime string
	// DataConverter must be the Temporal client's, if that has one of its own.
	DataConverter converter.DataConverter
	// TransformResult, when set, shapes what completed executions answer with. Where it fails they answer unshaped.
	TransformResult TransformResult
	// Logger is for warnings; nil is slog's default.
	Logger *slog.Logger
	// MaxExecutions, when set, makes each Execute delete closed executions beyond the newest that many before its own,
	// and wait a few seconds for that. Nil leaves retention to the namespace.
	MaxExecutions *int
	// OmitCalls leaves calls out of outcomes where an execution made so many that they have to be read from history,
	// some ten milliseconds for a thousand: Outcome.CallsOmitted says so then, Show has them. The outcome of an
	// execution that had ended before it was asked for comes from history, calls and all.
	OmitCalls bool
	// IndexLabels sets the search attribute CodemodeLabels of what is started, and lists by it. It has to be there: a
	// worker registers it that is asked to.
	IndexLabels bool
}

// Client starts executions of one runtime, decides what they wait for, and reads their records.
type Client struct {
	temporal client.Client
	runtime  string
	dc       converter.DataConverter
	shape    TransformResult
	log      *slog.Logger

	maxExecutions *int
	omitCalls     bool
	indexLabels   bool
	patience      time.Duration // answerWithin
}

// NewClient makes a client on a Temporal client, which stays the caller's to close.
func NewClient(c client.Client, o ClientOptions) (*Client, error) {
	if o.Runtime == "" {
		o.Runtime = signals.DefaultRuntime
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if err := signals.CheckRuntime(o.Runtime); err != nil {
		return nil, err
	}
	return &Client{
		temporal: c, runtime: o.Runtime, dc: payload.Reader(o.DataConverter), shape: o.TransformResult, log: o.Logger,
		maxExecutions: o.MaxExecutions, omitCalls: o.OmitCalls, indexLabels: o.IndexLabels, patience: answerWithin,
	}, nil
}

// Runtime is the name of the runtime.
func (c *Client) Runtime() string { return c.runtime }

// ExecuteOptions of one execution. The zero value gives it an id of its own and waits for the first outcome.
type ExecuteOptions struct {
	// ID makes starting idempotent: where it exists already nothing is started, and its outcome is the answer.
	ID string
	// Purpose is one line about what the program is for; the Web UI shows it. Empty shows the program's first line.
	Purpose string
	// Synchronous programs call without await: store.get({id}).name. It is how UTCP's programs are written.
	Synchronous bool
	// Caller says who starts the execution, on whose behalf, and what it belongs to.
	signals.Caller
	// Continues is the id of an execution that has ended, from which the program goes on: its calls that equal calls of
	// that one are not made again, and get the same results.
	Continues string
	// Fresh makes reads anew all the same. What was done is never done again.
	Fresh bool
	// Approver says that a front door lets the caller decide about calls: then they may continue what others started.
	Approver bool
	// NoWait answers with status running as soon as the execution is started.
	NoWait bool
}

// NoWorkerError says that nobody polls the runtime's task queue. What was started or decided stays, and goes on when a
// worker comes.
type NoWorkerError struct {
	TaskQueue   string
	ExecutionID string
}

func (e *NoWorkerError) Error() string {
	text := fmt.Sprintf("no worker polls task queue %q: start one (%s)", e.TaskQueue, invocation.Worker())
	if e.ExecutionID != "" {
		text += fmt.Sprintf("; execution %q goes on as soon as it runs", e.ExecutionID)
	}
	return text
}

// Execute starts a program and waits for its first outcome: completed, paused, error or rejected. A program that is
// too large starts nothing and is an error outcome without an id.
func (c *Client) Execute(ctx context.Context, code string, o ExecuteOptions) (signals.Outcome, error) {
	if message := signals.CheckSize("The execution code", code); message != "" {
		return signals.ErrorOutcome("", message), nil
	}
	if o.ID == "" {
		o.ID = signals.NewExecutionID(time.Now())
	}
	if err := errors.Join(signals.CheckExecutionID(o.ID), o.Caller.Check()); err != nil {
		return signals.Outcome{}, err
	}
	input := signals.ExecutionInput{Code: code, Runtime: c.runtime, Purpose: o.Purpose,
		Synchronous: o.Synchronous, Caller: o.Caller}
	if err := o.continues(&input); err != nil {
		return signals.Outcome{}, err
	}
	options, in := c.startOptions(input, o.ID), payload.MustRaw(input)
	defer c.retaining(ctx, o.ID)()
	if o.NoWait {
		return c.start(ctx, options, in, o.ID)
	}
	return c.startAndWait(ctx, options, in, o.ID)
}

// continues adds what the execution goes on from.
func (o ExecuteOptions) continues(in *signals.ExecutionInput) error {
	switch {
	case o.Continues == "" && o.Fresh:
		return &continuesError{"fresh goes with continues: it makes what the earlier execution has read be read anew"}
	case o.Continues == "":
		return nil
	case o.Continues == o.ID:
		return &continuesError{fmt.Sprintf("execution %q cannot continue itself", o.ID)}
	}
	if err := signals.CheckExecutionID(o.Continues); err != nil {
		return &continuesError{"continues: " + err.Error()}
	}
	in.Continues = &signals.Continues{ExecutionID: o.Continues, Fresh: o.Fresh, Approver: o.Approver}
	return nil
}

// continuesError says why a program cannot go on from what was named.
type continuesError struct{ message string }

func (e *continuesError) Error() string { return e.message }

func (c *Client) startOptions(in signals.ExecutionInput, id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: signals.WorkflowID(c.runtime, id), TaskQueue: signals.TaskQueue(c.runtime),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:            summary(in.Purpose, in.Code),
		StaticDetails:            details(in),
		TypedSearchAttributes:    c.attributes(in.Caller),
		Memo:                     map[string]any{signals.MemoStart: payload.MustRaw(in.Listed())},
	}
}

// summary is the line about an execution: its purpose, or else the first line of its program.
func summary(purpose, code string) string {
	return words.OneLine(signals.Cut(cmp.Or(purpose, firstLine(code)), 200))
}

// details is what the Web UI shows about an execution: who started it, and the program.
func details(in signals.ExecutionInput) string {
	text := words.Fenced("ts", signals.Cut(in.Code, 10_000))
	if in.Continues != nil {
		text = "continues " + in.Continues.ExecutionID + "\n\n" + text
	}
	if in.Caller.IsZero() {
		return text
	}
	return words.OneLine(signals.Cut(in.Caller.String(), 2000)) + "\n\n" + text
}

func (c *Client) attributes(caller signals.Caller) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(signals.AttributeRuntime).ValueSet(c.runtime),
	}
	if labels := caller.IndexedLabels(); c.indexLabels && len(labels) > 0 {
		set = append(set, labelsKey.ValueSet(labels))
	}
	return temporal.NewSearchAttributes(set...)
}

var labelsKey = temporal.NewSearchAttributeKeyKeywordList(signals.AttributeLabels)

// withKnown starts with fewer and fewer search attributes until the server knows them all.
func (c *Client) withKnown(o *client.StartWorkflowOptions, start func() error) error {
	err := start()
	for rpcerr.UnknownSearchAttribute(err) && o.TypedSearchAttributes.Size() > 0 {
		if o.TypedSearchAttributes.ContainsKey(labelsKey) {
			o.TypedSearchAttributes = c.attributes(signals.Caller{})
		} else {
			o.TypedSearchAttributes = temporal.SearchAttributes{}
		}
		err = start()
	}
	return err
}

// firstLine is the first line of a program that says something.
func firstLine(code string) string {
	for _, line := range strings.Split(code, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if line != "" && !strings.HasPrefix(line, "```") {
			return line
		}
	}
	return ""
}

func (c *Client) start(ctx context.Context, o client.StartWorkflowOptions, in converter.RawValue,
	id string) (signals.Outcome, error) {
	err := c.withKnown(&o, func() error {
		_, err := c.temporal.ExecuteWorkflow(ctx, o, signals.ExecutionWorkflow, in)
		return err
	})
	if rpcerr.AlreadyStarted(err) {
		return c.closedOutcome(ctx, id)
	}
	return signals.Outcome{Status: signals.Running, ExecutionID: id, Calls: []signals.Call{}}, err
}

// startAndWait starts and asks for the first outcome in one round trip.
func (c *Client) startAndWait(ctx context.Context, o client.StartWorkflowOptions, in converter.RawValue,
	id string) (signals.Outcome, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	var out signals.Outcome
	err := c.withKnown(&o, func() (err error) {
		out, err = c.updateWithStart(guarded, o, in)
		return err
	})
	switch {
	case rpcerr.AlreadyStarted(err) || rpcerr.NotFound(err):
		return c.closedOutcome(ctx, id)
	case isBusy(err) || err == nil && out.Status == signals.Running:
		return c.Wait(ctx, id, 0)
	case isLate(err) && guarded.Err() == nil:
		if out, waited := c.Wait(ctx, id, 0); !errors.Is(waited, ErrNotFound) {
			return out, waited
		}
		return out, err // it did not even start
	case err != nil:
		return out, guardError(guarded, err)
	}
	return c.complete(ctx, out)
}

func (c *Client) updateWithStart(ctx context.Context, o client.StartWorkflowOptions,
	in converter.RawValue) (signals.Outcome, error) {
	handle, err := c.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.temporal.NewWithStartWorkflowOperation(o, signals.ExecutionWorkflow, in),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: o.ID, UpdateName: signals.UpdateWait, Args: []any{signals.Wait{}},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	var out signals.Outcome
	if err == nil {
		err = handle.Get(ctx, &out)
	}
	return out, err
}

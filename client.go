package codemode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/internal/invocation"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
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
		maxExecutions: o.MaxExecutions, omitCalls: o.OmitCalls, patience: answerWithin,
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
	if err := signals.CheckExecutionID(o.ID); err != nil {
		return signals.Outcome{}, err
	}
	in := payload.MustRaw(signals.ExecutionInput{Code: code, Runtime: c.runtime, Purpose: o.Purpose,
		Synchronous: o.Synchronous})
	options := c.startOptions(code, o)
	defer c.retaining(ctx, o.ID)()
	if o.NoWait {
		return c.start(ctx, options, in, o.ID)
	}
	return c.startAndWait(ctx, options, in, o.ID)
}

func (c *Client) startOptions(code string, o ExecuteOptions) client.StartWorkflowOptions {
	summary := o.Purpose
	if summary == "" {
		summary = firstLine(code)
	}
	return client.StartWorkflowOptions{
		ID: signals.WorkflowID(c.runtime, o.ID), TaskQueue: signals.TaskQueue(c.runtime),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:            words.OneLine(signals.Cut(summary, 200)),
		StaticDetails:            words.Fenced("ts", signals.Cut(code, 10_000)),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(signals.AttributeRuntime).ValueSet(c.runtime),
		),
	}
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
	_, err := c.temporal.ExecuteWorkflow(ctx, o, signals.ExecutionWorkflow, in)
	if rpcerr.UnknownSearchAttribute(err) {
		o.TypedSearchAttributes = temporal.SearchAttributes{}
		_, err = c.temporal.ExecuteWorkflow(ctx, o, signals.ExecutionWorkflow, in)
	}
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
	out, err := c.updateWithStart(guarded, o, in)
	if rpcerr.UnknownSearchAttribute(err) {
		o.TypedSearchAttributes = temporal.SearchAttributes{}
		out, err = c.updateWithStart(guarded, o, in)
	}
	switch {
	case rpcerr.AlreadyStarted(err) || rpcerr.NotFound(err):
		return c.closedOutcome(ctx, id)
	case isBusy(err) || err == nil && out.Status == signals.Running:
		return c.Wait(ctx, id, 0)
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

// Wait answers with the next outcome after a pass; 0 asks for any.
func (c *Client) Wait(ctx context.Context, id string, after int) (signals.Outcome, error) {
	guarded, stop := c.guard(ctx, id)
	defer stop()
	for {
		var out signals.Outcome
		err := c.update(guarded, id, signals.UpdateWait, signals.Wait{After: after}, &out)
		switch {
		case rpcerr.NotFound(err):
			return c.closedOutcome(ctx, id)
		case isBusy(err):
			if err := wait.For(guarded, 200*time.Millisecond); err != nil {
				return out, guardError(guarded, err)
			}
		case err != nil:
			return out, guardError(guarded, err)
		case out.Status != signals.Running:
			return c.complete(ctx, out)
		}
	}
}

// recovery is how long an execution may take to find a worker after several of its workflow tasks were lost with
// theirs; the server refuses updates meanwhile.
const recovery = 30 * time.Second

// answerWithin is how long the server may take over an update before the execution itself is looked at. A server that
// was killed at the wrong moment can lose sight of an execution that has closed, and then never answers.
const answerWithin = 30 * time.Second

func (c *Client) update(ctx context.Context, id, name string, arg, out any) error {
	o := client.UpdateWorkflowOptions{
		UpdateID: rand.Text(), WorkflowID: signals.WorkflowID(c.runtime, id), UpdateName: name,
		Args:         []any{payload.MustRaw(arg)},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	for began := time.Now(); ; {
		answered, err := c.updateOnce(ctx, o, out)
		switch {
		case !answered:
			open, err := c.open(ctx, id)
			if err != nil {
				return err
			}
			if !open {
				return serviceerror.NewNotFound("the execution has ended")
			}
			continue // the same update: it is taken once
		case !rpcerr.NotReady(err) || time.Since(began) > recovery:
			return err
		}
		if err := wait.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// updateOnce asks once; answered is false if the server let the time for that pass.
func (c *Client) updateOnce(ctx context.Context, o client.UpdateWorkflowOptions, out any) (answered bool, err error) {
	limited, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	handle, err := c.temporal.UpdateWorkflow(limited, o)
	if err == nil {
		err = handle.Get(limited, out)
	}
	return err == nil || limited.Err() == nil || ctx.Err() != nil, err
}

// Cancel asks an execution to end and waits until it has: calls that run are awaited and recorded. It answers false
// where it had ended before.
func (c *Client) Cancel(ctx context.Context, id string) (bool, error) {
	if open, err := c.open(ctx, id); err != nil || !open {
		return false, err // the server takes a request to cancel what is closed
	}
	err := c.temporal.CancelWorkflow(ctx, signals.WorkflowID(c.runtime, id), "")
	if err != nil {
		return false, err
	}
	_, err = c.waitEnd(ctx, id)
	return err == nil, err
}

// guard cancels the context it returns with a NoWorkerError as cause when a wait turns out to be for nobody.
func (c *Client) guard(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	guarded, cancel := context.WithCancelCause(ctx)
	go func() {
		// Several looks, since a server that has just started knows its pollers a moment later.
		misses, every := 0, 2*time.Second
		for misses < 3 && wait.For(guarded, every) == nil {
			switch polled, err := c.Polled(guarded); {
			case err != nil:
			case polled:
				misses, every = 0, 5*time.Second
			default:
				misses, every = misses+1, time.Second
			}
		}
		if misses == 3 {
			cancel(&NoWorkerError{TaskQueue: signals.TaskQueue(c.runtime), ExecutionID: id})
		}
	}()
	return guarded, func() { cancel(nil) }
}

// pollerGone is how long after its last poll a worker counts as gone: polls last up to a minute.
const pollerGone = 75 * time.Second

// Polled reports whether a worker serves the runtime.
func (c *Client) Polled(ctx context.Context) (bool, error) {
	return c.polled(ctx, signals.TaskQueue(c.runtime), enums.TASK_QUEUE_TYPE_WORKFLOW)
}

// Served tells whether a worker polls the connector's own task queue.
func (c *Client) Served(ctx context.Context, connector string) (bool, error) {
	return c.polled(ctx, signals.ConnectorTaskQueue(c.runtime, connector), enums.TASK_QUEUE_TYPE_ACTIVITY)
}

func (c *Client) polled(ctx context.Context, queue string, kind enums.TaskQueueType) (bool, error) {
	d, err := c.temporal.DescribeTaskQueue(ctx, queue, kind)
	if err != nil {
		return false, err
	}
	for _, p := range d.Pollers {
		if time.Since(p.LastAccessTime.AsTime()) < pollerGone {
			return true, nil
		}
	}
	return false, nil
}

// guardError prefers the reason for which a guarded context was cancelled.
func guardError(guarded context.Context, err error) error {
	var none *NoWorkerError
	if err != nil && errors.As(context.Cause(guarded), &none) {
		return none
	}
	return err
}

// isBusy says that the execution has as many waiters as it admits.
func isBusy(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == signals.ErrorBusy
}

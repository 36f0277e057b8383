package workflows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// A call of a connector over Temporal is made by a team's own activity or workflow, which the execution schedules as
// the team would: its type, its task queue and its retries stand in history.

// prepared is what makes a call whose arguments are the program's own.
func (c *call) prepared(key string) signals.Prepared {
	return signals.Prepared{Target: *c.target, Path: c.name(), Args: c.dispatchArgs(), Key: key, Class: c.rec.Class,
		TimeoutMs: c.timeout.Milliseconds(), Retry: &c.retry}
}

// makeByTarget has a team's own activity or workflow make the call, once: the server repeats it where that is allowed.
func (e *execution) makeByTarget(ctx workflow.Context, c *call, p signals.Prepared) {
	if e.withdraws() {
		c.enter(withdrawn)
		return
	}
	c.scheduled++
	c.rec.Attempts = c.scheduled
	id := signals.TargetID(signals.CallActivityID(c.rec.Seq, c.scheduled))
	summary := fmt.Sprintf("#%d %s", c.rec.Seq, signals.Summary(p.Args, 100))
	answer := e.results.target(ctx, p, id, signals.Cut(summary, 120))
	if e.withdraws() && temporal.IsCanceledError(answer.err) {
		if answer.begun() && p.Class != signals.Read {
			c.interrupted = signals.UnknownOutcome(c.name(), p.Key)
		}
		c.enter(withdrawn)
		return
	}
	e.settleTarget(ctx, c, p, answer)
}

// settleTarget records how a call ended that a team's own activity or workflow made.
func (e *execution) settleTarget(ctx workflow.Context, c *call, p signals.Prepared, a targetAnswer) {
	given := signals.Given{ID: c.rec.Seq, At: workflow.Now(ctx).UnixMilli(), Attempts: c.rec.Attempts, Source: a.source,
		Error: a.failed, Carried: a.failed != nil}
	tooLarge := signals.CheckSize("The result of "+c.name(), a.value)
	switch {
	case a.unknown() && p.Class == signals.Read:
		given.Source, given.Carried, given.Error = "", false, interruptedRead(c.name(), a.err)
	case a.unknown() && c.askUnknown && e.end == nil:
		c.askAboutUnknown(e, signals.UnknownOutcome(c.name(), p.Key), given.At)
		return
	case a.unknown():
		given.Source, given.Carried, given.Error = "", false, signals.UnknownOutcome(c.name(), p.Key)
	case tooLarge != "":
		a.value, given.Source, given.Error = nil, "", &signals.CallError{Message: tooLarge}
		e.fail("%s", tooLarge)
	case a.failed == nil && len(a.value) <= signals.InlineValueBytes:
		given.Value, given.Carried = a.value, true
	}
	e.answered(c, signals.CallOutput{Value: a.value})
	e.settle(c, given)
	e.hold(&c.rec, nil, a.value)
}

// interruptedRead is the error of a read that gave no answer. Nothing is unknown about it.
func interruptedRead(name string, err error) *signals.CallError {
	var late *temporal.TimeoutError
	if errors.As(err, &late) {
		return &signals.CallError{Name: "TimeoutError", Message: name + " took longer than its timeout."}
	}
	return &signals.CallError{Message: signals.Cut(name+" was interrupted: "+activityMessage(err),
		signals.MaxErrorBytes)}
}

// targetAnswer is how a team's own activity or workflow ended.
type targetAnswer struct {
	value  json.RawMessage
	failed *signals.CallError // its own answer
	err    error
	source string // where history has the answer; empty where no event has
}

// unknown says that it may have taken effect, or not.
func (a targetAnswer) unknown() bool { return a.err != nil && a.failed == nil }

// begun reports whether a worker had begun what was cancelled.
func (a targetAnswer) begun() bool {
	var activity *temporal.ActivityError
	return !errors.As(a.err, &activity) || activity.StartedEventID() != 0
}

// target runs a team's own activity or workflow and waits for what it answers.
func (r *results) target(ctx workflow.Context, p signals.Prepared, id, summary string) targetAnswer {
	args, err := payload.TargetArguments(p.Target, p.Args, p.Key)
	if err != nil { // they were read before
		return targetAnswer{err: err, failed: &signals.CallError{Message: err.Error()}}
	}
	var raw converter.RawValue
	switch {
	case p.Workflow == "":
		err = r.await(ctx, workflow.ExecuteActivity(targetActivity(ctx, p, id, summary), p.Activity, args...), &raw)
	case p.NoWait:
		return r.started(ctx, p, id, summary, args)
	default:
		child := workflow.ExecuteChildWorkflow(targetWorkflow(ctx, p, id, summary), p.Workflow, args...)
		err = r.await(ctx, child, &raw)
	}
	if err != nil {
		return failedTarget(p, id, err)
	}
	value, unreadable := payload.TargetValue(p.Path, raw)
	return targetAnswer{value: value, failed: unreadable, source: id}
}

// started waits until a workflow has started, which then belongs to nobody.
func (r *results) started(ctx workflow.Context, p signals.Prepared, id, summary string, args []any) targetAnswer {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // who cancels the execution does not mean what runs on its own
	var run workflow.Execution
	child := workflow.ExecuteChildWorkflow(targetWorkflow(ctx, p, id, summary), p.Workflow, args...)
	if err := r.await(ctx, child.GetChildWorkflowExecution(), &run); err != nil {
		return failedTarget(p, id, err)
	}
	value := payload.MustRaw(signals.StartedWorkflow{WorkflowID: run.ID, RunID: run.RunID})
	return targetAnswer{value: value.Payload().GetData(), source: id}
}

func failedTarget(p signals.Prepared, id string, err error) targetAnswer {
	var taken *temporal.ChildWorkflowExecutionAlreadyStartedError
	if errors.As(err, &taken) {
		return targetAnswer{err: err, failed: &signals.CallError{Name: "WorkflowExecutionAlreadyStarted",
			Message: fmt.Sprintf("%s was not started: a workflow with the id %q runs, or has completed.", p.Path,
				p.ID)}}
	}
	var app *temporal.ApplicationError
	errors.As(err, &app)
	failure := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{}).ErrorToFailure(err)
	details := func(_ *commonpb.Payloads, into ...any) error { return app.Details(into...) }
	failed := payload.TargetError(failure, details)
	return targetAnswer{err: err, failed: failed, source: id}
}

// targetActivity are the options of a team's own activity. Who says that a write may be repeated means one that failed:
// one that a worker began and did not answer may have taken effect.
func targetActivity(ctx workflow.Context, p signals.Prepared, id, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: id, TaskQueue: p.Queue, StartToCloseTimeout: cmp.Or(millis(p.TimeoutMs), defaultCallTimeout),
		HeartbeatTimeout: millis(p.HeartbeatMs), RetryPolicy: targetRetries(p), WaitForCancellation: true,
		Summary: summary,
	})
}

func targetRetries(p signals.Prepared) *temporal.RetryPolicy {
	var limits signals.RetryLimits
	if p.Retry != nil {
		limits = *p.Retry
	}
	attempts := limits.WithDefaults().Attempts
	policy := &temporal.RetryPolicy{InitialInterval: limits.Backoff(0, 1), BackoffCoefficient: 2,
		MaximumInterval: limits.Backoff(0, 100)}
	if p.Class == signals.Write {
		attempts = max(1, limits.Attempts)
		policy.NonRetryableErrorTypes = []string{"TemporalTimeout:StartToClose", "TemporalTimeout:Heartbeat",
			"PanicError"}
	}
	policy.MaximumAttempts = int32(attempts)
	return policy
}

// targetWorkflow are the options of a team's own workflow: a child, which is asked to end if the execution is ended
// from outside, or one that only starts.
func targetWorkflow(ctx workflow.Context, p signals.Prepared, id, summary string) workflow.Context {
	o := workflow.ChildWorkflowOptions{
		WorkflowID: p.ID, TaskQueue: p.Queue, WorkflowExecutionTimeout: millis(p.TimeoutMs),
		WaitForCancellation: true, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		Memo:                  map[string]any{signals.LinkMemo: id}, StaticSummary: summary,
	}
	if p.NoWait {
		o.ParentClosePolicy = enumspb.PARENT_CLOSE_POLICY_ABANDON
	}
	return workflow.WithChildOptions(ctx, o)
}

// undoByTarget has a team's own activity or workflow undo a call. What the error says is for the record.
func undoByTarget(ctx workflow.Context, p signals.Prepared, seq, attempt int) error {
	id := signals.TargetID(signals.RevertActivityID(seq, attempt))
	answer := new(results).target(ctx, p, id, fmt.Sprintf("undo #%d", seq))
	if answer.err != nil && answer.failed != nil {
		return temporal.NewNonRetryableApplicationError(answer.failed.Message, signals.ErrorConnector, nil)
	}
	return answer.err
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

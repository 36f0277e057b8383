package codemode

import (
	"cmp"
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Rollback undoes what an execution did: every call that took effect and has a revert, the last one first. An open
// execution is stopped first, its running calls are awaited; a closed one needs only its history. Who asks, and why, is
// for the record. Calls that could not be undone are in the answer, and another rollback tries them again; calls that
// are undone stay so. Where nothing can be undone, nothing changes.
func (c *Client) Rollback(ctx context.Context, id string, r signals.Rollback) (signals.RollbackResult, error) {
	if err := r.Check(); err != nil {
		return nothingUndone(), err
	}
	v, err := c.send(ctx, id, signals.SignalRollback, r)
	switch {
	case rpcerr.NotFound(err):
		return c.rollbackClosed(ctx, id, r)
	case err != nil:
		return nothingUndone(), err
	case !v.Accepted && !v.Status.Terminal():
		return nothingUndone(), nil
	}
	if _, err := c.waitEnd(ctx, id); err != nil {
		return nothingUndone(), err
	}
	if !v.Accepted { // it was ending for another reason
		return c.rollbackClosed(ctx, id, r)
	}
	h, err := c.history(ctx, id)
	if err != nil {
		return nothingUndone(), err
	}
	return rollbackResult(id, h)
}

func nothingUndone() signals.RollbackResult { return signals.RollbackRecord{}.Result() }

// rollbackResult reads the answer from the history of the run that did the undoing.
func rollbackResult(id string, h *history.History) (signals.RollbackResult, error) {
	switch {
	case h.Result == nil || h.Result.Rollback == nil:
		return nothingUndone(),
			fmt.Errorf("the rollback of execution %q was %s from outside: roll back again",
				id, cmp.Or(h.Closed, "ended"))
	case h.Result.Rollback.Error != "":
		return h.Result.Rollback.Result(), fmt.Errorf("rollback of execution %q: %s", id, h.Result.Rollback.Error)
	}
	return h.Result.Rollback.Result(), nil
}

// waitEnd waits until an execution has ended.
func (c *Client) waitEnd(ctx context.Context, id string) (signals.Outcome, error) {
	for {
		out, err := c.Wait(ctx, id, 1<<30)
		if err != nil || out.Status.Terminal() {
			return out, err
		}
	}
}

// rollbackClosed starts codemode.Rollback, or joins the one that runs.
func (c *Client) rollbackClosed(ctx context.Context, id string, r signals.Rollback) (signals.RollbackResult, error) {
	workflowID := signals.WorkflowID(c.runtime, id)
	d, err := c.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if rpcerr.NotFound(err) {
		return nothingUndone(), noExecution(id)
	}
	if err != nil {
		return nothingUndone(), err
	}
	run := d.WorkflowExecutionInfo.Execution.RunId
	h, err := history.Read(ctx, c.temporal, c.dc, workflowID, run)
	if err != nil {
		return nothingUndone(), err
	}
	record, err := h.Record(c.runtime, id)
	if err != nil {
		return nothingUndone(), err
	}
	n, err := h.Join(ctx, c.temporal, workflowID, record)
	if err != nil {
		return nothingUndone(), err
	}
	running := false
	if n > 0 {
		if running, err = c.isOpen(ctx, signals.RollbackID(workflowID, n)); err != nil && !rpcerr.NotFound(err) {
			return nothingUndone(), err
		}
	}
	switch {
	case running:
		n-- // join it
	case !history.AnyUndoable(record.Log):
		nothing := nothingUndone()
		nothing.Unknown = signals.UnknownOutcomes(record.Log)
		return nothing, nil
	}
	return c.startRollback(ctx, signals.RollbackInput{
		Runtime: c.runtime, ExecutionID: id, WorkflowID: workflowID, RunID: run, N: n + 1, Rollback: r,
		Caller: h.Input.Caller,
	})
}

func (c *Client) startRollback(ctx context.Context, in signals.RollbackInput) (signals.RollbackResult, error) {
	guarded, stop := c.guard(ctx, in.ExecutionID)
	defer stop()
	o := client.StartWorkflowOptions{
		ID: signals.RollbackID(in.WorkflowID, in.N), TaskQueue: signals.TaskQueue(c.runtime),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:            "undo what " + in.ExecutionID + " did",
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(signals.AttributeRuntime).ValueSet(c.runtime),
			temporal.NewSearchAttributeKeyKeyword(signals.AttributeStatus).ValueSet(string(signals.Running)),
		),
	}
	run, err := c.temporal.ExecuteWorkflow(guarded, o, signals.RollbackWorkflow, payload.MustRaw(in))
	if rpcerr.UnknownSearchAttribute(err) {
		o.TypedSearchAttributes = temporal.SearchAttributes{}
		run, err = c.temporal.ExecuteWorkflow(guarded, o, signals.RollbackWorkflow, payload.MustRaw(in))
	}
	if err != nil && !rpcerr.AlreadyStarted(err) {
		return nothingUndone(), guardError(guarded, err)
	}
	if err == nil {
		if err := run.Get(guarded, nil); err != nil && guarded.Err() != nil {
			return nothingUndone(), guardError(guarded, err)
		}
	}
	h, err := history.Read(ctx, c.temporal, c.dc, o.ID, "")
	if err != nil {
		return nothingUndone(), err
	}
	return rollbackResult(in.ExecutionID, h)
}

package codemode

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// undoneElsewhere marks the calls whose effects another execution's rollback has undone: those that this one took over,
// and if it is continued itself, its own.
func (c *Client) undoneElsewhere(ctx context.Context, r *signals.Record) error {
	if !history.AnyUndoable(r.Log) {
		return nil
	}
	continued := false
	if r.Status.Terminal() {
		claim := signals.ContinuedID(signals.WorkflowID(c.runtime, r.ID))
		_, err := c.temporal.DescribeWorkflowExecution(ctx, claim, "")
		if err != nil && !rpcerr.NotFound(err) {
			return fmt.Errorf("find out whether %s is continued: %w", r.ID, err)
		}
		continued = err == nil
	}
	for i := range r.Log {
		call := &r.Log[i]
		if !call.Undoable() || !continued && call.CarriedFrom == nil {
			continue
		}
		made := signals.CarriedFrom{ExecutionID: r.ID, Seq: call.Seq}
		if call.CarriedFrom != nil {
			made = *call.CarriedFrom
		}
		d, err := c.temporal.DescribeWorkflowExecution(ctx, signals.UndoID(c.runtime, made), "")
		switch {
		case rpcerr.NotFound(err):
		case err != nil:
			return fmt.Errorf("find out whether call %d of %s is undone: %w", made.Seq, made.ExecutionID, err)
		case d.WorkflowExecutionInfo.Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
			call.State, call.Ended = signals.Reverted, signals.CallUndone
			call.RevertedAt = d.WorkflowExecutionInfo.CloseTime.AsTime().UnixMilli()
		}
	}
	return nil
}

package codemode

import (
	"cmp"
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode/internal/namespace"
	"github.com/temporal-codemode/codemode/signals"
)

// Cancel asks an execution to end and waits until it has: calls that run are awaited and recorded, calls that nobody
// has begun are not made. It answers false where it had ended before.
func (c *Client) Cancel(ctx context.Context, id string, by signals.Cancellation) (bool, error) {
	asked, err := c.RequestCancel(ctx, id, by)
	if err != nil || !asked {
		return false, err
	}
	_, err = c.waitEnd(ctx, id)
	return err == nil, err
}

// RequestCancel asks an execution to end, and does not wait until it has: the request is durable. It answers false
// where the execution had ended before.
func (c *Client) RequestCancel(ctx context.Context, id string, by signals.Cancellation) (bool, error) {
	if open, err := c.open(ctx, id); err != nil || !open {
		return false, err // the server takes a request to cancel what is closed
	}
	space, err := namespace.Of(c.temporal)
	if err != nil {
		return false, err
	}
	_, err = c.temporal.WorkflowService().RequestCancelWorkflowExecution(ctx,
		&workflowservice.RequestCancelWorkflowExecutionRequest{
			Namespace: space, Identity: signals.Cut(cmp.Or(by.AssertedBy, by.By), 256),
			Reason:            signals.Cut(by.Reason, 1000),
			WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: signals.WorkflowID(c.runtime, id)},
		})
	return err == nil, err
}

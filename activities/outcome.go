package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Outcome tells the newest outcome of an execution whole, part by part, to workflows and clients that have nothing of
// ours but Temporal.
func (a *Activities) Outcome(ctx context.Context, in signals.OutcomeInput) (converter.RawValue, error) {
	o, err := a.wholeOutcome(ctx, in.WorkflowID)
	if rpcerr.NotFound(err) {
		return converter.RawValue{}, applicationError(errorNotFound,
			fmt.Sprintf("there is no execution with workflow id %q", in.WorkflowID), false, 0)
	}
	if err != nil {
		return converter.RawValue{}, err
	}
	parts := o.Parts()
	if in.Part < 0 || in.Part >= len(parts) {
		return converter.RawValue{}, applicationError(errorNotFound,
			fmt.Sprintf("there is no part %d: the outcome has %d", in.Part, len(parts)), false, 0)
	}
	return payload.Raw(parts[in.Part])
}

// errorNotFound is the type of the error of a question about something that does not exist.
const errorNotFound = "NotFound"

func (a *Activities) wholeOutcome(ctx context.Context, workflowID string) (signals.Outcome, error) {
	c := activity.GetClient(ctx)
	d, err := c.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return signals.Outcome{}, err
	}
	var newest signals.Outcome
	open := d.WorkflowExecutionInfo.GetCloseTime() == nil
	if open {
		if newest, err = a.newestOutcome(ctx, c, workflowID); err != nil || !newest.Partial {
			return newest, err
		}
	}
	h, err := history.Read(ctx, c, a.DataConverter, workflowID, "")
	if err != nil {
		return signals.Outcome{}, err
	}
	runtime, id, ok := signals.ParseWorkflowID(workflowID)
	if !ok {
		id = workflowID
	}
	r, err := h.Record(runtime, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	h.RestoreEdits(r.Log)
	if open {
		return h.Fill(newest, r), nil
	}
	_, err = h.Join(ctx, c, workflowID, r)
	return h.Outcome(r), err
}

// newestOutcome asks the workflow.
func (a *Activities) newestOutcome(ctx context.Context, c client.Client, workflowID string) (o signals.Outcome,
	err error) {
	value, err := c.QueryWorkflow(ctx, workflowID, "", signals.QueryOutcome, signals.Wait{})
	if err != nil {
		return o, err
	}
	var raw converter.RawValue // compressed, the client's own converter might not read it
	if err := value.Get(&raw); err != nil {
		return o, err
	}
	return o, a.DataConverter.FromPayload(raw.Payload(), &o)
}

package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/namespace"
	"github.com/temporal-codemode/codemode/signals"
)

// row is an execution in a list: what visibility tells of it, and what had to be read beside.
type row struct {
	info   *workflow.WorkflowExecutionInfo
	record *signals.Record
	start  *signals.ListedStart // nil where there is none: then the record is next to empty
	// unsure says that visibility does not know the status.
	unsure bool
}

// rows makes rows of what visibility found.
func (c *Client) rows(found []*workflow.WorkflowExecutionInfo, undone rollbacks) []*row {
	var rows []*row
	for _, w := range found {
		if executionID(w) != "" {
			rows = append(rows, c.row(w, undone))
		}
	}
	return rows
}

func (c *Client) row(w *workflow.WorkflowExecutionInfo, undone rollbacks) *row {
	r := &row{info: w, record: c.bare(w)}
	var start signals.ListedStart
	known, err := c.memo(w, signals.MemoStart, &start)
	if err != nil {
		r.record = c.unreadable(w, err)
	}
	if known {
		r.start = &start
		r.record.Purpose, r.record.Code, r.record.Caller = start.Purpose, start.Code, start.Caller
	}
	var state signals.ListedState
	if known, _ := c.memo(w, signals.MemoState, &state); known {
		r.record.CreatedAt = cmp.Or(state.StartedAt, r.record.CreatedAt)
		r.record.Connectors = append([]string{}, state.Connectors...)
		if r.record.Status == signals.Paused {
			r.record.Passes, r.record.UpdatedAt = state.Passes, state.At
		}
	}
	r.unsure = visibleStatus(w) == ""
	if status, ok := undone[r.record.ID]; ok && status == signals.RolledBack {
		r.record.Status = signals.RolledBack
	} else if ok {
		r.unsure = true
	}
	return r
}

// bare is what the server itself knows of an execution.
func (c *Client) bare(w *workflow.WorkflowExecutionInfo) *signals.Record {
	r := &signals.Record{
		ID: executionID(w), Runtime: c.runtime, Status: visibleStatus(w), Connectors: []string{},
		CreatedAt: w.StartTime.AsTime().UnixMilli(), UpdatedAt: w.StartTime.AsTime().UnixMilli(),
	}
	if w.CloseTime != nil {
		r.UpdatedAt = w.CloseTime.AsTime().UnixMilli()
	}
	if r.Status == "" { // the server has no search attributes
		if r.Status = signals.Running; closed(w) {
			r.Status = signals.Completed
		}
	}
	return r
}

// unreadable stands for an execution of which only the server's own knowledge can be told.
func (c *Client) unreadable(w *workflow.WorkflowExecutionInfo, err error) *signals.Record {
	r := c.bare(w)
	r.Error = "This execution cannot be read: " + err.Error()
	return r
}

// mayBe reports whether a row belongs to a list, as far as it is known.
func (r *row) mayBe(o ListOptions) bool {
	if !r.unsure && r.start != nil && !r.start.Cut {
		return r.is(o)
	}
	return (r.unsure || o.Status == "" || r.record.Status == o.Status) &&
		(r.start == nil || hasLabels(r.record, o.Labels))
}

// is reports whether a row belongs to a list.
func (r *row) is(o ListOptions) bool {
	return (o.Status == "" || r.record.Status == o.Status) && hasText(r.record, o.Text) &&
		hasLabels(r.record, o.Labels)
}

func hasLabels(r *signals.Record, labels map[string]string) bool {
	for name, value := range labels {
		if known, ok := r.Labels[name]; !ok || known != value {
			return false
		}
	}
	return true
}

func hasText(r *signals.Record, text string) bool {
	text = strings.ToLower(text)
	for _, field := range []string{r.ID, r.Purpose, r.Code} {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

// missing is what reads what a row lacks for a list; nil where it lacks nothing.
func (c *Client) missing(r *row, o ListOptions) func(context.Context, *row) error {
	program := r.start != nil && r.start.Cut && (!o.Brief || !hasText(r.record, o.Text))
	switch {
	case r.record.Error != "": // it cannot be read
		return nil
	case r.start == nil || r.unsure:
		return c.readWhole
	case o.Brief && !program:
		return nil
	case o.Brief || !closed(r.info) && program:
		return c.readProgram
	case !closed(r.info):
		return nil
	case program:
		return func(ctx context.Context, r *row) error {
			if err := c.readProgram(ctx, r); err != nil {
				return err
			}
			return c.readEnd(ctx, r)
		}
	}
	return c.readEnd
}

// readWhole reads the history.
func (c *Client) readWhole(ctx context.Context, r *row) error {
	record, err := c.Show(ctx, r.record.ID)
	if record != nil {
		record.Log = nil
		r.record = record
	}
	return err
}

// readProgram reads the first event of the newest run.
func (c *Client) readProgram(ctx context.Context, r *row) error {
	space, err := namespace.Of(c.temporal)
	if err != nil {
		return err
	}
	page, err := c.temporal.WorkflowService().GetWorkflowExecutionHistory(ctx,
		&workflowservice.GetWorkflowExecutionHistoryRequest{Namespace: space, Execution: r.info.Execution,
			MaximumPageSize: 1})
	if err != nil || len(page.GetHistory().GetEvents()) == 0 {
		return err
	}
	var in signals.ExecutionInput
	started := page.History.Events[0].GetWorkflowExecutionStartedEventAttributes()
	if err := c.decodeFirst(started.GetInput(), &in); err != nil {
		return err
	}
	r.record.Purpose, r.record.Code = in.Purpose, in.Code
	return nil
}

// readEnd reads the last event of the newest run.
func (c *Client) readEnd(ctx context.Context, r *row) error {
	events := c.temporal.GetWorkflowHistory(ctx, r.info.Execution.WorkflowId, r.info.Execution.RunId, false,
		enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if !events.HasNext() {
		return fmt.Errorf("the end of %s is not in its history", r.record.ID)
	}
	last, err := events.Next()
	if err != nil {
		return err
	}
	return c.end(ctx, r, last)
}

// end adds what the last event tells of a closed execution.
func (c *Client) end(ctx context.Context, r *row, last *historypb.HistoryEvent) error {
	result := history.ResultOf(last)
	if result == nil {
		r.record.Error = "The workflow was " + closedAs(r.info) + " from outside"
		return nil
	}
	var end signals.ExecutionResult
	if err := c.decodeFirst(result, &end); err != nil {
		return err
	}
	if end.Omitted { // only the history has its result
		return c.readWhole(ctx, r)
	}
	to := r.record
	to.Error, to.Position, to.Passes, to.UpdatedAt, to.EndedBy = end.Error, end.Position, end.Passes, end.EndedAt,
		end.EndedBy
	to.CreatedAt = cmp.Or(end.StartedAt, to.CreatedAt)
	to.Connectors = append([]string{}, end.Connectors...)
	if end.Status == signals.Completed {
		to.Result = end.Result
	}
	return nil
}

func (c *Client) decodeFirst(payloads *commonpb.Payloads, into any) error {
	if len(payloads.GetPayloads()) == 0 {
		return errors.New("nothing is there that could be read")
	}
	return c.dc.FromPayload(payloads.Payloads[0], into)
}

// memo reads a field of an execution's memo, if it has it.
func (c *Client) memo(w *workflow.WorkflowExecutionInfo, name string, into any) (known bool, err error) {
	p := w.GetMemo().GetFields()[name]
	if p == nil {
		return false, nil
	}
	err = c.dc.FromPayload(p, into)
	return err == nil, err
}

// rollbacks are the newest statuses of the rollbacks that came after an execution's end, by its id: its own status is
// still that of the end.
type rollbacks map[string]signals.Status

// take keeps the rollbacks among what visibility found, newest first, and gives the rest.
func (b rollbacks) take(found []*workflow.WorkflowExecutionInfo) []*workflow.WorkflowExecutionInfo {
	var rest []*workflow.WorkflowExecutionInfo
	for _, w := range found {
		if w.GetType().GetName() != signals.RollbackWorkflow {
			rest = append(rest, w)
			continue
		}
		workflowID, _, _ := strings.Cut(w.Execution.WorkflowId, "/rollback/")
		_, id, _ := signals.ParseWorkflowID(workflowID)
		if b[id] != signals.RolledBack { // one that undid anything counts, whatever came after it
			b[id] = signals.Status(attribute(w, signals.AttributeStatus))
		}
	}
	return rest
}

func attribute(w *workflow.WorkflowExecutionInfo, name string) string {
	var value string
	if p := w.GetSearchAttributes().GetIndexedFields()[name]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}},
			&value)
	}
	return value
}

func closed(w *workflow.WorkflowExecutionInfo) bool {
	return w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// closedAs tells how a workflow closed that did not by itself.
func closedAs(w *workflow.WorkflowExecutionInfo) string {
	switch w.GetStatus() {
	case enums.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return "terminated"
	case enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return "timed out"
	case enums.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return "canceled"
	}
	return "failed"
}

// visibleStatus is what visibility knows of an execution's status; empty where the server has no search attributes.
// Without CodemodeStatus an execution runs or has completed, as Temporal's own status says. A failed workflow may be an
// execution that was asked to fail.
func visibleStatus(w *workflow.WorkflowExecutionInfo) signals.Status {
	known := signals.Status(attribute(w, signals.AttributeStatus))
	failed := w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_FAILED
	switch {
	case failed && attribute(w, signals.AttributeRuntime) == "":
		return ""
	case failed && signals.EndError(known) != "":
		return known
	case closed(w) && w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED: // it was ended from outside
		return signals.Failed
	case attribute(w, signals.AttributeRuntime) == "":
		return ""
	case known == "" && closed(w):
		return signals.Completed
	case known == "":
		return signals.Running
	default:
		return known
	}
}

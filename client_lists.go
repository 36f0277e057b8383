package codemode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// ListOptions of Executions. The zero value lists the newest 20 of any status.
type ListOptions struct {
	Limit  int // 0 is 20
	Status signals.Status
	// Text keeps those whose id, purpose or program has it, in whatever case.
	Text string
	// Labels keeps those that have all of these. Without ClientOptions.IndexLabels records are read to find out.
	Labels map[string]string
}

// Executions lists records, newest first, without their logs. Lists may lag a second behind. One that cannot be read,
// such as when its key is lost, is listed with nothing but its id, status, times, and the reason as its error.
func (c *Client) Executions(ctx context.Context, o ListOptions) ([]signals.Record, error) {
	if o.Limit == 0 {
		o.Limit = 20
	}
	if err := (signals.Caller{Labels: o.Labels}).Check(); err != nil {
		return nil, err
	}
	rolledBack, err := c.rolledBack(ctx, o.Status)
	if err != nil {
		return nil, err
	}
	records, labelled := []signals.Record{}, c.labelled(o.Labels)
	for _, filter := range startedWithin(time.Now()) {
		found, err := c.visible(ctx, signals.ExecutionWorkflow, filter+labelled)
		if rpcerr.UnknownSearchAttribute(err) && labelled != "" {
			labelled = ""
			found, err = c.visible(ctx, signals.ExecutionWorkflow, filter)
		}
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found,
			func(w *workflow.WorkflowExecutionInfo) bool { return !hasStatus(w, o.Status, rolledBack) })
		if records, err = c.extend(ctx, records, found, o); err != nil || len(records) == o.Limit {
			return records, err
		}
	}
	return records, nil
}

// extend adds the records of executions to a list, up to its limit.
func (c *Client) extend(ctx context.Context, records []signals.Record, found []*workflow.WorkflowExecutionInfo,
	o ListOptions) ([]signals.Record, error) {
	for few := range slices.Chunk(found, atOnce) {
		shown, err := c.shows(ctx, few)
		if err != nil {
			return nil, err
		}
		for _, r := range shown {
			if r == nil || o.Status != "" && r.Status != o.Status || !hasText(r, o.Text) ||
				!hasLabels(r, o.Labels) {
				continue
			}
			if records = append(records, *r); len(records) == o.Limit {
				return records, nil
			}
		}
	}
	return records, nil
}

// lookBack is how far back a list looks, step by step: who wants the newest does not read the names of all.
var lookBack = []time.Duration{time.Minute, 10 * time.Minute, 2 * time.Hour, 24 * time.Hour, 14 * 24 * time.Hour}

// startedWithin are filters, newest first, of which every execution passes exactly one.
func startedWithin(now time.Time) []string {
	var filters []string
	before := ""
	for _, d := range lookBack {
		since := now.Add(-d).UTC().Format(time.RFC3339Nano)
		filters = append(filters, fmt.Sprintf(`StartTime >= "%s"%s`, since, before))
		before = fmt.Sprintf(` AND StartTime < "%s"`, since)
	}
	return append(filters, strings.TrimPrefix(before, " AND "))
}

func (c *Client) shows(ctx context.Context, executions []*workflow.WorkflowExecutionInfo) ([]*signals.Record, error) {
	records := make([]*signals.Record, len(executions))
	group, ctx := errgroup.WithContext(ctx)
	for i, w := range executions {
		group.Go(func() error {
			r, err := c.Show(ctx, executionID(w))
			if errors.Is(err, ErrNotFound) { // deleted meanwhile
				return nil
			}
			if err != nil && (ctx.Err() != nil || rpcerr.Service(err)) {
				return err
			}
			if err != nil {
				r = c.unreadable(w, err)
			}
			if r != nil {
				r.Log = nil
			}
			records[i] = r
			return nil
		})
	}
	return records, group.Wait()
}

// labelled is the condition of a list by labels, where the server knows them. A label that would have to be escaped is
// left to the records.
func (c *Client) labelled(labels map[string]string) string {
	if !c.indexLabels {
		return ""
	}
	var condition strings.Builder
	for _, label := range (signals.Caller{Labels: labels}).IndexedLabels() {
		if !strings.ContainsAny(label, "'\"\\`") {
			fmt.Fprintf(&condition, ` AND %s = "%s"`, signals.AttributeLabels, label)
		}
	}
	return condition.String()
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

// unreadable stands for an execution of which only the server's own knowledge can be told.
func (c *Client) unreadable(w *workflow.WorkflowExecutionInfo, err error) *signals.Record {
	r := &signals.Record{
		ID: executionID(w), Runtime: c.runtime, Status: visibleStatus(w),
		Error: "This execution cannot be read: " + err.Error(), Connectors: []string{},
		CreatedAt: w.StartTime.AsTime().UnixMilli(), UpdatedAt: w.StartTime.AsTime().UnixMilli(),
	}
	if w.CloseTime != nil {
		r.UpdatedAt = w.CloseTime.AsTime().UnixMilli()
	}
	switch { // it was ended from outside, or the server has no search attributes
	case r.Status != "":
	case w.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		r.Status = signals.Running
	case w.Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		r.Status = signals.Completed
	default:
		r.Status = signals.Failed
	}
	return r
}

// ids lists execution ids from visibility, newest first.
func (c *Client) ids(ctx context.Context, filter string, status signals.Status) ([]string, error) {
	found, err := c.visible(ctx, signals.ExecutionWorkflow, filter)
	var ids []string
	for _, w := range found {
		if hasStatus(w, status, nil) {
			ids = append(ids, executionID(w))
		}
	}
	return ids, err
}

// executionID is empty for workflows that are no executions.
func executionID(w *workflow.WorkflowExecutionInfo) string {
	_, id, _ := signals.ParseWorkflowID(w.Execution.WorkflowId)
	return id
}

// hasStatus reports whether an execution has the status, or may have it. Those that carry no search attributes, because
// the server had none, are found by their workflow id, and kept whatever their status.
func hasStatus(w *workflow.WorkflowExecutionInfo, status signals.Status, rolledBack map[string]bool) bool {
	id := executionID(w)
	known := visibleStatus(w)
	return id != "" && (status == "" || known == "" || known == status || rolledBack[id])
}

// rolledBack are the executions that were rolled back after their end: their own status is still that of the end.
func (c *Client) rolledBack(ctx context.Context, status signals.Status) (map[string]bool, error) {
	if status != signals.RolledBack {
		return nil, nil
	}
	found, err := c.visible(ctx, signals.RollbackWorkflow, "")
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, w := range found {
		workflowID, _, _ := strings.Cut(w.Execution.WorkflowId, "/rollback/")
		if _, id, ok := signals.ParseWorkflowID(workflowID); ok {
			ids[id] = true
		}
	}
	return ids, nil
}

// visible lists workflows of the runtime, newest first.
func (c *Client) visible(ctx context.Context, kind, filter string) ([]*workflow.WorkflowExecutionInfo, error) {
	query := fmt.Sprintf(`WorkflowType = "%s" AND WorkflowId STARTS_WITH "codemode/%s/" AND `+
		`ExecutionStatus != "ContinuedAsNew"`, kind, c.runtime)
	if filter != "" {
		query += " AND " + filter
	}
	var found []*workflow.WorkflowExecutionInfo
	var token []byte
	for {
		page, err := c.temporal.ListWorkflow(ctx,
			&workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 1000, NextPageToken: token})
		if err != nil {
			return nil, err
		}
		found = append(found, page.Executions...)
		if token = page.NextPageToken; len(token) == 0 {
			break
		}
	}
	sort.SliceStable(found,
		func(i, j int) bool { return found[i].StartTime.AsTime().After(found[j].StartTime.AsTime()) })
	return found, nil
}

func attribute(w *workflow.WorkflowExecutionInfo, name string) string {
	var value string
	if p := w.GetSearchAttributes().GetIndexedFields()[name]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}},
			&value)
	}
	return value
}

// visibleStatus is what visibility knows of an execution's status; empty where the server has no search attributes.
// Without CodemodeStatus an execution runs or has completed, as Temporal's own status says. A failed workflow may be an
// execution that was asked to fail.
func visibleStatus(w *workflow.WorkflowExecutionInfo) signals.Status {
	closed := w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	known := signals.Status(attribute(w, signals.AttributeStatus))
	asked := w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_FAILED && signals.EndError(known) != ""
	switch {
	case attribute(w, signals.AttributeRuntime) == "",
		closed && w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED && !asked:
		return ""
	case known == "" && closed:
		return signals.Completed
	case known == "":
		return signals.Running
	default:
		return known
	}
}

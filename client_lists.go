package codemode

import (
	"context"
	"fmt"
	"sort"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/signals"
)

// ListOptions of Executions. The zero value lists the newest 20 of any status.
type ListOptions struct {
	Limit  int // 0 is 20
	Status signals.Status
	// Text keeps those whose id, purpose or program has it, in whatever case.
	Text string
}

// Executions lists records, newest first, without their logs. Lists may lag a second behind.
func (c *Client) Executions(ctx context.Context, o ListOptions) ([]signals.Record, error) {
	if o.Limit == 0 {
		o.Limit = 20
	}
	ids, err := c.ids(ctx, "", o.Status)
	if err != nil {
		return nil, err
	}
	records := []signals.Record{}
	for len(ids) > 0 && len(records) < o.Limit {
		few := ids[:min(len(ids), atOnce)]
		ids = ids[len(few):]
		found, err := c.shows(ctx, few)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if r != nil && (o.Status == "" || r.Status == o.Status) && hasText(r, o.Text) && len(records) < o.Limit {
				r.Log = nil
				records = append(records, *r)
			}
		}
	}
	return records, nil
}

func (c *Client) shows(ctx context.Context, ids []string) ([]*signals.Record, error) {
	records := make([]*signals.Record, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	for i, id := range ids {
		group.Go(func() (err error) {
			records[i], err = c.Show(ctx, id)
			return err
		})
	}
	return records, group.Wait()
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

// ids lists execution ids from visibility, newest first. Executions that carry no search attributes, because the server
// had none, are found by their workflow id, and kept whatever their status.
func (c *Client) ids(ctx context.Context, filter string, status signals.Status) ([]string, error) {
	found, err := c.visible(ctx, signals.ExecutionWorkflow, filter)
	if err != nil {
		return nil, err
	}
	rolledBack, err := c.rolledBack(ctx, status)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, w := range found {
		_, id, ok := signals.ParseWorkflowID(w.Execution.WorkflowId)
		if known := visibleStatus(w); ok && (status == "" || known == "" || known == status || rolledBack[id]) {
			ids = append(ids, id)
		}
	}
	return ids, nil
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
	query := fmt.Sprintf(`WorkflowType = "%s" AND WorkflowId STARTS_WITH "codemode/%s/"`, kind, c.runtime)
	if filter != "" {
		query += " AND " + filter
	}
	var found []*workflow.WorkflowExecutionInfo
	var token []byte
	for {
		page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 1000, NextPageToken: token})
		if err != nil {
			return nil, err
		}
		found = append(found, page.Executions...)
		if token = page.NextPageToken; len(token) == 0 {
			break
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].StartTime.AsTime().After(found[j].StartTime.AsTime()) })
	return found, nil
}

func attribute(w *workflow.WorkflowExecutionInfo, name string) string {
	var value string
	if p := w.GetSearchAttributes().GetIndexedFields()[name]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}}, &value)
	}
	return value
}

// visibleStatus is what visibility knows of an execution's status; empty where the server has no search attributes.
// Without CodemodeStatus an execution runs or has completed, as Temporal's own status says.
func visibleStatus(w *workflow.WorkflowExecutionInfo) signals.Status {
	closed := w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	switch known := signals.Status(attribute(w, signals.AttributeStatus)); {
	case attribute(w, signals.AttributeRuntime) == "", closed && w.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return ""
	case known == "" && closed:
		return signals.Completed
	case known == "":
		return signals.Running
	default:
		return known
	}
}

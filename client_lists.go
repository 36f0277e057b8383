package codemode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
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
	// Labels keeps those that have all of these.
	Labels map[string]string
	// Brief leaves out how executions ended: result, error, passes and connectors of those that have, and the end of
	// long programs. The server's lists alone answer then, where otherwise one event is read for each that has ended.
	Brief bool
}

// Executions lists records, newest first, without their logs, console output, warnings and excerpts. No history is read
// for that, but of executions that carry no memo, because an older version started them, or none of our clients. Lists
// may lag a second behind. One that cannot be read, such as when its key is lost, is listed with nothing but its id,
// status, times, and the reason as its error.
func (c *Client) Executions(ctx context.Context, o ListOptions) ([]signals.Record, error) {
	if o.Limit == 0 {
		o.Limit = 20
	}
	if err := (signals.Caller{Labels: o.Labels}).Check(); err != nil {
		return nil, err
	}
	records, undone, labelled := []signals.Record{}, rollbacks{}, c.labelled(o.Labels)
	wanted := o.Limit
	for spans := startedWithin(time.Now()); len(spans) > 0; {
		found, rest, err := c.newestOf(ctx, withRollbacks(labelled), spans[0], wanted)
		if rpcerr.UnknownSearchAttribute(err) && labelled != "" {
			labelled = ""
			continue
		}
		if err != nil {
			return nil, err
		}
		rows := c.rows(undone.take(found), undone)
		rows = slices.DeleteFunc(rows, func(r *row) bool { return !r.mayBe(o) })
		if records, err = c.extend(ctx, records, rows, o); err != nil || len(records) == o.Limit {
			return records, err
		}
		spans = append(rest, spans[1:]...)
		wanted *= 4 // few of them were what is looked for
	}
	return records, nil
}

// withRollbacks is the condition of a list of executions, and of what was rolled back after its end: a rollback starts
// after its execution, so whoever goes back in time meets it first.
func withRollbacks(labelled string) string {
	return fmt.Sprintf(`(WorkflowType = "%s"%s OR WorkflowType = "%s")`, signals.ExecutionWorkflow, labelled,
		signals.RollbackWorkflow)
}

// extend adds the records of executions to a list, up to its limit.
func (c *Client) extend(ctx context.Context, records []signals.Record, rows []*row,
	o ListOptions) ([]signals.Record, error) {
	for len(rows) > 0 {
		n := min(len(rows), o.Limit-len(records))
		if err := c.readMissing(ctx, rows[:n], o); err != nil {
			return nil, err
		}
		for _, r := range rows[:n] {
			if r.record != nil && r.is(o) {
				records = append(records, *r.record)
			}
		}
		if rows = rows[n:]; len(records) == o.Limit {
			break
		}
	}
	return records, nil
}

// readMissing reads what the rows lack.
func (c *Client) readMissing(ctx context.Context, rows []*row, o ListOptions) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, r := range rows {
		read := c.missing(r, o)
		if read == nil {
			continue
		}
		group.Go(func() error {
			err := read(ctx, r)
			switch {
			case errors.Is(err, ErrNotFound), rpcerr.NotFound(err): // deleted meanwhile
				r.record = nil
			case err != nil && (ctx.Err() != nil || rpcerr.Service(err)):
				return err
			case err != nil:
				r.record = c.unreadable(r.info, err)
			}
			return nil
		})
	}
	return group.Wait()
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

// ids lists execution ids from visibility, newest first.
func (c *Client) ids(ctx context.Context, filter string) ([]string, error) {
	found, err := c.visible(ctx, ofExecutions+" AND "+filter)
	return executionIDs(found), err
}

func executionIDs(found []*workflow.WorkflowExecutionInfo) []string {
	var ids []string
	for _, w := range found {
		if id := executionID(w); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// executionID is empty for workflows that are no executions.
func executionID(w *workflow.WorkflowExecutionInfo) string {
	_, id, _ := signals.ParseWorkflowID(w.Execution.WorkflowId)
	return id
}

const ofExecutions = `WorkflowType = "` + signals.ExecutionWorkflow + `"`

// paused lists the executions that wait for a person, newest first, and with them those of which only their workflow
// knows: those that carry no search attributes, because the server had none.
func (c *Client) paused(ctx context.Context) ([]*workflow.WorkflowExecutionInfo, error) {
	const open = ofExecutions + ` AND ExecutionStatus = "Running"`
	found, err := c.visible(ctx, fmt.Sprintf(`%s AND (%s = "%s" OR %s IS NULL)`, open, signals.AttributeStatus,
		signals.Paused, signals.AttributeRuntime))
	if rpcerr.UnknownSearchAttribute(err) {
		found, err = c.visible(ctx, open)
	}
	return slices.DeleteFunc(found, func(w *workflow.WorkflowExecutionInfo) bool {
		status := visibleStatus(w)
		return executionID(w) == "" || status != "" && status != signals.Paused
	}), err
}

// visible lists workflows of the runtime, newest first.
func (c *Client) visible(ctx context.Context, filter string) ([]*workflow.WorkflowExecutionInfo, error) {
	found, _, err := c.visibleUpTo(ctx, filter, math.MaxInt)
	return found, err
}

// visibleUpTo lists no more than so many pages, in whatever order the server has them, and tells whether that is all.
func (c *Client) visibleUpTo(ctx context.Context, filter string, pages int) (found []*workflow.WorkflowExecutionInfo,
	all bool, err error) {
	var token []byte
	for range pages {
		page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: c.visibleQuery(filter), PageSize: pageSize, NextPageToken: token})
		if err != nil {
			return nil, false, err
		}
		found = append(found, page.Executions...)
		if token = page.NextPageToken; len(token) == 0 {
			break
		}
	}
	sort.SliceStable(found,
		func(i, j int) bool { return found[i].StartTime.AsTime().After(found[j].StartTime.AsTime()) })
	return found, len(token) == 0, nil
}

// pageSize is the most that a server gives at once.
const pageSize = 1000

func (c *Client) visibleQuery(filter string) string {
	return fmt.Sprintf(`%s AND WorkflowId STARTS_WITH "codemode/%s/" AND ExecutionStatus != "ContinuedAsNew"`, filter,
		c.runtime)
}

package codemode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/internal/namespace"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/signals"
)

// Delete removes an execution and all that is known of it. An open one first ends as rejected: calls that run are
// awaited, connectors dispose of it. It returns when the server no longer knows it, which takes a server up to half a
// minute after the execution's end.
func (c *Client) Delete(ctx context.Context, id string) error {
	d, err := c.temporal.DescribeWorkflowExecution(ctx, signals.WorkflowID(c.runtime, id), "")
	if rpcerr.NotFound(err) {
		return noExecution(id)
	}
	if err != nil {
		return err
	}
	if d.WorkflowExecutionInfo.GetCloseTime() == nil {
		if _, err := c.decide(ctx, id, signals.SignalReject, signals.Reject{All: true, Reason: "deleted"}); err != nil {
			return err
		}
		if _, err := c.waitEnd(ctx, id); err != nil {
			return err
		}
	}
	return c.forget(ctx, id)
}

// forget removes what the server keeps of an execution: first its rollbacks, so that an interrupted deletion can be
// repeated by id.
func (c *Client) forget(ctx context.Context, id string) error {
	workflowID := signals.WorkflowID(c.runtime, id)
	for n := 1; ; n++ {
		known, err := c.deleteRuns(ctx, signals.RollbackID(workflowID, n))
		if err != nil {
			return err
		}
		if !known {
			break
		}
	}
	// What undid effects that others carried stays: these could else be undone twice.
	if _, err := c.deleteRuns(ctx, signals.ContinuedID(workflowID)); err != nil {
		return err
	}
	_, err := c.deleteRuns(ctx, workflowID)
	return err
}

// deleteRuns deletes every run of a workflow id, and returns when the server knows none. A reset makes further runs.
func (c *Client) deleteRuns(ctx context.Context, workflowID string) (known bool, err error) {
	for {
		d, err := c.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
		if rpcerr.NotFound(err) {
			return known, c.deleteEarlierRuns(ctx, workflowID, known)
		}
		if err != nil {
			return known, err
		}
		known = true
		if err := c.deleteRun(ctx, d.WorkflowExecutionInfo.Execution); err != nil {
			return known, err
		}
	}
}

func (c *Client) deleteEarlierRuns(ctx context.Context, workflowID string, known bool) error {
	if !known {
		return nil
	}
	page, err := c.temporal.ListWorkflow(ctx,
		&workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId = '%s'", workflowID)})
	if err != nil {
		return err
	}
	for _, w := range page.Executions {
		if err := c.deleteRun(ctx, w.Execution); err != nil {
			return err
		}
	}
	return nil
}

// deleteRun deletes a run and waits until the server does not know it.
func (c *Client) deleteRun(ctx context.Context, run *commonpb.WorkflowExecution) error {
	space, err := namespace.Of(c.temporal)
	if err != nil {
		return err
	}
	_, err = c.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: space, WorkflowExecution: run,
	})
	for every := 5 * time.Millisecond; err == nil; every = min(2*every, 200*time.Millisecond) {
		if _, err = c.temporal.DescribeWorkflowExecution(ctx, run.WorkflowId, run.RunId); err == nil {
			err = wait.For(ctx, every)
		}
	}
	if rpcerr.NotFound(err) {
		return nil
	}
	return fmt.Errorf("delete %s: %w", run.WorkflowId, err)
}

// Prune deletes closed executions but for the newest ones, and tells how many. Open ones stay, and do not count.
// Retention is otherwise the namespace's. Lists may lag a second behind.
func (c *Client) Prune(ctx context.Context, keep int) (int, error) {
	if keep < 0 {
		return 0, fmt.Errorf("prune: cannot keep %d executions", keep)
	}
	closed, err := c.ids(ctx, `ExecutionStatus != "Running"`)
	if err != nil {
		return 0, err
	}
	return c.deleteAll(ctx, closed[min(keep, len(closed)):])
}

// deleteAll deletes closed executions, several at once since the server takes its time, and counts those that were
// still there.
func (c *Client) deleteAll(ctx context.Context, ids []string) (int, error) {
	var deleted atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, id := range ids {
		group.Go(func() error {
			err := c.Delete(ctx, id)
			switch {
			case err == nil:
				deleted.Add(1)
			case errors.Is(err, ErrNotFound): // somebody else was faster
				return nil
			}
			return err
		})
	}
	err := group.Wait()
	return int(deleted.Load()), err
}

// retaining deletes in the background what is not kept beside a new execution; what it returns waits for that.
func (c *Client) retaining(ctx context.Context, newest string) (wait func()) {
	if c.maxExecutions == nil {
		return func() {}
	}
	var wg sync.WaitGroup
	wg.Go(func() { c.retain(ctx, newest) })
	return wg.Wait
}

// retain deletes what ClientOptions.MaxExecutions does not keep: closed executions beyond the newest that many, never
// the one that was just started. What it cannot delete now goes with a later start.
func (c *Client) retain(ctx context.Context, newest string) {
	ctx, cancel := context.WithTimeout(ctx, forgetPatience)
	defer cancel()
	found, err := c.current(ctx, newest)
	if err != nil {
		return
	}
	kept := 0
	var surplus []string
	for _, w := range found {
		_, id, ok := signals.ParseWorkflowID(w.Execution.WorkflowId)
		if !ok || id == newest {
			continue
		}
		if w.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING { // or was, when the list was written
			if open, err := c.open(ctx, id); open || err != nil {
				continue
			}
		}
		if kept++; kept > *c.maxExecutions {
			surplus = append(surplus, id)
		}
	}
	_, _ = c.deleteAll(ctx, surplus)
}

// forgetPatience bounds how long an Execute waits for what it deletes. The server goes on with that by itself.
const forgetPatience = 10 * time.Second

// listLag bounds how long lists are given to show what was just started.
const listLag = 2 * time.Second

// current lists the executions once the newest shows, so that those before it probably do.
func (c *Client) current(ctx context.Context, newest string) ([]*workflow.WorkflowExecutionInfo, error) {
	began := time.Now()
	for {
		found, err := c.visible(ctx, ofExecutions)
		shown := slices.ContainsFunc(found, func(w *workflow.WorkflowExecutionInfo) bool {
			return w.Execution.WorkflowId == signals.WorkflowID(c.runtime, newest)
		})
		if err != nil || shown || time.Since(began) > listLag {
			return found, err
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// Expire ends the executions that have been paused for longer than maxAge, and lists them. They are rejected, with the
// error "Expired awaiting approval". Each paused execution expires by itself after limits.pausedTTL: this is for
// sooner. Lists may lag a second behind.
func (c *Client) Expire(ctx context.Context, maxAge time.Duration) ([]string, error) {
	before := int64(0)
	if maxAge > 0 {
		before = time.Now().Add(-maxAge).UnixMilli()
	}
	found, err := c.paused(ctx)
	expired := []string{}
	if err != nil {
		return expired, err
	}
	for _, id := range executionIDs(found) {
		v, err := c.decide(ctx, id, signals.SignalExpire, signals.Expire{Before: before})
		if err == nil && v.Accepted {
			_, err = c.waitEnd(ctx, id)
			expired = append(expired, id)
		}
		if err != nil {
			return expired, err
		}
	}
	return expired, nil
}

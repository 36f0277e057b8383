package codemode

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/internal/ask"
	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// Show reads the audit record of an execution. Closed executions need no worker; for open ones a worker tells what is
// pending right now.
func (c *Client) Show(ctx context.Context, id string) (*signals.Record, error) {
	h, err := c.history(ctx, id)
	if err != nil {
		return nil, err
	}
	record, err := h.Record(c.runtime, id)
	if err != nil {
		return nil, err
	}
	if h.Result == nil && h.Closed == "" {
		c.overlay(ctx, record)
	}
	h.RestoreEdits(record.Log)
	if _, err = h.Join(ctx, c.temporal, signals.WorkflowID(c.runtime, id), record); err != nil {
		return record, err
	}
	return record, c.undoneElsewhere(ctx, record)
}

// history reads what the server keeps of an execution.
func (c *Client) history(ctx context.Context, id string) (*history.History, error) {
	h, err := history.Read(ctx, c.temporal, c.dc, signals.WorkflowID(c.runtime, id), "")
	if rpcerr.NotFound(err) {
		return nil, noExecution(id)
	}
	return h, err
}

// queryPatience bounds how long a record waits for a worker to say what is pending; without one it shows the fold
// alone.
const queryPatience = 3 * time.Second

// overlay adds what only the running workflow knows: its status, and the state of calls that have not settled.
func (c *Client) overlay(ctx context.Context, r *signals.Record) {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	open := map[int]signals.Call{}
	for offset, total := 0, 1; offset < total; offset += 1000 {
		var page signals.Record
		if c.query(ctx, r.ID, signals.QueryState, &page, signals.Page{Offset: offset}) != nil {
			c.overlayStatus(r)
			return
		}
		r.Status, r.Passes, total = page.Status, page.Passes, page.Total
		for _, call := range page.Log {
			open[call.Seq] = call
		}
	}
	for i := range r.Log {
		if now, ok := open[r.Log[i].Seq]; ok {
			call := &r.Log[i]
			call.State, call.Ended, call.SettledAt = now.State, now.Ended, now.SettledAt
			call.Error, call.ErrorName = now.Error, now.ErrorName
			call.DecidedBy, call.AssertedBy, call.DecidedAt, call.Note, call.Attempts = now.DecidedBy, now.AssertedBy,
				now.DecidedAt, now.Note, now.Attempts
			call.Decisions = now.Decisions
			if len(call.Result) == 0 && !call.Ephemeral {
				call.Result = now.Result
			}
		}
	}
}

// overlayStatus takes the status from the server, where no worker answers.
func (c *Client) overlayStatus(r *signals.Record) {
	ctx, cancel := context.WithTimeout(context.Background(), queryPatience)
	defer cancel()
	d, err := c.temporal.DescribeWorkflowExecution(ctx, signals.WorkflowID(c.runtime, r.ID), "")
	if err != nil {
		return
	}
	if status := visibleStatus(d.WorkflowExecutionInfo); status != "" {
		r.Status = status
	}
}

func (c *Client) query(ctx context.Context, id, name string, out any, args ...any) error {
	value, err := c.temporal.QueryWorkflow(ctx, signals.WorkflowID(c.runtime, id), "", name, args...)
	if err != nil {
		return err
	}
	var raw converter.RawValue // the worker may compress what the Temporal client's converter cannot open
	if err := value.Get(&raw); err != nil {
		return err
	}
	return c.dc.FromPayload(raw.Payload(), out)
}

// closedOutcome is the outcome of an execution that takes no updates any more.
func (c *Client) closedOutcome(ctx context.Context, id string) (signals.Outcome, error) {
	h, err := c.history(ctx, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	r, err := h.Record(c.runtime, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	if _, err := h.Join(ctx, c.temporal, signals.WorkflowID(c.runtime, id), r); err != nil {
		return signals.Outcome{}, err
	}
	return c.transform(ctx, h.Outcome(r)), nil
}

// ErrNotFound is in the error of everything that was asked about an execution, a method or a snippet that does not
// exist.
var ErrNotFound = ask.ErrNotFound

func noExecution(id string) error { return fmt.Errorf("there is no execution %q: %w", id, ErrNotFound) }

func noSnippet(name string) error { return fmt.Errorf("there is no snippet %q: %w", name, ErrNotFound) }

// complete makes of what the workflow answered what the caller gets.
func (c *Client) complete(ctx context.Context, o signals.Outcome) (signals.Outcome, error) {
	o, err := c.fill(ctx, o)
	if err != nil {
		return o, err
	}
	return c.transform(ctx, o), nil
}

// fill adds what an outcome left out for its size.
func (c *Client) fill(ctx context.Context, o signals.Outcome) (signals.Outcome, error) {
	if !o.Partial {
		return o, nil
	}
	if o.CallsOmitted && c.omitCalls {
		o.Error = history.ErrorText(o)
		return o, nil
	}
	h, err := c.history(ctx, o.ExecutionID)
	if err != nil {
		return o, err
	}
	r, err := h.Record(c.runtime, o.ExecutionID)
	if err != nil {
		return o, err
	}
	return h.Fill(o, r), nil
}

package codemode

import (
	"context"
	"fmt"
	"slices"
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
	record, err := c.fold(h, id)
	if err != nil {
		return nil, err
	}
	if h.Result == nil && h.Closed == "" {
		c.overlay(ctx, record)
	}
	restoreEdits(record.Log, h)
	_, err = c.join(ctx, h, record)
	return record, err
}

// restoreEdits adds edited arguments that were too large to be kept with the decision.
func restoreEdits(calls []signals.Call, h *history.History) {
	shortened := func(d signals.Decision) bool { return d.Shortened && d.Approved }
	for i := range calls {
		if c := &calls[i]; len(c.EditedArgs) == 0 && slices.ContainsFunc(c.Decisions, shortened) {
			c.EditedArgs = h.Edited(c.Seq)
		}
	}
}

// history reads what the server keeps of an execution.
func (c *Client) history(ctx context.Context, id string) (*history.History, error) {
	h, err := history.Read(ctx, c.temporal, c.dc, signals.WorkflowID(c.runtime, id), "")
	if rpcerr.NotFound(err) {
		return nil, noExecution(id)
	}
	return h, err
}

// fold makes the record of what history says.
func (c *Client) fold(h *history.History, id string) (*signals.Record, error) {
	log, err := h.Log()
	if err != nil {
		return nil, fmt.Errorf("fold the log of %s: %w", id, err)
	}
	r := &signals.Record{
		ID: id, Runtime: c.runtime, Purpose: h.Input.Purpose, Code: h.Input.Code, Caller: h.Input.Caller,
		Status:     signals.Running,
		Logs:       log.Logs,
		Connectors: []string{}, Passes: log.Passes, CreatedAt: h.StartedAt, UpdatedAt: h.UpdatedAt,
	}
	if log.Pinned != nil {
		r.Engine, r.Connectors = log.Pinned.Engine, append(r.Connectors, log.Pinned.Connectors...)
		r.Hints, r.Program = log.Pinned.Preflight.Hints, log.Pinned.Preflight.Program
	}
	if h.Closed != "" {
		r.Status, r.Error = signals.Failed, "The workflow was "+h.Closed+" from outside"
		if err := log.Give(h.Loose(log), h.Source); err != nil {
			return nil, fmt.Errorf("fold the end of %s: %w", id, err)
		}
	}
	if h.Result == nil {
		r.Log = log.Calls()
		return r, nil
	}
	return r, closeRecord(r, h, log)
}

// closeRecord adds what the workflow's result says of the end.
func closeRecord(r *signals.Record, h *history.History, log *signals.Log) error {
	end := h.Result
	if err := log.Give(end.Final, h.Source); err != nil {
		return fmt.Errorf("fold the end of %s: %w", r.ID, err)
	}
	r.Log = log.Calls()
	signals.End(r.Log, end.Ended)
	r.Status, r.Error, r.Position, r.Passes, r.UpdatedAt = end.Status, end.Error, end.Position, end.Passes, end.EndedAt
	if end.Status == signals.Failed {
		r.Error = signals.ErrorText(end.Error, log.Logs)
	}
	if r.EndedBy = end.EndedBy; end.Error == signals.ExecutionCancelled {
		r.EndedBy = h.Cancelled
	}
	if end.Status != signals.Completed {
		return nil
	}
	r.Result = log.Last.Value
	if message := signals.CheckSizeWithin("The final result", r.Result, 3*signals.MaxValueUnits); message != "" {
		r.Result = signals.OmittedResult(message)
	}
	if log.Last.Omitted != "" {
		r.Result = signals.OmittedResult(log.Last.Omitted)
	}
	return nil
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
	r, err := c.fold(h, id)
	if err != nil {
		return signals.Outcome{}, err
	}
	if _, err := c.join(ctx, h, r); err != nil {
		return signals.Outcome{}, err
	}
	return c.transform(ctx, c.outcomeOf(h, r)), nil
}

// ErrNotFound is in the error of everything that was asked about an execution, a method or a snippet that does not
// exist.
var ErrNotFound = ask.ErrNotFound

func noExecution(id string) error { return fmt.Errorf("there is no execution %q: %w", id, ErrNotFound) }

func noSnippet(name string) error { return fmt.Errorf("there is no snippet %q: %w", name, ErrNotFound) }

// outcomeOf tells a record as an outcome. The caller gets a final value that is too large for the record.
func (c *Client) outcomeOf(h *history.History, r *signals.Record) signals.Outcome {
	o := signals.Outcome{
		Status: r.Status, ExecutionID: r.ID, Result: r.Result, Error: r.Error, Position: r.Position, Logs: r.Logs,
		Calls: r.Log, Pass: r.Passes, Hints: r.Hints,
	}
	if len(h.Passes) > 0 && r.Status == signals.Completed {
		if value := h.Passes[len(h.Passes)-1].Value; len(value) > 0 {
			o.Result = value
		}
	}
	return o
}

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
		o.Error = errorText(o)
		return o, nil
	}
	h, err := c.history(ctx, o.ExecutionID)
	if err != nil {
		return o, err
	}
	r, err := c.fold(h, o.ExecutionID)
	if err != nil {
		return o, err
	}
	if h.Result != nil && o.Status.Terminal() {
		full := c.outcomeOf(h, r)
		return full, nil
	}
	o.Partial, o.CallsOmitted, o.Calls, o.Logs = false, false, r.Log, r.Logs
	o.Error = errorText(o)
	if len(h.Passes) > 0 && o.Status == signals.Completed {
		o.Result = h.Passes[len(h.Passes)-1].Value
	}
	fillActions(o.Pending, r.Log)
	return o, nil
}

// errorText adds the console output of a failed program to its error.
func errorText(o signals.Outcome) string {
	if o.Status != signals.Failed {
		return o.Error
	}
	return signals.ErrorText(o.Error, o.Logs)
}

// fillActions adds arguments that were left out for their size. What a call would be made with is what its digest
// names; where that is not known, nothing is shown in its place.
func fillActions(actions []signals.PendingAction, calls []signals.Call) {
	bySeq := map[int]signals.Call{}
	for _, call := range calls {
		bySeq[call.Seq] = call
	}
	for i := range actions {
		a := &actions[i]
		call, known := bySeq[a.Seq]
		if !a.Omitted || !known {
			continue
		}
		a.Args = call.Args
		if signals.Digest(a.Current()) != a.ArgsDigest {
			a.EditedArgs = call.EditedArgs
		}
		if a.Omitted = signals.Digest(a.Current()) != a.ArgsDigest; a.Omitted {
			a.Args, a.EditedArgs = nil, nil
		}
	}
}

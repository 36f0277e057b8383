package history

import (
	"context"
	"fmt"
	"slices"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// Record folds what history says of an execution.
func (h *History) Record(runtime, id string) (*signals.Record, error) {
	log, err := h.Log()
	if err != nil {
		return nil, fmt.Errorf("fold the log of %s: %w", id, err)
	}
	r := &signals.Record{
		ID: id, Runtime: runtime, Purpose: h.Input.Purpose, Code: h.Input.Code, Caller: h.Input.Caller,
		Status:     signals.Running,
		Logs:       log.Logs,
		Connectors: []string{}, Passes: log.Passes, CreatedAt: h.StartedAt, UpdatedAt: h.UpdatedAt,
	}
	if h.Input.Continues != nil {
		r.Continues = h.Input.Continues.ExecutionID
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
		r.LeftOver = log.LeftOver()
	}
	if h.Result == nil {
		r.Log = log.Calls()
		return r, nil
	}
	return r, h.closeRecord(r, log)
}

// closeRecord adds what the workflow's result says of the end.
func (h *History) closeRecord(r *signals.Record, log *signals.Log) error {
	end := h.Result
	if err := log.Give(end.Final, h.Source); err != nil {
		return fmt.Errorf("fold the end of %s: %w", r.ID, err)
	}
	r.Log, r.LeftOver = log.Calls(), log.LeftOver()
	signals.End(r.Log, end.Ended)
	r.Status, r.Error, r.Position, r.Passes, r.UpdatedAt = end.Status, end.Error, end.Position, end.Passes, end.EndedAt
	if end.Status == signals.Completed || end.Status == signals.Failed {
		r.Warnings = log.Last.Warnings
	}
	if failure := log.Last.Failure; end.Position != nil && failure != nil {
		r.Excerpt = failure.Excerpt
	}
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

// Outcome tells a record as an outcome. The caller gets a final value that is too large for the record.
func (h *History) Outcome(r *signals.Record) signals.Outcome {
	o := signals.Outcome{
		Status: r.Status, ExecutionID: r.ID, Result: r.Result, Error: r.Error, Position: r.Position, Logs: r.Logs,
		Calls: r.Log, Pass: r.Passes, LeftOver: r.LeftOver, Hints: r.Hints,
		Excerpt: r.Excerpt, Warnings: r.Warnings,
	}
	if len(h.Passes) > 0 && r.Status == signals.Completed {
		if value := h.Passes[len(h.Passes)-1].Value; len(value) > 0 {
			o.Result = value
		}
	}
	return o
}

// Fill adds to the newest outcome of an execution what it left out for its size.
func (h *History) Fill(o signals.Outcome, r *signals.Record) signals.Outcome {
	if h.Result != nil && o.Status.Terminal() {
		return h.Outcome(r)
	}
	o.Partial, o.CallsOmitted, o.Calls, o.Logs = false, false, r.Log, r.Logs
	o.Error = ErrorText(o)
	if len(h.Passes) > 0 && o.Status == signals.Completed {
		o.Result = h.Passes[len(h.Passes)-1].Value
	}
	FillActions(o.Pending, r.Log)
	return o
}

// ErrorText adds the console output of a failed program to its error.
func ErrorText(o signals.Outcome) string {
	if o.Status != signals.Failed {
		return o.Error
	}
	return signals.ErrorText(o.Error, o.Logs)
}

// RestoreEdits adds edited arguments that were too large to be kept with the decision.
func (h *History) RestoreEdits(calls []signals.Call) {
	shortened := func(d signals.Decision) bool { return d.Shortened && d.Approved }
	for i := range calls {
		if c := &calls[i]; len(c.EditedArgs) == 0 && slices.ContainsFunc(c.Decisions, shortened) {
			c.EditedArgs = h.Edited(c.Seq)
		}
	}
}

// FillActions adds arguments that were left out for their size. What a call would be made with is what its digest
// names; where that is not known, nothing is shown in its place.
func FillActions(actions []signals.PendingAction, calls []signals.Call) {
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

// Join adds to a closed execution's record the rollbacks that came after its end, and tells how many there were.
func (h *History) Join(ctx context.Context, c client.Client, workflowID string, r *signals.Record) (int, error) {
	undone(r, h)
	if h.Result == nil && h.Closed == "" {
		return 0, nil
	}
	n := 0
	for AnyUndoable(r.Log) || n > 0 {
		rollback, err := Read(ctx, c, h.dc, signals.RollbackID(workflowID, n+1), "")
		if rpcerr.NotFound(err) {
			break
		}
		if err != nil {
			return n, fmt.Errorf("read rollback %d of %s: %w", n+1, r.ID, err)
		}
		n++
		if undone(r, rollback) {
			r.Status = signals.RolledBack
		}
		r.UpdatedAt = max(r.UpdatedAt, rollback.UpdatedAt)
	}
	return n, nil
}

// undone adds what a run's events and result say of undoing; it reports whether any call was undone there.
func undone(r *signals.Record, h *History) bool {
	times := h.Undone()
	failed := map[int]string{}
	if h.Result != nil && h.Result.Rollback != nil {
		r.Rollbacks = append(r.Rollbacks, *h.Result.Rollback)
		for _, call := range h.Result.Rollback.Reverts {
			failed[call.Seq] = call.Error
		}
	}
	r.HookErrors = append(r.HookErrors, h.HookErrors()...)
	for i := range r.Log {
		call := &r.Log[i]
		if at, ok := times[call.Seq]; ok {
			call.State, call.RevertedAt, call.RevertError, call.Ended = signals.Reverted, at, "", signals.CallUndone
		} else if message := failed[call.Seq]; message != "" {
			call.RevertError = message
		}
	}
	return len(times) > 0
}

// AnyUndoable reports whether a rollback would find something to do.
func AnyUndoable(calls []signals.Call) bool { return slices.ContainsFunc(calls, signals.Call.Undoable) }

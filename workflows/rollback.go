package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Rollback undoes what a closed execution did. Its events tell which calls are undone; its result says why others are
// not.
func Rollback(ctx workflow.Context, in signals.RollbackInput) (converter.RawValue, error) {
	plan := signals.RollbackPlanInput{ExecutionID: in.ExecutionID, WorkflowID: in.WorkflowID, RunID: in.RunID,
		Before: in.N - 1, Caller: in.Caller}
	record, hooks := undo(ctx, plan, in.Rollback)
	result := signals.ExecutionResult{Status: rolledBack(record), ExecutionID: in.ExecutionID, EndedAt: record.EndedAt,
		Rollback: record}
	if result.Status == signals.RolledBack && hooks.Dispose {
		runHook(ctx, signals.DisposeActivity, "dispose",
			signals.HookInput{ExecutionID: in.ExecutionID, Status: signals.RolledBack})
	}
	if _, known := workflow.GetTypedSearchAttributes(ctx).GetKeyword(statusKey); known {
		_ = workflow.UpsertTypedSearchAttributes(ctx, statusKey.ValueSet(string(result.Status)))
	}
	return payload.Raw(result)
}

// rolledBack is the status after a rollback that found something to do: one that undid nothing can be tried again.
func rolledBack(r *signals.RollbackRecord) signals.Status {
	if r.Error == "" && (len(r.Reverts) == 0 || len(r.Result().Reverted) > 0) {
		return signals.RolledBack
	}
	return signals.Failed
}

// undo undoes the calls of a run, one after the other, the last one first. What cannot be undone does not stop the
// rest.
func undo(ctx workflow.Context, in signals.RollbackPlanInput, by signals.Rollback) (*signals.RollbackRecord,
	signals.Hooks) {
	record := &signals.RollbackRecord{Rollback: by, At: workflow.Now(ctx).UnixMilli(),
		Reverts: []signals.RevertedCall{}}
	plan, err := rollbackPlan(ctx, in)
	if err != nil {
		record.Error = "The rollback could not be planned: " + activityMessage(err)
	}
	record.Unknown = plan.Unknown
	for i, target := range plan.Targets {
		if historyIsFull(ctx) {
			plan.Left += len(plan.Targets) - i
			break
		}
		record.Reverts = append(record.Reverts, revert(ctx, in, target))
	}
	if plan.Left > 0 {
		record.Error = fmt.Sprintf("%d calls are left for another rollback: one undoes only so many.", plan.Left)
	}
	record.EndedAt = workflow.Now(ctx).UnixMilli()
	return record, plan.Hooks
}

// historyIsFull reports whether undoing more calls might meet Temporal's own limits.
func historyIsFull(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetCurrentHistoryLength() > 50_000 || info.GetCurrentHistorySize() > 47<<20
}

func rollbackPlan(ctx workflow.Context, in signals.RollbackPlanInput) (signals.RollbackPlan, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: "rollback-plan", StartToCloseTimeout: time.Minute,
		Summary: "what " + in.ExecutionID + " did that can be undone",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: 30 * time.Second, MaximumAttempts: 20},
	})
	var plan signals.RollbackPlan
	err := workflow.ExecuteActivity(ctx, signals.RollbackPlanActivity, payload.MustRaw(in)).Get(ctx, &plan)
	return plan, err
}

// maxRevertError cuts what the record keeps of a failure, so that a whole rollback's fits its event.
const maxRevertError = 500

// revert undoes one call. It is repeated only when the connector asks for that: one whose worker died is left to the
// next rollback.
func revert(ctx workflow.Context, in signals.RollbackPlanInput, t signals.RevertTarget) signals.RevertedCall {
	name := t.Connector + "." + t.Method
	input := signals.CallInput{
		ExecutionID: in.ExecutionID, Seq: t.Seq, Connector: t.Connector, Method: t.Method, Class: signals.Write,
		Revert: &signals.Revert{WorkflowID: in.WorkflowID, RunID: in.RunID, RevertTarget: t}, Caller: in.Caller,
	}
	if t.Origin != nil { // the effect is that call's: its key, and what the connector knows of it
		input.ExecutionID, input.Seq = t.Origin.ExecutionID, t.Origin.Seq
	}
	limits := signals.RetryLimits{}.WithDefaults()
	for input.Attempt = 1; ; input.Attempt++ {
		var err error
		if t.Once {
			err = undoOnce(ctx, in, t, input.Attempt)
		} else {
			err = undoCall(ctx, input, t)
		}
		kind, delay := failureKind(err)
		if (kind == signals.ErrorRetryable || kind == signals.ErrorUnavailable) && input.Attempt < limits.Attempts {
			_ = workflow.Sleep(ctx, limits.Backoff(delay, input.Attempt))
			continue
		}
		done := signals.RevertedCall{Seq: t.Seq, Connector: t.Connector, Method: t.Method,
			At: workflow.Now(ctx).UnixMilli(), Attempts: input.Attempt}
		switch {
		case err == nil:
		case kind == "":
			done.Error = fmt.Sprintf("The outcome of undoing %s is unknown: it was interrupted while it ran and "+
				"may or may not have taken effect.", name)
		default:
			done.Error = signals.Cut(activityMessage(err), maxRevertError)
		}
		return done
	}
}

// undoCall makes one attempt of undoing a call.
func undoCall(ctx workflow.Context, input signals.CallInput, t signals.RevertTarget) error {
	var out signals.CallOutput
	err := workflow.ExecuteActivity(revertOptions(ctx, t, input.Attempt), t.Connector+"."+t.Method+".revert",
		payload.MustRaw(input)).Get(ctx, &out)
	if err == nil && out.Prepared != nil {
		return undoByTarget(ctx, *out.Prepared, t.Seq, input.Attempt)
	}
	return err
}

func revertOptions(ctx workflow.Context, t signals.RevertTarget, attempt int) workflow.Context {
	timeout := time.Duration(t.TimeoutMs) * time.Millisecond
	if timeout <= 0 {
		timeout = defaultCallTimeout
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: signals.RevertActivityID(t.Seq, attempt), TaskQueue: t.Queue, StartToCloseTimeout: timeout,
		HeartbeatTimeout: HeartbeatTimeout,
		RetryPolicy:      &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: fmt.Sprintf("undo #%d", t.Seq),
	})
}

// rollback is behind the signal and the update alike: it stops the execution, which undoes its calls as it closes.
func (e *execution) rollback(ctx workflow.Context, m signals.RollbackMessage) signals.Verdict {
	if refusal := e.refuseRollback(m); refusal != "" {
		return e.refuse(refusal)
	}
	r := m.Rollback
	d := signals.Decision{Kind: signals.SignalRollback, By: r.By, AssertedBy: r.AssertedBy, Note: r.Note,
		At: workflow.Now(ctx).UnixMilli()}
	e.stop(&ending{status: signals.RolledBack, rollback: &r, by: &d})
	return e.accept(nil)
}

func (e *execution) refuseRollback(m signals.RollbackMessage) string {
	if err := m.Check(); err != nil {
		return err.Error()
	}
	if e.end != nil {
		return signals.NotPaused(e.id, e.end.status)
	}
	if e.status == signals.Paused && !e.undoable() {
		return signals.NothingToUndo(e.id)
	}
	return ""
}

func (e *execution) undoable() bool {
	if e.undoableBefore {
		return true
	}
	for _, c := range e.order {
		if c.rec.Undoable() {
			return true
		}
	}
	return false
}

// undoCalls undoes what this execution did, once all its calls have settled.
func (e *execution) undoCalls(ctx workflow.Context) *signals.RollbackRecord {
	if e.end.rollback == nil {
		return nil
	}
	info := workflow.GetInfo(ctx)
	in := signals.RollbackPlanInput{
		ExecutionID: e.id, WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
		Settled: e.unfolded(), Passes: e.passes, Caller: e.in.Caller,
	}
	record, _ := undo(ctx, in, *e.end.rollback)
	if e.end.status = rolledBack(record); e.end.status == signals.Failed {
		e.end.message = "The rollback undid nothing"
		if err := record.Result().Err(); err != nil {
			e.end.message = signals.Cut(err.Error(), signals.MaxErrorBytes)
		}
	}
	for _, done := range record.Reverts {
		c := e.calls[done.Seq]
		switch {
		case c == nil: // of a pass that came too late to count
		case done.Error == "":
			c.rec.State, c.rec.RevertedAt, c.rec.Ended = signals.Reverted, done.At, signals.CallUndone
		default:
			c.rec.RevertError = done.Error
		}
	}
	return record
}

// unfolded is what no pass was given, or only one whose result did not count, as references.
func (e *execution) unfolded() []signals.Given {
	var list []signals.Given
	for _, g := range append(e.decisions, e.settled...) {
		if g.Kind == signals.GivenTimer {
			continue
		}
		list = append(list, g.Reference())
	}
	return list
}

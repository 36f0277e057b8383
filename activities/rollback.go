package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"go.temporal.io/sdk/activity"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// effects is the history that undoing read last: a rollback asks for it once for every call whose values are large.
type effects struct {
	mu    sync.Mutex
	runID string
	h     *history.History
	log   *signals.Log
}

// RollbackPlan lists the calls of a run that took effect, can be undone and were not yet, the last one first.
func (a *Activities) RollbackPlan(ctx context.Context, in signals.RollbackPlanInput) (signals.RollbackPlan, error) {
	h, log, err := a.readRun(ctx, in.WorkflowID, in.RunID, in.Passes)
	if err != nil {
		return signals.RollbackPlan{}, err
	}
	settled := in.Settled
	switch {
	case h.Result != nil:
		settled = h.Result.Final
	case h.Closed != "":
		settled = h.Loose(log)
	}
	if err := log.Give(settled, h.Source); err != nil {
		return signals.RollbackPlan{}, fmt.Errorf("fold what settled last in %s: %w", in.ExecutionID, err)
	}
	undone := h.Undone()
	for n := 1; n <= in.Before; n++ {
		before, err := history.Read(ctx, activity.GetClient(ctx), a.DataConverter, signals.RollbackID(in.WorkflowID, n),
			"")
		if err != nil && !rpcerr.NotFound(err) {
			return signals.RollbackPlan{}, fmt.Errorf("read rollback %d of %s: %w", n, in.ExecutionID, err)
		}
		if err == nil {
			maps.Copy(undone, before.Undone())
		}
	}
	plan := signals.RollbackPlan{Targets: log.UndoPlan(undone), Unknown: signals.UnknownOutcomes(log.Calls())}
	if log.Pinned != nil {
		plan.Hooks = log.Pinned.Hooks
	}
	if plan.Left = max(0, len(plan.Targets)-signals.MaxReverts); plan.Left > 0 {
		plan.Targets = plan.Targets[:signals.MaxReverts]
	}
	if err := a.share(ctx, in.WorkflowID, h, plan.Targets); err != nil {
		return signals.RollbackPlan{}, err
	}
	carryEffects(h, log, plan.Targets)
	a.effects.keep(in.RunID, h, log)
	return plan, nil
}

// readRun folds the log of a run, which if it is open took up so many passes; 0 is all.
func (a *Activities) readRun(ctx context.Context, workflowID, runID string, passes int) (*history.History, *signals.Log,
	error) {
	h, err := history.Read(ctx, activity.GetClient(ctx), a.DataConverter, workflowID, runID)
	if rpcerr.NotFound(err) {
		return nil, nil, applicationError(signals.ErrorConnector, "its history is no longer kept by the server",
			false, 0)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
	}
	if passes > 0 && h.Result == nil {
		h.Cut(passes)
	}
	log, err := h.Log()
	if err != nil {
		return nil, nil, fmt.Errorf("fold the log of %s: %w", workflowID, err)
	}
	return h, log, nil
}

// Bytes of arguments and results that a plan carries: of one call, and in all.
const (
	carriedEffect  = 4096
	carriedEffects = 512 * 1024
)

// carryEffects spares the undoing of calls with small values from reading history.
func carryEffects(h *history.History, log *signals.Log, list []signals.RevertTarget) {
	left := carriedEffects
	for i := range list {
		if list[i].Once {
			continue // what undoes it has an input of its own, which outlives this execution
		}
		args, result, err := h.Effect(log, list[i])
		if size := len(args) + len(result); err == nil && size <= carriedEffect && size <= left {
			list[i].Args, list[i].Result, list[i].Carried = args, result, true
			left -= size
		}
	}
}

// prepareRevert is what undoes a call, where a team's own activity or workflow does; nil where revert does.
func (a *Activities) prepareRevert(ctx context.Context, in signals.CallInput) (*signals.Prepared, error) {
	method, err := a.Connectors.Lookup(in.Connector, in.Method)
	if err != nil || method.Target == nil {
		return nil, nil
	}
	args, result, err := a.effect(ctx, *in.Revert)
	if err != nil {
		return nil, err
	}
	by, undoing, err := method.Undoing(args, result)
	if err != nil {
		return nil, applicationError(signals.ErrorConnector, err.Error(), false, 0)
	}
	if by == nil || by.Target == nil {
		return nil, nil
	}
	return preparedFor(by, undoing, signals.RevertKey(in.ExecutionID, in.Seq, in.Connector, in.Method, args))
}

// revert undoes one call.
func (a *Activities) revert(ctx context.Context, in signals.CallInput, method *connectors.Bound) error {
	args, result, err := a.effect(ctx, *in.Revert)
	if err != nil {
		return err
	}
	err = method.Undo(connectors.Context{
		Context: ctx, ExecutionID: in.ExecutionID, Seq: in.Seq, Attempt: attempt(ctx, in), Caller: in.Caller,
		IdempotencyKey: signals.RevertKey(in.ExecutionID, in.Seq, in.Connector, in.Method, args),
	}, args, result)
	if err != nil {
		return callFailure(ctx, err)
	}
	return nil
}

func (a *Activities) effect(ctx context.Context, r signals.Revert) (args, result json.RawMessage, err error) {
	if r.Carried {
		return r.Args, r.Result, nil
	}
	h, log := a.effects.known(r.RunID)
	if h == nil {
		if h, log, err = a.readRun(ctx, r.WorkflowID, r.RunID, 0); err != nil {
			return nil, nil, err
		}
		a.effects.keep(r.RunID, h, log)
	}
	return h.Effect(log, r.RevertTarget)
}

func (e *effects) known(runID string) (*history.History, *signals.Log) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runID != runID || runID == "" {
		return nil, nil
	}
	return e.h, e.log
}

// keep remembers a history. All that a plan lists has settled in it.
func (e *effects) keep(runID string, h *history.History, log *signals.Log) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runID, e.h, e.log = runID, h, log
}

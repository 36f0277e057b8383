package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// An execution that continues another brings what that one offers into its own history before its first pass. Passes
// find it there; the workflow itself only keeps account of the effects that nobody has asked for.

// takeOffers reads what the execution is offered. One that may not continue the other ends before it has begun.
func (e *execution) takeOffers(ctx workflow.Context) {
	if e.in.Continues == nil || e.in.Continued != nil {
		return
	}
	in := signals.ContinueInput{ExecutionID: e.id, Continues: *e.in.Continues, Caller: e.in.Caller}
	for parts := 1; in.Part < parts && e.end == nil; in.Part++ {
		part, err := offers(ctx, in)
		if err != nil {
			e.fail("%s", activityMessage(err))
			return
		}
		if in.Part == 0 {
			parts, in.Tip, in.TipRun = part.Parts, part.Tip, part.TipRun
		}
		e.offer(part)
	}
	e.carriedBytes = workflow.GetInfo(ctx).GetCurrentHistorySize()
}

func offers(ctx workflow.Context, in signals.ContinueInput) (part signals.EarlierPart, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: fmt.Sprintf("%s-%d", signals.ContinueActivityID, in.Part), StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout: HeartbeatTimeout,
		Summary:          fmt.Sprintf("what %s did, part %d", in.Continues.ExecutionID, in.Part+1),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute, MaximumAttempts: 30},
	})
	err = workflow.ExecuteActivity(ctx, signals.ContinueActivity, payload.MustRaw(in)).Get(ctx, &part)
	return part, err
}

func (e *execution) offer(part signals.EarlierPart) {
	if e.leftOver == nil {
		e.leftOver = map[signals.CarriedFrom]bool{}
		for _, undone := range part.Undone {
			e.leftOver[undone] = false
		}
	}
	for _, o := range part.Offers {
		if _, undone := e.leftOver[o.From]; o.Effect() && !undone {
			e.offered, e.leftOver[o.From] = append(e.offered, o.LeftOver()), true
		}
	}
}

// takeOver notes that the program has asked for something that an earlier execution did.
func (e *execution) takeOver(from *signals.CarriedFrom) {
	if from != nil && e.leftOver != nil {
		e.leftOver[*from] = false
	}
}

// restoreOffers takes up what the runs before were offered, and what they took of it.
func (e *execution) restoreOffers(part signals.CarriedLog) {
	if part.Earlier != nil {
		e.offer(*part.Earlier)
	}
	for _, entry := range part.Entries {
		e.takeOver(entry.CarriedFrom)
	}
	for _, b := range part.Blocked {
		if b.Earlier != nil {
			e.takeOver(&b.Earlier.From)
		}
	}
}

// maxLeftOver is how many bytes of an outcome may tell what is left over: a client reads more from history.
const maxLeftOver = 8 * 1024

// addLeftOver tells what the program did not ask for, once it has ended.
func (e *execution) addLeftOver(o *signals.Outcome) {
	if e.end == nil {
		return
	}
	size := 0
	var list []signals.LeftOver
	for _, l := range e.offered {
		if e.leftOver[l.CarriedFrom] {
			size += len(l.Args) + len(l.Error) + len(l.Connector) + len(l.Method) + len(l.ExecutionID) + 100
			list = append(list, l)
		}
	}
	if o.Partial = o.Partial || size > maxLeftOver; size <= maxLeftOver {
		o.LeftOver = list
	}
}

// madeEarlier says that an earlier execution made the call, and left its outcome unknown: a person decides whether it
// is made again, with the same key.
func (c *call) madeEarlier(earlier *signals.EarlierCall) {
	if c.earlier = earlier; earlier == nil {
		return
	}
	unknown := earlier.Unknown
	c.interrupted, c.key, c.editedArgs, c.rec.CarriedFrom = &unknown, unknown.Key, earlier.Edited, &earlier.From
	c.rec.Error, c.rec.ErrorName = unknown.Message, unknown.Name
}

// Continued does nothing: a workflow of its id says that an execution is continued, and its memo by which.
func Continued(workflow.Context) error { return nil }

// Undo undoes one effect that several executions share. Its workflow id is that of the call that was made, so the
// server lets it run once at a time, and never again after it has succeeded.
func Undo(ctx workflow.Context, in signals.UndoInput) (signals.RevertedCall, error) {
	plan := signals.RollbackPlanInput{ExecutionID: in.ExecutionID, WorkflowID: in.Revert.WorkflowID,
		RunID: in.Revert.RunID, Caller: in.Caller}
	target := in.Revert.RevertTarget
	target.Once = false
	done := revert(ctx, plan, target)
	if done.Error != "" {
		return done, temporal.NewNonRetryableApplicationError(done.Error, signals.ErrorConnector, nil)
	}
	return done, nil
}

// undoOnce has a shared effect undone, unless another execution's rollback has done so or is about to.
func undoOnce(ctx workflow.Context, in signals.RollbackPlanInput, t signals.RevertTarget, attempt int) error {
	runtime, _, _ := signals.ParseWorkflowID(in.WorkflowID)
	o := workflow.GetActivityOptions(revertOptions(ctx, t, attempt))
	// It waits for all attempts, and may be repeated: it only asks.
	o.TaskQueue, o.StartToCloseTimeout, o.RetryPolicy = "", 4*o.StartToCloseTimeout, nil
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), signals.UndoActivity,
		payload.MustRaw(signals.UndoInput{Runtime: runtime, ExecutionID: in.ExecutionID, Caller: in.Caller,
			Revert: signals.Revert{WorkflowID: in.WorkflowID, RunID: in.RunID, RevertTarget: t}})).Get(ctx, nil)
}

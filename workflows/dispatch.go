package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// maxTaskBytes is what the commands of one workflow task may hold; the server terminates a run past about 4 MB.
const maxTaskBytes = 3 << 20

// dispatch makes the gated calls that the newest pass issued, those of it that a person has to approve only once
// approved. Calls that a partial pass listed wait for the rest of the list.
func (e *execution) dispatch(ctx workflow.Context) {
	if e.partial {
		return
	}
	for _, c := range e.order {
		if !c.unsettled || c.dispatched || c.pending() || !c.dispatchable {
			continue
		}
		if e.reserveTaskBytes(ctx, c); e.end != nil {
			return
		}
		e.start(ctx, c)
	}
}

// reserveTaskBytes waits until the commands of the workflow task leave room for a call's arguments.
func (e *execution) reserveTaskBytes(ctx workflow.Context, c *call) {
	bytes := len(c.sentArgs()) + 1024
	if c.resolution != nil {
		bytes += len(c.resolution.Value)
	}
	for e.end == nil {
		if task := workflow.GetInfo(ctx).GetCurrentHistoryLength(); task != e.taskStart {
			e.taskStart, e.taskBytes = task, 0
		}
		if e.taskBytes == 0 || e.taskBytes+bytes <= maxTaskBytes {
			e.taskBytes += bytes
			return
		}
		_ = workflow.Sleep(ctx, time.Millisecond) // ends the workflow task
		e.checkBudgets(ctx)
	}
}

func (e *execution) start(ctx workflow.Context, c *call) {
	c.dispatched, c.refused = true, ""
	c.rec.State = signals.Executing
	e.running++
	workflow.Go(ctx, func(ctx workflow.Context) {
		e.make(ctx, c)
		e.running--
		e.updatedAt = workflow.Now(ctx).UnixMilli()
	})
}

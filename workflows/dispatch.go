package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// dispatch makes the gated calls that the newest pass issued, those of it that a person has to approve only once
// approved, as many at a time as their answers have room for. Calls that a partial pass listed wait for the rest of the
// list.
func (e *execution) dispatch(ctx workflow.Context) {
	if e.partial {
		return
	}
	for _, c := range e.order {
		if c.phase != ready {
			continue
		}
		if !e.hasRoom(ctx, c) {
			return
		}
		if e.reserveTaskBytes(ctx, c); e.end != nil {
			return
		}
		e.start(ctx, c)
	}
}

// hasRoom reports whether a call may be made beside those that run: what they answer is written to history whatever its
// size, and a history that is full ends the run. One call at a time always may; budgets are looked at before it.
func (e *execution) hasRoom(ctx workflow.Context, c *call) bool {
	c.reserved = e.expectedBytes(c)
	if !e.since(inOrder) || e.running == 0 {
		return true
	}
	room := fullHistory - workflow.GetInfo(ctx).GetCurrentHistorySize() - e.reservedBytes
	return e.running < maxRunning && c.reserved <= room
}

// expectedBytes is what a call may add to history: its arguments, and an answer about as large as its method's before.
func (e *execution) expectedBytes(c *call) int {
	answer := largestResult
	if known, ok := e.largest[c.name()]; ok {
		answer = min(largestResult, max(smallestResult, resultGrowth*known))
	}
	return answer + len(c.sentArgs())
}

// anyReady reports whether calls wait for room.
func (e *execution) anyReady() bool {
	for _, c := range e.order {
		if c.phase == ready {
			return true
		}
	}
	return false
}

// reserveTaskBytes waits until the commands of the workflow task leave room for a call's arguments.
func (e *execution) reserveTaskBytes(ctx workflow.Context, c *call) {
	bytes := len(c.sentArgs()) + 1024
	if c.resolution != nil {
		bytes += len(c.resolution.Value)
	}
	most := maxTaskBytes
	if !e.since(inOrder) {
		most = maxTaskBytesOnce
	}
	for e.end == nil {
		if e.newTask(ctx); e.taskBytes == 0 || e.taskBytes+bytes <= most {
			e.taskBytes += bytes
			return
		}
		_ = workflow.Sleep(ctx, time.Millisecond) // ends the workflow task
		e.checkBudgets(ctx)
	}
}

// task names a workflow task: by the length of history at its start, and by its time.
type task struct {
	events int
	at     time.Time
}

func currentTask(ctx workflow.Context) task {
	return task{workflow.GetInfo(ctx).GetCurrentHistoryLength(), workflow.Now(ctx)}
}

// newTask forgets what the commands of an earlier workflow task held.
func (e *execution) newTask(ctx workflow.Context) {
	if now := currentTask(ctx); now != e.task {
		e.task, e.taskBytes = now, 0
	}
}

func (e *execution) start(ctx workflow.Context, c *call) {
	c.enter(running)
	c.refused = ""
	e.running++
	e.reservedBytes += c.reserved
	workflow.Go(e.callContext(ctx), func(ctx workflow.Context) {
		e.make(ctx, c)
		e.running--
		e.reservedBytes -= c.reserved
		e.updatedAt = workflow.Now(ctx).UnixMilli()
	})
}

// callContext is that of calls, which ends for those that nobody has begun once a person ends the execution.
func (e *execution) callContext(ctx workflow.Context) workflow.Context {
	if e.calling == nil {
		e.calling, e.withdraw = workflow.WithCancel(ctx)
	}
	return e.calling
}

// answered remembers how large the answers of a method are.
func (e *execution) answered(c *call, out signals.CallOutput) {
	e.largest[c.name()] = max(e.largest[c.name()], len(out.Value))
}

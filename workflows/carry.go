package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// An execution has no end that history would set: at a point of rest, where no call and no pass runs, its run continues
// as new before it reaches a limit of the server. What the workflow knows goes with the next run's input, the log comes
// from the run before.

// isFull reports whether the run should continue as new at its next point of rest.
func (e *execution) isFull(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	may := e.since(inOrder) && e.pinned != nil && e.passes > e.stayedAt
	return may && (info.GetCurrentHistoryLength() > e.carriedEvents+e.limits.HistoryEvents ||
		info.GetCurrentHistorySize() > e.carriedBytes+e.limits.HistoryBytes || e.updates > maxUpdates)
}

// handOver lets the run continue as new, unless its state is too large to travel: then the run stays until another pass
// has made it smaller, and ends the execution when history is full.
func (e *execution) handOver(ctx workflow.Context) bool {
	if !e.isFull(ctx) || e.running > 0 || e.decisionWaits { // a decision is followed by its pass, in the same run
		return false
	}
	e.handsOver = true
	for {
		e.drain(ctx)
		_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
		if !e.signalled() {
			break
		}
	}
	if e.handsOver = false; e.end == nil && !e.decisionWaits {
		e.next = e.state(ctx)
		if len(payload.MustRaw(e.nextInput()).Payload().GetData()) > maxState {
			e.next, e.stayedAt = nil, e.passes
		}
	}
	if e.handsOver = e.next != nil; e.handsOver {
		e.listRun(ctx)
	}
	return e.handsOver
}

func (e *execution) nextInput() signals.ExecutionInput {
	in := e.in
	in.Continued = e.next
	return in
}

// state is what the next run is given. It is at rest: nothing runs.
func (e *execution) state(ctx workflow.Context) *signals.Carried {
	info := workflow.GetInfo(ctx)
	s := &signals.Carried{
		Run: e.runs + 1, From: info.WorkflowExecution.RunID, StartedAt: e.startedAt, Passes: e.passes, Nonce: e.nonce,
		Pinned: e.pinnedAnew(), Inline: e.inline, Gated: e.gated, Effects: e.effects, DecisionBytes: e.decisionBytes,
		Always: e.always, Timers: e.timers, More: e.nextPassNow, Partial: e.partial,
		Undoable: e.undoable(), Paused: e.status == signals.Paused, PassEndTold: e.passEndTold,
		Attributes: e.attributes, Shown: e.shown, Largest: e.largest,
		Settled: e.settledBefore || len(e.settled) > 0,
	}
	for _, g := range append(e.decisions, e.settled...) {
		s.Given = append(s.Given, g.Reference())
	}
	for _, c := range e.order {
		if c.open() {
			s.Open = append(s.Open, c.carried())
		}
	}
	return s
}

// pinnedAnew is of the version of this code: the next run has no history yet that would be replayed.
func (e *execution) pinnedAnew() *signals.Pinned {
	pinned := *e.pinned
	pinned.Version = currentVersion
	return &pinned
}

func (c *call) carried() signals.CarriedCall {
	return signals.CarriedCall{
		Blocked: signals.Blocked{
			Seq: c.rec.Seq, Connector: c.rec.Connector, Method: c.rec.Method, Class: c.rec.Class,
			Approval: c.rec.RequiresApproval, Position: c.rec.Position, TimeoutMs: c.timeout.Milliseconds(),
			Queue: c.queue, Revertable: c.rec.Revertable, Approvals: c.approvalsNeeded,
			Approvers: c.people, ApproverRule: c.approverRule, Client: c.client, AskUnknown: c.askUnknown,
			Retry: &c.retry, Earlier: c.earlier, Target: c.target,
		},
		ArgsDigest: c.rec.ArgsDigest, Phase: string(c.phase), RequestedAt: c.requestedAt, EditedArgs: c.editedArgs,
		Refused: c.refused, Scheduled: c.scheduled, Approvers: c.approvers, Approved: c.approved,
		Resolution: c.resolution, Interrupted: c.interrupted, Retried: c.retried, Decisions: c.rec.Decisions,
	}
}

// restore takes up the state of the run before.
func (e *execution) restore(s *signals.Carried) {
	e.runs, e.startedAt, e.passes, e.nonce, e.pinned = s.Run, s.StartedAt, s.Passes, s.Nonce, s.Pinned
	e.limits = limitsOf(s.Pinned)
	e.inline, e.gated, e.effects, e.decisionBytes = s.Inline, s.Gated, s.Effects, s.DecisionBytes
	e.timers, e.nextPassNow, e.partial = s.Timers, s.More, s.Partial
	e.passEndTold, e.attributes, e.shown, e.undoableBefore = s.PassEndTold, s.Attributes, s.Shown, s.Undoable
	e.settledBefore, e.inLocalPass = s.Settled || len(s.Given) > 0, s.Pinned.LocalPasses
	e.atRest = !e.settledBefore && !s.More
	e.logs.more = true // earlier runs printed them
	if s.Always != nil {
		e.always = s.Always
	}
	if s.Largest != nil {
		e.largest = s.Largest
	}
	for _, open := range s.Open {
		e.add(restoredCall(open))
	}
	if s.Paused {
		e.status = signals.Paused
		for _, c := range e.pending() {
			e.shownPending[c.rec.Seq] = true
		}
	}
}

func restoredCall(s signals.CarriedCall) *call {
	c := newGatedCall(s.Blocked, s.RequestedAt)
	c.rec.ArgsDigest, c.rec.Decisions, c.rec.Omitted = s.ArgsDigest, s.Decisions, true
	c.editedArgs, c.refused, c.scheduled, c.approvers = s.EditedArgs, s.Refused, s.Scheduled, s.Approvers
	c.approved, c.resolution, c.interrupted, c.retried = s.Approved, s.Resolution, s.Interrupted, s.Retried
	if n := len(s.Decisions); n > 0 {
		d := s.Decisions[n-1]
		c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = d.By, d.AssertedBy, d.At, d.Note
	}
	c.phase = phase(s.Phase)
	if c.rec.State = signals.Executing; c.pending() {
		c.rec.State = signals.Pending
	}
	if c.interrupted != nil {
		c.rec.Error, c.rec.ErrorName = c.interrupted.Message, c.interrupted.Name
	}
	return c
}

// takeLog brings the log of the runs before into this run's history, and the arguments of open calls with it.
func (e *execution) takeLog(ctx workflow.Context) {
	if e.in.Continued == nil {
		return
	}
	for part, parts := 0, 1; part < parts; part++ {
		log, err := e.carriedLog(ctx, part)
		if err != nil {
			e.fail("The log of this execution could not be carried into its run %d: %s", e.runs, activityMessage(err))
			return
		}
		if parts = log.Parts; part == 0 && log.Bytes > e.limits.LogBytes {
			e.exceed("The log of this execution takes %d bytes, more than its limit of %d (limits.logBytes).",
				log.Bytes, e.limits.LogBytes)
			return
		}
		e.restoreOffers(log)
		for _, b := range log.Blocked {
			if c := e.calls[b.Seq]; c != nil {
				c.args = b.Args
			}
		}
	}
	info := workflow.GetInfo(ctx)
	e.carriedBytes = info.GetCurrentHistorySize()
	if e.since(besideLog) {
		e.carriedEvents = info.GetCurrentHistoryLength()
	}
}

func (e *execution) carriedLog(ctx workflow.Context, part int) (log signals.CarriedLog, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ActivityID: fmt.Sprintf("%s-%d", signals.CarryActivityID, part), StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout: HeartbeatTimeout,
		Summary:          fmt.Sprintf("the log so far, part %d", part+1),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute, MaximumAttempts: 30},
	})
	err = workflow.ExecuteActivity(ctx, signals.CarryActivity,
		payload.MustRaw(signals.CarryInput{ExecutionID: e.id, Part: part})).Get(ctx, &log)
	return log, err
}

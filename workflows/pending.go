package workflows

import (
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// pending reports whether it waits for a person, for approval, for its result, or for what to do about an unknown
// outcome.
func (c *call) pending() bool {
	return c.unsettled && !c.dispatched && (c.needsApproval() || c.needsResult() || c.isUnknown())
}

// needsApproval reports whether the call waits for approval.
func (c *call) needsApproval() bool {
	return c.unsettled && !c.dispatched && c.rec.RequiresApproval && !c.approved
}

// needsResult reports whether a client is to give the call's result, and none has yet.
func (c *call) needsResult() bool { return c.client && c.resolution == nil }

// isUnknown reports whether the call was interrupted while it ran, and nobody has said yet what to do.
func (c *call) isUnknown() bool { return c.unknown != nil && !c.retried && c.resolution == nil }

// needsInstead says what a call waits for that an approval does not give.
func (c *call) needsInstead() string {
	if c.isUnknown() {
		return fmt.Sprintf("The outcome of %s (seq %d) is unknown: send retry, resolve or reject.", c.name(), c.rec.Seq)
	}
	return fmt.Sprintf("%s (seq %d) waits for its result: send resolve or reject.", c.name(), c.rec.Seq)
}

// dropDecision takes back what was decided about a call that waits for its dispatch.
func (c *call) dropDecision() {
	c.dispatchable, c.retried, c.resolution = false, false, nil
	if c.unknown == nil {
		c.approved, c.approvers, c.editedArgs = false, nil, nil
	}
}

// retract undoes a decision that led to nothing.
func (e *execution) retract(c *call, d signals.Decision) {
	if d.Always && !d.Remembered {
		delete(e.always, c.name())
	}
	if c.unsettled && !c.dispatched {
		c.dropDecision()
	}
}

// makePending makes a call pending again.
func (c *call) makePending() {
	c.unsettled, c.dispatched = true, false
	c.dropDecision()
	c.rec.State, c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = signals.Pending, "", "", 0, ""
	c.rec.SettledAt = 0
	if c.unknown == nil {
		c.rec.Error, c.rec.ErrorName = "", ""
	}
}

// askAboutUnknown leaves a call whose outcome is unknown to a person.
func (c *call) askAboutUnknown(unknown *signals.CallError, now int64) {
	c.unknown, c.requestedAt = unknown, now
	c.makePending()
	c.rec.Error, c.rec.ErrorName = unknown.Message, unknown.Name
}

// pending lists the calls that wait for a person, in seq order.
func (e *execution) pending() []*call {
	var list []*call
	for _, c := range e.order {
		if c.pending() {
			list = append(list, c)
		}
	}
	return list
}

func (e *execution) anyPending() bool {
	for _, c := range e.order {
		if c.pending() {
			return true
		}
	}
	return false
}

// pendingNames tells what is pending in a few words.
func (e *execution) pendingNames() string {
	list := e.pending()
	if len(list) == 1 {
		return list[0].name()
	}
	return fmt.Sprintf("%s and %d more", list[0].name(), len(list)-1)
}

func (e *execution) notPending(seq int) string {
	if !e.anyPending() {
		return signals.NotPaused(e.id, e.status)
	}
	return fmt.Sprintf("Call %d of execution %q is not pending.", seq, e.id)
}

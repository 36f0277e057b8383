package workflows

import (
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// pending: it waits for a person, for approval, for its result, or for what to do about an unknown outcome.
func (c *call) pending() bool {
	return c.open && !c.dispatched && (c.asks() || c.awaitsResult() || c.isUnknown())
}

// asks: it waits for approval.
func (c *call) asks() bool { return c.open && !c.dispatched && c.rec.RequiresApproval && !c.approved }

// awaitsResult: it is never made here, and nobody has given its result yet.
func (c *call) awaitsResult() bool { return c.client && c.given == nil }

// isUnknown: it was interrupted while it ran, and nobody has said yet what to do.
func (c *call) isUnknown() bool { return c.unknown != nil && !c.again && c.given == nil }

// otherwise says what a call waits for that an approval does not give.
func (c *call) otherwise() string {
	if c.isUnknown() {
		return fmt.Sprintf("The outcome of %s (seq %d) is unknown: send retry, resolve or reject.", c.name(), c.rec.Seq)
	}
	return fmt.Sprintf("%s (seq %d) waits for its result: send resolve or reject.", c.name(), c.rec.Seq)
}

// undecide takes back what was decided about a call that waits for its dispatch.
func (c *call) undecide() {
	c.cleared, c.again, c.given = false, false, nil
	if c.unknown == nil {
		c.approved, c.approvers, c.editedArgs = false, nil, nil
	}
}

// takeBack undoes a decision that led to nothing.
func (e *execution) takeBack(c *call, d signals.Decision) {
	if d.Always && !d.Remembered {
		delete(e.always, c.name())
	}
	if c.open && !c.dispatched {
		c.undecide()
	}
}

// reopen makes a call pending again.
func (c *call) reopen() {
	c.open, c.dispatched = true, false
	c.undecide()
	c.rec.State, c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note = signals.Pending, "", "", 0, ""
	c.rec.SettledAt = 0
	if c.unknown == nil {
		c.rec.Error, c.rec.ErrorName = "", ""
	}
}

// ask leaves a call whose outcome is unknown to a person.
func (c *call) ask(unknown *signals.CallError, now int64) {
	c.unknown, c.requestedAt = unknown, now
	c.reopen()
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

// retry makes a call again whose outcome is unknown, with the same key.
func (e *execution) retry(r signals.Retry, now int64) (act, string) {
	c := e.calls[r.Seq]
	switch {
	case c == nil || !c.pending():
		return nil, e.notPending(r.Seq)
	case !c.isUnknown():
		return nil, fmt.Sprintf("%s (seq %d) has not been made: retry is for a call whose outcome is unknown.", c.name(), c.rec.Seq)
	}
	return func() []int {
		c.again, c.refused = true, ""
		e.noteDecision(c, signals.Decision{Kind: signals.SignalRetry, By: r.By, AssertedBy: r.AssertedBy, At: now, Note: r.Note})
		e.resume()
		return []int{c.rec.Seq}
	}, ""
}

// resolve gives the result of a call that is not made here, or whose outcome is unknown. An activity of the call's name
// checks it, so that history has it as the call's result.
func (e *execution) resolve(r signals.Resolve, now int64) (act, string) {
	c := e.calls[r.Seq]
	switch {
	case c == nil || !c.pending():
		return nil, e.notPending(r.Seq)
	case c.asks():
		return nil, fmt.Sprintf("%s (seq %d) waits for approval: a result can be given for a call that clients resolve, or whose outcome is unknown.", c.name(), c.rec.Seq)
	}
	return func() []int {
		c.given, c.refused = &signals.GivenResult{Value: r.Result}, ""
		e.noteDecision(c, signals.Decision{Kind: signals.SignalResolve, By: r.By, AssertedBy: r.AssertedBy, At: now, Note: r.Note})
		e.resume()
		return []int{c.rec.Seq}
	}, ""
}

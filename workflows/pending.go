package workflows

import (
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// needsInstead says what a call waits for that an approval does not give.
func (c *call) needsInstead() string {
	if c.phase == unknown {
		return fmt.Sprintf("The outcome of %s (seq %d) is unknown: send retry, resolve or reject.", c.name(), c.rec.Seq)
	}
	return fmt.Sprintf("%s (seq %d) waits for its result: send resolve or reject.", c.name(), c.rec.Seq)
}

// retract undoes a decision that led to nothing. It stays in the record.
func (e *execution) retract(c *call, d signals.Decision, now int64) {
	if d.Always && !d.Remembered {
		delete(e.always, c.name())
	}
	for i := range c.rec.Decisions {
		if c.rec.Decisions[i].At == d.At {
			c.rec.Decisions[i].Void = true
		}
	}
	if c.open() && c.phase != running {
		c.askAgain(e, now)
	}
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

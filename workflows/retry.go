package workflows

import (
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// retry makes a call again whose outcome is unknown, with the same key.
func (e *execution) retry(r signals.Retry, now int64) (act, string) {
	c := e.calls[r.Seq]
	switch {
	case c == nil || !c.pending():
		return nil, e.notPending(r.Seq)
	case c.phase != unknown:
		return nil, fmt.Sprintf("%s (seq %d) has not been made: retry is for a call whose outcome is unknown.",
			c.name(), c.rec.Seq)
	}
	return func() []int {
		c.retried, c.refused = true, ""
		c.enter(decided)
		e.recordDecision(c, signals.Decision{Kind: signals.SignalRetry, By: r.By, AssertedBy: r.AssertedBy, At: now,
			Note: r.Note})
		e.startPass()
		return []int{c.rec.Seq}
	}, ""
}

package workflows

import (
	"fmt"

	"github.com/temporal-codemode/codemode/signals"
)

// resolve gives the result of a call that is not made here, or whose outcome is unknown. An activity of the call's name
// checks it, so that history has it as the call's result.
func (e *execution) resolve(r signals.Resolve, now int64) (act, string) {
	c := e.calls[r.Seq]
	switch {
	case c == nil || !c.pending():
		return nil, e.notPending(r.Seq)
	case c.phase == asking:
		return nil, fmt.Sprintf("%s (seq %d) waits for approval: a result can be given for a call that clients "+
			"resolve, or whose outcome is unknown.", c.name(), c.rec.Seq)
	}
	return func() []int {
		c.resolution, c.refused = &signals.Resolution{Value: r.Result}, ""
		c.enter(decided)
		e.recordDecision(c, signals.Decision{Kind: signals.SignalResolve, By: r.By, AssertedBy: r.AssertedBy,
			At: now, Note: r.Note})
		e.startPass()
		return []int{c.rec.Seq}
	}, ""
}

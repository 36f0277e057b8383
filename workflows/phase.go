package workflows

import (
	"fmt"
	"slices"

	"github.com/temporal-codemode/codemode/signals"
)

// phase is where a gated call stands; an inline call has settled from the beginning. A call is in one phase, and goes
// from one to another only as transitions says.
type phase string

const (
	issued    phase = ""          // a pass has just issued it
	asking    phase = "asking"    // it waits for people to approve it
	awaiting  phase = "awaiting"  // it waits for its result, which a client gives
	unknown   phase = "unknown"   // it was interrupted while it ran: a person says what to do
	decided   phase = "decided"   // it waits for the pass that is told so to issue it again
	ready     phase = "ready"     // it may be dispatched
	running   phase = "running"   // its activity is scheduled
	withdrawn phase = "withdrawn" // its activity was cancelled before it began
	settled   phase = "settled"
	over      phase = "over" // the execution ended before it settled
)

// transitions are all there are. What leads back to a question (asking, awaiting, unknown) is a decision that led to
// nothing: a refused argument, a worker without connectors, a rejection that no program has seen.
var transitions = map[phase][]phase{
	issued:    {asking, awaiting, unknown, ready}, // unknown where an earlier execution had made it
	asking:    {awaiting, decided, ready, settled, over},
	awaiting:  {asking, decided, settled, over},
	unknown:   {decided, settled, over},
	decided:   {asking, awaiting, unknown, ready, over},
	ready:     {asking, awaiting, unknown, running, over},
	running:   {asking, awaiting, unknown, settled, withdrawn},
	withdrawn: {over},
	settled:   {asking, awaiting, unknown},
	over:      {},
}

// enter panics where the table says no: a call that is made twice, or settled twice, would be worse than a workflow
// task that waits for a worker which knows better.
func (c *call) enter(p phase) {
	if !slices.Contains(transitions[c.phase], p) {
		panic(fmt.Sprintf("call %d cannot go from %q to %q", c.rec.Seq, c.phase, p))
	}
	c.phase = p
	switch {
	case c.pending():
		c.rec.State = signals.Pending
	case c.open():
		c.rec.State = signals.Executing
	}
}

// open reports whether the call has neither settled nor been overtaken by the end.
func (c *call) open() bool { return c.phase != settled && c.phase != over }

// pending reports whether the call waits for a person.
func (c *call) pending() bool { return c.phase == asking || c.phase == awaiting || c.phase == unknown }

// question is the phase in which the call waits for a person; ready if there is nothing to ask.
func (c *call) question() phase {
	switch {
	case c.interrupted != nil:
		return unknown
	case c.rec.RequiresApproval && !c.approved:
		return asking
	case c.client:
		return awaiting
	}
	return ready
}

// askAgain takes back what was decided about a call, and asks anew. now is when: whoever is asked has all the time.
func (c *call) askAgain(e *execution, now int64) {
	c.retried, c.resolution = false, nil
	if c.interrupted == nil {
		c.approved, c.approvers, c.editedArgs = false, nil, nil
		c.rec.Error, c.rec.ErrorName = "", ""
	}
	c.rec.DecidedBy, c.rec.AssertedBy, c.rec.DecidedAt, c.rec.Note, c.rec.SettledAt = "", "", 0, "", 0
	c.rec.Ended = ""
	if e.since(inOrder) {
		c.requestedAt = now
	}
	if q := c.question(); q != c.phase {
		c.enter(q)
	}
}

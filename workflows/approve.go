package workflows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// approve finds what an approval does. A call that several people have to approve is let go by the last of them.
func (e *execution) approve(a signals.Approve, now int64) (act, string) {
	if a.AsOf != 0 && a.AsOf != e.passes {
		return nil, fmt.Sprintf("This approval looks at pass %d of execution %q, which is at pass %d by now: look "+
			"again.", a.AsOf, e.id, e.passes)
	}
	if e.undeliveredBytes > 2*maxDecisionBytes {
		return nil, "Too many approvals wait for others, without which no call goes on: approve a call completely " +
			"first, or reject."
	}
	calls, refusal := e.approvable(a)
	if refusal != "" {
		return nil, refusal
	}
	return func() []int {
		var seqs []int
		for _, c := range calls {
			e.approveCall(c, a, now)
			seqs = append(seqs, c.rec.Seq)
		}
		if a.Always {
			seqs = append(seqs, e.remember(calls, a, now)...)
		}
		return seqs
	}, ""
}

func (e *execution) approveCall(c *call, a signals.Approve, now int64) {
	if c.phase != asking || c.hasApproved(a) && c.approvalsNeeded > 1 && len(a.Args) == 0 {
		return // an approval before it in the same message
	}
	d := signals.Decision{
		Kind: signals.SignalApprove, Approved: true, By: a.By, AssertedBy: a.AssertedBy, At: now, Note: a.Note,
		ArgsDigest: c.digest(), EditedArgs: a.Args, Always: a.Always,
	}
	if len(a.Args) > 0 { // whoever approved before approved other arguments
		c.editedArgs, c.approvers = a.Args, nil
	}
	c.approvers, c.refused = append(c.approvers, c.approver(a)), ""
	e.recordDecision(c, d)
	if len(c.approvers) >= c.approvalsNeeded {
		c.letGo(decided)
		e.startPass()
	}
}

// letGo says that everybody who had to has approved the call: it is next, unless a client has to give its result.
func (c *call) letGo(next phase) {
	if c.approved = true; c.client {
		next = awaiting
	}
	c.enter(next)
}

// approver is who decides, as far as it is known, and as far as that counts.
func (c *call) approver(a signals.Approve) string {
	if a.AssertedBy != "" || c.people == signals.ApproversAuthenticated {
		return a.AssertedBy
	}
	return a.By
}

// hasApproved reports whether the same person approved before.
func (c *call) hasApproved(a signals.Approve) bool {
	name := c.approver(a)
	if c.people == "" {
		return slices.Contains(c.approvers, name)
	}
	return slices.ContainsFunc(c.approvers, func(other string) bool {
		return strings.EqualFold(strings.TrimSpace(other), strings.TrimSpace(name))
	})
}

// approvable finds the calls that an approval covers, or says why it covers none.
func (e *execution) approvable(a signals.Approve) ([]*call, string) {
	var calls []*call
	for _, c := range e.pending() {
		if len(a.Seqs) == 0 && e.shownPending[c.rec.Seq] && c.phase == asking {
			calls = append(calls, c)
		}
	}
	for _, seq := range a.Seqs {
		c := e.calls[seq]
		switch {
		case c == nil || !c.pending():
			return nil, e.notPending(seq)
		case c.phase != asking:
			return nil, c.needsInstead()
		}
		if !slices.Contains(calls, c) {
			calls = append(calls, c)
		}
	}
	switch {
	case len(calls) == 0 && len(a.Seqs) == 0 && e.anyPending() && e.status == signals.Paused:
		return nil, e.pending()[0].needsInstead()
	case len(calls) == 0:
		return nil, signals.NotPaused(e.id, e.status)
	case len(a.Args) > 0 && len(calls) > 1:
		return nil, "args can only be edited for one call, and several are pending: send one seq with them"
	case a.ArgsDigest != "" && len(calls) > 1:
		return nil, "argsDigest belongs to one call, and several are pending: send one seq with it"
	}
	for _, c := range calls {
		if refusal := c.refusal(e.in.Caller, a); refusal != "" {
			return nil, refusal
		}
	}
	return calls, ""
}

// refusal says why an approval does not apply to a call.
func (c *call) refusal(caller signals.Caller, a signals.Approve) string {
	digest, why := c.digest(), c.approverRule.Refuses(caller, a)
	switch {
	case a.ArgsDigest != "" && a.ArgsDigest != digest:
		return fmt.Sprintf("argsDigest %q is stale: %s (seq %d) is pending with %q; look at its arguments again.",
			a.ArgsDigest, c.name(), c.rec.Seq, digest)
	case why != "":
		return fmt.Sprintf("%s (seq %d) needs the approval of %s: %s.", c.name(), c.rec.Seq, c.approverRule, why)
	case a.Always && c.approverRule != nil:
		return fmt.Sprintf("%s (seq %d) needs the approval of %s each time: always does not go with it.", c.name(),
			c.rec.Seq, c.approverRule)
	case c.approvalsNeeded <= 1:
		return ""
	case c.approver(a) == "" && c.people == signals.ApproversAuthenticated:
		return fmt.Sprintf("%s (seq %d) needs the approval of %d people who are authenticated: approve in a console "+
			"at which people sign in.", c.name(), c.rec.Seq, c.approvalsNeeded)
	case c.approver(a) == "", c.people != "" && strings.TrimSpace(c.approver(a)) == "":
		return fmt.Sprintf("%s (seq %d) needs the approval of %d people: say who approves (by).", c.name(), c.rec.Seq,
			c.approvalsNeeded)
	case a.Always:
		return fmt.Sprintf("%s (seq %d) needs the approval of %d people each time: always does not go with it.",
			c.name(), c.rec.Seq, c.approvalsNeeded)
	case len(a.Args) == 0 && c.hasApproved(a):
		return fmt.Sprintf("%s has approved %s (seq %d) already: it needs the approval of %d different people.",
			c.approver(a), c.name(), c.rec.Seq, c.approvalsNeeded)
	}
	return ""
}

// remember approves the methods of calls for the rest of the execution, and with them what else waits for the same.
func (e *execution) remember(calls []*call, a signals.Approve, now int64) []int {
	var seqs []int
	for _, c := range calls {
		e.always[c.name()] = signals.Decision{
			Kind: signals.SignalApprove, Approved: true, By: a.By, AssertedBy: a.AssertedBy, Note: a.Note, Always: true,
			Remembered: true,
		}
	}
	for _, c := range e.pending() {
		if e.approveRemembered(c, decided, now) {
			seqs = append(seqs, c.rec.Seq)
			e.startPass()
		}
	}
	return seqs
}

// approveRemembered approves a call whose method was approved for the rest of the execution: it is ready where the
// newest pass has just issued it, and decided where another pass has to follow.
func (e *execution) approveRemembered(c *call, next phase, now int64) bool {
	d, ok := e.always[c.name()]
	if !ok || c.phase != asking || c.approvalsNeeded > 1 || c.approverRule != nil {
		return false
	}
	d.At, d.ArgsDigest = now, c.digest()
	c.letGo(next)
	e.recordDecision(c, d)
	return true
}

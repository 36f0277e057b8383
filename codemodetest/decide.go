package codemodetest

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/signals"
)

// Decide is asked for each call that waits for a person. Time passes while nobody decides, and after a day the
// execution expires.
type Decide func(pending signals.PendingAction) Decision

// Decision is what people say about one call. The zero value says nothing.
type Decision struct{ messages []message }

// message is a decision of one person.
type message struct {
	name    string
	payload func(pending signals.PendingAction, by string) any
	by      string
}

// ApproveAll approves every call as it was issued.
func ApproveAll(signals.PendingAction) Decision { return Approve() }

// Approve lets a call run as it was issued.
func Approve() Decision { return ApproveWith(nil) }

// ApproveWith lets a call run with other arguments, given as JSON.
func ApproveWith(args json.RawMessage) Decision {
	return decision(signals.SignalApprove, func(p signals.PendingAction, by string) any {
		a := signals.Approve{Seqs: []int{p.Seq}, ArgsDigest: p.ArgsDigest, Args: args, By: by}
		if rule := p.ApproverRule; rule != nil { // in a test it is somebody who may
			a.AssertedBy, a.AssertedGroups = by, rule.Groups
		}
		return a
	})
}

// Reject ends the execution.
func Reject(reason string) Decision { return reject(reason, false) }

// Refuse throws a RejectedError into the program, which goes on.
func Refuse(reason string) Decision { return reject(reason, true) }

// Retry makes a call of unknown outcome again.
func Retry() Decision {
	return decision(signals.SignalRetry, func(p signals.PendingAction, by string) any {
		return signals.Retry{Seq: p.Seq, By: by}
	})
}

// Resolve gives the result of a call of unknown outcome, or of one that clients resolve.
func Resolve(result json.RawMessage) Decision {
	return decision(signals.SignalResolve, func(p signals.PendingAction, by string) any {
		return signals.Resolve{Seq: p.Seq, Result: result, By: by}
	})
}

// Rollback stops the execution and undoes what it did.
func Rollback(note string) Decision {
	return decision(signals.SignalRollback, func(_ signals.PendingAction, by string) any {
		return signals.Rollback{By: by, Note: note}
	})
}

// By says who decides; else it is "codemodetest".
func (d Decision) By(who string) Decision {
	all := Decision{}
	for _, m := range d.messages {
		m.by = who
		all.messages = append(all.messages, m)
	}
	return all
}

// And has somebody else decide after that, where several have to approve.
func (d Decision) And(next Decision) Decision {
	return Decision{append(d.messages[:len(d.messages):len(d.messages)], next.messages...)}
}

const by = "codemodetest"

func decision(name string, payload func(p signals.PendingAction, by string) any) Decision {
	return Decision{[]message{{name: name, payload: payload, by: by}}}
}

func reject(reason string, goOn bool) Decision {
	return decision(signals.SignalReject, func(p signals.PendingAction, by string) any {
		return signals.Reject{Seq: &p.Seq, Reason: reason, Continue: goOn, By: by}
	})
}

package codemodetest

import (
	"encoding/json"

	"github.com/temporal-codemode/codemode/signals"
)

// Decide is asked for each call that waits for a person. Time passes while nobody decides, and after a day the
// execution expires.
type Decide func(pending signals.PendingAction) Decision

// Decision is what a person says. The zero value says nothing.
type Decision struct {
	name    string
	payload func(pending signals.PendingAction) any
}

// ApproveAll approves every call as it was issued.
func ApproveAll(signals.PendingAction) Decision { return Approve() }

// Approve lets a call run as it was issued.
func Approve() Decision { return ApproveWith(nil) }

// ApproveWith lets a call run with other arguments, given as JSON.
func ApproveWith(args json.RawMessage) Decision {
	return Decision{signals.SignalApprove, func(p signals.PendingAction) any {
		return signals.Approve{Seqs: []int{p.Seq}, ArgsDigest: p.ArgsDigest, Args: args, By: by}
	}}
}

// Reject ends the execution.
func Reject(reason string) Decision { return reject(reason, false) }

// Refuse throws a RejectedError into the program, which goes on.
func Refuse(reason string) Decision { return reject(reason, true) }

const by = "codemodetest"

func reject(reason string, goOn bool) Decision {
	return Decision{signals.SignalReject, func(p signals.PendingAction) any {
		return signals.Reject{Seq: &p.Seq, Reason: reason, Continue: goOn, By: by}
	}}
}

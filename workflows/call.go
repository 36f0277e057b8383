package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// call is what the workflow knows of one call of the program. phase.go tells where it can stand.
type call struct {
	rec         signals.Call // args and result only if small
	phase       phase
	args        json.RawMessage
	timeout     time.Duration
	queue       string          // empty is the workflow's own
	target      *signals.Target // a team's own activity or workflow that makes it; nil where one of ours does
	requestedAt int64
	editedArgs  json.RawMessage
	refused     string // why the last approval or result could not be used
	scheduled   int    // activities scheduled so far
	reserved    int    // bytes of history that its answer may take while it runs
	retry       signals.RetryLimits

	approvalsNeeded int    // people who have to approve
	people          string // how they are told apart
	approverRule    *signals.ApproverRule
	approvers       []string // who have approved the arguments that it would be dispatched with
	approved        bool     // by all of them
	client          bool     // never made here: a client gives the result
	resolution      *signals.Resolution
	askUnknown      bool
	interrupted     *signals.CallError   // what is known of an attempt that was interrupted while it ran
	earlier         *signals.EarlierCall // that attempt was an earlier execution's
	key             string               // of that attempt; empty is the call's own
	retried         bool                 // a person wants it made again
}

func (c *call) name() string { return c.rec.Connector + "." + c.rec.Method }

// dispatchArgs are the arguments that the connector gets.
func (c *call) dispatchArgs() json.RawMessage {
	if len(c.editedArgs) > 0 {
		return c.editedArgs
	}
	return c.args
}

// digest names the arguments that the connector gets. It is known before the arguments are, which a run that continues
// another has to read first.
func (c *call) digest() string {
	if len(c.editedArgs) > 0 {
		return signals.Digest(c.editedArgs)
	}
	return c.rec.ArgsDigest
}

// sentArgs are the arguments that the call's activity gets. One that only checks a given result can do without, if both
// together are too large.
func (c *call) sentArgs() json.RawMessage {
	args := c.dispatchArgs()
	if c.resolution != nil && len(args)+len(c.resolution.Value) > maxResolutionBytes {
		return nil
	}
	return args
}

// maxResolutionBytes is what a given result and the arguments of its call may take together.
const maxResolutionBytes = 1 << 20

// Bytes of call values held for queries: in one value, and in all.
const (
	maxHeldValue = 1024
	maxHeldBytes = 64 * 1024
)

// hold returns values for the record if they are small enough to hold.
func (e *execution) hold(rec *signals.Call, args, result json.RawMessage) {
	size := len(args) + len(result)
	if len(args) > maxHeldValue || len(result) > maxHeldValue || e.heldBytes+size > maxHeldBytes {
		rec.Omitted = true
		return
	}
	e.heldBytes += size
	if len(args) > 0 {
		rec.Args = args
	}
	if !rec.Ephemeral && len(result) > 0 {
		rec.Result = result
	}
}

// add keeps the calls in seq order; most come in it.
func (e *execution) add(c *call) {
	at, known := slices.BinarySearchFunc(e.order, c, func(a, b *call) int { return a.rec.Seq - b.rec.Seq })
	if known {
		e.order[at] = c
	} else {
		e.order = slices.Insert(e.order, at, c)
	}
	e.calls[c.rec.Seq] = c
}

func (e *execution) addInlineCall(entry signals.Entry) {
	if entry.Timer || entry.Ephemeral && e.calls[entry.ID] != nil {
		return
	}
	if entry.Internal() {
		e.inline++
		return
	}
	c := &call{phase: settled, rec: signals.Call{
		Seq: entry.ID, Connector: entry.Connector, Method: entry.Method, State: signals.Applied, Class: entry.Class,
		Ephemeral: entry.Ephemeral, Position: entry.Position, SettledAt: entry.At, Revertable: entry.Revertable,
		RequiresApproval: entry.Approval, Attempts: entry.Attempts, CarriedFrom: entry.CarriedFrom,
	}}
	e.takeOver(entry.CarriedFrom)
	if entry.Error != nil {
		c.rec.State, c.rec.Error, c.rec.ErrorName = signals.Errored, signals.Cut(entry.Error.Message, maxHeldValue),
			signals.Cut(entry.Error.Name, signals.MaxNameBytes)
	}
	e.hold(&c.rec, entry.Args, entry.Value)
	e.inline++
	e.add(c)
	if c.rec.CarriedFrom == nil { // else it was counted when it was made
		e.countCall(c.rec)
	}
}

func (e *execution) addGatedCall(ctx workflow.Context, b signals.Blocked) {
	c := newGatedCall(b, workflow.Now(ctx).UnixMilli())
	e.takeOver(c.rec.CarriedFrom)
	c.enter(c.question())
	e.hold(&c.rec, b.Args, nil)
	e.gated++
	e.add(c)
	e.approveRemembered(c, ready, c.requestedAt)
}

func newGatedCall(b signals.Blocked, now int64) *call {
	c := &call{
		rec: signals.Call{
			Seq: b.Seq, Connector: b.Connector, Method: b.Method, Class: b.Class,
			RequiresApproval: b.Approval, Position: b.Position, ArgsDigest: signals.Digest(b.Args),
			Revertable: b.Revertable,
		},
		args: b.Args, timeout: time.Duration(b.TimeoutMs) * time.Millisecond, queue: b.Queue, requestedAt: now,
		target:          b.Target,
		approvalsNeeded: max(1, b.Approvals), people: b.Approvers, approverRule: b.ApproverRule,
		client: b.Client, askUnknown: b.AskUnknown,
	}
	if b.Retry != nil {
		c.retry = *b.Retry
	}
	c.madeEarlier(b.Earlier)
	return c
}

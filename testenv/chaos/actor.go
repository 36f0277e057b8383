package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

const person = "chaos"

// actor is the person behind one execution: it starts it, decides what it waits for, and may undo it at the end. It
// keeps what it allowed, which the verdict needs.
type actor struct {
	*rand.Rand
	client *codemode.Client
	raw    client.Client
	id     string
	// hold keeps the first pause undecided until it is closed.
	hold <-chan struct{}

	allowed    map[int][]ledger.Args // by seq: the arguments that it approved
	rejected   bool
	cancelled  bool
	rolledBack bool
	rivals     map[int]string // by seq: the decision that came first, of two that exclude each other
	trail      []string       // what it did, and the errors that it met, for the report
}

func newActor(raw client.Client, c *codemode.Client, seed uint64, n int) *actor {
	return &actor{
		Rand: stream(seed, n, "decisions"), client: c, raw: raw, id: fmt.Sprintf("exec_%d_%d", seed, n),
		allowed: map[int][]ledger.Args{}, rivals: map[int]string{},
	}
}

// live takes the execution to its end.
func (a *actor) live(ctx context.Context, code string) error {
	var o signals.Outcome
	err := a.insist(ctx, func(ctx context.Context) (err error) {
		o, err = a.client.Execute(ctx, code, codemode.ExecuteOptions{ID: a.id, Purpose: "Chaos"})
		return err
	})
	for err == nil && !o.Status.Terminal() {
		after := o.Pass
		if o.Status == signals.Paused {
			a.pause(ctx)
			if !a.decide(ctx, o) {
				after = 0 // what was decided on is not what is pending now
			}
		}
		err = a.insist(ctx, func(ctx context.Context) (err error) {
			o, err = a.client.Wait(ctx, a.id, after)
			return err
		})
	}
	if err == nil && (a.rolledBack || a.IntN(6) == 0) {
		err = a.rollback(ctx) // again, if the first was cut off
	}
	return err
}

func (a *actor) pause(ctx context.Context) {
	if a.hold == nil {
		return
	}
	select {
	case <-a.hold:
	case <-ctx.Done():
	}
	a.hold = nil
}

// decide takes one decision, and reports whether it was accepted. It does not insist: whether a decision that was cut
// off counted is for the execution to say.
func (a *actor) decide(ctx context.Context, o signals.Outcome) bool {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	one := o.Pending[a.IntN(len(o.Pending))]
	n := a.IntN(44)
	accepted := a.take(ctx, o, one, n)
	a.note("pass %d: decision %d on call %d, one of %d, accepted: %v", o.Pass, n, one.Seq, len(o.Pending), accepted)
	return accepted
}

// take is decision number n of 44.
func (a *actor) take(ctx context.Context, o signals.Outcome, one signals.PendingAction, n int) bool {
	switch {
	case n < 22:
		for _, p := range o.Pending {
			a.allow(p.Seq, p.Args)
		}
		return a.approve(ctx, signals.Approve{AsOf: o.Pass, By: person})
	case n < 28:
		a.allow(one.Seq, one.Args)
		return a.approve(ctx, signals.Approve{Seqs: []int{one.Seq}, ArgsDigest: one.ArgsDigest, By: person})
	case n < 33:
		edited := edit(one.Args)
		a.allow(one.Seq, edited)
		return a.approve(ctx,
			signals.Approve{Seqs: []int{one.Seq}, ArgsDigest: one.ArgsDigest, Args: edited, By: person})
	case n < 37:
		ok, err := a.client.Reject(ctx, a.id, signals.Reject{Seq: &one.Seq, Continue: true, Reason: "no", By: person})
		return ok && err == nil
	case n < 38:
		a.rejected = true
		ok, err := a.client.Reject(ctx, a.id, signals.Reject{Seq: &one.Seq, Reason: "no", By: person})
		return ok && err == nil
	case n < 39:
		a.cancelled = true
		ok, err := a.client.Cancel(ctx, a.id, signals.Cancellation{By: person})
		return ok && err == nil
	}
	if n >= 40 {
		return a.rival(ctx, one)
	}
	_ = a.rollback(ctx)
	return false // where nothing can be undone, the execution stays paused
}

// rival sends two signals about one call that exclude each other: the first that history has is what happens.
func (a *actor) rival(ctx context.Context, one signals.PendingAction) bool {
	list := []signals.Message{
		signals.Approve{Seqs: []int{one.Seq}, ArgsDigest: one.ArgsDigest, By: person},
		signals.Reject{Seq: &one.Seq, Continue: true, Reason: "no", By: person},
	}
	if one.Reason != "" { // only an unknown outcome is neither
		return false
	}
	a.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	a.allow(one.Seq, one.Args)
	id := signals.WorkflowID(a.client.Runtime(), a.id)
	for i, m := range list {
		if a.raw.SignalWorkflow(ctx, id, "", m.Signal(), m) != nil {
			return i > 0 // it may have arrived all the same: which was first is not known
		}
	}
	a.rivals[one.Seq] = list[0].Signal()
	return true
}

// rollback undoes the execution until nothing is left that could not be undone: a server may be away just then.
func (a *actor) rollback(ctx context.Context) error {
	a.rolledBack = true
	return a.insist(ctx, func(ctx context.Context) error {
		r, err := a.client.Rollback(ctx, a.id, signals.Rollback{By: person})
		if err == nil && len(r.Failed) > 0 {
			err = fmt.Errorf("call %d was not undone: %s", r.Failed[0].Seq, r.Failed[0].Error)
		}
		return err
	})
}

func (a *actor) approve(ctx context.Context, decision signals.Approve) bool {
	v, err := a.client.Decide(ctx, a.id, decision)
	return err == nil && v.Accepted
}

func (a *actor) allow(seq int, args json.RawMessage) {
	a.allowed[seq] = append(a.allowed[seq], parseArgs(args))
}

func edit(args json.RawMessage) json.RawMessage {
	a := parseArgs(args)
	a.Edited = true
	text, _ := json.Marshal(a)
	return text
}

func parseArgs(raw json.RawMessage) ledger.Args {
	var a ledger.Args
	_ = json.Unmarshal(raw, &a)
	return a
}

// attempt bounds one request: Temporal may be away, or a worker.
const attempt = 40 * time.Second

func (a *actor) insist(ctx context.Context, do func(context.Context) error) error {
	return insist(ctx, func(ctx context.Context) error {
		err := do(ctx)
		if err != nil {
			a.note("%s", err)
		}
		return err
	})
}

// note keeps the last few things that happened.
func (a *actor) note(format string, args ...any) {
	a.trail = append(a.trail, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
	if len(a.trail) > 12 {
		a.trail = a.trail[1:]
	}
}

// insist repeats a request that may be repeated until it succeeds or ctx ends.
func insist(ctx context.Context, do func(context.Context) error) error {
	for {
		limited, cancel := context.WithTimeout(ctx, attempt)
		err := do(limited)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		wait(ctx, 100*time.Millisecond)
	}
}

package activities

import (
	"fmt"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// sandboxPass translates what a pass is given into the sandbox's words.
func (a *Activities) sandboxPass(in signals.PassInput, known *remembered, nonce string) sandbox.Pass {
	pass := sandbox.Pass{
		Code: known.code, Seed: in.ExecutionID, Start: in.StartedAt, Connectors: a.Connectors.Names(),
		Modules:     a.Modules,
		Synchronous: in.Synchronous,
		Lines:       known.log.Lines(),
		Limits:      sandbox.Limits{Timeout: a.PassTimeout}, After: in.After, As: nonce,
	}
	limits := a.limits(in)
	if in.Pinned != nil {
		pass.Connectors = in.Pinned.Connectors
	}
	if earlier := known.log.Earlier; earlier != nil {
		pass.Seed, pass.Start, pass.Began = earlier.Seed, earlier.StartedAt, in.StartedAt
	}
	entries, ephemeral := known.entries()
	pass.Log, pass.Refresh = entries, in.Decided && ephemeral
	for _, o := range in.Open {
		b := known.log.Blocked[o.Seq]
		pass.Open = append(pass.Open,
			sandbox.OpenCall{Seq: o.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Pending: o.Pending})
	}
	inline, gated := known.log.Counts()
	pass.Limits.ValueBytes = payload.MaxValueBytes(a.DataConverter)
	pass.Limits.InlineCalls = max(1, limits.InlineCalls-inline)
	pass.Limits.GatedCalls = max(1, limits.GatedCalls-gated)
	return pass
}

// limits are those of the execution: what its first pass has pinned.
func (a *Activities) limits(in signals.PassInput) signals.Limits {
	if in.Pinned != nil {
		return in.Pinned.Limits.WithDefaults()
	}
	return a.Limits.WithDefaults()
}

// wireResult translates the sandbox's answer into what history keeps. Its error is for another attempt of the pass.
func (a *Activities) wireResult(in signals.PassInput, r sandbox.Result, shelf *signals.Shelf) (signals.PassResult,
	error) {
	result := signals.PassResult{
		Pass: in.Pass, End: signals.PassEnd(r.End), Given: references(in.Given), Partial: r.Partial, Value: r.Value,
		Logs: r.Logs, Lines: r.Lines, Failure: r.PassFailure(), Warnings: signals.BoundWarnings(r.Warnings),
	}
	if r.Oversize > 0 {
		result.Omitted = signals.TooLarge("The final result", r.Oversize, payload.MaxValueBytes(a.DataConverter))
	}
	for i := range r.Entries {
		if !tookOver(&r.Entries[i], shelf) {
			r.Entries[i].Revertable = a.revertable(r.Entries[i])
		}
	}
	result.Entries = r.Entries
	for _, b := range r.Blocked {
		blocked, err := a.wireBlocked(in, b, shelf.Taken(b.Seq))
		if err != nil {
			return result, err
		}
		result.Blocked = append(result.Blocked, blocked)
	}
	result.Timers = r.Timers
	if in.Pinned == nil {
		result.Pinned = &signals.Pinned{
			Version: in.Version,
			Engine:  a.version(), Connectors: a.Connectors.Names(), Limits: a.Limits.WithDefaults(),
			LocalPasses: a.LocalPass > 0, Hooks: a.hooks(),
		}
	}
	return result, nil
}

// wireBlocked adds what the method's policy says to what the sandbox knows of the call. A method may have gone since
// the call was issued, and its policy with it: then the pass is made again, where the program learns that it has gone.
func (a *Activities) wireBlocked(in signals.PassInput, b sandbox.BlockedCall, earlier *signals.Offer) (signals.Blocked,
	error) {
	blocked := signals.Blocked{
		Seq: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Class: b.Class, Approval: b.Approval,
		Position: b.Position, TimeoutMs: int64(b.Timeout / time.Millisecond),
		Queue: a.queue(in.Runtime, b.Connector),
	}
	method, err := a.Connectors.Lookup(b.Connector, b.Method)
	if err != nil {
		return blocked, fmt.Errorf("the rules for call %d can no longer be told: %w", b.Seq, err)
	}
	if blocked.Target, err = targetOf(method, in.ExecutionID, b, earlier); err != nil {
		return blocked, err
	}
	blocked.Revertable = method.Revert != nil
	blocked.Client, blocked.AskUnknown, blocked.Approvals = method.ResolvedByClient, method.AskWhenUnknown,
		method.Approvals
	blocked.Approval = blocked.Approval && !blocked.Client
	if blocked.Approvals > 1 {
		blocked.Approvers = signals.ApproversNamed
		if a.AuthenticatedApprovers {
			blocked.Approvers = signals.ApproversAuthenticated
		}
	}
	if blocked.Approval {
		blocked.ApproverRule = method.Approvers
	}
	if earlier != nil { // it was made once: people say what is next, not whether it may be
		blocked.Approval, blocked.Earlier = false,
			&signals.EarlierCall{From: earlier.From, Unknown: *earlier.Error, Edited: earlier.Edited}
	}
	blocked.Retry = wireRetry(method.Retry)
	return blocked, nil
}

// revertable reports whether a pass's own call took effect and can be undone.
func (a *Activities) revertable(e signals.Entry) bool {
	if e.Internal() || e.Error != nil || e.Connector == signals.StepConnector || e.Ephemeral {
		return false
	}
	method, err := a.Connectors.Lookup(e.Connector, e.Method)
	return err == nil && method.Revert != nil
}

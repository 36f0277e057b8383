package activities

import (
	"time"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// sandboxPass translates what a pass is given into the sandbox's words.
func (a *Activities) sandboxPass(in signals.PassInput, known *remembered, nonce string) sandbox.Pass {
	pass := sandbox.Pass{
		Code: known.code, Seed: in.ExecutionID, Start: in.StartedAt, Connectors: a.Connectors.Names(), Modules: a.Modules,
		Synchronous: in.Synchronous,
		Lines:       known.log.Lines(),
		Limits:      sandbox.Limits{Timeout: a.PassTimeout}, After: in.After, As: nonce,
	}
	limits := a.Limits.WithDefaults()
	if in.Pinned != nil {
		pass.Connectors, limits = in.Pinned.Connectors, in.Pinned.Limits.WithDefaults()
	}
	entries, ephemeral := known.sandboxEntries()
	pass.Log, pass.Refresh = entries, in.Decided && ephemeral
	for _, o := range in.Open {
		b := known.log.Blocked[o.Seq]
		pass.Open = append(pass.Open, sandbox.OpenCall{Seq: o.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Pending: o.Pending})
	}
	inline, gated := known.log.Counts()
	pass.Limits.ValueBytes = payload.MaxValueBytes(a.DataConverter)
	pass.Limits.InlineCalls = max(1, limits.InlineCalls-inline)
	pass.Limits.GatedCalls = max(1, limits.GatedCalls-gated)
	return pass
}

func sandboxEntry(e signals.Entry) sandbox.Entry {
	return sandbox.Entry{
		Timer: e.Timer, ID: e.ID, Connector: e.Connector, Method: e.Method, Args: e.Args, Value: e.Value, Err: sandboxError(e.Error),
		At: e.At, Class: string(e.Class), Approval: e.Approval, Ephemeral: e.Ephemeral, Nested: e.Nested, Dropped: e.Dropped,
		Position: (*sandbox.Position)(e.Position),
	}
}

func sandboxError(e *signals.CallError) *sandbox.CallError {
	if e == nil {
		return nil
	}
	return &sandbox.CallError{Name: e.Name, Message: e.Message, Key: e.Key}
}

func wireError(e *sandbox.CallError) *signals.CallError {
	if e == nil {
		return nil
	}
	return &signals.CallError{Name: e.Name, Message: e.Message, Key: e.Key}
}

// wireResult translates the sandbox's answer into what history keeps.
func (a *Activities) wireResult(in signals.PassInput, r sandbox.Result) signals.PassResult {
	result := signals.PassResult{
		Pass: in.Pass, End: signals.PassEnd(r.End), Given: references(in.Given), Partial: r.Partial, Value: r.Value,
		Logs: r.Logs, Lines: r.Lines, Failure: WireFailure(r),
	}
	if r.Oversize > 0 {
		result.Omitted = signals.TooLarge("The final result", r.Oversize, payload.MaxValueBytes(a.DataConverter))
	}
	for _, e := range r.Entries {
		entry := wireEntry(e)
		entry.Revertable = a.revertable(entry)
		result.Entries = append(result.Entries, entry)
	}
	for _, b := range r.Blocked {
		result.Blocked = append(result.Blocked, a.wireBlocked(in.Runtime, b))
	}
	for _, t := range r.Timers {
		result.Timers = append(result.Timers, signals.Timer(t))
	}
	if in.Pinned == nil {
		result.Pinned = &signals.Pinned{
			Engine: a.version(), Connectors: a.Connectors.Names(), Limits: a.Limits, SearchAttributes: a.SearchAttributes,
			LocalPasses: a.LocalPass > 0, Hooks: a.hooks(),
		}
	}
	return result
}

// wireBlocked adds what the method's policy says to what the sandbox knows of the call.
func (a *Activities) wireBlocked(runtime string, b sandbox.BlockedCall) signals.Blocked {
	blocked := signals.Blocked{
		Seq: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Class: signals.Class(b.Class), Approval: b.Approval,
		Position: (*signals.Position)(b.Position), TimeoutMs: int64(b.Timeout / time.Millisecond),
		Queue: a.queue(runtime, b.Connector),
	}
	if method, err := a.Connectors.Lookup(b.Connector, b.Method); err == nil {
		blocked.Revertable = method.Revert != nil
		blocked.Client, blocked.AskUnknown, blocked.Approvals = method.ResolvedByClient, method.AskWhenUnknown, method.Approvals
		blocked.Approval = blocked.Approval && !blocked.Client
		if r := method.Retry; r != (connectors.RetryLimits{}) {
			blocked.Retry = &signals.RetryLimits{Attempts: r.Attempts, InitialMs: r.Backoff.Milliseconds(), MaxMs: r.MaxBackoff.Milliseconds()}
		}
	}
	return blocked
}

// revertable: a pass's own call took effect and can be undone.
func (a *Activities) revertable(e signals.Entry) bool {
	if e.Internal() || e.Error != nil || e.Connector == signals.StepConnector || e.Ephemeral {
		return false
	}
	method, err := a.Connectors.Lookup(e.Connector, e.Method)
	return err == nil && method.Revert != nil
}

func wireEntry(e sandbox.Entry) signals.Entry {
	return signals.Entry{
		Timer: e.Timer, ID: e.ID, Connector: e.Connector, Method: e.Method, Args: e.Args, Value: e.Value, Error: wireError(e.Err),
		At: e.At, Class: signals.Class(e.Class), Approval: e.Approval, Ephemeral: e.Ephemeral, Nested: e.Nested, Dropped: e.Dropped,
		Position: (*signals.Position)(e.Position),
	}
}

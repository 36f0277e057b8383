package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/signals"
)

// jsIssue is called by the namespaces: connector, method, argument, whether there is one, and whether the program waits
// for the call. It returns the call's promise, or its value.
func (e *Engine) jsIssue(f goja.FunctionCall) goja.Value {
	connector, name, sync := f.Argument(0).String(), f.Argument(1).String(), f.Argument(4).ToBoolean()
	if e.main.threw {
		return e.refuse("The program has already failed; no further calls are made.", sync)
	}
	if len(name) > sandbox.MaxName {
		return e.refuse(fmt.Sprintf("%s has no method with a name of %d bytes.", connector, len(name)), sync)
	}
	var args json.RawMessage
	if f.Argument(3).ToBoolean() {
		text, failure := e.durable(valueName{"Arguments to ", connector, name}, f.Argument(2))
		if failure != nil {
			e.abort(failure)
			return goja.Undefined()
		}
		args = text
	}
	c := &call{Call: sandbox.Call{Connector: connector, Method: name, Args: args}}
	if sync {
		return e.issueSync(c)
	}
	return e.issue(c)
}

// jsStep is codemode.step: a call whose work is done by the program itself.
func (e *Engine) jsStep(f goja.FunctionCall) goja.Value {
	if e.main.threw {
		return e.rejected("The program has already failed; no further steps are run.")
	}
	name := f.Argument(0).String()
	if len(name) > sandbox.MaxName {
		const tooLong = "codemode.step takes a name of at most %d bytes, not one of %d."
		return e.rejected(fmt.Sprintf(tooLong, sandbox.MaxName, len(name)))
	}
	c := &call{Call: sandbox.Call{Connector: sandbox.StepConnector, Method: name}}
	promise := e.issue(c)
	if entry := e.recorded[c.Seq]; entry != nil && !entry.Nested {
		return promise
	}
	c.step = &scope{parent: e.step, random: seeded(fmt.Sprintf("%s/step/%d", e.pass.Seed, c.Seq))}
	outer := e.step
	e.step = c.step
	defer func() { e.step = outer }()
	e.stepped = e.stepped || e.recorded[c.Seq] == nil
	if _, err := e.js.run(goja.Undefined(), f.Argument(1), e.vm.ToValue(e.stepEnded(c))); err != nil {
		var exception *goja.Exception
		if !errors.As(err, &exception) {
			panic(err)
		}
	}
	return promise
}

// stepEnded is told the outcome of a step's function. The value waits its turn like any other completion; on replay it
// comes from the log instead.
func (e *Engine) stepEnded(c *call) func(goja.FunctionCall) goja.Value {
	return func(f goja.FunctionCall) goja.Value {
		if e.recorded[c.Seq] != nil {
			return goja.Undefined()
		}
		done := completion{call: c, at: e.now()}
		if f.Argument(0).ToBoolean() {
			text, failure := e.durable(valueName{"The result of ", c.Connector, c.Method}, f.Argument(1))
			if failure != nil {
				e.abort(failure)
				return goja.Undefined()
			}
			done.value = text
		} else {
			done.err = e.callErrorOf(f.Argument(1))
		}
		e.ready = append(e.ready, done)
		return goja.Undefined()
	}
}

func (e *Engine) callErrorOf(thrown goja.Value) *signals.CallError {
	ce := &signals.CallError{Message: "The step threw a value that cannot be described"}
	if pair, err := e.js.describe(goja.Undefined(), thrown); err == nil {
		ce.Message = cut(pair.ToObject(e.vm).Get("0").String(), 8192)
	}
	if name, err := e.js.nameOf(goja.Undefined(), thrown); err == nil {
		ce.Name = cut(name.String(), sandbox.MaxName-len("…"))
	}
	return ce
}

// refuse fails a call that is not issued at all.
func (e *Engine) refuse(message string, sync bool) goja.Value {
	if sync {
		if v, err := e.errorValue(&signals.CallError{Message: message}, nil); err == nil {
			panic(v)
		}
	}
	return e.rejected(message)
}

func (e *Engine) rejected(message string) goja.Value {
	promise, _, reject := e.vm.NewPromise()
	if v, err := e.errorValue(&signals.CallError{Message: message}, nil); err == nil {
		_ = reject(v)
	}
	return e.vm.ToValue(promise)
}

// issue numbers a call and gives its promise.
func (e *Engine) issue(c *call) goja.Value {
	promise, resolve, reject := e.vm.NewPromise()
	c.resolve, c.reject = resolve, reject
	entry, open := e.enlist(c)
	switch {
	case entry != nil || open:
	case e.live:
		c.Position = e.position()
		e.admit(c)
	default:
		c.Position = e.position()
		e.held = append(e.held, c)
	}
	return e.vm.ToValue(promise)
}

// enlist numbers a call and finds out what is known of it: its entry in the log, or that an earlier pass issued it.
func (e *Engine) enlist(c *call) (entry *signals.Entry, open bool) {
	c.Seq = e.number(c.Connector)
	e.step.markNested()
	e.calls[c.Seq] = c
	if entry = e.recorded[c.Seq]; entry != nil {
		e.check(c, entry.Connector, entry.Method, entry.Args)
		c.Position = entry.Position
		return entry, false
	}
	issued, open := e.open[c.Seq]
	if open {
		e.check(c, issued.Connector, issued.Method, issued.Args)
		e.unseen--
	}
	return nil, open
}

func (e *Engine) number(connector string) int {
	if connector == sandbox.PlatformConnector {
		e.internal++
		return -e.internal
	}
	e.next++
	return e.next - 1
}

// check compares a call issued again with what was recorded of it.
func (e *Engine) check(c *call, connector, name string, args json.RawMessage) {
	if c.Connector != connector || c.Method != name {
		_ = e.diverge(c.Seq, fmt.Sprintf("expected %s.%s, got %s.%s", connector, name, c.Connector, c.Method))
		return
	}
	if !signals.SameArgs(c.Args, args) {
		message := fmt.Sprintf("Codemode replay divergence at %s: %s.%s was called with "+
			"different arguments than the recorded run. Arguments must be deterministic across replays. "+
			"Wrap nondeterministic inputs in codemode.step(name, fn).", stepName(c.Seq), connector, name)
		e.abort(&sandbox.Failure{Kind: sandbox.Diverged, Seq: c.Seq, Message: message})
	}
}

// admit asks the host about a live call and puts it where it belongs.
func (e *Engine) admit(c *call) {
	if c.Connector == sandbox.StepConnector {
		e.countInline()
		c.admission.Class, c.late = "read", e.closing()
		return // its function runs already
	}
	if b := e.begun[c.Seq]; b != nil {
		if b.Settlement == nil || !b.Settlement.Escalate { // a gated call is not counted again
			e.countInline()
		}
		e.attach(c, b)
		return
	}
	c.admission = e.host.Admit(c.Call)
	switch a := c.admission; {
	case a.Refused != nil:
		e.countInline()
		c.late = e.closing()
		e.ready = append(e.ready, completion{call: c, err: a.Refused, at: max(e.clock, e.now())})
	case a.Carried != nil:
		e.carry(c, a.Carried)
	case a.Gated:
		e.block(c)
	default:
		e.countInline()
		e.queue = append(e.queue, c)
	}
}

// now is when what the program did by itself settles. While its clock runs behind, in what an earlier execution did, no
// time passes with that.
func (e *Engine) now() int64 {
	if e.clock < e.pass.Began {
		return e.clock
	}
	return time.Now().UnixMilli()
}

// carry settles a call as an earlier execution saw it settle. What that one knew first comes first, and at its time:
// the program draws and asks for the same as before.
func (e *Engine) carry(c *call, as *sandbox.Carried) {
	e.countInline()
	c.late = e.closing()
	done := completion{call: c, value: as.Value, err: as.Err, at: as.At, order: max(1, as.Order)}
	at := slices.IndexFunc(e.ready, func(other completion) bool { return other.order == 0 || other.order > done.order })
	if at < 0 {
		at = len(e.ready)
	}
	e.ready = slices.Insert(e.ready, at, done)
}

func (e *Engine) countInline() {
	if e.inline++; e.inline > e.limits.InlineCalls {
		e.abort(budgetFailure("reads and steps", "limits.inlineCalls"))
	}
}

func (e *Engine) block(c *call) {
	e.blocked = append(e.blocked, c)
	e.openGate(c.admission.Approval)
	if len(e.blocked) > e.limits.GatedCalls {
		e.abort(budgetFailure("writes and approvals", "limits.gatedCalls"))
	}
}

func budgetFailure(what, limit string) *sandbox.Failure {
	return &sandbox.Failure{Kind: sandbox.BudgetExceeded, Message: fmt.Sprintf("This execution made too many %s (%s). "+
		"Do less in one execution: narrow what you read, or split the work over several executions.", what, limit)}
}

// position is where in the program the running call was issued.
func (e *Engine) position() *signals.Position { return firstInProgram(e.vm.CaptureCallStack(4, nil)) }

// firstInProgram is where the innermost of the frames stands that lie in the program.
func firstInProgram(stack []goja.StackFrame) *signals.Position {
	for _, frame := range stack {
		if frame.SrcName() == compile.ProgramSource {
			at := frame.Position()
			return &signals.Position{Line: max(1, at.Line-1), Column: at.Column + 1} // source maps count columns from 0
		}
	}
	return nil
}

// replay delivers one entry of the log.
func (e *Engine) replay(entry *signals.Entry) error {
	if entry.Timer {
		t := e.timers[entry.ID]
		if t == nil {
			return e.diverge(e.next, "a timer of the recorded run was not set this time")
		}
		e.cursor++
		return e.fire(t, entry.At, false)
	}
	c := e.calls[entry.ID]
	if c == nil {
		return e.diverge(entry.ID, notCalled(entry.Connector, entry.Method))
	}
	e.cursor++
	if entry.Dropped { // the program ended without waiting for it
		delete(e.calls, c.Seq)
		return nil
	}
	if entry.Ephemeral && e.pass.Refresh {
		return e.refresh(c, *entry)
	}
	return e.deliver(c, entry.Value, entry.Error, entry.At)
}

// refresh makes a reexecute read anew, in the place that its first result has in the log.
func (e *Engine) refresh(c *call, entry signals.Entry) error {
	e.refreshed = true
	s := e.host.Call(e.ctx, c.Call)
	if e.stopped.Load() {
		return errStopped
	}
	entry.Value, entry.Error = s.Value, s.Err
	if s.Escalate {
		entry.Error = sandbox.NotReadAgainError(c.Call)
	}
	e.record(entry)
	return e.deliver(c, entry.Value, entry.Error, entry.At)
}

// deliverLive records a completion and hands it to the program. One that does not fit the result any more ends the pass
// before it; the call is issued again by the next.
func (e *Engine) deliverLive(c completion) error {
	if failure := e.checkSize(valueName{"The result of ", c.call.Connector, c.call.Method}, c.value); failure != nil {
		e.record(e.entryOf(c, sandbox.TooLargeToRecordError()))
		e.abort(failure)
		return errStopped
	}
	entry := e.entryOf(c, c.err)
	if e.holds() > 0 && e.holds()+entrySize(entry) > e.limits.ResultBytes {
		e.closed = true
		e.result.End = sandbox.More
		if e.gates > 0 {
			e.result.End = sandbox.Blocked
		}
		return nil
	}
	e.since++
	e.record(entry)
	return e.deliver(c.call, entry.Value, entry.Error, entry.At)
}

// durable serializes a value that is to be recorded.
func (e *Engine) durable(of valueName, v goja.Value) (json.RawMessage, *sandbox.Failure) {
	text, failure := e.encode(v)
	if failure == nil {
		failure = e.checkSize(of, text)
	}
	if failure != nil {
		failure.Subject = of.String()
	}
	return text, failure
}

// valueName names a value in errors; it is only put together when there is one.
type valueName struct{ what, connector, method string }

func (s valueName) String() string { return s.what + s.connector + "." + s.method }

func (e *Engine) checkSize(of valueName, text json.RawMessage) *sandbox.Failure {
	if len(text) > e.limits.ValueUnits { // bytes are never fewer than units
		if units := signals.Units(text); units > e.limits.ValueUnits {
			return &sandbox.Failure{Kind: sandbox.TooLarge, Subject: of.String(), Size: units,
				Limit: e.limits.ValueUnits}
		}
	}
	if len(text) > e.limits.ValueBytes {
		return &sandbox.Failure{Kind: sandbox.TooLarge, Subject: of.String(), Size: len(text),
			Limit: e.limits.ValueBytes}
	}
	return nil
}

func (e *Engine) entryOf(c completion, err *signals.CallError) signals.Entry {
	entry := signals.Entry{
		ID: c.call.Seq, Connector: c.call.Connector, Method: c.call.Method, Args: c.call.Args, Value: c.value,
		Error: err,
		At:    c.at, Class: c.call.admission.Class, Ephemeral: c.call.admission.Ephemeral, Position: c.call.Position,
		Nested: c.call.step != nil && c.call.step.nested,
	}
	if err != nil {
		entry.Value = nil
	}
	return entry
}

func (e *Engine) record(entry signals.Entry) {
	e.entries = append(e.entries, entry)
	e.size += entrySize(entry)
}

func entrySize(entry signals.Entry) int {
	size := len(entry.Connector) + len(entry.Method) + len(entry.Args) + len(entry.Value) + entryOverhead
	if entry.Error != nil {
		size += encodedSize(entry.Error.Message) + encodedSize(entry.Error.Name)
	}
	return size
}

// deliver settles the call's promise; the microtasks that follow run before it returns.
func (e *Engine) deliver(c *call, value json.RawMessage, callErr *signals.CallError, at int64) error {
	delete(e.calls, c.Seq)
	e.clock = max(e.clock, at)
	if callErr != nil {
		v, err := e.errorValue(callErr, c)
		if err != nil {
			return err
		}
		return c.reject(v)
	}
	v, err := e.decode(value)
	if err != nil {
		return err
	}
	return c.resolve(v)
}

func (e *Engine) errorValue(ce *signals.CallError, c *call) (goja.Value, error) {
	args := goja.Undefined()
	if ce.Key != "" && c != nil {
		var err error
		if args, err = e.decode(c.Args); err != nil {
			return nil, err
		}
	}
	details := goja.Undefined()
	if len(ce.Details) > 0 {
		var err error
		if details, err = e.decode(ce.Details); err != nil {
			return nil, err
		}
	}
	v, err := e.js.makeError(goja.Undefined(), e.vm.ToValue(ce.Name), e.vm.ToValue(ce.Message), e.vm.ToValue(ce.Key),
		args, details, e.vm.ToValue(ce.NonRetryable))
	if err == nil && c != nil {
		e.errorsAt = append(e.errorsAt, errorAt{v, c.Position, c.name()})
	}
	return v, err
}

// errorAt remembers the call, and where it was issued, that a delivered error belongs to.
type errorAt struct {
	value goja.Value
	at    *signals.Position
	of    string
}

// name is what messages call it.
func (c *call) name() string {
	if c.Connector == sandbox.StepConnector {
		return fmt.Sprintf("step %q", c.Method)
	}
	return c.Connector + "." + c.Method
}

func (e *Engine) issuedAt(thrown goja.Value) *signals.Position {
	for _, x := range e.errorsAt {
		if x.value.SameAs(thrown) {
			return x.at
		}
	}
	return nil
}

// encode serializes a value of the program: its JSON, of which undefined has none.
func (e *Engine) encode(v goja.Value) (json.RawMessage, *sandbox.Failure) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	text, err := e.js.encode(goja.Undefined(), v)
	if err != nil {
		var exception *goja.Exception
		if !errors.As(err, &exception) {
			return nil, e.failureOf(err)
		}
		return nil, e.notSerializable(exception.Value())
	}
	s, ok := text.(goja.String)
	if !ok { // JSON.stringify gives undefined for functions and symbols
		return nil, &sandbox.Failure{Kind: sandbox.NotSerializable, Message: "it is a function or a symbol"}
	}
	return json.RawMessage(s.String()), nil
}

func (e *Engine) notSerializable(thrown goja.Value) *sandbox.Failure {
	f := &sandbox.Failure{Kind: sandbox.NotSerializable, Message: "it cannot be written as JSON"}
	if pair, err := e.js.describe(goja.Undefined(), thrown); err == nil {
		f.Message = cut(pair.ToObject(e.vm).Get("0").String(), 512)
	}
	return f
}

package child

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// result takes the child's result, in which calls are what the worker admitted and ended as the worker saw it.
func (s *stint) result(body []byte) (sandbox.Result, error) {
	r, err := decodeResult(body)
	if err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = nil // a call that has not settled by now is unsettled for the child, too
	switch r.End {
	case sandbox.Left:
		return r, s.leave(&r, len(body))
	case sandbox.Completed, sandbox.Blocked, sandbox.More:
	case sandbox.Failed:
		if r.Failure == nil {
			return r, errors.New("the sandbox child failed and does not say why")
		}
	default:
		return r, fmt.Errorf("the sandbox child ended its pass as %q", r.End)
	}
	if !isJSON(r.Value) {
		return r, errors.New("the sandbox child's result is not JSON")
	}
	s.over = true
	for i := range r.Blocked {
		if err := s.blocked(&r.Blocked[i]); err != nil {
			return r, err
		}
	}
	return r, s.entries(&r)
}

// isJSON accepts nothing, too, which is undefined. What the child says is not checked otherwise, and history would take
// nothing else.
func isJSON(raw json.RawMessage) bool { return len(raw) == 0 || json.Valid(raw) }

// entries checks what the child says has settled.
func (s *stint) entries(r *sandbox.Result) error {
	r.Entries = slices.DeleteFunc(r.Entries, s.neverMade)
	for i := range r.Entries {
		if err := s.entry(&r.Entries[i], *r); err != nil {
			return err
		}
	}
	return nil
}

// neverMade reports whether the call was cut off before the child asked for it.
func (s *stint) neverMade(e signals.Entry) bool {
	return e.Dropped && !e.Timer && s.admitted[e.ID] == nil
}

// blocked replaces what the child says of a gated call by what the worker knows of it.
func (s *stint) blocked(b *sandbox.BlockedCall) error {
	k := s.admitted[b.Seq]
	if k == nil || k.reported || k.again != nil {
		return fmt.Errorf("the sandbox child is blocked on call %d, which the worker did not admit", b.Seq)
	}
	a, gated := k.gated()
	args, known := k.arguments(b.Args)
	if !gated || !known {
		return fmt.Errorf("the sandbox child is blocked on call %d, which the worker did not admit so", b.Seq)
	}
	k.reported = true
	b.Call, b.Class, b.Approval, b.Timeout = k.Call, a.Class, a.Approval, a.Timeout
	b.Args = args
	return nil
}

// arguments are those that the call was admitted with.
func (k *admitted) arguments(repeated json.RawMessage) (args json.RawMessage, ok bool) {
	if k.made != nil && k.made.Args != nil {
		return k.made.Args, true
	}
	return repeated, sha256.Sum256(repeated) == k.args
}

// gated returns how a gated call is admitted: the worker admitted it as gated, or escalated it.
func (k *admitted) gated() (sandbox.Admission, bool) {
	switch made := k.made; {
	case made == nil || made.settlement == nil:
		return k.Admission, k.Gated
	case made.settlement.As != nil:
		return *made.settlement.As, made.settlement.Escalate
	default:
		return k.Admission, made.settlement.Escalate
	}
}

// entry replaces what the child says of a settled call by what the worker knows of it. The times are the child's: the
// program has seen them as its clock. Results of steps and times of timers only the child knows.
func (s *stint) entry(e *signals.Entry, of sandbox.Result) error {
	switch {
	case e.Timer:
		*e = signals.Entry{Timer: true, ID: e.ID, At: e.At}
		return nil
	case e.Connector == sandbox.StepConnector:
		return s.step(e)
	}
	k := s.admitted[e.ID]
	if k == nil || k.reported {
		return fmt.Errorf("the sandbox child reports call %d, which the worker did not make", e.ID)
	}
	k.reported = true
	value, failure, ended := k.ended(e.Error)
	if k.again != nil && ended {
		*e = *k.again
		e.Value, e.Error = value, failure
		return nil
	}
	args, known := k.arguments(e.Args)
	dropped := e.Dropped && of.End != sandbox.Left && k.again == nil
	switch {
	case dropped && of.Stopped:
		value, failure = nil, sandbox.DroppedError()
	case dropped:
		value, failure = nil, sandbox.UnawaitedError()
	}
	if !known || e.Dropped != dropped || !dropped && !ended {
		return fmt.Errorf("the sandbox child reports call %d, which has not ended so", e.ID)
	}
	*e = signals.Entry{
		ID: e.ID, Connector: k.Connector, Method: k.Method, Args: args, Value: value, Error: failure, At: e.At,
		Class: k.Class, Ephemeral: k.Ephemeral, Dropped: dropped, Position: e.Position,
	}
	return nil
}

// ended returns how a call ended, as the child was told. The reason of a refusal is the child's copy, checked by
// digest.
func (k *admitted) ended(repeated *signals.CallError) (value json.RawMessage, failure *signals.CallError, ok bool) {
	if k.refused {
		return nil, repeated, repeated != nil && digestOf(repeated.Name, repeated.Message, repeated.Key) == k.reason
	}
	if k.Carried != nil {
		return k.Carried.Value, k.Carried.Err, true
	}
	if _, gated := k.gated(); gated {
		return nil, sandbox.NotReadAgainError(k.Call), k.again != nil
	}
	if k.made == nil || k.made.settlement == nil {
		return nil, nil, false
	}
	value, failure = k.made.outcome()
	return value, failure, true
}

// step checks what the child records of a step, which is the program's own, and claims its number.
func (s *stint) step(e *signals.Entry) error {
	_, earlier := s.issuedBefore()[e.ID]
	switch {
	case e.ID < 0 || earlier || s.admitted[e.ID] != nil:
		return fmt.Errorf("the sandbox child reports step %d, which is another call", e.ID)
	case len(e.Method) > sandbox.MaxName || e.Error != nil && len(e.Error.Name) > sandbox.MaxName:
		return fmt.Errorf("the sandbox child names step %d or its error in more than %d bytes", e.ID, sandbox.MaxName)
	}
	if !isJSON(e.Value) {
		return fmt.Errorf("the sandbox child's value of step %d is not JSON", e.ID)
	}
	s.admitted[e.ID] = &admitted{reported: true}
	*e = signals.Entry{
		ID: e.ID, Connector: sandbox.StepConnector, Method: e.Method, Value: e.Value, Error: e.Error, At: e.At,
		Class: signals.Read, Nested: e.Nested, Position: e.Position,
	}
	return nil
}

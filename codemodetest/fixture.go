package codemodetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"testing"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// Fixture is a recorded execution: what it called and what it was answered.
type Fixture struct {
	record signals.Record

	mu    sync.Mutex
	given map[int]bool // calls whose answer was given
}

// LoadFixture reads what `codemode show ID --fixture FILE` writes.
func LoadFixture(t testing.TB, file string) *Fixture {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var record signals.Record
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatalf("%s is no fixture: %v", file, err)
	}
	return &Fixture{record: record}
}

// NewFixture makes a fixture of a record, such as that of another test or of codemode.Client.Show. Its secrets are
// masked.
func NewFixture(t testing.TB, record *signals.Record) *Fixture {
	t.Helper()
	masked, err := signals.Fixture(*record)
	if err != nil {
		t.Fatal(err)
	}
	return &Fixture{record: masked}
}

// Record is what was recorded.
func (f *Fixture) Record() signals.Record { return f.record }

// Replay says what has changed since the recording. The zero value has changed nothing.
type Replay struct {
	// Code is the changed program; empty is the recorded one.
	Code string
	// Options are the worker's as they are now. The connectors in them are asked for their methods only: what they
	// answer is recorded. Connectors that are missing here are as the recording shows them. Where Decide is nil people
	// decide as they did, and approve what they were not asked.
	Options
}

// Replayed is how a recorded execution goes now.
type Replayed struct {
	Result
	// Breaks are the differences, call by call; the outcome's comes last.
	Breaks []Break
}

// Replay runs a program against recorded answers: nothing is called. Each recorded call answers one with the same
// connector, method and arguments, in order.
func (f *Fixture) Replay(t testing.TB, r Replay) Replayed {
	t.Helper()
	f.mu.Lock()
	f.given = map[int]bool{}
	f.mu.Unlock()
	if r.Code == "" {
		r.Code = f.record.Code
	}
	if r.Caller.IsZero() {
		r.Caller = f.record.Caller
	}
	if r.Decide == nil {
		r.Decide = f.decide
	}
	r.Connectors = f.connectors(r.Connectors, r.Rules)
	result := Run(t, r.Code, r.Options)
	return Replayed{Result: result, Breaks: f.breaks(result)}
}

// connectors answer from the recording: those that are there now, and those that only the recording shows.
func (f *Fixture) connectors(now []connectors.Connector, rules map[string][]connectors.Rule) []connectors.Connector {
	var list []connectors.Connector
	known := map[string]bool{signals.StepConnector: true}
	for _, c := range now {
		known[c.Name()] = true
		list = append(list, connectors.Decorate(c, func(m *connectors.Method) {
			f.answer(c.Name(), called(m, rules[c.Name()]), m)
		}))
	}
	recorded := map[string]*Connector{}
	for _, call := range f.record.Log {
		if known[call.Connector] {
			continue
		}
		c := recorded[call.Connector]
		if c == nil {
			c = NewConnector(call.Connector)
			recorded[call.Connector], list = c, append(list, c)
		}
		c.take(f, call)
	}
	return list
}

// take adds the method of a recorded call as far as that shows it.
func (c *Connector) take(f *Fixture, call signals.Call) {
	for _, m := range c.methods {
		if m.Name == call.Method {
			return
		}
	}
	m := c.add(call.Method, call.Class, nil)
	m.ApprovalFor = func(_ connectors.Asked, args json.RawMessage) (bool, error) {
		asked := false
		for _, recorded := range f.record.Log {
			if recorded.Connector != call.Connector || recorded.Method != call.Method {
				continue
			}
			if same(args, recorded.Args) {
				return recorded.RequiresApproval, nil
			}
			asked = asked || recorded.RequiresApproval
		}
		return asked, nil
	}
	m.AllowAdditional = true
	if n := approvers(call); n > 1 {
		m.Approvals = n
	}
	if m.Class == connectors.Read && !call.RequiresApproval {
		m.ApprovalFor = nil
	}
	if call.Revertable {
		m.Revert = func(connectors.Context, json.RawMessage, json.RawMessage) error { return nil }
	}
	f.answer(call.Connector, m.Name, m)
}

// approvers counts those who let a call run.
func approvers(call signals.Call) (n int) {
	for _, d := range call.Decisions {
		if d.Approved && !d.Void {
			n++
		}
	}
	return n
}

// called is the name by which programs call a method.
func called(m *connectors.Method, rules []connectors.Rule) string {
	for _, r := range rules {
		byName, _ := path.Match(r.Pattern, m.Name)
		byOrigin, _ := path.Match(r.Pattern, m.Origin)
		if byName || byOrigin && m.Origin != "" {
			return cmp.Or(r.Rename, m.Name)
		}
	}
	return m.Name
}

// answer has a method answer what was recorded.
func (f *Fixture) answer(connector, name string, m *connectors.Method) {
	if m.Revert != nil {
		m.Revert = func(connectors.Context, json.RawMessage, json.RawMessage) error { return nil }
	}
	m.Execute = func(_ connectors.Context, args json.RawMessage) (any, error) {
		call := f.next(connector, name, args)
		switch {
		case call == nil:
			return nil, errors.New("nothing is recorded for " + connector + "." + name + " with these arguments")
		case call.ErrorName == signals.OutcomeUnknown:
			return nil, &connectors.OutcomeUnknownError{Err: errors.New(call.Error)}
		case call.State == signals.Errored:
			return nil, errors.New(call.Error)
		case len(call.Result) == 0:
			return nil, nil
		}
		return call.Result, nil
	}
}

// next is the first recorded call of that kind whose answer was not given yet, nil for none.
func (f *Fixture) next(connector, method string, args json.RawMessage) *signals.Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.record.Log {
		call := &f.record.Log[i]
		made := call.State == signals.Applied || call.State == signals.Errored || call.Ended == signals.CallUndone
		if f.given[call.Seq] || !made || call.Connector != connector || call.Method != method {
			continue
		}
		if same(args, call.Args) || len(call.EditedArgs) > 0 && same(args, call.EditedArgs) {
			f.given[call.Seq] = true
			return call
		}
	}
	return nil
}

// same compares arguments as the recording has them: without secrets.
func same(args, recorded json.RawMessage) bool {
	if len(args) == 0 || len(recorded) == 0 {
		empty := []byte("{}")
		return bytes.Equal(orEmpty(args, empty), orEmpty(recorded, empty))
	}
	return signals.SameArgs(args, recorded) || signals.SameArgs(signals.MaskValues(args), recorded)
}

func orEmpty(args, empty []byte) []byte {
	if len(args) == 0 {
		return empty
	}
	return args
}

// decide says what people said then.
func (f *Fixture) decide(p signals.PendingAction) Decision {
	for _, call := range f.record.Log {
		if call.Connector != p.Connector || call.Method != p.Method || !same(p.Args, call.Args) {
			continue
		}
		switch {
		case p.Reason == signals.ReasonUnknown || p.Resolution == signals.ByClient:
			return Resolve(call.Result)
		case call.Ended == signals.CallExpired:
			return Decision{}
		case call.Ended == signals.CallRejected && f.record.Status == signals.Rejected:
			return Reject(call.Note)
		case call.Ended == signals.CallRejected:
			return Refuse(call.Note)
		}
		var all Decision
		for _, d := range call.Decisions {
			if d.Approved && !d.Void {
				all = all.And(ApproveWith(d.EditedArgs).By(d.By))
			}
		}
		if len(all.messages) > 0 {
			all.messages = all.messages[:min(len(all.messages), max(1, p.ApprovalsNeeded))]
			return all
		}
	}
	all := Approve()
	for n := 2; n <= p.ApprovalsNeeded; n++ {
		all = all.And(Approve().By(fmt.Sprintf("%s %d", by, n)))
	}
	return all
}

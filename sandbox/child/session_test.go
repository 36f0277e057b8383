package child

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// bankHost makes calls of read; those of transfer wait for a person, those of flaky are given up, and there are no
// others.
type bankHost struct{ value json.RawMessage }

func (h *bankHost) Admit(c sandbox.Call) sandbox.Admission {
	switch c.Method {
	case "transfer":
		return sandbox.Admission{Gated: true, Approval: true, Class: "write"}
	case "read", "flaky", "search":
		return sandbox.Admission{Class: "read"}
	}
	return sandbox.Admission{Refused: &signals.CallError{Message: "no such tool"}}
}

func (h *bankHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Method == "flaky" {
		return sandbox.Settlement{Escalate: true}
	}
	return sandbox.Settlement{Value: h.value}
}

func frame(t *testing.T, body any) []byte {
	t.Helper()
	encoded, err := cbor.Marshal(body)
	require.NoError(t, err)
	return encoded
}

// sent is what the worker sends to a child, a frame at a time.
type sent chan []byte

func (s sent) Write(frame []byte) (int, error) {
	s <- frame
	return len(frame), nil
}

func (s sent) answer(t *testing.T, into any) {
	t.Helper()
	require.NoError(t, decodeFrame((<-s)[5:], into))
}

// A child that its program has taken over may send what it likes.
func takenOver(t *testing.T, pass sandbox.Pass) (*stint, sent) {
	to := make(sent, 1)
	s := newSession(t.Context(), pass, &bankHost{value: json.RawMessage("1")})
	return s.enter(&process{link: newLink(nil, to, 0)}), to
}

// takeUp takes up a call and makes it.
func (s *stint) takeUp(body []byte) error {
	c, err := s.call(body)
	if c != nil && err == nil {
		go s.make(c)
	}
	return err
}

// settled makes a call and waits for what the child is told.
func (s *stint) settled(t *testing.T, to sent, c sandbox.Call) (got settledMessage) {
	t.Helper()
	require.NoError(t, s.takeUp(frame(t, c)))
	to.answer(t, &got)
	return got
}

var (
	read     = sandbox.Call{Seq: 5, Connector: "bank", Method: "read"}
	transfer = sandbox.Call{Seq: 5, Connector: "bank", Method: "transfer", Args: json.RawMessage(`{"amount":9}`)}
)

func TestOnlyTheAdmittedCallIsMade(t *testing.T) {
	s, to := takenOver(t, sandbox.Pass{})
	require.NoError(t, s.admit(frame(t, read)))
	<-to
	require.ErrorContains(t, s.takeUp(frame(t, transfer)), "another call 5")
	other := read
	other.Args = json.RawMessage("1")
	require.ErrorContains(t, s.takeUp(frame(t, other)), "another call 5")
	require.Empty(t, s.issued)
	s.settled(t, to, read)
	require.ErrorContains(t, s.takeUp(frame(t, read)), "another call 5", "it was made")
	require.ErrorContains(t, s.admit(frame(t, read)), "again")
	require.Len(t, s.issued, 1)
}

func TestBlockedCallsAreWhatWasAdmitted(t *testing.T) {
	blockedOn := func(t *testing.T, s *stint, calls ...sandbox.BlockedCall) (sandbox.Result, error) {
		return s.result(frame(t, sandbox.Result{End: sandbox.Blocked, Blocked: calls}))
	}
	s, to := takenOver(t, sandbox.Pass{})
	require.NoError(t, s.admit(frame(t, transfer)))
	<-to
	claimed := sandbox.BlockedCall{Call: transfer, Class: "read"}
	claimed.Connector, claimed.Method = "shop", "buy"
	r, err := blockedOn(t, s, claimed)
	require.NoError(t, err)
	require.Equal(t, []sandbox.BlockedCall{{Call: transfer, Class: "write", Approval: true}}, r.Blocked)
	_, err = blockedOn(t, s, claimed)
	require.ErrorContains(t, err, "did not admit", "once")

	s, to = takenOver(t, sandbox.Pass{})
	require.NoError(t, s.admit(frame(t, transfer)))
	<-to
	claimed.Args = json.RawMessage(`{"amount":9000}`)
	_, err = blockedOn(t, s, claimed)
	require.ErrorContains(t, err, "did not admit so")
	claimed.Seq = 6
	_, err = blockedOn(t, s, claimed)
	require.ErrorContains(t, err, "did not admit")
}

// TestNothingInlineIsBlockedOn: the workflow makes what a pass is blocked on, by name; a look-up must not get there.
func TestNothingInlineIsBlockedOn(t *testing.T) {
	for _, c := range []sandbox.Call{read, {Seq: -1, Connector: sandbox.PlatformConnector, Method: "search"}} {
		s, to := takenOver(t, sandbox.Pass{})
		require.NoError(t, s.admit(frame(t, c)))
		<-to
		s.settled(t, to, c)
		_, err := s.result(frame(t, sandbox.Result{End: sandbox.Blocked, Blocked: []sandbox.BlockedCall{{Call: c}}}))
		require.ErrorContains(t, err, "did not admit so")
	}
	s, to := takenOver(t, sandbox.Pass{})
	flaky := sandbox.Call{Seq: 1, Connector: "bank", Method: "flaky", Args: json.RawMessage(`"x"`)}
	require.True(t, s.settled(t, to, flaky).Escalate)
	late := sandbox.Call{Seq: 2, Connector: "bank", Method: "transfer"}
	require.True(t, s.settled(t, to, late).Escalate)
	r, err := s.result(frame(t,
		sandbox.Result{End: sandbox.Blocked, Blocked: []sandbox.BlockedCall{{Call: flaky}, {Call: late}}}))
	require.NoError(t, err)
	require.Equal(t, []sandbox.BlockedCall{{Call: flaky, Class: "read"}, {Call: late, Class: "write", Approval: true}},
		r.Blocked)
	require.Zero(t, s.kept, "the child repeats the arguments")
}

func TestCallsAreNumberedAsByTheEngine(t *testing.T) {
	pass := sandbox.Pass{Log: []signals.Entry{{ID: 1, Connector: "bank", Method: "read"}},
		Open: []sandbox.OpenCall{{Seq: 2, Connector: "bank", Method: "transfer"}}}
	long := strings.Repeat("x", sandbox.MaxName+1)
	for name, c := range map[string]sandbox.Call{
		"a look-up among the calls": {Seq: 7, Connector: sandbox.PlatformConnector, Method: "Dispose"},
		"a call among the look-ups": {Seq: -7, Connector: "bank", Method: "read"},
		"a step":                    {Seq: 7, Connector: sandbox.StepConnector, Method: "s"},
		"one that has settled":      {Seq: 1, Connector: "bank", Method: "read"},
		"one that is open":          {Seq: 2, Connector: "bank", Method: "transfer"},
		"a long method":             {Seq: 7, Connector: "bank", Method: long},
		"a long connector":          {Seq: 7, Connector: long, Method: "read"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := takenOver(t, pass)
			require.Error(t, s.admit(frame(t, c)))
			require.Error(t, s.takeUp(frame(t, c)))
			require.Empty(t, s.admitted)
		})
	}
}

func TestEntriesAreWhatWasMade(t *testing.T) {
	report := func(t *testing.T, s *stint, e signals.Entry) (sandbox.Result, error) {
		return s.result(frame(t, sandbox.Result{End: sandbox.Completed, Entries: []signals.Entry{e}}))
	}
	forged := signals.Entry{ID: 5, Connector: "bank", Method: "transfer", Class: "write", Approval: true,
		Value: json.RawMessage("9000"), At: 3}
	s, _ := takenOver(t, sandbox.Pass{})
	_, err := report(t, s, forged)
	require.ErrorContains(t, err, "did not make")

	s, to := takenOver(t, sandbox.Pass{})
	s.settled(t, to, read)
	r, err := report(t, s, forged)
	require.NoError(t, err)
	require.Equal(t, []signals.Entry{{ID: 5, Connector: "bank", Method: "read", Class: "read",
		Value: json.RawMessage("1"), At: 3}}, r.Entries)
	_, err = report(t, s, forged)
	require.ErrorContains(t, err, "did not make", "once")

	s, to = takenOver(t, sandbox.Pass{})
	require.NoError(t, s.admit(frame(t, read)))
	<-to
	_, err = report(t, s, forged)
	require.ErrorContains(t, err, "has not ended so", "it was not made")

	s, to = takenOver(t, sandbox.Pass{})
	s.settled(t, to, read)
	forged.Dropped = true
	r, err = report(t, s, forged)
	require.NoError(t, err, "the program has ended without it")
	require.Equal(t, sandbox.UnawaitedError(), r.Entries[0].Error)
	require.Empty(t, r.Entries[0].Value)

	s, to = takenOver(t, sandbox.Pass{})
	s.settled(t, to, read)
	_, err = s.result(frame(t, sandbox.Result{End: sandbox.Left, Left: &sandbox.LeftState{},
		Entries: []signals.Entry{forged}}))
	require.ErrorContains(t, err, "has not ended so", "it has not ended at all")
}

func TestRefusalsAreTheWorkers(t *testing.T) {
	s, to := takenOver(t, sandbox.Pass{})
	c := sandbox.Call{Seq: 5, Connector: "bank", Method: "rob"}
	require.NoError(t, s.admit(frame(t, c)))
	var a sandbox.Admission
	to.answer(t, &a)
	entries := func(message string) []byte {
		return frame(t, sandbox.Result{End: sandbox.Completed,
			Entries: []signals.Entry{{ID: 5, Error: &signals.CallError{Message: message}}}})
	}
	_, err := s.result(entries("the bank is closed"))
	require.ErrorContains(t, err, "has not ended so")
	s.admitted[5].reported = false
	r, err := s.result(entries(a.Refused.Message))
	require.NoError(t, err)
	require.Equal(t, "rob", r.Entries[0].Method)
	require.Equal(t, "no such tool", r.Entries[0].Error.Message)
	require.Error(t, s.takeUp(frame(t, c)), "it is not made after all")
}

func TestValueTooLargeToRecordIsLeftOut(t *testing.T) {
	s, to := takenOver(t, sandbox.Pass{Limits: sandbox.Limits{ValueUnits: 3}})
	s.host = &bankHost{value: json.RawMessage("12345")}
	require.Equal(t, "12345", string(s.settled(t, to, read).Value))
	r, err := s.result(frame(t,
		sandbox.Result{End: sandbox.Completed, Entries: []signals.Entry{{ID: 5, Value: json.RawMessage("12345")}}}))
	require.NoError(t, err)
	require.Empty(t, r.Entries[0].Value)
	require.Equal(t, "The result was too large to record", r.Entries[0].Error.Message)
	require.Zero(t, s.kept)

	d := sandboxtest.NewDriver(t, &engine.InProcess{}, `return await store.big({})`)
	d.Pass.Limits.ValueUnits = 3
	d.Host.Methods["big"] = func(json.RawMessage) (string, error) { return "12345", nil }
	r, err = pool().Run(t.Context(), d.Pass, d.Host)
	require.NoError(t, err)
	require.Equal(t, sandbox.TooLarge, r.Failure.Kind)
	require.Equal(t, "The result was too large to record", r.Entries[0].Error.Message)
}

// TestReadsMadeAnewKeepTheirPlace: what the log has may be read anew, where the pass is to do that, and nothing else.
func TestReadsMadeAnewKeepTheirPlace(t *testing.T) {
	kept := signals.Entry{ID: 5, Connector: "bank", Method: "read", Class: "read", Ephemeral: true,
		Value: json.RawMessage("0"), At: 7}
	s, _ := takenOver(t, sandbox.Pass{Log: []signals.Entry{kept}})
	require.ErrorContains(t, s.takeUp(frame(t, read)), "again")

	s, to := takenOver(t, sandbox.Pass{Log: []signals.Entry{kept}, Refresh: true})
	require.ErrorContains(t, s.takeUp(frame(t, transfer)), "again")
	s.settled(t, to, read)
	require.Zero(t, s.started, "it counted when it was first made")
	r, err := s.result(frame(t,
		sandbox.Result{End: sandbox.Completed,
			Entries: []signals.Entry{{ID: 5, Value: json.RawMessage("9000"), At: 8, Approval: true}}}))
	require.NoError(t, err)
	kept.Value = json.RawMessage("1")
	require.Equal(t, []signals.Entry{kept}, r.Entries)

	lost := signals.Entry{ID: 4, Connector: "bank", Method: "flaky", Ephemeral: true}
	s, to = takenOver(t, sandbox.Pass{Log: []signals.Entry{lost}, Refresh: true})
	s.settled(t, to, sandbox.Call{Seq: 4, Connector: "bank", Method: "flaky"})
	r, err = s.result(frame(t, sandbox.Result{End: sandbox.Completed, Entries: []signals.Entry{lost}}))
	require.NoError(t, err)
	require.Equal(t, "bank.flaky could not be read again", r.Entries[0].Error.Message)
}

func TestStepsAreTheProgramsOwn(t *testing.T) {
	report := func(entries ...signals.Entry) (sandbox.Result, error) {
		s, to := takenOver(t,
			sandbox.Pass{Log: []signals.Entry{{ID: 1, Connector: "bank", Method: "read"}},
				Open: []sandbox.OpenCall{{Seq: 2}}})
		s.settled(t, to, read)
		return s.result(frame(t, sandbox.Result{End: sandbox.Completed, Entries: entries}))
	}
	step := signals.Entry{ID: 9, Connector: sandbox.StepConnector, Method: "s", Value: json.RawMessage("1"),
		Class: "read", At: 3, Nested: true}
	r, err := report(step)
	require.NoError(t, err)
	require.Equal(t, []signals.Entry{step}, r.Entries)
	for _, id := range []int{1, 2, 5, -1} {
		_, err = report(signals.Entry{ID: id, Connector: sandbox.StepConnector, Method: "s"})
		require.ErrorContains(t, err, "is another call", id)
	}
	_, err = report(step, step)
	require.ErrorContains(t, err, "is another call")
	long := strings.Repeat("x", sandbox.MaxName+1)
	_, err = report(signals.Entry{ID: 9, Connector: sandbox.StepConnector, Method: long})
	require.ErrorContains(t, err, "256 bytes")
	_, err = report(signals.Entry{ID: 9, Connector: sandbox.StepConnector, Error: &signals.CallError{Name: long}})
	require.ErrorContains(t, err, "256 bytes")

	r, err = report(signals.Entry{ID: 9, Connector: sandbox.StepConnector, Method: "s", Args: json.RawMessage("1"),
		Approval: true, Ephemeral: true}, signals.Entry{Timer: true, ID: 5, Method: "x", At: 4})
	require.NoError(t, err)
	require.Equal(t, []signals.Entry{{ID: 9, Connector: sandbox.StepConnector, Method: "s", Class: "read"},
		{Timer: true, ID: 5, At: 4}}, r.Entries)
}

func TestCallsThatWereCutOff(t *testing.T) {
	s, to := takenOver(t, sandbox.Pass{})
	s.settled(t, to, read)
	r, err := s.result(frame(t,
		sandbox.Result{End: sandbox.Failed, Stopped: true, Failure: &sandbox.Failure{Kind: sandbox.TimedOut},
			Entries: []signals.Entry{
				{ID: 5, Connector: "bank", Method: "read", Dropped: true, Value: json.RawMessage("9000")},
				{ID: 6, Connector: "bank", Method: "read", Dropped: true},
			}}))
	require.NoError(t, err)
	require.Len(t, r.Entries, 1, "what the worker was not asked for was not made")
	require.True(t, r.Entries[0].Dropped)
	require.Empty(t, r.Entries[0].Value)
	require.Equal(t, sandbox.DroppedError(), r.Entries[0].Error)
}

// TestFloodsEnd: a child makes no more than its engine would, and what it asks about takes the worker little memory.
func TestFloodsEnd(t *testing.T) {
	limits := sandbox.Limits{InlineCalls: 3, GatedCalls: 2}
	call := func(seq int) []byte {
		return frame(t, sandbox.Call{Seq: seq, Connector: "bank", Method: "read", Args: json.RawMessage(`"x"`)})
	}
	s, to := takenOver(t, sandbox.Pass{Limits: limits})
	for seq := range limits.InlineCalls {
		require.NoError(t, s.takeUp(call(seq)))
		<-to
	}
	require.ErrorIs(t, s.takeUp(call(3)), errFlood)

	s, to = takenOver(t, sandbox.Pass{Limits: limits})
	for seq := range 5_000 {
		require.NoError(t, s.admit(call(seq)))
		var a sandbox.Admission
		to.answer(t, &a)
		require.Equal(t, seq >= 1010, a.Refused != nil, seq)
	}
	require.Len(t, s.admitted, 1010)
	require.Nil(t, s.admitted[0].Args)
	require.ErrorIs(t, s.takeUp(call(6_000)), errFlood)

	limits.ValueBytes, limits.ValueUnits = 1, 1
	s, _ = takenOver(t, sandbox.Pass{Limits: limits})
	s.kept = mostKept(limits.WithDefaults()) - 2
	require.ErrorIs(t, s.takeUp(call(0)), errFlood, "the arguments of calls that are made are kept")
}

// TestManyCallsAtOnceAreCountedByTheEngine: a program issues more than the worker remembers before the engine can stop
// it.
func TestManyCallsAtOnceAreCountedByTheEngine(t *testing.T) {
	pass := sandbox.Pass{Code: `await Promise.all(Array.from({length: 4000}, (_, i) => store.echo(i)))`,
		Connectors: []string{"store"}, Limits: sandbox.Limits{InlineCalls: 50, GatedCalls: 50}}
	r, err := pool().Run(t.Context(), pass, &sandboxtest.Host{})
	require.NoError(t, err)
	require.Equal(t, sandbox.BudgetExceeded, r.Failure.Kind, r.Failure.Message)
	pass.Code = `for (;;) await store.echo(1)`
	r, err = pool().Run(t.Context(), pass, &sandboxtest.Host{})
	require.NoError(t, err)
	require.Equal(t, sandbox.BudgetExceeded, r.Failure.Kind, r.Failure.Message)
	require.Len(t, r.Entries, 50)
}

// TestHonestChildReports: all kinds of entries at once, as a child reports them.
func TestHonestChildReports(t *testing.T) {
	d := sandboxtest.NewDriver(t, &engine.InProcess{}, `
const big = Array.from({length: 40}, (_, i) => store.w_x('q'.repeat(10000) + i));
const found = await codemode.search('x');
const message = await store.nope({}).catch(e => e.message);
const step = await codemode.step('s', async () => [await store.echo(1), await store.fresh({})]);
await Promise.all(big);
return [found, message, step[0]]`)
	d.Host.Methods["search"] = func(json.RawMessage) (string, error) { return `"found"`, nil }
	for i := range 3 {
		d.Pass.Open, d.Pass.Refresh = nil, i == 1
		for _, c := range d.Open {
			d.Pass.Open = append(d.Pass.Open,
				sandbox.OpenCall{Seq: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args})
		}
		r, err := pool().Run(t.Context(), d.Pass, d.Host)
		require.NoError(t, err)
		require.Nil(t, r.Failure, fmt.Sprintf("%+v", r.Failure))
		for _, e := range r.Entries {
			d.Fold(e)
		}
		if d.Open = append(d.Open, r.Blocked...); i == 1 {
			require.Len(t, d.Open, 40)
			require.True(t, r.Entries[0].Ephemeral)
			for len(d.Open) > 0 {
				d.SettleOpen(0)
			}
		}
		if i == 2 {
			sandboxtest.RequireValue(t, `["found","Tool \"nope\" not found on store",1]`, r)
		}
	}
}

func TestEndsAreThoseOfTheEngine(t *testing.T) {
	for _, forged := range []sandbox.Result{{}, {End: "missing"}, {End: "elsewhere"}, {End: sandbox.Failed}} {
		s, _ := takenOver(t, sandbox.Pass{})
		_, err := s.result(frame(t, forged))
		require.Error(t, err, forged.End)
	}
}

// TestLoggedCallsGrow: a pass in a kept runtime looks at what its log has more, and nothing else.
func TestLoggedCallsGrow(t *testing.T) {
	var l loggedCalls
	p := sandbox.Pass{Log: []signals.Entry{{ID: 0}, {Timer: true, ID: 7}}, Open: []sandbox.OpenCall{{Seq: 1}}}
	require.Equal(t, map[int]*signals.Entry{0: nil, 1: nil}, l.of(p))
	p.Log = append(p.Log, signals.Entry{ID: 1}, signals.Entry{ID: 2})
	p.Log[0].ID = 99 // it was looked at before
	p.Open = nil
	require.Equal(t, map[int]*signals.Entry{0: nil, 1: nil, 2: nil}, l.of(p))

	l, p.Refresh = loggedCalls{}, true
	require.Equal(t, &p.Log[3], l.of(p)[2])
}

// TestLateSettlementIsNone: which of the child and its worker notices the deadline first must not matter.
func TestLateSettlementIsNone(t *testing.T) {
	late := &inlineCall{settlement: &sandbox.Settlement{Value: json.RawMessage("1")}, at: 101}
	require.True(t, late.entry(100).Dropped)
	require.False(t, late.entry(101).Dropped)
}

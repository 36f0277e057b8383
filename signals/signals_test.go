package signals

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "codemode-default", TaskQueue(DefaultRuntime))
	runtime, id, ok := ParseWorkflowID(WorkflowID("shop", "exec_1"))
	require.Equal(t, []any{"shop", "exec_1", true}, []any{runtime, id, ok})
	_, _, ok = ParseWorkflowID("codemode/shop/snippet/x")
	require.False(t, ok)
	require.EqualError(t, CheckRuntime("a b"),
		`Invalid codemode runtime name "a b" — use letters, digits, "_", "-" or "."`)
	require.NoError(t, CheckRuntime("a-b_c.9"))
	for _, id := range []string{"", "a/b", "a b", strings.Repeat("x", 201)} {
		require.Error(t, CheckExecutionID(id), id)
	}
	early, late := NewExecutionID(time.UnixMilli(999)), NewExecutionID(time.UnixMilli(1000))
	require.Less(t, early, late, "ids sort by time")
	require.NoError(t, CheckExecutionID(early))
}

func TestDigestAndKey(t *testing.T) {
	a, b := json.RawMessage(`{"a":1,"b":[2,{"d":1,"c":2}]}`), json.RawMessage(` { "b": [2, {"c":2,"d":1}], "a":1 }`)
	require.Equal(t, Digest(a), Digest(b))
	require.True(t, SameArgs(a, b))
	require.Len(t, Digest(a), 16)
	require.Equal(t, "none", Digest(nil))
	require.NotEqual(t, Digest(nil), Digest(json.RawMessage("null")))
	require.False(t, SameArgs(nil, json.RawMessage("null")), "absent is not null")
	require.NotEqual(t, Digest(json.RawMessage(`12345678901234567890`)),
		Digest(json.RawMessage(`12345678901234567891`)), "no float loss")
	require.Equal(t, IdempotencyKey("e", 1, "c", "m", a), IdempotencyKey("e", 1, "c", "m", b))
	require.NotEqual(t, IdempotencyKey("e", 1, "c", "m", a), IdempotencyKey("e", 1, "c", "n", a))
}

func TestSizes(t *testing.T) {
	require.Equal(t, 4, Units("é😀x"))
	require.Empty(t, CheckSize("x", strings.Repeat("é", 900_000)))
	require.Contains(t, CheckSize("The result of a.b", strings.Repeat("x", MaxValueUnits+1)),
		"The result of a.b is too large to record durably (1000001 bytes > 1000000 byte limit). Write large data")
	require.Contains(t, TooLarge("x", 2, 1),
		"(such as a path). A program here has no files of its own: read in pages, filter, or return less.")
	require.Contains(t, CheckSize("x", strings.Repeat("é", 960_000)), "1920000 bytes > 1900000")
	raw, err := Marshal(map[string]json.RawMessage{"a": json.RawMessage(`"<&>"`)})
	require.NoError(t, err)
	require.Equal(t, `{"a":"<&>"}`, string(raw), "bytes stay what was measured")
	require.Equal(t, "ab…", Cut("abcdefgh", 5))
	require.Equal(t, "é…", Cut("éééé", 6))
	require.Equal(t, "a�b", Cut("a\xffb", 6), "a sandbox child takes valid text only")
}

func TestSummaryMasksSecrets(t *testing.T) {
	s := Summary(json.RawMessage(`{"user":"ada","api_key":"k","nested":[{"Password":"p","note":"n"}]}`), 200)
	require.Equal(t, `{"api_key":"•••","nested":[{"Password":"•••","note":"n"}],"user":"ada"}`, s)
	require.LessOrEqual(t, len(Summary(json.RawMessage(`"`+strings.Repeat("é", 500)+`"`), 100)), 100)
	require.Empty(t, Summary(nil, 10))
	require.Equal(t, `{"a":[{"token":"•••"}],"n":1.50}`,
		string(Mask(json.RawMessage(`{"n":1.50,"a":[{"token":{"x":1}}]}`))))
	require.Equal(t, `{ "b":1,"a":2}`, string(Mask(json.RawMessage(`{ "b":1,"a":2}`))), "untouched without secrets")
	require.Empty(t, Mask(nil))
}

func TestDecisionChecks(t *testing.T) {
	minus := -1
	require.ErrorContains(t, Approve{Seqs: []int{1, 2}, Args: json.RawMessage(`1`)}.Check(), "one seq")
	require.ErrorContains(t, Approve{Seqs: []int{1, 2}, ArgsDigest: "x"}.Check(), "one seq")
	require.ErrorContains(t, Approve{Seqs: []int{-1}}.Check(), "negative")
	require.ErrorContains(t, Approve{Args: json.RawMessage(`{`)}.Check(), "not valid JSON")
	require.ErrorContains(t, Approve{Note: strings.Repeat("x", 5000)}.Check(), "too long")
	require.ErrorContains(t, Reject{Seq: &minus}.Check(), "negative")
	require.NoError(t, Approve{}.Check())
	require.NoError(t, Reject{}.Check())
}

func TestOutcomeShape(t *testing.T) {
	b, err := json.Marshal(Outcome{Status: Completed, ExecutionID: "e", Result: json.RawMessage("null"),
		Calls: []Call{}})
	require.NoError(t, err)
	require.JSONEq(t, `{"status":"completed","executionId":"e","result":null,"calls":[],"pass":0}`, string(b))
	b, err = json.Marshal(Outcome{Status: Completed,
		Calls: []Call{{Seq: 0, Connector: "c", Method: "m", State: Applied}}})
	require.NoError(t, err)
	require.NotContains(t, string(b), `"result"`, "undefined is a missing key")
}

// TestLogFold folds the passes of an execution with a write, a decision, a timer and a read that ran anew.
func TestLogFold(t *testing.T) {
	value := func(text string) json.RawMessage { return json.RawMessage(text) }
	source := func(id string) (Settlement, error) { return Settlement{Value: value(`"from ` + id + `"`)}, nil }
	l := NewLog()
	require.NoError(t, l.Fold(PassResult{
		Nonce: "n1", Pass: 1, Pinned: &Pinned{Engine: "e"}, Logs: []string{"one"}, Lines: 1,
		Entries: []Entry{{ID: 0, Connector: "c", Method: "fresh", Value: value("1"), At: 5, Ephemeral: true}},
		Blocked: []Blocked{{Seq: 1, Connector: "c", Method: "w", Args: value("{}"), Class: Write},
			{Seq: 2, Connector: "c", Method: "ask", Approval: true}},
	}, source))
	require.Equal(t, []CallState{Applied, Executing, Pending}, states(l.Calls()))
	require.NoError(t, l.Fold(PassResult{Nonce: "x", Pass: 2, End: PassMissing}, source))
	require.NoError(t, l.Fold(PassResult{
		Nonce: "n2", Pass: 3, Logs: []string{"two"}, Lines: 2,
		Given: []Given{
			{Kind: GivenDecision, ID: 2,
				At: 7, Decision: &Decision{Approved: true, By: "ada", AssertedBy: "ada@x", At: 7}},
			{ID: 1, At: 8, Source: "call-1.1"}, {Kind: GivenTimer, ID: 0, At: 9},
		},
		Entries: []Entry{{ID: 0, Connector: "c", Method: "fresh", Value: value("2"), At: 5, Ephemeral: true},
			{ID: 3, Connector: "c", Method: "r", Value: value("3"), At: 10}},
	}, source))
	require.Equal(t, []int{0, 1, 0, 3}, ids(l.Order), "a read that ran anew keeps its place")
	require.Equal(t, "2", string(l.Order[0].Value))
	require.Equal(t, `"from call-1.1"`, string(l.Order[1].Value))
	calls := l.Calls()
	require.Equal(t, []CallState{Applied, Applied, Executing, Applied}, states(calls))
	require.Empty(t, calls[0].Result, "results of reexecute reads are not listed")
	require.Equal(t, []string{"ada", "ada@x"}, []string{calls[2].DecidedBy, calls[2].AssertedBy})
	require.Equal(t, []string{"one", "two"}, l.Logs)
	require.Equal(t, []any{"n2", 3, 2}, []any{l.Nonce, l.Passes, l.Lines()})
	inline, gated := l.Counts()
	require.Equal(t, []int{2, 2}, []int{inline, gated})
	require.NoError(t, l.Give([]Given{{ID: 2, At: 11, Error: &CallError{Name: RejectedError, Message: "no"}}}, nil))
	require.Equal(t, Reverted, l.Calls()[2].State)
	require.Error(t, l.Give([]Given{{ID: 9}}, nil), "a call that no pass issued cannot settle")
	End(calls, []EndedCall{{Seq: 2, State: Reverted, Decision: &Decision{By: "bob", Note: "n"}}})
	require.Equal(t, []any{Reverted, "bob", "n"}, []any{calls[2].State, calls[2].DecidedBy, calls[2].Note})
}

func TestLogKeepsTheNewestLines(t *testing.T) {
	l := NewLog()
	for range 100 {
		l.Add(PassResult{Logs: []string{strings.Repeat("x", 20_000)}})
	}
	l.Add(PassResult{Logs: []string{"last"}})
	require.Equal(t, LogsDropped, l.Logs[0])
	require.Equal(t, "last", l.Logs[len(l.Logs)-1])
	total := 0
	for _, line := range l.Logs {
		total += len(line)
	}
	require.LessOrEqual(t, total, maxLogUnits+len(LogsDropped))
}

func states(calls []Call) []CallState {
	var list []CallState
	for _, c := range calls {
		list = append(list, c.State)
	}
	return list
}

func ids(entries []Entry) []int {
	var list []int
	for _, e := range entries {
		list = append(list, e.ID)
	}
	return list
}

func FuzzCanonical(f *testing.F) {
	f.Add(`{"b":1,"a":[1.50,"é",null,12345678901234567890]}`)
	f.Fuzz(func(t *testing.T, text string) {
		once, err := Canonical(json.RawMessage(text))
		if err != nil || len(once) == 0 {
			return
		}
		twice, err := Canonical(once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

func TestMixedDecisions(t *testing.T) {
	zero := 0
	approve := func(seqs ...int) OneDecision { return OneDecision{Approve: &Approve{Seqs: seqs}} }
	for want, m := range map[string]Mixed{
		"":                                   {approve(0, 1)},
		"must be one of approve":             {{}},
		"decision 1 of the message must be":  {{Approve: &Approve{}, Reject: &Reject{}}},
		"it must say the seq of the call":    {approve()},
		"decision 2 of the message: call 0":  {approve(0), {Reject: &Reject{Seq: &zero}}},
		"it cannot hold decisions itself":    {{Approve: &Approve{Seqs: []int{0}, Decisions: Mixed{approve(1)}}}},
		"seq -1 is negative":                 {{Retry: &Retry{Seq: -1}}},
		"result is not valid JSON":           {{Resolve: &Resolve{Seq: 1, Result: json.RawMessage("{")}}},
		"1001 decisions are too many for on": make(Mixed, 1001),
	} {
		for _, message := range []Message{Approve{Decisions: m}, Reject{Decisions: m}, Retry{Decisions: m},
			Resolve{Decisions: m}} {
			if err := message.Check(); want == "" {
				require.NoError(t, err)
				require.Len(t, message.Each(), 1)
			} else {
				require.ErrorContains(t, err, want)
			}
		}
	}
	require.ErrorContains(t, Approve{Always: true, Args: json.RawMessage("1")}.Check(), "always")
	require.ErrorContains(t, Reject{All: true, Continue: true}.Check(), "all ends the execution")
	require.Equal(t, []Message{Retry{Seq: 3}}, Retry{Seq: 3}.Each())
}

func TestRollbackResult(t *testing.T) {
	require.NoError(t, RollbackRecord{}.Result().Err())
	b, err := json.Marshal(RollbackRecord{}.Result())
	require.NoError(t, err)
	require.Equal(t, `{"reverted":[],"failed":[]}`, string(b))
	r := RollbackRecord{Reverts: []RevertedCall{{Seq: 2}, {Seq: 1, Connector: "c", Method: "m", Error: "no"},
		{Seq: 0}}}.Result()
	require.Equal(t, []int{2, 0}, r.Reverted)
	require.EqualError(t, r.Err(), "Rollback reverted 2 action(s) but 1 failed: c.m: no")
}

func TestBackoff(t *testing.T) {
	require.Equal(t, []time.Duration{time.Second, 4 * time.Second, 30 * time.Second, time.Minute},
		[]time.Duration{RetryLimits{}.Backoff(0, 1), RetryLimits{}.Backoff(0, 3), RetryLimits{}.Backoff(0, 99),
			RetryLimits{}.Backoff(time.Minute, 1)})
	require.Equal(t, 5*time.Millisecond, RetryLimits{InitialMs: 10, MaxMs: 5}.Backoff(0, 1))
}

func TestDecisionsAreNotedOnce(t *testing.T) {
	edited := []byte(strings.Repeat("1", InlineValueBytes+1))
	given := func(d Decision) []Given { return []Given{{Kind: GivenDecision, Decision: &d}} }
	log := NewLog()
	for _, d := range []Decision{
		{Kind: SignalApprove, AssertedBy: "ada", At: 5},
		{Kind: SignalApprove, AssertedBy: "bob", At: 5},
		{Kind: SignalApprove, AssertedBy: "bob", At: 5, EditedArgs: edited},
		{Kind: SignalApprove, AssertedBy: "bob", At: 5, EditedArgs: []byte("2")},
		{Kind: SignalApprove, AssertedBy: "ada", At: 5}, // again, as are the next
		{Kind: SignalApprove, AssertedBy: "bob", At: 5, EditedArgs: []byte("2")},
	} {
		require.NoError(t, log.Give(given(d), nil))
	}
	require.Len(t, log.Decisions[0], 4)
	require.NoError(t, log.Give(given(Decision{Kind: SignalReject, At: 6, EditedArgs: edited}), nil))
	require.NoError(t, log.Give(given(Decision{Kind: SignalReject, At: 6}), nil))
	require.Len(t, log.Decisions[0], 5, "large arguments are left out where their own event has them")
}

func TestCallsSettleOnce(t *testing.T) {
	log := NewLog()
	log.Add(PassResult{Blocked: []Blocked{{Seq: 0, Connector: "store", Method: "write"}}})
	for range 2 {
		require.NoError(t, log.Give([]Given{{ID: 0, At: 5}}, nil))
	}
	require.Len(t, log.Order, 1)
	inline, gated := log.Counts()
	require.Equal(t, []int{0, 1}, []int{inline, gated})
}

func TestCallsOfALatePassWereNeverMade(t *testing.T) {
	calls := []Call{{Seq: 0, State: Applied}, {Seq: 1, State: Executing}, {Seq: 2, State: Pending}}
	End(calls, []EndedCall{{Seq: 2, State: Errored}})
	require.Equal(t, []CallState{Applied, Reverted, Errored},
		[]CallState{calls[0].State, calls[1].State, calls[2].State})
}

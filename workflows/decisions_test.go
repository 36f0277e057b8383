package workflows

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestUnknownOutcomesThatAPersonDecides(t *testing.T) {
	for _, c := range []struct {
		name, update string
		arg          any
		state        string // of the settled call, as its error's name
		calls        int
	}{
		{"retry", signals.SignalRetry, signals.Retry{Seq: 0}, "", 2},
		{"resolve", signals.SignalResolve, signals.Resolve{Seq: 0, Result: json.RawMessage(`7`)}, "", 2},
		{"reject", signals.SignalReject, signals.Reject{Continue: true}, signals.OutcomeUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			asked := write(0)
			asked.AskUnknown = true
			last := func(in signals.PassInput) signals.PassResult { return ends(`1`)(in) }
			r.passes = append(r.passes, blocked(asked), blocked(), last)
			if c.calls == 1 {
				r.passes = append(r.passes[:1], last)
			}
			r.call = func(_ signals.CallInput, n int) (json.RawMessage, error) {
				if n == 1 {
					return nil, errors.New("lost")
				}
				return nil, nil
			}
			v := r.update(time.Hour, c.update, c.arg)
			require.Equal(t, signals.Completed, r.run().Status)
			require.True(t, v.Accepted, v.Error)
			require.Len(t, r.calls, c.calls)
			settled := r.inputs[len(r.inputs)-1].Given
			name := ""
			if e := settled[len(settled)-1].Error; e != nil {
				name = e.Name
			}
			require.Equal(t, c.state, name)
			if c.name == "retry" {
				require.Equal(t, r.calls[0].Key, r.calls[1].Key)
			}
			if c.name == "resolve" {
				require.Equal(t, `7`, string(r.calls[1].Resolution.Value))
			}
		})
	}
}

func TestPartialApprovalsStartNoPass(t *testing.T) {
	r := newRig(t)
	two := ask(0)
	two.Approvals = 2
	r.passes = append(r.passes, blocked(two), blocked(), ends(`1`))
	first := r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada"})
	again := r.update(2*time.Hour, signals.SignalApprove, signals.Approve{By: "ada"})
	r.env.RegisterDelayedCallback(func() { require.Len(t, r.inputs, 1) }, 2*time.Hour+time.Minute)
	second := r.update(3*time.Hour, signals.SignalApprove, signals.Approve{By: "bob"})
	require.Equal(t, signals.Completed, r.run().Status)
	require.True(t, first.Accepted && second.Accepted)
	require.Equal(t, []int{0, 1}, []int{first.Pass, second.Pass}, "the first is answered by the outcome there is")
	require.Contains(t, again.Error, "ada has approved store.ask (seq 0) already")
	require.Len(t, r.inputs[1].Given, 2, "both are in the log")
}

// People are counted, not spellings of their names; and where the worker says so, only those who were authenticated.
func TestSeveralApprovalsAreOfDifferentPeople(t *testing.T) {
	const named, authenticated = signals.ApproversNamed, signals.ApproversAuthenticated
	for name, c := range map[string]struct {
		how     string
		second  signals.Approve
		refusal string
	}{
		"another case":              {named, signals.Approve{By: " Ada "}, "has approved store.ask (seq 0) already"},
		"claimed and authenticated": {named, signals.Approve{By: "x", AssertedBy: "ADA"}, "already"},
		"no name":                   {named, signals.Approve{By: " "}, "say who approves (by)"},
		"two people":                {named, signals.Approve{By: "bob"}, ""},
		"a claim":                   {authenticated, signals.Approve{By: "bob"}, "people who are authenticated"},
		"two claims of one":         {authenticated, signals.Approve{By: "bob", AssertedBy: "Ada"}, "already"},
		"two who are authenticated": {authenticated, signals.Approve{AssertedBy: "bob"}, ""},
		"as histories of before":    {"", signals.Approve{By: "Ada"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			two := ask(0)
			two.Approvals, two.Approvers = 2, c.how
			r.passes = append(r.passes, blocked(two), blocked(), ends(`1`))
			r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada", AssertedBy: "ada"})
			second := r.update(2*time.Hour, signals.SignalApprove, c.second)
			if c.refusal != "" {
				r.update(3*time.Hour, signals.SignalApprove, signals.Approve{By: "eve", AssertedBy: "eve"})
			}
			require.Equal(t, signals.Completed, r.run().Status)
			require.Equal(t, c.refusal == "", second.Accepted, second.Error)
			require.Contains(t, second.Error, c.refusal)
		})
	}
}

func TestRejectAllEndsWhateverRuns(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassBlocked,
			Timers: []signals.Timer{{ID: 0, Due: r.env.Now().Add(48 * time.Hour).UnixMilli()}}}
	})
	r.update(time.Hour, signals.SignalReject, signals.Reject{All: true, Reason: "deleted"})
	result := r.run()
	require.Equal(t, []any{signals.Rejected, "Execution rejected by user: deleted"}, []any{result.Status, result.Error})
}

func TestExpireOnlyWhatHasBeenPausedForSoLong(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(ask(0)))
	started := r.env.Now()
	young := r.update(time.Hour, signals.SignalExpire, signals.Expire{Before: started.Add(-time.Hour).UnixMilli()})
	old := r.update(2*time.Hour, signals.SignalExpire, signals.Expire{Before: started.Add(time.Hour).UnixMilli()})
	result := r.run()
	require.Equal(t, "Expired awaiting approval", result.Error)
	require.Equal(t, []bool{false, true}, []bool{young.Accepted, old.Accepted})
	require.Equal(t, signals.SignalExpire, result.Ended[0].Decision.Kind)
}

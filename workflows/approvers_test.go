package workflows

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestApproverRules: who may approve is judged where the call is let go, whatever a door lets through.
func TestApproverRules(t *testing.T) {
	finance := signals.ApproverRule{Groups: []string{"finance", "audit"}}
	other := signals.ApproverRule{NotRequester: true}
	both := signals.ApproverRule{NotRequester: true, Groups: finance.Groups}
	by := func(name string, groups ...string) signals.Approve {
		return signals.Approve{AssertedBy: name, AssertedGroups: groups}
	}
	ada := signals.Caller{StartedAs: "ada", StartedSubject: "s1"}
	for name, c := range map[string]struct {
		rule    signals.ApproverRule
		caller  signals.Caller
		approve signals.Approve
		refusal string
	}{
		"a claim": {finance, ada, signals.Approve{By: "bob", AssertedGroups: finance.Groups},
			"authenticated with"},
		"another group":         {finance, ada, by("bob", "sales"), "not of group finance or audit"},
		"no group":              {finance, ada, by("bob"), "not of group"},
		"one of the groups":     {finance, ada, by("bob", "audit"), ""},
		"herself, in the group": {finance, ada, by("ada", "finance"), ""},
		"herself":               {other, ada, by("ada"), "somebody else has to approve"},
		"in another case":       {other, ada, by(" Ada "), "somebody else has to approve"},
		"by another name": {other, ada, signals.Approve{AssertedBy: "ada@example.com", AssertedSubject: "s1"},
			"somebody else has to approve"},
		"for whom it runs": {other, signals.Caller{StartedAs: "bot", OnBehalfOf: "ada"}, by("ada"), "somebody else"},
		"who claims to have started it": {other, signals.Caller{StartedAs: "bot", StartedBy: "ada"}, by("ada"),
			"somebody else"},
		"nobody knows who started it": {other, signals.Caller{StartedBy: "eve"}, by("bob"), "nobody can tell"},
		"somebody else":               {other, ada, signals.Approve{AssertedBy: "bob", AssertedSubject: "s2"}, ""},
		"both, somebody else":         {both, ada, by("bob"), "not of group"},
		"both, herself":               {both, ada, by("ada", "finance"), "somebody else"},
		"both":                        {both, ada, by("bob", "finance"), ""},
		"always": {finance, ada, signals.Approve{AssertedBy: "bob", AssertedGroups: []string{"audit"},
			Always: true}, "always does not"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.input.Caller = c.caller
			call := ask(0)
			call.ApproverRule = &c.rule
			r.passes = append(r.passes, blocked(call), blocked(), ends(`1`))
			first := r.update(time.Hour, signals.SignalApprove, c.approve)
			r.update(2*time.Hour, signals.SignalReject, signals.Reject{By: "eve"})
			want := signals.Completed
			if c.refusal != "" {
				want = signals.Rejected
			}
			require.Equal(t, want, r.run().Status)
			require.Equal(t, c.refusal == "", first.Accepted, first.Error)
			require.Contains(t, first.Error, c.refusal)
		})
	}
}

// TestAlwaysLeavesCallsWithARule: what was approved for the rest of the execution lets no call go that wants somebody
// else's approval.
func TestAlwaysLeavesCallsWithARule(t *testing.T) {
	r := newRig(t)
	later := ask(1)
	later.ApproverRule = &signals.ApproverRule{Groups: []string{"finance"}}
	r.passes = append(r.passes, blocked(ask(0)), blocked(), blocked(later), ends(`1`))
	r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada", Always: true})
	r.update(2*time.Hour, signals.SignalReject, signals.Reject{By: "eve"})
	require.Equal(t, signals.Rejected, r.run().Status)
}

// TestRunsCarryAllOfACall: the next run knows all that the pass said of a call, but for its arguments, which the
// log has.
func TestRunsCarryAllOfACall(t *testing.T) {
	b := signals.Blocked{Seq: 3, Connector: "store", Method: "ask", Class: signals.Write, Approval: true,
		Position: &signals.Position{Line: 1}, TimeoutMs: 5, Queue: "q", Revertable: true, Approvals: 2,
		Approvers: signals.ApproversAuthenticated, ApproverRule: &signals.ApproverRule{NotRequester: true},
		Client: true, AskUnknown: true, Retry: &signals.RetryLimits{Attempts: 2}, Earlier: &signals.EarlierCall{},
		Target: &signals.Target{Activity: "Refund"}}
	given := reflect.ValueOf(b)
	for n := range given.NumField() {
		require.True(t, given.Type().Field(n).Name == "Args" || !given.Field(n).IsZero(), given.Type().Field(n).Name)
	}
	require.Equal(t, b, newGatedCall(b, 0).carried().Blocked)
}

package connectors

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRulesLayPoliciesOverMethods(t *testing.T) {
	set, err := NewSet(context.Background(), []Connector{New("c", "",
		Method{Name: "pick", Policy: Policy{ResolvedByClient: true}},
		Method{Name: "pay", RequiresApproval: true, Execute: succeed,
			Policy: Policy{Approvals: 2, Retry: RetryLimits{Attempts: 7}}},
	)}, map[string][]Rule{"c": {{Pattern: "pay", Policy: Policy{Approvals: 3, AskWhenUnknown: true}}}})
	require.NoError(t, err)
	pay, err := set.Lookup("c", "pay")
	require.NoError(t, err)
	require.Equal(t, Policy{Approvals: 3, AskWhenUnknown: true, Retry: RetryLimits{Attempts: 7}}, pay.Policy)
	pick, err := set.Lookup("c", "pick")
	require.NoError(t, err, "a method that clients resolve needs no Execute")
	needed, err := pick.NeedsApproval(Asked{}, nil)
	require.NoError(t, err)
	require.False(t, needed || pick.MayNeedApproval())
}

// How many people approve says that somebody must, unless more is said about which calls that is.
func TestApprovalsRequireApproval(t *testing.T) {
	no := false
	some := func(Asked, json.RawMessage) (bool, error) { return false, nil }
	for name, each := range map[string]struct {
		method Method
		rule   Rule
		want   bool
	}{
		"a rule alone":              {rule: Rule{Policy: Policy{Approvals: 2}}, want: true},
		"a method alone":            {method: Method{Policy: Policy{Approvals: 2}}, want: true},
		"a rule that decides":       {rule: Rule{Policy: Policy{Approvals: 2}, ApprovalFor: some}},
		"a method that decides":     {method: Method{ApprovalFor: some}, rule: Rule{Policy: Policy{Approvals: 2}}},
		"a rule against the method": {method: Method{Policy: Policy{Approvals: 2}}, rule: Rule{RequiresApproval: &no}},
		"neither":                   {rule: Rule{Policy: Policy{AskWhenUnknown: true}}},
		"a method that clients give": {method: Method{Policy: Policy{ResolvedByClient: true}},
			rule: Rule{Policy: Policy{Approvals: 2}}},
	} {
		each.method.Name, each.method.Execute, each.rule.Pattern = "m", succeed, "*"
		set, err := NewSet(t.Context(), []Connector{New("c", "", each.method)}, map[string][]Rule{"c": {each.rule}})
		require.NoError(t, err, name)
		_, needed, err := set.Check(Asked{}, "c", "m", nil)
		require.NoError(t, err, name)
		require.Equal(t, each.want, needed, name)
	}
	_, err := NewSet(t.Context(), []Connector{New("c", "", Method{Name: "m", Execute: succeed})},
		map[string][]Rule{"c": {{Pattern: "m", RequiresApproval: &no, Policy: Policy{Approvals: 2}}}})
	require.ErrorContains(t, err, "asks for 2 approvals and says that none is required")
}

func TestHiddenMethodsAreListedApart(t *testing.T) {
	set, err := NewSet(t.Context(),
		[]Connector{New("c", "", Method{Name: "m", Execute: succeed}, Method{Name: "n", Execute: succeed})},
		map[string][]Rule{"c": {{Pattern: "m", Hidden: true}, {Pattern: "n", Rename: "o"}}})
	require.NoError(t, err)
	require.Equal(t, "c.m", set.Hidden("c")[0].Path())
	require.Len(t, set.Methods("c"), 1)
	require.Equal(t, "n", set.Methods("c")[0].Original())
	require.Empty(t, set.Hidden("unknown"))
}

func succeed(Context, json.RawMessage) (any, error) { return nil, nil }

func TestPoliciesThatCannotBeMeant(t *testing.T) {
	for want, p := range map[string]Policy{
		"asks for -1 approvals": {Approvals: -1},
		"asks for 101 attempts": {Retry: RetryLimits{Attempts: 101}},
		"a negative pause":      {Retry: RetryLimits{Backoff: -time.Second}},
	} {
		_, err := NewSet(context.Background(),
			[]Connector{New("c", "", Method{Name: "m", Execute: succeed, Policy: p})}, nil)
		require.ErrorContains(t, err, want)
		_, err = NewSet(context.Background(), []Connector{New("c", "", Method{Name: "m", Execute: succeed})},
			map[string][]Rule{"c": {{Pattern: "*", Policy: p}}})
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, RetryDecision{Retry: true, Attempts: MaxAttempts}.Check())
	require.Error(t, RetryDecision{Attempts: -1}.Check())
	require.Error(t, RetryDecision{After: -1}.Check())
}

func TestResultsThatClientsGive(t *testing.T) {
	b := bind("c", "m", Method{Name: "m", OutputSchema: json.RawMessage(`{"type":"object","required":["id"]}`)})
	require.NoError(t, b.ValidateResult(json.RawMessage(`{"id":1}`)))
	require.ErrorContains(t, b.ValidateResult(json.RawMessage(`{}`)), "invalid result for c.m: id")
	require.Error(t, b.ValidateResult(nil), "undefined is checked as null")
	require.NoError(t, bind("c", "m", Method{Name: "m"}).ValidateResult(nil))
}

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
		Method{Name: "pay", RequiresApproval: true, Execute: succeed, Policy: Policy{Approvals: 2, Retry: RetryLimits{Attempts: 7}}},
	)}, map[string][]Rule{"c": {{Pattern: "pay", Policy: Policy{Approvals: 3, AskWhenUnknown: true}}}})
	require.NoError(t, err)
	pay, err := set.Lookup("c", "pay")
	require.NoError(t, err)
	require.Equal(t, Policy{Approvals: 3, AskWhenUnknown: true, Retry: RetryLimits{Attempts: 7}}, pay.Policy)
	pick, err := set.Lookup("c", "pick")
	require.NoError(t, err, "a method that clients resolve needs no Execute")
	needed, err := pick.NeedsApproval(nil)
	require.NoError(t, err)
	require.False(t, needed || pick.MayNeedApproval())
}

func succeed(Context, json.RawMessage) (any, error) { return nil, nil }

func TestPoliciesThatCannotBeMeant(t *testing.T) {
	for want, p := range map[string]Policy{
		"asks for -1 approvals": {Approvals: -1},
		"asks for 101 attempts": {Retry: RetryLimits{Attempts: 101}},
		"a negative pause":      {Retry: RetryLimits{Backoff: -time.Second}},
	} {
		_, err := NewSet(context.Background(), []Connector{New("c", "", Method{Name: "m", Execute: succeed, Policy: p})}, nil)
		require.ErrorContains(t, err, want)
		_, err = NewSet(context.Background(), []Connector{New("c", "", Method{Name: "m", Execute: succeed})}, map[string][]Rule{"c": {{Pattern: "*", Policy: p}}})
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

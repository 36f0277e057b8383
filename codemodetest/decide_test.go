package codemodetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestApproversOfATestMay: who approves in a test satisfies the groups that a rule asks for.
func TestApproversOfATestMay(t *testing.T) {
	rule := &signals.ApproverRule{NotRequester: true, Groups: []string{"finance"}}
	m := Approve().By("ada").messages[0]
	a, ok := m.payload(signals.PendingAction{ApproverRule: rule}, m.by).(signals.Approve)
	require.True(t, ok)
	require.Empty(t, rule.Refuses(signals.Caller{StartedAs: "bob"}, a))
	require.NotEmpty(t, rule.Refuses(signals.Caller{StartedAs: "ada"}, a))
	a, ok = m.payload(signals.PendingAction{}, m.by).(signals.Approve)
	require.True(t, ok)
	require.Empty(t, a.AssertedBy)
}

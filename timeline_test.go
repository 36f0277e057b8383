package codemode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestPassOfTellsWhatAPassDid(t *testing.T) {
	p := passOf(signals.PassResult{
		Pass: 2, End: signals.PassFailed, Logs: []string{"a"}, Failure: &signals.PassFailure{Message: "no"},
		Given: []signals.Given{{ID: 1}, {Kind: signals.GivenDecision, ID: 2, Decision: &signals.Decision{}},
			{Kind: signals.GivenTimer}},
		Entries: []signals.Entry{{ID: 3}, {ID: -1}, {Timer: true}},
		Blocked: []signals.Blocked{{Seq: 4}},
	})
	require.Equal(t, Pass{
		Number: 2, Settled: []int{1}, Decided: []int{2}, Made: []int{3}, Issued: []int{4}, Lookups: 3, Lines: 1,
		End: signals.PassFailed, Error: "no",
	}, p)
}

package workflows

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// TestASignalHoldsNothingOfTheOneBefore: the SDK skips what cannot be read, into the same value.
func TestASignalHoldsNothingOfTheOneBefore(t *testing.T) {
	var m fresh[signals.Approve]
	require.Error(t, json.Unmarshal([]byte(`{"seqs":[0],"args":{"amount":9},"note":5}`), &m))
	require.NoError(t, json.Unmarshal([]byte(`{"seqs":[0],"by":"ann"}`), &m))
	require.Equal(t, signals.Approve{Seqs: []int{0}, By: "ann"}, m.value)
}

package activities

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// What people decided must not end a sound execution: it is shortened where it and a large value do not fit together.
func TestDecisionsGiveWayToALargeValue(t *testing.T) {
	set, err := connectors.NewSet(t.Context(), nil, nil)
	require.NoError(t, err)
	a := New(Options{Connectors: set})
	edited, _ := json.Marshal(strings.Repeat("e", 300_000))
	value, _ := json.Marshal(strings.Repeat("v", 1_800_000))
	result := signals.PassResult{Pass: 2, End: signals.PassMore, Value: value, Given: []signals.Given{{
		Kind: signals.GivenDecision, Decision: &signals.Decision{Approved: true, By: "ada", EditedArgs: edited},
	}}}
	encoded, err := a.smaller(signals.PassInput{Pass: 2}, result, 2_200_000)
	require.NoError(t, err)
	var got signals.PassResult
	require.NoError(t, payload.Reader(nil).FromPayload(encoded.Payload(), &got))
	require.Equal(t, signals.PassMore, got.End, "and not failed")
	require.Len(t, got.Value, len(value))
	require.Equal(t, []any{"ada", true}, []any{got.Given[0].Decision.By, got.Given[0].Decision.Shortened})
}

// A pass that no worker can run is asked for less and less often; who decided something gets an answer.
func TestPassesThatOthersShouldRun(t *testing.T) {
	require.Equal(t, 2*time.Second, askSoon)
	for attempt, want := range map[int]time.Duration{1: askSoon, 5: askSoon, 6: 2 * askSoon, 8: 8 * askSoon,
		40: askAtMost} {
		require.Equal(t, want, pauseBefore(attempt), "attempt %d", attempt)
	}
}

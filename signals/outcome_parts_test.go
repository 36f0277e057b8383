package signals

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutcomeParts(t *testing.T) {
	text := func(bytes int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", bytes) + `"`) }
	whole := Outcome{Status: Completed, ExecutionID: "e", Pass: 3, Partial: true, CallsOmitted: true,
		Result: text(1_899_000), Logs: []string{strings.Repeat("l", 400_000), strings.Repeat("m", 400_000)}}
	for seq := range 5 {
		whole.Calls = append(whole.Calls, Call{Seq: seq, Args: text(400_000)})
	}
	whole.Calls = append(whole.Calls, Call{Seq: 5, Args: text(1_500_000), Result: text(1_500_000)})
	for seq := range 3 {
		whole.Pending = append(whole.Pending, PendingAction{Seq: seq, Args: text(900_000)})
	}
	parts := whole.Parts()
	joined := Outcome{Calls: []Call{}}
	for i, p := range parts {
		require.Equal(t, []int{i, len(parts)}, []int{p.Part, p.Parts})
		require.Equal(t, "completed e 3 false", fmt.Sprint(p.Status, " ", p.ExecutionID, " ", p.Pass, " ", p.Partial))
		encoded, err := Marshal(p)
		require.NoError(t, err)
		require.Less(t, len(encoded), 2_000_000, "part %d", i)
		joined.Result = append(joined.Result, p.Result...)
		joined.Logs, joined.Pending = append(joined.Logs, p.Logs...), append(joined.Pending, p.Pending...)
		joined.Calls = append(joined.Calls, p.Calls...)
	}
	require.Equal(t, whole.Result, joined.Result)
	require.Equal(t, whole.Result, parts[0].Result, "the first part has it")
	require.Equal(t, whole.Logs, joined.Logs)
	require.Equal(t, whole.Pending, joined.Pending)
	require.Equal(t, whole.Calls[:5], joined.Calls[:5])
	require.Equal(t, Call{Seq: 5, Omitted: true}, joined.Calls[5], "no payload holds both of its values")

	small := Outcome{Status: Completed, Calls: []Call{{Seq: 1}}}
	require.Equal(t, []OutcomePart{{Outcome: small, Parts: 1}}, small.Parts())
}

package workflows

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/temporal-codemode/codemode/signals"
)

// TestProgramsCannotForgeTheDetailsPage: what a program chooses stays in its cell of the Web UI's page, as code, and
// what it throws in its block: neither makes rows, decisions, links or images.
func TestProgramsCannotForgeTheDetailsPage(t *testing.T) {
	forged := "`} | now |\n| 7 | **approved** by ada ![x](https://evil.example) | \\| \u202e |\n```\napprove {}\n```"
	args, err := json.Marshal(map[string]string{"note": forged})
	require.NoError(t, err)
	r := newRig(t)
	b, long := ask(0), ask(1)
	b.Args = args
	long.Args = json.RawMessage(`{"text":"` + strings.Repeat("x", shownArguments) + `"}`)
	failure := &signals.PassFailure{Message: "oh\n```\n\n# Approved\n\n````\n![x](https://evil.example/p.png)"}
	r.passes = append(r.passes, blocked(b, long), blocked(), func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassFailed, Failure: failure}
	})
	details := func() string {
		value, err := r.env.QueryWorkflow("__temporal_workflow_metadata")
		require.NoError(t, err)
		var shown sdkpb.WorkflowMetadata
		require.NoError(t, value.Get(&shown))
		return shown.CurrentDetails
	}
	r.env.RegisterDelayedCallback(func() {
		page := details()
		rows := 0
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "|") {
				rows++
				require.Equal(t, 5, strings.Count(line, "|"), line)
			}
		}
		require.Equal(t, 4, rows, page)
		require.Equal(t, 2, strings.Count(page, "```"), page)
		require.NotContains(t, page, "\u202e")
		require.Contains(t, page, "approve  {\"seqs\": [0]")
		require.Contains(t, page, "call 1 has more arguments than are shown here")
		require.NotContains(t, page, "approve  {\"seqs\": [1]", "nobody approves what is not shown")
	}, time.Hour)
	r.update(2*time.Hour, signals.SignalApprove, signals.Approve{By: "ada"})
	require.Equal(t, signals.Failed, r.run().Status)
	_, block, found := strings.Cut(details(), "`````\n")
	require.True(t, found)
	require.True(t, strings.HasSuffix(block, "\n`````"))
}

package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// A client counts characters, so every script has the same room, and what is cut leaves next to none of it unused.
func TestChainAnswersAreCountedInCharacters(t *testing.T) {
	for name, text := range map[string]string{
		"latin": "x", "umlauts": "ä", "chinese": "語", "emoji": "🙂", "quotes": `"`, "tags": "<", "controls": "\u0001",
		"mixed": "aé語🙂\"\\\n",
	} {
		value, err := json.Marshal(strings.Repeat(text, 60_000))
		require.NoError(t, err)
		c := chain{limit: chainOutput, chars: 11_500}
		r := c.success(signals.Outcome{Result: value, Logs: []string{"[warn] a line"}})
		answer := r.Content[0].(*mcp.TextContent).Text
		require.True(t, json.Valid([]byte(answer)), name)
		count := utf8.RuneCountInString(answer)
		require.LessOrEqual(t, count, 11_500, name)
		require.Greater(t, count, 11_400, name)
		require.Contains(t, answer, "max_output_size exceeded")

		r = c.failure(strings.Repeat(text, 60_000), []string{strings.Repeat(text, 9_000)})
		answer = r.Content[0].(*mcp.TextContent).Text
		require.True(t, json.Valid([]byte(answer)), name)
		require.LessOrEqual(t, utf8.RuneCountInString(answer), 11_500, name)
	}
	fits := fmt.Sprintf("%q", strings.Repeat("語", 11_000))
	r := chain{limit: chainOutput, chars: 11_500}.success(signals.Outcome{Result: json.RawMessage(fits)})
	require.NotContains(t, r.Content[0].(*mcp.TextContent).Text, "exceeded")
}

// A model is told of a tool that there is.
func TestPausesNameTheToolThatFollows(t *testing.T) {
	for surface, want := range map[Surface]string{
		Codemode: "Waiting for a person to approve lab.ask. You cannot approve it: tell the user, who decides in the " +
			"approval inbox. Do not run the program again; the execution goes on by itself after the decision. Then: " +
			"call again with this executionId.",
		Direct: "Waiting for a person to approve lab.ask. You cannot approve it: tell the user, who decides in the " +
			"approval inbox. Do not run the program again; the execution goes on by itself after the decision. Then: " +
			"call codemode_outcome with this executionId.",
	} {
		d := &door{Options: Options{Surface: surface,
			HowToDecide: func(string) string { return "in the approval inbox" }}}
		require.Equal(t, want, d.pausedText(signals.Outcome{ExecutionID: "exec_1",
			Pending: []signals.PendingAction{{Connector: "lab", Method: "ask"}}}))
	}
}

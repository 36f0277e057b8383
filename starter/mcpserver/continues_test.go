package mcpserver

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// failingRuntime keeps what it was asked to run, and answers with one outcome.
type failingRuntime struct {
	Durable
	asked codemode.ExecuteOptions
	out   signals.Outcome
}

func (r *failingRuntime) Execute(_ context.Context, _ string, o codemode.ExecuteOptions) (signals.Outcome, error) {
	r.asked = o
	return r.out, nil
}

func call(arguments string) *mcp.CallToolRequest {
	return &mcp.CallToolRequest{Session: &mcp.ServerSession{},
		Params: &mcp.CallToolParamsRaw{Name: "codemode", Arguments: json.RawMessage(arguments)}}
}

func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	text, ok := r.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return text.Text
}

func TestModelsGoOnFromAnError(t *testing.T) {
	out := signals.Outcome{Status: signals.Failed, ExecutionID: "exec_1", Error: "oops", Pass: 1,
		LeftOver: []signals.LeftOver{{CarriedFrom: signals.CarriedFrom{ExecutionID: "exec_0", Seq: 2}, Connector: "c",
			Method: "w", Args: json.RawMessage(`{"n":1}`)}}}
	runtime := &failingRuntime{out: out}
	d := &door{Options: Options{Runtime: runtime}.withDefaults()}
	r, err := d.runProgram(t.Context(), call(`{"code":"1","continues":"exec_0","fresh":true}`))
	require.NoError(t, err)
	require.Equal(t, []any{"exec_0", true, false}, []any{runtime.asked.Continues, runtime.asked.Fresh,
		runtime.asked.Approver})
	var said told
	require.NoError(t, json.Unmarshal([]byte(textOf(t, r)), &said))
	require.Contains(t, said.Message, `"continues": "exec_1"`)
	require.Equal(t, "c.w", said.LeftOver[0].Method)
	require.JSONEq(t, `{"n":1}`, string(said.LeftOver[0].Args))
	require.True(t, r.IsError)

	r, err = d.runProgram(t.Context(), call(`{"code":"1","continues":"not an id"}`))
	require.NoError(t, err)
	require.Contains(t, textOf(t, r), "invalid execution id")

	chain, err := d.callToolChain(t.Context(), call(`{}`), utcpInput{Code: "1", Continues: "exec_0"})
	require.NoError(t, err)
	require.Equal(t, "exec_0", runtime.asked.Continues)
	require.Contains(t, textOf(t, chain), `exec_1`)
	require.Contains(t, textOf(t, chain), `continues`)
}

func TestCompletedOutcomesTellWhatIsLeftOver(t *testing.T) {
	d := &door{Options: Options{}.withDefaults()}
	out := signals.Outcome{Status: signals.Completed, ExecutionID: "exec_1", Pass: 1}
	require.Empty(t, d.tell(out).Message)
	for seq := range maxLeftOver + 3 {
		out.LeftOver = append(out.LeftOver, signals.LeftOver{CarriedFrom: signals.CarriedFrom{Seq: seq}})
	}
	said := d.tell(out)
	require.Contains(t, said.Message, "leftOver")
	require.Len(t, said.LeftOver, maxLeftOver+1)
	require.Equal(t, "3 more", said.LeftOver[maxLeftOver].Method)
}

// Without Temporal nothing is kept that could be continued, and models are told nothing of it.
func TestToolsWithoutTemporalContinueNothing(t *testing.T) {
	d := &door{Options: Options{Runtime: &notingRuntime{}}.withDefaults()}
	text, err := json.Marshal(d.codemodeTool())
	require.NoError(t, err)
	require.NotContains(t, string(text), "continues")
	d.Runtime = &failingRuntime{}
	text, err = json.Marshal(d.codemodeTool())
	require.NoError(t, err)
	require.Contains(t, string(text), "continues")
}

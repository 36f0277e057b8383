package mcpserver

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// notingRuntime keeps who started what.
type notingRuntime struct {
	Runtime
	callers []signals.Caller
}

func (r *notingRuntime) Execute(_ context.Context, _ string, o codemode.ExecuteOptions) (signals.Outcome, error) {
	r.callers = append(r.callers, o.Caller)
	return signals.Outcome{Status: signals.Completed, ExecutionID: o.ID}, o.Caller.Check()
}

func (r *notingRuntime) Tool(context.Context, codemode.ToolOptions) (signals.Tool, error) {
	return signals.Tool{}, nil
}

const program = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"codemode","arguments":{"code":"1"}}}`

func TestExecutionsSayWhoStartedThem(t *testing.T) {
	for name, c := range map[string]struct {
		options HTTPOptions
		token   string
		want    signals.Caller
	}{
		"a token's owner": {HTTPOptions{Authenticate: people}, "ada", signals.Caller{StartedAs: "ada"}},
		"with a key":      {HTTPOptions{Key: key}, string(key), signals.Caller{StartedBy: "desk"}},
	} {
		t.Run(name, func(t *testing.T) {
			runtime := &notingRuntime{}
			s, err := New(t.Context(), Options{Runtime: runtime, By: "desk"})
			require.NoError(t, err)
			h, err := NewHTTP(s, c.options)
			require.NoError(t, err)
			web := httptest.NewServer(h)
			defer web.Close()
			defer func() { require.NoError(t, h.Close()); web.CloseClientConnections() }()
			header := map[string]string{"Authorization": "Bearer " + c.token}
			for range 2 {
				delete(header, sessionHeader)
				header[sessionHeader] = begin(t, web.URL+"/mcp", header)
				for range 2 {
					answer, text := send(t, "POST", web.URL+"/mcp", program, asJSONRequest(header))
					require.Equal(t, 200, answer.StatusCode, text)
				}
			}
			require.Len(t, runtime.callers, 4)
			for _, caller := range runtime.callers {
				require.NotEmpty(t, caller.Conversation)
				require.NotContains(t, caller.Conversation, header[sessionHeader],
					"who knows the id of a session could take part in it")
				caller.Conversation = ""
				require.Equal(t, c.want, caller)
			}
			require.Equal(t, runtime.callers[0].Conversation, runtime.callers[1].Conversation)
			require.NotEqual(t, runtime.callers[0].Conversation, runtime.callers[2].Conversation)
		})
	}
}

package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// served is a starter mcp over HTTP that a test may kill.
type served struct {
	cmd *exec.Cmd
	url string
}

func serve(t *testing.T, env []string, args ...string) *served {
	t.Helper()
	s := &served{cmd: command("starter", append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)}
	s.cmd.Env = append(s.cmd.Env, env...)
	errs, err := s.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	t.Cleanup(s.kill)
	line, err := bufio.NewReader(errs).ReadString('\n')
	require.NoError(t, err)
	s.url = strings.TrimSpace(line[strings.Index(line, "http://"):])
	return s
}

func (s *served) kill() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() }

// asksPeople is the _meta of a client of today's revision that shows people forms.
const asksPeople = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
	"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},
	"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

// post sends one message of today's revision and gives its answer.
func post(t *testing.T, url, token, method, name string, params map[string]any) message {
	t.Helper()
	params["_meta"] = json.RawMessage(asksPeople)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(body)))
	require.NoError(t, err)
	for header, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
		"Mcp-Name": name} {
		r.Header.Set(header, value)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	var m message
	for line := range strings.Lines(string(text)) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			text = []byte(data) // the last is the answer
		}
	}
	require.NoError(t, json.Unmarshal(text, &m), "%d %s", answer.StatusCode, text)
	return m
}

// question is an answer that asks people.
type question struct {
	ResultType    string
	InputRequests map[string]struct {
		Method string
		Params struct{ Mode, Message, URL string }
	}
	RequestState string
}

func questionOf(t *testing.T, m message) question {
	t.Helper()
	require.Empty(t, m.Error)
	var q question
	require.NoError(t, json.Unmarshal(m.Result, &q))
	require.Equal(t, "input_required", q.ResultType, "%s", m.Result)
	require.NotEmpty(t, q.RequestState)
	return q
}

func approval(q question) map[string]any {
	answers := map[string]any{}
	for key := range q.InputRequests {
		answers[key] = map[string]any{"action": "accept", "content": map[string]any{"decision": "approve"}}
	}
	return answers
}

const doorSecret = "CODEMODE_KEY=a secret that several doors share"

// TestAnswerAtAnotherDoor: the door that asked is killed, and another takes the answer.
func TestAnswerAtAnotherDoor(t *testing.T) {
	first := serve(t, []string{doorSecret})
	call := map[string]any{"name": "codemode", "arguments": map[string]any{"code": needsPerson}}
	q := questionOf(t, post(t, first.url, "", "tools/call", "codemode", call))
	require.Len(t, q.InputRequests, 1)
	first.kill()

	second := serve(t, []string{doorSecret})
	call["inputResponses"], call["requestState"] = approval(q), q.RequestState
	var a toolAnswer
	require.NoError(t, json.Unmarshal(post(t, second.url, "", "tools/call", "codemode", call).Result, &a))
	out := said[struct{ ExecutionID, Result string }](t, a)
	require.Equal(t, "a door", out.Result)

	again := post(t, second.url, "", "tools/call", "codemode", call) // the same answer once more decides nothing more
	require.NoError(t, json.Unmarshal(again.Result, &a))
	require.Equal(t, out, said[struct{ ExecutionID, Result string }](t, a))

	stranger := serve(t, []string{"CODEMODE_KEY=another secret than theirs, of its own"})
	require.Contains(t, string(post(t, stranger.url, "", "tools/call", "codemode", call).Error), "was not made here")
}

// TestForeignAnswersDecideNothing: who has seen a question of somebody else's, and who makes one up.
func TestForeignAnswersDecideNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	const ada, bob, eve = "ada-ada-ada-ada-ada-ada-ada", "bob-bob-bob-bob-bob-bob-bob", "eve-eve-eve-eve-eve-eve-eve"
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf("- {name: ada, roles: [approver, runner], token: %s}\n"+
		"- {name: bob, roles: [approver, runner], token: %s}\n- {name: eve, roles: [runner], token: %s}\n",
		ada, bob, eve)), 0o600))
	door, other := serve(t, nil, "--tokens", file), serve(t, nil, "--tokens", file)
	call := func(code string) map[string]any {
		return map[string]any{"name": "codemode", "arguments": map[string]any{"code": code}}
	}
	asked := post(t, door.url, ada, "tools/call", "codemode", call(needsPerson))
	q := questionOf(t, asked)
	answer := func(url, token, code, state string) message {
		with := call(code)
		with["inputResponses"], with["requestState"] = approval(q), state
		return post(t, url, token, "tools/call", "codemode", with)
	}
	forged := q.RequestState[:len(q.RequestState)-4] + "AAAA"
	for _, m := range []message{
		answer(door.url, bob, needsPerson, q.RequestState),
		answer(other.url, eve, needsPerson, q.RequestState),
		answer(door.url, ada, needsPerson+" // another", q.RequestState),
		answer(door.url, ada, needsPerson, forged),
		answer(door.url, ada, needsPerson, "eyJleGVjdXRpb24iOiJleGVjXzEifQ"),
	} {
		require.Contains(t, string(m.Error), `"code":-32602`, "%s", m.Result)
	}
	var a toolAnswer
	require.NoError(t, json.Unmarshal(post(t, door.url, eve, "tools/call", "codemode", call(needsPerson)).Result, &a))
	paused := said[struct {
		Status signals.Status
	}](t, a)
	require.Equal(t, signals.Paused, paused.Status, "who may not decide is not asked")
	require.NoError(t, json.Unmarshal(answer(other.url, ada, needsPerson, q.RequestState).Result, &a))
	require.Equal(t, "a door", said[struct{ Result string }](t, a).Result, "the tokens file is what doors share")
}

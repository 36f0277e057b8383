package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/npm"
)

// door is a running starter mcp on standard input and output, spoken to in bare JSON-RPC.
type door struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	ids   int
	notes []message // notifications and requests from the server
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// minimalEnv is all that RLM gives a server, beside the env of its configuration.
func minimalEnv() []string {
	env := []string{"TEMPORAL_ADDRESS=" + address}
	for _, name := range []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func openDoor(t *testing.T, args ...string) *door {
	t.Helper()
	d := &door{t: t, cmd: exec.Command(filepath.Join(binaries, "starter"), append([]string{"mcp"}, args...)...)}
	d.cmd.Env = minimalEnv()
	var err error
	d.in, err = d.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := d.cmd.StdoutPipe()
	require.NoError(t, err)
	d.lines = bufio.NewReader(out)
	require.NoError(t, d.cmd.Start())
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	d.call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"rlm","version":"0"}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return d
}

func (d *door) send(line string) {
	d.t.Helper()
	_, err := io.WriteString(d.in, strings.ReplaceAll(line, "\n", " ")+"\n")
	require.NoError(d.t, err)
}

func (d *door) read() message {
	d.t.Helper()
	line, err := d.lines.ReadBytes('\n')
	require.NoError(d.t, err, "the server ended")
	var m message
	require.NoError(d.t, json.Unmarshal(line, &m), "%s", line)
	return m
}

// call sends a request and gives its answer.
func (d *door) call(method, params string) message {
	d.t.Helper()
	d.ids++
	d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, d.ids, method, params))
	for {
		m := d.read()
		if string(m.ID) == fmt.Sprint(d.ids) && m.Method == "" {
			return m
		}
		d.notes = append(d.notes, m)
	}
}

type toolAnswer struct {
	Content []struct {
		Type, Text string
	} `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

func (d *door) tool(name string, args any) toolAnswer {
	d.t.Helper()
	params, err := json.Marshal(map[string]any{"name": name, "arguments": args})
	require.NoError(d.t, err)
	return d.toolParams(string(params))
}

func (d *door) toolParams(params string) toolAnswer {
	d.t.Helper()
	m := d.call("tools/call", params)
	require.Empty(d.t, m.Error)
	var a toolAnswer
	require.NoError(d.t, json.Unmarshal(m.Result, &a))
	require.Len(d.t, a.Content, 1)
	return a
}

func (d *door) tools() []string {
	d.t.Helper()
	var list struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	require.NoError(d.t, json.Unmarshal(d.call("tools/list", "{}").Result, &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// close ends the input and waits for the process.
func (d *door) close() {
	d.t.Helper()
	require.NoError(d.t, d.in.Close())
	require.NoError(d.t, d.cmd.Wait())
}

func said[T any](t *testing.T, a toolAnswer) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(a.Content[0].Text), &v), a.Content[0].Text)
	return v
}

type chainAnswer struct {
	Success bool            `json:"success"`
	Error   string          `json:"error"`
	Value   json.RawMessage `json:"nonMcpContentResults"`
	Logs    []string        `json:"logs"`
}

// TestRLMSequence is what RLM does for one run: three processes, each for one question, with hardly any environment.
func TestRLMSequence(t *testing.T) {
	began := time.Now()
	d := openDoor(t, "--surface", "utcp")
	t.Logf("first answer after %s", time.Since(began).Round(time.Millisecond)) // a figure for people: machines differ
	require.ElementsMatch(t,
		[]string{"search_tools", "call_tool_chain", "list_tools", "tools_info", "get_required_keys_for_tool"},
		d.tools())
	d.close()

	d = openDoor(t, "--surface", "utcp")
	found := said[struct {
		Tools []struct {
			Name      string
			Interface string `json:"typescript_interface"`
		}
	}](t, d.tool("search_tools", map[string]any{"task_description": "list the open issues", "limit": 10}))
	d.close()
	require.Equal(t, "tracker.list_issues", found.Tools[0].Name)
	require.Contains(t, found.Tools[0].Interface, "Access as: tracker.list_issues(args)")

	d = openDoor(t, "--surface", "utcp")
	answer := d.tool("call_tool_chain", map[string]any{"timeout": 30000, "max_output_size": 200000, "code": `
		const found: {issues: {id: number}[]} = tracker.list_issues({state: 'open'});
		console.warn('found', found.issues.length > 0);
		return tracker.issue({id: found.issues[0].id}).id === found.issues[0].id && [[1, 2]]; // the end`})
	d.tools()
	d.close()
	require.Equal(t, chainAnswer{Success: true, Value: json.RawMessage("[[1,2]]"), Logs: []string{"[WARN] found true"}},
		said[chainAnswer](t, answer))
}

func TestChainFailures(t *testing.T) {
	d := openDoor(t, "--surface", "utcp")
	for code, message := range map[string]string{
		"throw new Error('boom')":                                  "boom",
		"const x = ;":                                              "SyntaxError",
		"tracker.nothing({})":                                      `Tool "nothing" not found`,
		"return tracker.issue({id: 'x'})":                          "id: expected",
		"return 1 })(); (async function(){":                        "SyntaxError",
		"try { tracker.issue({id: 99999}) } catch (e) { throw e }": "99999",
	} {
		a := d.tool("call_tool_chain", map[string]any{"code": code})
		require.False(t, a.IsError)
		got := said[chainAnswer](t, a)
		require.False(t, got.Success, code)
		require.Contains(t, got.Error, message)
		require.Contains(t, got.Logs[len(got.Logs)-1], "[ERROR] Code execution failed: ")
	}
	got := said[chainAnswer](t,
		d.tool("call_tool_chain", map[string]any{"code": "for (;;) tracker.list_issues({})", "timeout": 700}))
	require.Equal(t, "Script execution timeout after 700ms", got.Error)
	got = said[chainAnswer](t, d.tool("call_tool_chain", map[string]any{"timeout": 2000,
		"code": "console.log('so far'); await new Promise(r => setTimeout(r, 600000))"}))
	require.Equal(t, "Script execution timeout after 2000ms", got.Error)
	require.Contains(t, got.Logs, "so far")
	for name, args := range map[string]any{"search_tools": map[string]any{},
		"call_tool_chain": map[string]any{"code": "1", "timeout": "5"},
		"tools_info":      map[string]any{"tool_names": "x"}} {
		a := d.tool(name, args)
		require.True(t, a.IsError)
		require.Contains(t, a.Content[0].Text, "MCP error -32602:")
	}
	require.True(t, d.tool("tools_info", map[string]any{"tool_names": []string{"a.b"}}).IsError)
	require.Equal(t, "Tool 'a.b' not found",
		d.tool("get_required_keys_for_tool", map[string]any{"tool_name": "a.b"}).Content[0].Text)
	d.close()
}

// TestChainAnswersFit: RLM cuts off what has more than 12,000 characters, and then understands nothing.
func TestChainAnswersFit(t *testing.T) {
	d := openDoor(t, "--surface", "utcp")
	for _, code := range []string{
		`return 'x'.repeat(300000)`, `return Array.from({length: 50000}, (_, i) => '"' + i)`,
		`for (let i = 0; i < 5000; i++) console.log('line', i); return 'é'.repeat(20000)`,
		`for (let i = 0; i < 5000; i++) console.log('line', i); throw new Error('y'.repeat(50000))`,
	} {
		a := d.tool("call_tool_chain", map[string]any{"code": code})
		require.LessOrEqual(t, utf8.RuneCountInString(a.Content[0].Text), 12_000)
		got := said[chainAnswer](t, a)
		if got.Success {
			require.Contains(t, string(got.Value), "max_output_size exceeded")
		}
	}
	got := said[chainAnswer](t,
		d.tool("call_tool_chain", map[string]any{"code": "return 'abcdefghijkl'", "max_output_size": 5}))
	require.Equal(t, `"\"abcd...\nmax_output_size exceeded"`, string(got.Value))
	d.close()
}

func TestProgramsOfTheBridgeKnowTheirTools(t *testing.T) {
	d := openDoor(t, "--surface", "utcp")
	got := said[chainAnswer](t, d.tool("call_tool_chain", map[string]any{"code": "```ts\n" + `
		const all = await Promise.all([tracker.issue({id: 1}), await tracker.issue({id: 2})]);
		return [all.map((i: any) => i.id), __getToolInterface('tracker.issue').includes('issueInput'), __getToolInterface('no.no'),
			__interfaces.includes('create_issue'), list_tools().tools.length > 3, search_tools({task_description: 'issue', limit: 1}).tools.length,
			typeof fetch, typeof require, typeof setTimeout]` + "\n```"}))
	require.JSONEq(t, `[[1,2],true,null,true,true,1,"function","undefined","function"]`, string(got.Value), "%+v", got)
	d.close()
}

const needsPerson = `const made = await tracker.create_issue({title: 'a door'}); return made.title`

// pausedBy runs a program that pauses, and gives the execution's id.
func (d *door) pausedBy(code string) string {
	d.t.Helper()
	out := said[signals.Outcome](d.t, d.codemode(map[string]any{"code": code}))
	require.Equal(d.t, signals.Paused, out.Status, "%+v", out)
	return out.ExecutionID
}

// codemode calls the tool; what it says beside an outcome is not looked at.
func (d *door) codemode(args map[string]any) toolAnswer { return d.tool("codemode", args) }

func TestPausedProgramGoesOnAfterAPersonDecided(t *testing.T) {
	d := openDoor(t)
	require.Equal(t, []string{"codemode"}, d.tools())
	a := d.codemode(map[string]any{"code": needsPerson})
	require.False(t, a.IsError)
	require.NotContains(t, a.Content[0].Text, `"calls"`)
	require.Contains(t, a.Content[0].Text, "You cannot approve it")
	out := said[struct{ ExecutionID, Status, Message string }](t, a)
	require.Contains(t, out.Message, "approve "+out.ExecutionID)
	d.close()

	require.Equal(t, 0, starter(t, "", "approve", out.ExecutionID).code)
	d = openDoor(t)
	a = d.codemode(map[string]any{"executionId": out.ExecutionID})
	require.Equal(t, "a door", said[struct{ Result string }](t, a).Result)
	var whole signals.Outcome
	require.NoError(t, json.Unmarshal(a.StructuredContent, &whole))
	require.Len(t, whole.Calls, 1)
	require.True(t, d.codemode(map[string]any{"executionId": "exec_none"}).IsError)
	require.True(t, d.codemode(map[string]any{}).IsError)
	require.True(t, d.codemode(map[string]any{"code": "1", "executionId": out.ExecutionID}).IsError)
	d.close()
}

// TestNoToolApproves tries everything that a model may send.
func TestNoToolApproves(t *testing.T) {
	d := openDoor(t)
	id := d.pausedBy(needsPerson)
	pending := decode[[]signals.PendingAction](t, starter(t, "", "pending", id, "--json"))
	require.Len(t, pending, 1)
	attempt := map[string]any{
		"executionId": id, "id": id, "seq": 0, "seqs": []int{0}, "argsDigest": pending[0].ArgsDigest,
		"decision": "approve", "approve": true,
		"approved": true, "action": "accept", "content": map[string]any{"decision": "approve"}, "by": "ada",
		"inputResponses": map[string]any{"approve": map[string]any{"action": "accept",
			"content": map[string]any{"decision": "approve"}}},
	}
	with := func(key string, value any) map[string]any {
		args := map[string]any{key: value}
		for k, v := range attempt {
			args[k] = v
		}
		return args
	}
	for _, surface := range []string{"codemode", "utcp", "direct"} {
		d := openDoor(t, "--surface", surface)
		for _, tool := range d.tools() {
			require.NotRegexp(t, "approve|decide|reject|resolve", tool)
			for _, args := range []map[string]any{attempt, with("code", fmt.Sprintf(`
				for (const f of ['approve', 'decide', 'resolve', 'retry', 'reject', 'update', 'signal']) {
					try { await codemode[f](%q, {seqs: [0]}) } catch {}
					try { await tracker[f]({executionId: %q}) } catch {}
				}`, id, id)), with("task_description", "approve"), with("tool_names", []string{"approve"}), with("tool_name", "approve")} {
				delete(args, map[bool]string{true: "executionId"}[args["code"] != nil])
				params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
				require.NoError(t, err)
				d.call("tools/call", string(params))
			}
		}
		for _, method := range []string{"approve", "elicitation/create", "codemode/approve"} {
			d.call(method, `{}`)
		}
		d.close()
	}
	require.Len(t, decode[[]signals.PendingAction](t, starter(t, "", "pending", id, "--json")), 1,
		"it still waits for a person")
	d.close()
}

func TestExecutionOutlivesItsClient(t *testing.T) {
	d := openDoor(t)
	d.ids++
	d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"codemode","_meta":{"progressToken":"p"},
		"arguments":{"code":"await codemode.sleep(3000); return 'still here'"}}}`, d.ids))
	var progress struct {
		Params struct{ ProgressToken, Message string } `json:"params"`
	}
	m := d.read()
	require.Equal(t, "notifications/progress", m.Method)
	require.NoError(t, json.Unmarshal(m.Params, &progress.Params))
	id := strings.Fields(progress.Params.Message)[1]
	require.Eventually(t, func() bool { // before it is started, nothing would be left to go on
		return starter(t, "", "show", id, "--json").code == 0
	}, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, d.cmd.Process.Kill())
	d = openDoor(t)
	require.Equal(t, "still here",
		said[struct{ Result string }](t, d.codemode(map[string]any{"executionId": id})).Result)
	d.close()
}

func TestLongExecutionIsAnsweredInTime(t *testing.T) {
	d := openDoor(t, "--wait", "1s")
	out := said[struct{ ExecutionID, Status string }](t,
		d.codemode(map[string]any{"code": "await codemode.sleep(4000); return 1"}))
	require.Equal(t, "running", out.Status)
	d.close()
	require.Equal(t, 0, starter(t, "", "wait", out.ExecutionID).code)
}

func TestDirectTools(t *testing.T) {
	d := openDoor(t, "--surface", "direct")
	require.Subset(t, d.tools(),
		[]string{"tracker_list_issues", "tracker_issue", "tracker_create_issue", "codemode_outcome"})
	require.NotContains(t, d.tools(), "tracker_list_comments", "hidden")
	issue := said[struct{ ID int }](t, d.tool("tracker_issue", map[string]any{"id": 1}))
	require.Equal(t, 1, issue.ID)
	refused := d.tool("tracker_issue", map[string]any{"id": "x", "__proto__": 1})
	require.True(t, refused.IsError)
	require.Contains(t, refused.Content[0].Text, "id: expected")
	out := said[struct{ ExecutionID, Status string }](t,
		d.tool("tracker_create_issue", map[string]any{"title": "direct"}))
	require.Equal(t, "paused", out.Status)
	require.Equal(t, 0, starter(t, "", "approve", out.ExecutionID).code)
	require.Contains(t, d.tool("codemode_outcome", map[string]any{"executionId": out.ExecutionID}).Content[0].Text,
		`"title":"direct"`)
	d.close()
}

func TestDoorWithoutTemporal(t *testing.T) {
	config := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(config, []byte(trackerConfig("unused", filepath.Join(t.TempDir(), "state.json"))),
		0o600))
	d := openDoor(t, "--config", config)
	got := said[struct {
		Status string
		Result []int
	}](t, d.codemode(map[string]any{"code": "return [(await tracker.issue({id: 2})).id]"}))
	require.Equal(t, []int{2}, got.Result)
	refused := d.codemode(map[string]any{"code": needsPerson})
	require.True(t, refused.IsError)
	require.Contains(t, refused.Content[0].Text, "create_issue")
	d.close()

	d = openDoor(t, "--config", config, "--surface", "utcp")
	chain := said[chainAnswer](t, d.tool("call_tool_chain", map[string]any{"code": "return tracker.issue({id: 1}).id"}))
	require.Equal(t, "1", string(chain.Value))
	require.NotContains(t, d.tool("list_tools", nil).Content[0].Text, "create_issue")
	d.close()
}

func TestWrappedServer(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(config,
		fmt.Appendf(nil, "connectors:\n  tracker: { mcp: { command: %q, env: { %s: %q } } }\n",
			self, trackerState, filepath.Join(t.TempDir(), "state.json")), 0o600))
	d := openDoor(t, "--config", config, "--wrap", "tracker")
	require.Equal(t, []string{"code"}, d.tools())
	require.Equal(t, "2",
		d.tool("code", map[string]any{"code": "async () => (await codemode.get_issue({id: 2})).id"}).Content[0].Text)
	d.close()
	require.Equal(t, 2, starter(t, "", "mcp", "--config", config, "--wrap", "none").code)
	require.Equal(t, 2, starter(t, "", "mcp", "--wrap", "none").code)
}

// A wrapped server keeps the rules of its connector, and programs run in the sandbox as the configuration has it.
func TestWrappedServerKeepsItsConfiguration(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sums.js"), []byte("export const twice = (n) => 2 * n"), 0o600))
	file := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
sandbox: { modules: { sums: ./sums.js } }
limits: { passTimeout: 2s }
connectors:
  tracker:
    mcp: { command: %q, env: { %s: %q } }
    tools:
      create_*: { requiresApproval: true, revert: { tool: delete_issue, args: { id: result.id } } }
      get_issue: { requiresApproval: "args.id > 1" }
      delete_*: { hidden: true }
  shop: { openapi: { document: https://127.0.0.1:1/x.json }, tools: { pay: { requiresApproval: true } } }
`, self, trackerState, filepath.Join(dir, "state.json")), 0o600))
	d := openDoor(t, "--config", file, "--wrap", "tracker")
	for code, want := range map[string]string{
		`import { twice } from 'sums'; return twice((await codemode.get_issue({id: 1})).id)`: "2",

		`return (await codemode.get_issue({id: 2})).id`: "get_issue needs a person's approval",

		`return (await codemode.get_issue({id: 1, ID: 2})).id`: "ID: not a known property, but id is",

		`return await codemode.create_issue({title: 'x'})`: `Tool "create_issue" not found on codemode`,
		`return await codemode.delete_issue({id: 1})`:      `Tool "delete_issue" not found on codemode`,
		`for (;;) await codemode.get_issue({id: 1})`:       "timed out",
	} {
		require.Contains(t, d.tool("code", map[string]any{"code": code}).Content[0].Text, want, code)
	}
	d.close()
	r := starter(t, "", "mcp", "--config", file, "--wrap", "shop")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, "these rules would not meet")
}

// person answers elicitations in turn, and keeps what was asked.
type person struct {
	answers []mcp.ElicitationResponse
	asked   chan mcp.ElicitationParams
}

func (p *person) Elicit(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	p.asked <- r.Params
	if len(p.answers) == 0 {
		<-ctx.Done() // thinks
		return nil, ctx.Err()
	}
	next := p.answers[0]
	p.answers = p.answers[1:]
	return &mcp.ElicitationResult{ElicitationResponse: next}, nil
}

func accept(content map[string]any) mcp.ElicitationResponse {
	return mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: content}
}

// attended runs a program at a client whose person answers as given.
func attended(t *testing.T, code string, answers ...mcp.ElicitationResponse) (signals.Outcome,
	[]mcp.ElicitationParams) {
	t.Helper()
	p := &person{answers: answers, asked: make(chan mcp.ElicitationParams, 10)}
	out := callWith(t, p, code)
	close(p.asked)
	var asked []mcp.ElicitationParams
	for q := range p.asked {
		asked = append(asked, q)
	}
	return out, asked
}

func callWith(t *testing.T, p *person, code string) signals.Outcome {
	t.Helper()
	stdio := transport.NewStdioWithOptions(filepath.Join(binaries, "starter"), minimalEnv(),
		[]string{"mcp", "--by", "ada"})
	return callThrough(t, stdio, p, code)
}

func callThrough(t *testing.T, wire transport.Interface, p *person, code string) signals.Outcome {
	t.Helper()
	require.NoError(t, wire.Start(t.Context()))
	c := client.NewClient(wire, client.WithElicitationHandler(p))
	require.NoError(t, c.Start(t.Context()))
	defer func() { _ = c.Close() }()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "desk", Version: "1"}
	_, err := c.Initialize(t.Context(), hello)
	require.NoError(t, err)
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = "codemode", map[string]any{"code": code}
	answer, err := c.CallTool(t.Context(), request)
	require.NoError(t, err)
	var out signals.Outcome
	structured, err := json.Marshal(answer.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(structured, &out))
	return out
}

func TestPersonAtTheClientDecides(t *testing.T) {
	out, asked := attended(t,
		`const a = await tracker.create_issue({title: 'one', labels: ['x']}); return [a.title, a.labels]`,
		accept(map[string]any{"decision": "approve", "args.title": "two", "args.labels": `["y"]`, "note": "ok"}))
	require.JSONEq(t, `["two",["y"]]`, string(out.Result), "%+v", out)
	require.Len(t, asked, 1)
	require.Contains(t, asked[0].Message, `tracker.create_issue with {"title":"one","labels":["x"]}`)
	require.Equal(t, []any{"ada (at desk)", "ok"}, []any{out.Calls[0].DecidedBy, out.Calls[0].Note})

	out, asked = attended(t, needsPerson, accept(map[string]any{"decision": "approve", "args.title": ""}),
		accept(map[string]any{"decision": "maybe"}),
		accept(map[string]any{"decision": "reject", "note": "no need"}))
	require.Equal(t, signals.Rejected, out.Status)
	require.Contains(t, out.Error, "no need")
	require.Len(t, asked, 3)

	out, _ = attended(t, needsPerson, mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionDecline})
	require.Equal(t, signals.Rejected, out.Status)

	out, _ = attended(t, needsPerson, mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel})
	require.Equal(t, signals.Paused, out.Status, "no decision is none")

	out, asked = attended(t,
		`return await Promise.all([tracker.create_issue({title: 'p'}), tracker.create_issue({title: 'q'})]).then(l => l.length)`,
		accept(map[string]any{"decision": "approve"}), accept(map[string]any{"decision": "approve"}))
	require.Equal(t, "2", string(out.Result))
	require.Len(t, asked, 2)
}

func TestDecisionElsewhereEndsTheQuestion(t *testing.T) {
	p := &person{asked: make(chan mcp.ElicitationParams, 1)}
	outcome := make(chan signals.Outcome, 1)
	go func() { outcome <- callWith(t, p, needsPerson) }()
	question := <-p.asked
	_, rest, _ := strings.Cut(question.Message, "Execution ")
	id, _, _ := strings.Cut(rest, ",")
	require.Equal(t, 0, starter(t, "", "approve", id).code)
	require.Equal(t, signals.Completed, (<-outcome).Status)
}

// listen starts starter mcp --http and gives its address, with the key where that has one.
func listen(t *testing.T, args ...string) string {
	t.Helper()
	cmd := command("starter", append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(errs).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line[strings.Index(line, "http://"):])
}

func TestHTTPNeedsATokenBeyondThisMachine(t *testing.T) {
	r := starter(t, "", "mcp", "--http", "0.0.0.0:0")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, "--tokens")
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file,
		[]byte("- {name: lovelace, roles: [approver, runner], token: abcdefghijklmnopqrstuvwxyz}\n"+
			"- {name: babbage, role: runner, token: zyxwvutsrqponmlkjihgfedcba}\n"), 0o600))
	url := strings.TrimSuffix(listen(t, "--tokens", file), "/mcp")
	for token, status := range map[string]int{"": 401, "Bearer x": 401, "Basic abcdefghijklmnopqrstuvwxyz": 401,
		"Bearer abcdefghijklmnopqrstuvwxyz": 200} {
		for _, path := range []string{"/mcp", "/sse", "/message"} {
			if status == 200 && path != "/mcp" {
				continue
			}
			request, err := http.NewRequest(http.MethodPost, url+path,
				strings.NewReader(
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`))
			require.NoError(t, err)
			request.Header.Set("Authorization", token)
			request.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			_ = response.Body.Close()
			require.Equal(t, status, response.StatusCode, "%s %q", path, token)
		}
	}
}

// TestRolesOfTheDoor: running programs is a role of its own, on every surface.
func TestRolesOfTheDoor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("- {name: viv, role: viewer, token: viewer-viewer-viewer-viewer}\n"+
		"- {name: app, role: approver, token: approver-approver-approver}\n"+
		"- {name: run, role: runner, token: runner-runner-runner-runner}\n"), 0o600))
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`
	for _, surface := range []string{"codemode", "utcp", "direct"} {
		url := listen(t, "--tokens", file, "--surface", surface)
		for token, status := range map[string]int{"viewer-viewer-viewer-viewer": 403, "approver-approver-approver": 403,
			"runner-runner-runner-runner": 200} {
			request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(hello))
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			_ = response.Body.Close()
			require.Equal(t, status, response.StatusCode, "%s %s", surface, token)
		}
	}
}

// TestWhoComesInDecides: the client of who may decide is asked, and its answer is on record as its own; others are not
// asked.
func TestWhoComesInDecides(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file,
		[]byte("- {name: lovelace, roles: [approver, runner], token: abcdefghijklmnopqrstuvwxyz}\n"+
			"- {name: babbage, role: runner, token: zyxwvutsrqponmlkjihgfedcba}\n"), 0o600))
	url := listen(t, "--tokens", file)
	through := func(token string) (signals.Outcome, *person) {
		p := &person{answers: []mcp.ElicitationResponse{accept(map[string]any{"decision": "approve"})},
			asked: make(chan mcp.ElicitationParams, 1)}
		wire, err := transport.NewStreamableHTTP(url,
			transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}))
		require.NoError(t, err)
		return callThrough(t, wire, p, needsPerson), p
	}
	out, _ := through("abcdefghijklmnopqrstuvwxyz")
	require.Equal(t, signals.Completed, out.Status)
	require.Equal(t, []string{"lovelace (at desk)", ""}, []string{out.Calls[0].DecidedBy, out.Calls[0].AssertedBy},
		"the client answered; nobody was authenticated")
	out, p := through("zyxwvutsrqponmlkjihgfedcba")
	require.Equal(t, signals.Paused, out.Status)
	require.Empty(t, p.asked)
}

func TestOlderSSETransport(t *testing.T) {
	c, err := client.NewSSEMCPClient(
		strings.Replace(listen(t, "--surface", "utcp", "--sse"), "/mcp?", "/sse?", 1))
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context()))
	defer func() { _ = c.Close() }()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	_, err = c.Initialize(t.Context(), hello)
	require.NoError(t, err)
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = "call_tool_chain",
		map[string]any{"code": "return tracker.issue({id: 1}).id"}
	answer, err := c.CallTool(t.Context(), request)
	require.NoError(t, err)
	require.Contains(t, answer.Content[0].(mcp.TextContent).Text, `"nonMcpContentResults":1`)
}

// The SDK is the one that the examples' servers bring with them.
func TestTypeScriptSDK(t *testing.T) {
	modules := filepath.Join(npm.Install(t, "../../examples"), "node_modules")
	for name, target := range map[string]func() []string{
		"stdio": func() []string { return []string{filepath.Join(binaries, "starter"), "mcp"} },
		"http":  func() []string { return []string{listen(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("node", append([]string{"testdata/client.mjs", modules}, target()...)...)
			cmd.Env = append(minimalEnv(),
				"CODE="+`const made = await tracker.create_issue({title: 'sdk'}); return made.title`)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			require.NoError(t, err)
			var got struct {
				Tools, Asked, Progress []json.RawMessage
				Answer                 toolAnswer
			}
			require.NoError(t, json.Unmarshal(out, &got), "%s", out)
			require.Len(t, got.Tools, 1)
			require.Len(t, got.Asked, 1)
			require.NotEmpty(t, got.Progress)
			require.Equal(t, "edited", said[struct{ Result string }](t, got.Answer).Result)
			require.Contains(t, string(got.Answer.StructuredContent), `"calls"`)
		})
	}
}

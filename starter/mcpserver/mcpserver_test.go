package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func action(args string) signals.PendingAction {
	return signals.PendingAction{ExecutionID: "exec_1", Connector: "store", Method: "put", Args: json.RawMessage(args),
		ArgsDigest: "d"}
}

func answered(content map[string]any) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: accepted, Content: content}
}

func TestFormShowsWhatCanBeEdited(t *testing.T) {
	f := newForm(action(`{"n":3,"big":9007199254740993,"s":"x","color":"red","b":true,"list":[1],"none":null}`),
		json.RawMessage(`{"properties":{"n":{"type":"integer","minimum":1,"maximum":9},"color":{"enum":["red","blue"]},
			"s":{"description":"Text."}}}`), "")
	require.JSONEq(t, `{"type":"object","required":["decision"],"properties":{
		"decision":{"type":"string","enum":["approve","reject"],"title":"Decision","default":"reject"},
		"args.n":{"title":"n","type":"integer","minimum":1,"maximum":9,"default":3},
		"args.big":{"title":"big (JSON)","type":"string","default":"9007199254740993"},
		"args.s":{"title":"s","type":"string","description":"Text.","default":"x"},
		"args.color":{"title":"color","type":"string","enum":["red","blue"],"default":"red"},
		"args.b":{"title":"b","type":"boolean","default":true},
		"args.list":{"title":"list (JSON)","type":"string","default":"[1]"},
		"args.none":{"title":"none (JSON)","type":"string","default":"null"},
		"note":{"type":"string","title":"Note or reason"}}}`, string(f.requested()))
	require.True(t, strings.HasPrefix(string(f.requested()), `{"type":"object","properties":{"decision"`),
		"the decision is shown first")
}

func TestFormReadsDecisions(t *testing.T) {
	f := newForm(action(`{"n":3,"list":[1],"s":" x "}`), nil, "")
	for name, c := range map[string]struct {
		content map[string]any
		want    choice
		wrong   string
	}{
		"as it is": {map[string]any{"decision": "approve"}, choice{decision: "approve"}, ""},
		"sent back": {map[string]any{"decision": "approve", "args.n": 3, "args.list": " [1] ", "args.s": " x "},
			choice{decision: "approve"}, ""},
		"edited": {map[string]any{"decision": "approve", "args.n": 4},
			choice{decision: "approve", args: json.RawMessage(`{"list":[1],"n":4,"s":" x "}`)}, ""},
		"edited list": {map[string]any{"decision": "approve", "args.list": "[2, 3]"},
			choice{decision: "approve", args: json.RawMessage(`{"list":[2,3],"n":3,"s":" x "}`)}, ""},
		"not JSON": {map[string]any{"decision": "approve", "args.list": "[2"},
			choice{}, "list is not valid JSON"},
		"unknown fields": {map[string]any{"decision": "approve", "args.other": 1, "x": 2}, choice{decision: "approve"},
			""},
		"rejected": {map[string]any{"decision": "reject", "note": " no ", "args.n": 4},
			choice{decision: "reject", note: "no"}, ""},
		"undecided": {map[string]any{"args.n": 4}, choice{}, "the decision must be"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := f.read(answered(c.content))
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want.decision, got.decision)
			require.Equal(t, c.want.note, got.note)
			require.Equal(t, string(c.want.args), string(got.args))
		})
	}
	got, err := f.read(&mcp.ElicitResult{Action: "cancel"})
	require.NoError(t, err)
	require.Empty(t, got.decision)
}

// An approval is bound to all the arguments, so the form shows all, or offers none.
func TestFormOffersApprovalOnlyOfWhatItShows(t *testing.T) {
	filler := map[string]any{}
	for n := range 40 {
		filler[fmt.Sprintf("a%02d", n)] = strings.Repeat("x", 200)
	}
	filler["to"], filler["zz_amount"] = "eve", 1_000_000
	wide, err := json.Marshal(filler)
	require.NoError(t, err)
	few := map[string]int{}
	for n := range 30 {
		few[fmt.Sprint("a", n)] = n
	}
	many, err := json.Marshal(few)
	require.NoError(t, err)
	twoPeople := action(`{"n":1}`)
	twoPeople.ApprovalsNeeded = 2
	omitted := action("")
	omitted.Omitted = true
	for name, c := range map[string]struct {
		action signals.PendingAction
		offers bool
	}{
		"small":                 {action(`{"n":3}`), true},
		"many, all in the text": {action(string(many)), true},
		"filler before the end": {action(string(wide)), false},
		"one long text":         {action(`{"text":"` + strings.Repeat("x", 6000) + `"}`), false},
		"long once it is shown": {action(`{"text":"` + strings.Repeat("\u200b", maxShown/5) + `"}`), false},
		"left out":              {omitted, false},
		"two people":            {twoPeople, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(c.action, nil, "in the console")
			message := f.message()
			require.Less(t, len(message), 2*maxShown)
			require.Equal(t, c.offers, strings.Contains(string(f.requested()), `"approve"`))
			choice, err := f.read(answered(map[string]any{"decision": "approve"}))
			if c.offers {
				require.NoError(t, err)
				require.Contains(t, message, string(c.action.Args))
				return
			}
			require.ErrorContains(t, err, "the decision must be reject or decide elsewhere")
			require.Empty(t, choice.decision)
			require.Contains(t, message, "cannot be approved here: decide in the console")
			choice, err = f.read(answered(map[string]any{"decision": "decide elsewhere"}))
			require.NoError(t, err)
			require.Equal(t, elsewhere, choice.decision)
			choice, err = f.read(answered(map[string]any{"decision": "reject"}))
			require.NoError(t, err)
			require.Equal(t, reject, choice.decision)
		})
	}
}

// A secret is neither shown nor asked for at a client, and what is not shown is not approved.
func TestFormShowsNoSecrets(t *testing.T) {
	a := action(`{"user":"ada","key":"hunter2"}`)
	for _, mark := range []string{`"format":"password"`, `"writeOnly":true`} {
		input := json.RawMessage(`{"properties":{"user":{},"key":{"type":"string",` + mark + `}}}`)
		f := newForm(a, input, "in the console")
		shown := f.message() + string(f.requested())
		require.NotContains(t, shown, "hunter2")
		require.NotContains(t, string(f.requested()), `"approve"`)
		require.Contains(t, shown, "is a secret")
	}
	f := newForm(action(`{"user":"ada"}`), json.RawMessage(`{"properties":{"key":{"writeOnly":true}}}`), "")
	require.Contains(t, string(f.requested()), `"approve"`, "it is not given")
}

// What waits for other decisions than these is decided where those can be taken.
func TestFormOffersOnlyWhatApplies(t *testing.T) {
	unknown, given := action(`{}`), action(`{}`)
	unknown.Reason, given.Resolution = signals.ReasonUnknown, signals.ByClient
	for _, a := range []signals.PendingAction{unknown, given} {
		require.NotContains(t, string(newForm(a, nil, "").requested()), `"approve"`)
	}
}

// What hides or reorders text is shown as what it is, and is in no field that could show it otherwise.
func TestFormHidesNothing(t *testing.T) {
	a := action("{\"to\":\"ada\u202emoc.live\u200b\",\"x\u2066y\":1,\"n\":{\"k\":\"\u00ad\"},\"ok\":\"é\"," +
		`"esc":"\u202e"}`)
	a.Refused = "no \u202e"
	f := newForm(a, json.RawMessage("{\"properties\":{\"ok\":{\"description\":\"a\u202eb\"}}}"), "")
	whole := f.message() + string(f.requested())
	for _, hidden := range []string{"\u202e", "\u200b", "\u2066", "\u00ad"} {
		require.NotContains(t, whole, hidden)
	}
	require.Contains(t, f.message(), `ada\u202emoc.live\u200b`)
	require.NotContains(t, string(f.requested()), "args.to")
	require.NotContains(t, string(f.requested()), "args.esc", "a field would show what the escape stands for")
	require.Contains(t, string(f.requested()), "args.ok")
}

// What is answered at a client is the client's answer, whoever's token it came with.
func TestClientsAnswerForThemselves(t *testing.T) {
	d := &door{Options: Options{By: "ada"}.withDefaults()}
	require.Equal(t, "ada (at desk)", (&session{door: d, client: client{name: "desk"}}).by())
	lovelace := &session{door: d, client: client{name: "desk"}, who: &Caller{Name: "lovelace"}}
	require.Equal(t, "lovelace (at desk)", lovelace.by())
	require.Equal(t, "ada", (&session{door: d}).by())
}

func TestOutcomeTextsFit(t *testing.T) {
	d := &door{Options: Options{Tokens: 500}.withDefaults()}
	long := strings.Repeat("word ", 5000)
	list, err := json.Marshal(strings.Fields(long))
	require.NoError(t, err)
	for name, out := range map[string]signals.Outcome{
		"result": {Status: signals.Completed, ExecutionID: "exec_1", Result: list, Logs: []string{long},
			Calls: []signals.Call{{}}},
		"error": {Status: signals.Failed, ExecutionID: "exec_1", Error: long, Logs: []string{long}},
		"pending": {Status: signals.Paused, ExecutionID: "exec_1",
			Pending: []signals.PendingAction{action(string(list)), action(string(list))}},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.answer(out, nil)
			text := a.Content[0].(*mcp.TextContent).Text
			require.True(t, json.Valid([]byte(text)))
			require.Less(t, len(text), 500*4+700)
			require.NotContains(t, text, `"calls"`)
			require.Equal(t, out.Status == signals.Failed, a.IsError)
			structured, err := json.Marshal(a.StructuredContent)
			require.NoError(t, err)
			require.Less(t, len(structured), 500*4+1200)
		})
	}
	for name, out := range map[string]signals.Outcome{
		"calls": {Status: signals.Completed, ExecutionID: "exec_1", Result: json.RawMessage(`[1]`),
			Calls: []signals.Call{{Connector: "a", Method: "b", Args: list, Result: list}}},
		"left over": {Status: signals.Completed, ExecutionID: "exec_1",
			LeftOver: slices.Repeat([]signals.LeftOver{{Connector: "a", Method: "b", Error: long}}, 500)},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.answer(out, nil).StructuredContent.(signals.Outcome)
			structured, err := json.Marshal(a)
			require.NoError(t, err)
			require.Less(t, len(structured), 10_000)
			require.True(t, a.CallsOmitted && a.Partial)
			require.Equal(t, string(out.Result), string(a.Result))
		})
	}
	small := signals.Outcome{Status: signals.Completed, ExecutionID: "exec_1", Calls: []signals.Call{{Connector: "a"}}}
	require.Equal(t, small, d.answer(small, nil).StructuredContent, "what fits is whole")
	direct := d.plainAnswer(signals.Outcome{Status: signals.Completed, Result: list}, nil)
	structured, err := json.Marshal(direct.StructuredContent)
	require.NoError(t, err)
	require.Less(t, len(structured), 500*4+200)
}

// What a model reads after a run, word by word.
func TestOutcomeTexts(t *testing.T) {
	d := &door{Options: Options{}.withDefaults()}
	write := signals.Call{Connector: "tracker", Method: "create_issue", Class: signals.Write, State: signals.Applied}
	failed := signals.Outcome{Status: signals.Failed, ExecutionID: "exec_1", Pass: 4,
		Error:    "Code execution failed: Cannot read property 'foo' of undefined",
		Position: &signals.Position{Line: 3, Column: 10}, Excerpt: "return a.foo\n         ^",
		Warnings: []string{"mail.send at 2:3 failed, and nothing awaited it: no"},
		Calls:    []signals.Call{write, write, write}}
	const goOn = `tracker.create_issue ×3 took effect. To go on, run the corrected code ` +
		`with \"continues\": \"exec_1\": that is not done again.`
	rejected := signals.Outcome{Status: signals.Rejected, ExecutionID: "exec_1", Pass: 2, Calls: []signals.Call{write},
		Error: "Action shop.refund rejected by user: too much"}
	completed := signals.Outcome{Status: signals.Completed, ExecutionID: "exec_1", Pass: 1, Calls: []signals.Call{},
		Result: json.RawMessage(`[{}]`), Warnings: []string{"result[0] is a Map, which JSON writes as {}: …"}}
	for name, c := range map[string]struct {
		out  signals.Outcome
		want string
	}{
		"failed": {failed, `{"status":"error","executionId":"exec_1",` +
			`"error":"Code execution failed: Cannot read property 'foo' of undefined",` +
			`"position":{"line":3,"column":10},` +
			`"excerpt":"return a.foo\n         ^","warnings":["mail.send at 2:3 failed, and nothing awaited it: no"],` +
			`"message":"` + goOn + `"}`},
		"rejected": {rejected, `{"status":"rejected","executionId":"exec_1",` +
			`"error":"Action shop.refund rejected by user: too much","message":"tracker.create_issue took effect. ` +
			`Ask the user what is wanted. To go on then, run the corrected code with \"continues\": \"exec_1\": ` +
			`that is not done again."}`},
		"completed": {completed, `{"status":"completed","executionId":"exec_1","result":[{}],` +
			`"warnings":["result[0] is a Map, which JSON writes as {}: …"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, textOf(t, d.answer(c.out, nil)))
		})
	}
	bridge := chain{limit: 1000, chars: 4000}
	require.Equal(t, `{"success":false,"error":"Cannot read property 'foo' of undefined`+
		`\nreturn a.foo\n         ^\n`+goOn+
		`","nonMcpContentResults":null,"logs":["[ERROR] Code execution failed: Cannot read property 'foo' of undefined`+
		`\nreturn a.foo\n         ^\n`+goOn+`"]}`, textOf(t, d.chainAnswer(bridge, failed, nil)))
	require.Equal(t, `{"success":true,"nonMcpContentResults":[{}],`+
		`"logs":["[WARN] result[0] is a Map, which JSON writes as {}: …"]}`,
		textOf(t, d.chainAnswer(bridge, completed, nil)))
}

func FuzzChainAnswersFit(f *testing.F) {
	f.Add(`"x"`, "log", 100, 2000)
	f.Fuzz(func(t *testing.T, value, line string, limit, chars int) {
		if !json.Valid([]byte(value)) || chars < 1000 || chars > 20_000 || limit < 0 {
			t.Skip()
		}
		c := chain{limit: limit, chars: chars}
		logs := []string{line, "[warn] " + line}
		for _, a := range []*mcp.CallToolResult{c.success(signals.Outcome{Result: json.RawMessage(value), Logs: logs}),
			c.failure(line, logs)} {
			text := a.Content[0].(*mcp.TextContent).Text
			if !json.Valid([]byte(text)) || len(text) > chars+200 {
				t.Fatalf("%d characters of %d: %s", len(text), chars, text)
			}
		}
	})
}

func TestLongFailureFits(t *testing.T) {
	text := chain{limit: 5, chars: 1000}.failure(strings.Repeat("\n\"", 5000),
		[]string{strings.Repeat("\x01", 5000)}).Content[0].(*mcp.TextContent).Text
	require.LessOrEqual(t, len(text), 1000)
	require.True(t, json.Valid([]byte(text)))
}

func TestToolNames(t *testing.T) {
	taken := map[string]bool{}
	long := strings.Repeat("x", 100)
	names := map[string]bool{}
	for _, m := range []signals.Method{{Connector: "a", Method: "b_c"}, {Connector: "a_b", Method: "c"},
		{Connector: "a", Method: long}, {Connector: "a", Method: long + "y"}} {
		name := toolName(m, taken)
		require.LessOrEqual(t, len(name), maxToolName)
		require.False(t, names[name])
		names[name] = true
	}
	require.True(t, names["a_b_c"] && names["a_b_c_2"])
}

func TestToolSchemasAreObjects(t *testing.T) {
	for schema, want := range map[string]string{
		``:                           `{"type":"object"}`,
		`{"type":"string"}`:          `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`,
		`{"type":"object"}`:          `{"type":"object"}`,
		`{"properties":{"a":{}}}`:    `{"type":"object","properties":{"a":{}}}`,
		`{"type":["object","null"]}`: `{"type":"object","properties":{"input":{"type":["object","null"]}},"required":["input"]}`,
	} {
		require.JSONEq(t, want, string(toolSchema(json.RawMessage(schema))))
	}
}

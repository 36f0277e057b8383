package preflight_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

// tools is a catalogue of methods by path.
type tools map[string]tool

type tool struct {
	class         signals.Class
	input, output string
	approval      bool
}

func (c tools) Names() (names []string) {
	seen := map[string]bool{}
	for path := range c {
		name, _, _ := strings.Cut(path, ".")
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func (c tools) Known(string) bool { return true }

func (c tools) Methods(connector string) (names []string) {
	for path := range c {
		if name, ok := strings.CutPrefix(path, connector+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

func (c tools) Method(connector, method string) (*preflight.Method, error) {
	m, ok := c[connector+"."+method]
	if !ok {
		text := signals.ToolNotFound(method, connector)
		if near := words.Nearest(method, c.Methods(connector)); len(near) > 0 {
			text += ". Did you mean: " + strings.Join(near, ", ") + "?"
		}
		return nil, fmt.Errorf("%s", text)
	}
	return &preflight.Method{
		Class: m.class, Approval: m.approval, Output: json.RawMessage(m.output),
		Input: func() json.RawMessage { return json.RawMessage(m.input) },
		Validate: func(args json.RawMessage) error {
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			if problems := validate.Value(json.RawMessage(m.input), args); problems != "" {
				return fmt.Errorf("Invalid arguments for %s.%s: %s", connector, method, problems)
			}
			return nil
		},
	}, nil
}

const issue = `{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},
	"state":{"type":"string","enum":["open","closed"]},"labels":{"type":"array","items":{"type":"string"}},
	"assignee":{"anyOf":[{"type":"null"},{"type":"object","properties":{"login":{"type":"string"}}}]}}}`

var shop = tools{
	"tracker.list_issues": {class: signals.Read,
		input: `{"type":"object","properties":{"state":{"type":"string","enum":["open","closed"]},
			"limit":{"type":"integer"}}}`,
		output: `{"type":"object","properties":{"issues":{"type":"array","items":` + issue + `},
			"next":{"type":"string"},			"meta":{"type":"object"}}}`},
	"tracker.get_issue": {class: signals.Read, input: `{"type":"object","properties":{"id":{"type":"integer"}},
		"required":["id"],"additionalProperties":false}`, output: issue},
	"tracker.create_issue": {class: signals.Write, approval: true, input: `{"type":"object","properties":{"title":
		{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}},"required":["title"]}`, output: issue},
	"tracker.close_issue": {class: signals.Idempotent, input: `{"type":"object","properties":{"id":
		{"type":"integer"}}}`},
	"mail.send": {class: signals.Write},
}

func check(t *testing.T, code string) preflight.Report {
	t.Helper()
	tree, failure := compile.Parse(code, nil)
	require.Nil(t, failure, code)
	return preflight.Read(tree).Judge(shop, "")
}

// said is what a report says, a line for each hint.
func said(r preflight.Report) string {
	var lines []string
	for _, h := range r.Hints {
		lines = append(lines, fmt.Sprintf("%d:%d %s: %s", h.Position.Line, h.Position.Column, h.Kind, h.Message))
	}
	if r.Stop != nil {
		lines = append(lines, "stop: "+r.Stop.Message)
	}
	return strings.Join(lines, "\n")
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`await mail.send(); await tracker.list_isues({})`,
			`1:26 unknown method: tracker has no method "list_isues". Did you mean list_issues?
			stop: Tool "list_isues" not found on tracker. Did you mean: list_issues?`},
		{"async () => {\n  const r = await tracker.list_issues({});\n  return r.isues.length;\n}",
			`3:12 unknown field: the result of tracker.list_issues has no "isues". Did you mean issues?`},
		{"const { issues } = await tracker.list_issues();\nreturn issues.map(({ id, titl }) => id + titl);",
			`2:26 unknown field: the result of tracker.list_issues has no "titl" in issues[]. Did you mean title?`},
		{"const r = await tracker.list_issues();\nreturn r.issues[0].titel.trim();",
			`2:20 unknown field: the result of tracker.list_issues has no "titel" in issues[]:
			it has assignee, id, labels, state, title`},
		{"tracker.close_issue({ id: 1 });\nreturn 1", `1:1 not awaited: nothing awaits this call of tracker.close_issue:
			write await before it, or its result and its errors are lost`},
		{"const r = tracker.get_issue({ id: 1 });\nreturn r.title;",
			`2:8 not awaited: tracker.get_issue gives a promise, and this uses it without await`},
		{"return [1, 2].map((id) => tracker.get_issue({ id }));", `1:9 not awaited: these are promises of
			tracker.get_issue, not results: write await Promise.all(…) around the list`},
		{"return await [1, 2].map(async (id) => (await tracker.get_issue({ id })).title);", `1:15 not awaited: these are
			promises of tracker.get_issue, not results: write await Promise.all(…) around the list`},
		{`return { a: tracker.get_issue({ id: 1 }) }`, `1:13 not awaited: tracker.get_issue gives a promise, and this
			uses it without await`},
		{`await mail.send(); return await tracker.get_issue({ id: "7" })`, `1:33 argument: Invalid arguments for
			tracker.get_issue: id: expected integer, but got string
			stop: Invalid arguments for tracker.get_issue: id: expected integer, but got string`},
		{`const n = Number("7"); return await tracker.get_issue({ ID: n })`, `1:37 argument: Invalid arguments for
			tracker.get_issue: ID: not a known property. Did you mean id?; id: required, but missing`},
		{`const x = Date.now(); return await tracker.list_issues({ stat: x })`,
			`1:36 argument: tracker.list_issues declares no argument stat. Did you mean state?`},
		{`await traker.list_issues(); await mail.send()`, `1:7 unknown connector: traker is not defined. Did you mean
			tracker? stop: traker is not defined (the only globals available in the sandbox are: `},
		{`let next; do { const r = await tracker.list_issues();
			for (const i of r.issues) await tracker.close_issue({ id: i.id }); next = r.next } while (next)`,
			`2:36 writes without a bound: tracker.close_issue writes in a loop that nothing bounds: count its rounds, or
			loop over a list`},
		{`while (true) { await tracker.list_issues(); }`,
			`1:1 endless loop: this loop never ends: nothing in it breaks, returns or changes its condition`},
	} {
		got := strings.Join(strings.Fields(said(check(t, c.code))), " ")
		require.True(t, strings.HasPrefix(got, strings.Join(strings.Fields(c.want), " ")), "%s\nsaid: %s", c.code, got)
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestSearchAndDescribe(t *testing.T) {
	r := starter(t, "", "search", "create", "issue", "--json")
	require.Equal(t, 0, r.code, r.stderr)
	require.Regexp(t, `^\{"results":\[\{"path":"tracker.create_issue",`, r.stdout)
	require.Contains(t, text(t, 0, "search", "create issue"), "tracker.create_issue needs approval\n")
	require.Contains(t, text(t, 0, "search", "zebra"), "nothing found")

	r = starter(t, "", "describe", "tracker.create_issue", "--json")
	require.Equal(t, 0, r.code, r.stderr)
	require.Contains(t, r.stdout, `"kind":"method"`)
	require.Contains(t, text(t, 0, "describe", "tracker"), "declare const tracker")
	require.Contains(t, text(t, 4, "describe", "tracker.nope"), `"tracker.nope" not found.`)
	require.Equal(t, 5, starter(t, "", "search", "x", "--runtime", "nobody").code)
}

func TestCheck(t *testing.T) {
	code := "const made = await tracker.create_issue({ title: 'a' });\nawait tracker.create_isue({ title: made.titel });\n"
	r := starter(t, code, "check", "-", "--json")
	require.Equal(t, 1, r.code, r.stderr)
	var checked signals.Checked
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &checked))
	require.Equal(t, `Tool "create_isue" not found on tracker. Did you mean: create_issue?`, checked.Error)
	require.Equal(t, 1, checked.Program.Writes)
	shown := starter(t, "return (await tracker.list_issues({ state: 'open' })).isues", "check", "-")
	require.Equal(t, 0, shown.code, shown.stderr)
	require.Contains(t, shown.stdout, "only reads")
}

func TestSnippets(t *testing.T) {
	name := fresh("greet")
	saved := run(t, 0, `async (input) => 'hello ' + (input?.who ?? 'nobody')`)
	schema := filepath.Join(t.TempDir(), "schema.json")
	require.NoError(t, os.WriteFile(schema,
		[]byte(`{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}`), 0o600))
	r := starter(t, "", "snippet", "save", name, "--from", saved.ExecutionID, "--description", "Greets somebody",
		"--input-schema", schema, "--json")
	require.Equal(t, 0, r.code, r.stdout+r.stderr)
	require.Equal(t, 1, decode[signals.Snippet](t, r).Version)

	out := run(t, 0, `return [await codemode.run("`+name+`", {who: "ann"}), await codemode.run("`+
		name+`", {}).catch(e => e.message)]`)
	require.Contains(t, string(out.Result), `"hello ann"`)
	require.Contains(t, string(out.Result), `is invalid`)

	second := run(t, 0, `return 2`)
	require.Contains(t, text(t, 0, "snippet", "save", name, "--from", second.ExecutionID), "version 2")
	require.Equal(t, "2", string(run(t, 0, `return codemode.run("`+name+`")`).Result))
	require.Contains(t, text(t, 0, "snippet", "restore", name, "--version", "1"), "version 3")
	require.Contains(t, text(t, 0, "snippet", "show", name), "hello")
	require.Contains(t, text(t, 0, "snippet", "list"), name)
	require.Contains(t, text(t, 0, "search", "greets", "somebody", "--connector", "snippet"), name+" snippet")

	require.Contains(t, text(t, 0, "snippet", "delete", name), "deleted "+name)
	require.Equal(t, 4, starter(t, "", "snippet", "delete", name).code)
	missing := starter(t, "", "snippet", "show", name)
	require.Equal(t, 4, missing.code)
	require.Contains(t, missing.stderr, "there is no snippet")
	require.JSONEq(t, `{"error":"Snippet \"`+name+`\" not found."}`,
		string(run(t, 0, `return codemode.run("`+name+`")`).Result))
}

func TestSnippetsAreSavedFromWhatWorked(t *testing.T) {
	failed := run(t, 1, `throw new Error("no")`)
	r := starter(t, "", "snippet", "save", fresh("bad"), "--from", failed.ExecutionID)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.stderr, "has not completed (status: error)")
	require.Equal(t, 0, starter(t, "", "snippet", "save", fresh("bad"), "--from", failed.ExecutionID, "--force").code)
	require.Equal(t, 4, starter(t, "", "snippet", "save", fresh("bad"), "--from", "exec_none").code)
	require.Equal(t, 2, starter(t, "", "snippet", "save", fresh("bad")).code)
}

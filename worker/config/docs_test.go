package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The configurations that the pages show can be read as they stand.
func TestDocumentedConfigurations(t *testing.T) {
	for _, name := range []string{"TRACKER_TOKEN", "REMOTE_TOKEN", "ID", "SECRET"} {
		t.Setenv(name, "x")
	}
	names, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	pages := map[string]string{} // load leaves this folder
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		pages[name] = string(text)
	}
	blocks := 0
	for page, text := range pages {
		for _, block := range regexp.MustCompile("(?s)(?:```yaml\n|<<'EOF'\n)(.*?)(?:```|EOF\n)").FindAllStringSubmatch(
			text, -1) {
			blocks++
			_, err := load(t, block[1])
			require.NoError(t, err, "%s:\n%s", page, block[1])
		}
	}
	require.Equal(t, 9, blocks)
}

// sections are the tables of keys in docs/reference.md, and the function of the reader that takes their keys.
var sections = map[string]string{
	"### Top level":                                  "config",
	"### connectors.NAME":                            "connector",
	"### connectors.NAME.mcp":                        "mcp",
	"### connectors.NAME.openapi":                    "openAPI",
	"### connectors.NAME.openapi.credentials.SCHEME": "credentials",
	"### connectors.NAME.temporal":                   "temporal",
	"### connectors.NAME.temporal, activities":       "activity",
	"### connectors.NAME.temporal, workflows":        "workflow",
	"### outbound":                                   "outbound",

	"### connectors.NAME.temporal, activities and workflows": "targetRule",

	"### sandbox":    "sandbox",
	"### encryption": "encryption",
	"## Rules":       "rule",
	"### approvers":  "approvers",
	"### revert":     "revert",
	"### retry":      "retry",
	"## Limits":      "limits",
}

// The reference lists the keys that the reader takes: all of them, and no others.
func TestReferenceHasAllKeys(t *testing.T) {
	documented, read := documentedKeys(t), keysOfReader(t)
	require.ElementsMatch(t, slices.Collect(maps.Values(sections)), slices.Collect(maps.Keys(read)),
		"each mapping that is read has a table")
	for heading, function := range sections {
		require.ElementsMatch(t, read[function], documented[heading], "%s of docs/reference.md", heading)
	}
}

// documentedKeys are the names in the first column of each table, by the heading above it.
func documentedKeys(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference.md")
	require.NoError(t, err)
	keys := map[string][]string{}
	heading := ""
	row := regexp.MustCompile("^\\| `([A-Za-z]+)` \\|")
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(line)
		}
		if found := row.FindStringSubmatch(line); found != nil {
			keys[heading] = append(keys[heading], found[1])
		}
	}
	return keys
}

// keysOfReader finds the keys in the source of the reader, by the function that takes them.
func keysOfReader(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	keys := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				ast.Inspect(f, func(n ast.Node) bool {
					keys[f.Name.Name] = append(keys[f.Name.Name], keysIn(n)...)
					return true
				})
			}
		}
	}
	maps.DeleteFunc(keys, func(_ string, list []string) bool { return len(list) == 0 })
	return keys
}

// keysIn gives the keys of a literal map[string]take.
func keysIn(n ast.Node) (keys []string) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	m, ok := literal.Type.(*ast.MapType)
	if !ok {
		return nil
	}
	if value, ok := m.Value.(*ast.Ident); !ok || value.Name != "take" {
		return nil
	}
	for _, e := range literal.Elts {
		key, _ := strconv.Unquote(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value)
		keys = append(keys, key)
	}
	return keys
}

// told is, for each rule key, an example and what doctor prints for it.
var told = map[string]struct{ rule, class, approval, more string }{
	"class": {rule: "class: idempotent", class: "idempotent"},
	"requiresApproval": {rule: `requiresApproval: "args.url == 'x'"`, approval: "by arguments",
		more: "approval if args.url == 'x'"},
	"additional": {rule: `requiresApproval: 'args.url != ""', additional: allow`, approval: "by arguments",
		more: "other arguments allowed"},
	"approvals": {rule: "approvals: 2", approval: "always", more: "approvals 2"},
	"approvers": {rule: "approvers: { notRequester: true, groups: [finance, audit] }", approval: "always",
		more: "approved by somebody who is authenticated, other than whom the program runs for, " +
			"of group finance or audit"},
	"unknown":       {rule: "unknown: ask", more: "an unknown outcome asks a person"},
	"preflight":     {rule: "preflight: deny", more: "preflight deny"},
	"resolvedBy":    {rule: "resolvedBy: client", more: "resolved by a client"},
	"revert":        {rule: "revert: { tool: delete }", more: "can be reverted by delete"},
	"replay":        {rule: "replay: reexecute", more: "made again in each pass"},
	"retry":         {rule: "retry: { attempts: 7 }", more: "7 attempts, 1s to 30s between"},
	"timeout":       {rule: "timeout: 7s", more: "timeout 7s"},
	"maxConcurrent": {rule: "maxConcurrent: 7", more: "at most 7 at once"},
	"ratePerSecond": {rule: "ratePerSecond: 0.5", more: "at most 0.5 a second"},
	"learn":         {rule: "learn: false", more: "results are not learnt from"},
	"hidden":        {rule: "hidden: true", more: "hidden"},
	"rename":        {rule: "rename: fetched", more: "renamed from get"},
}

// doctor tells of every rule key that the reference lists.
func TestDoctorTellsOfEveryRuleKey(t *testing.T) {
	documented := documentedKeys(t)["## Rules"]
	require.ElementsMatch(t, documented, slices.Collect(maps.Keys(told)))
	for key, want := range told {
		c, err := load(t, "outbound:\n  hosts: [a.example.com]\n  tools:\n    get: { "+want.rule+" }\n")
		require.NoError(t, err, key)
		list, _, err := c.Policies(t.Context())
		require.NoError(t, err, key)
		at := slices.IndexFunc(list[0].Methods, func(p Policy) bool { return p.Rule == "get" })
		require.GreaterOrEqual(t, at, 0, key)
		p := list[0].Methods[at]
		require.Contains(t, p.Class, want.class, key)
		require.Contains(t, p.Approval, want.approval, key)
		require.Contains(t, strings.Join(p.More(), ", "), want.more, key)
	}
}

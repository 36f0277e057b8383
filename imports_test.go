package codemode

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/temporal-codemode/codemode"

// mayImport draws the one direction of imports: the packages of ours that each package may use. "" is the root package.
var mayImport = map[string][]string{
	"signals":                {},
	"signals/payload":        {"signals"},
	"sandbox":                {"signals"},
	"sandbox/compile":        {"signals", "sandbox"},
	"sandbox/engine":         {"signals", "sandbox", "sandbox/compile"},
	"sandbox/harden":         {},
	"sandbox/child":          {"signals", "sandbox", "sandbox/compile", "sandbox/engine", "sandbox/harden"},
	"sandbox/internal":       {"signals", "sandbox"},
	"internal/rawjson":       {},
	"internal/words":         {},
	"connectors/wire":        {"internal/rawjson"},
	"connectors":             {"connectors/wire", "internal/rawjson", "internal/words"},
	"connectors/internal":    {"connectors", "internal/words"},
	"connectors/mcp":         {"connectors", "connectors/wire", "connectors/internal/redact", "connectors/internal/web", "internal/rawjson", "internal/words"},
	"connectors/openapi":     {"connectors", "connectors/wire", "connectors/internal/redact", "connectors/internal/web", "internal/rawjson", "internal/words"},
	"connectors/outbound":    {"connectors", "connectors/wire", "connectors/internal/web", "internal/rawjson", "internal/words"},
	"connectors/discovery":   {"connectors"},
	"connectors/utcp":        {"connectors", "connectors/discovery"},
	"workflows":              {"signals", "signals/payload"},
	"activities/history":     {"signals"},
	"activities/snippets":    {"signals", "signals/payload"},
	"activities":             {"connectors/wire", "signals", "signals/payload", "sandbox", "sandbox/compile", "sandbox/engine", "sandbox/child", "connectors", "connectors/discovery", "connectors/utcp", "activities/history", "activities/snippets"},
	"":                       {"connectors/wire", "signals", "signals/payload", "sandbox", "connectors", "connectors/mcp", "connectors/openapi", "connectors/outbound", "connectors/discovery", "workflows", "activities", "activities/history", "activities/snippets"},
	"codemodetest":           {"", "signals", "sandbox", "sandbox/engine", "connectors"},
	"worker":                 {"", "signals", "signals/payload", "sandbox", "sandbox/child", "sandbox/harden", "connectors"},
	"starter":                {"", "signals", "signals/payload", "sandbox", "sandbox/child"},
	"starter/mcpserver/wrap": {"", "sandbox", "sandbox/compile", "sandbox/child", "connectors", "connectors/mcp", "connectors/openapi", "connectors/wire", "connectors/discovery"},
	"starter/mcpserver":      {"", "connectors/wire", "signals", "connectors", "connectors/discovery", "connectors/utcp"},
	"starter/console":        {"", "signals", "connectors"},
}

// mayNotImport lists what packages must do without beside that, by prefix.
var mayNotImport = map[string][]string{
	"signals":         {"go.temporal.io/", "github.com/"},
	"sandbox":         {"go.temporal.io/", "github.com/"},
	"sandbox/compile": {"go.temporal.io/"},
	"sandbox/engine":  {"go.temporal.io/"},
	"sandbox/child":   {"go.temporal.io/"},
	"sandbox/harden":  {"go.temporal.io/"},
	"connectors":      {"go.temporal.io/"},
}

func TestImportsGoOneWay(t *testing.T) {
	for dir, imports := range packages(t) {
		allowed, known := mayImport[rule(dir)]
		require.True(t, known, "package %q is not in the drawing: add it", dir)
		for _, i := range imports {
			require.False(t, strings.HasPrefix(i, "go.temporal.io/server"), "%s imports the server; only testenv may", dir)
			for _, prefix := range mayNotImport[dir] {
				require.False(t, strings.HasPrefix(i, prefix) && !strings.HasPrefix(i, module), "%q must not import %s", dir, i)
			}
			if own, ok := strings.CutPrefix(i, module); ok {
				own = strings.TrimPrefix(own, "/")
				require.True(t, contains(allowed, own) || rule(own) == rule(dir), "%q must not import %q", dir, own)
			}
		}
	}
}

// rule is the entry that a directory falls under: its own, or that of the command that it is a part of.
func rule(dir string) string {
	for d := dir; ; d = path.Dir(d) {
		if _, ok := mayImport[d]; ok || d == "." || d == "" {
			return strings.TrimPrefix(d, ".")
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// packages are the directories of this module with the imports of their code, tests left out.
func packages(t *testing.T) map[string][]string {
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "testenv" || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), ".")
		for _, i := range file.Imports {
			text, _ := strconv.Unquote(i.Path.Value)
			found[dir] = append(found[dir], text)
		}
		return nil
	}))
	return found
}

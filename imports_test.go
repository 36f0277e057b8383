package codemode

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/temporal-codemode/codemode"

// anywhere are the packages that every other may use. They use at most each other.
var anywhere = []string{
	"signals", "signals/learnt",
	"internal/invocation", "internal/rawjson", "internal/rpcerr", "internal/schema", "internal/tokens",
	"internal/truncate", "internal/version", "internal/wait", "internal/words",
}

// mayImport draws the one direction of imports: the packages of ours that each package may use beside those. "" is the
// root package. Every package stands below those that it may use.
var mayImport = map[string][]string{
	"signals":         {},
	"signals/learnt":  {},
	"signals/payload": {"connectors/wire"},

	"internal/ask":         {},
	"internal/history":     {"signals/payload"},
	"internal/invocation":  {},
	"internal/namespace":   {},
	"internal/rawjson":     {},
	"internal/rpcerr":      {},
	"internal/schema":      {},
	"internal/learner":     {"connectors", "signals/payload"},
	"internal/snippets":    {"signals/payload"},
	"internal/telemetry":   {},
	"internal/tokens":      {},
	"internal/tool":        {},
	"internal/truncate":    {},
	"internal/version":     {},
	"internal/wait":        {},
	"internal/words":       {},
	"connectors/wire":      {},
	"internal/validate":    {"connectors/wire"},
	"connectors":           {"connectors/wire", "internal/validate"},
	"connectors/internal":  {"connectors"},
	"connectors/mcp":       {"connectors", "connectors/wire", "connectors/internal"},
	"connectors/openapi":   {"connectors", "connectors/wire", "connectors/internal"},
	"connectors/outbound":  {"connectors", "connectors/wire", "connectors/internal"},
	"connectors/temporal":  {"connectors"},
	"connectors/search":    {},
	"connectors/types":     {"connectors"},
	"connectors/catalogue": {"connectors", "connectors/search", "connectors/types"},
	"connectors/utcp":      {"connectors", "connectors/catalogue", "connectors/types"},

	"sandbox":           {},
	"sandbox/compile":   {"sandbox"},
	"sandbox/preflight": {"sandbox", "sandbox/compile"},
	"sandbox/engine":    {"sandbox", "sandbox/compile", "sandbox/preflight"},
	"sandbox/harden":    {},
	"sandbox/child":     {"sandbox", "sandbox/compile", "sandbox/preflight", "sandbox/engine", "sandbox/harden"},
	"sandbox/internal":  {"sandbox"},

	"internal/lookup": {"connectors", "connectors/catalogue", "connectors/utcp", "internal/tool", "internal/validate",
		"sandbox", "sandbox/preflight"},
	"workflows": {"signals/payload"},
	"activities": {
		"signals/payload", "connectors", "connectors/catalogue", "sandbox", "sandbox/compile", "sandbox/engine",
		"sandbox/child", "sandbox/preflight", "internal/history", "internal/learner", "internal/lookup",
		"internal/snippets",
	},

	// The client: no engine, no connectors.
	"": {
		"signals/payload", "internal/ask", "internal/history", "internal/namespace", "internal/snippets",
		"internal/tool",
		"internal/validate",
	},
	"worker/codemodeworker": {
		"", "signals/payload", "activities", "workflows", "connectors", "sandbox", "sandbox/child", "sandbox/harden",
		"internal/namespace",
	},
	"worker/config": {
		"worker/codemodeworker", "connectors", "connectors/mcp", "connectors/openapi", "connectors/outbound",
		"connectors/temporal", "connectors/wire", "sandbox/child", "sandbox/harden",
	},
	"worker": {
		"", "signals/payload", "connectors", "sandbox/child", "sandbox/harden", "worker/codemodeworker",
		"worker/config", "internal/telemetry",
	},

	"starter/guard":   {},
	"starter/console": {"", "internal/validate", "starter/guard"},
	"starter/mcpserver": {
		"", "connectors/utcp", "connectors/wire", "internal/tool", "internal/validate", "starter/guard",
	},
	"starter/local": {
		"", "connectors", "connectors/catalogue", "internal/ask", "internal/lookup", "sandbox", "sandbox/child",
	},
	"starter/mcpserver/wrap": {
		"", "connectors", "connectors/catalogue", "connectors/mcp", "connectors/openapi", "sandbox", "sandbox/child",
		"sandbox/compile", "starter/local",
	},
	"starter": {
		"", "signals/payload", "connectors/wire", "sandbox/child", "sandbox/harden", "worker/codemodeworker",
		"worker/config", "starter/console", "starter/guard", "starter/local", "starter/mcpserver",
		"starter/mcpserver/wrap", "internal/telemetry",
	},
	"codemodetest": {"", "connectors", "sandbox/engine", "worker/codemodeworker"},
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
	for _, dir := range anywhere {
		require.Empty(t, mayImport[dir], "%q can be used anywhere, so it uses nothing itself", dir)
	}
	for dir, imports := range packages(t) {
		allowed, known := mayImport[rule(dir)]
		require.True(t, known, "package %q is not in the drawing: add it", dir)
		for _, i := range imports {
			require.False(t, strings.HasPrefix(i, "go.temporal.io/server"), "%s imports the server; only testenv may",
				dir)
			for _, prefix := range mayNotImport[dir] {
				require.False(t, strings.HasPrefix(i, prefix) && !strings.HasPrefix(i, module), "%q must not import %s",
					dir, i)
			}
			if own, ok := strings.CutPrefix(i, module); ok {
				own = strings.TrimPrefix(own, "/")
				require.True(t, slices.Contains(anywhere, own) || slices.Contains(allowed, rule(own)) ||
					rule(own) == rule(dir),
					"%q must not import %q", dir, own)
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

// packages are the directories of this module with the imports of their code, tests left out.
func packages(t *testing.T) map[string][]string {
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "testenv" || strings.HasPrefix(d.Name(), ".") && name != "." ||
			d.Name() == "testdata") {
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

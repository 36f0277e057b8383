package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/connectors/outbound"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/harden"
	"github.com/temporal-codemode/codemode/signals"
)

// load reads a configuration as codemode.yaml of a directory of its own.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("codemode.yaml", []byte(text), 0o600))
	return Load("codemode.yaml")
}

// connector wraps the body of one connector, which begins on line 3.
func connector(body string) string {
	return "connectors:\n  c:\n    " + strings.ReplaceAll(body, "\n", "\n    ")
}

// tools wraps rules; the first stands on line 5.
func tools(rules string) string {
	return connector("mcp: { command: x }\ntools:\n  " + strings.ReplaceAll(rules, "\n", "\n  "))
}

func TestConfigAsDesigned(t *testing.T) {
	t.Setenv("TRACKER_TOKEN", "s3cret")
	c, err := load(t, `
runtime: demo
serve: [another]
connectors:
  tracker:
    mcp: { command: node, args: [server.js, ./data, 8080], env: { TOKEN: "${TRACKER_TOKEN}", RAW: "$${X}", N: 1 } }
    instructions: Use for issues.
    annotations: ignore
    tools:
      create_*: { requiresApproval: true, revert: { tool: delete_issue, args: { id: "result.id", force: true } } }
      refund:   { requiresApproval: "args.amount > 100" }
      stats:    { class: read, replay: reexecute }
      secret_*: { hidden: true }
      "*":      { rename: other, timeout: 5s, requiresApproval: false, maxConcurrent: 4, ratePerSecond: 0.5 }
  another:
    mcp: { command: ../bin/other }
    taskQueue: own
  remote:
    mcp: { url: "http://127.0.0.1:9/sse", transport: sse, headers: { Authorization: "Bearer ${TRACKER_TOKEN}" }, startTimeout: 5s }
outbound: { hosts: [api.example.com, "http://127.0.0.1:9"], timeout: 5s, maxResponse: 1KiB, private: true, tools: { post: { requiresApproval: true } } }
limits: { passTimeout: 30s, localPass: off, pausedTTL: 7d, memory: 256MiB, inlineCalls: 10, gatedCalls: 20, passes: 30, runTime: 2h, historyBytes: 40MiB, historyEvents: 1_000 }
sandbox: { reuse: off, children: 3, require: [seccomp] }
`)
	require.NoError(t, err)
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, "demo", c.Runtime)
	require.Equal(t, []string{"tracker", "another", "remote"},
		[]string{c.Connectors[0].Name, c.Connectors[1].Name, c.Connectors[2].Name})
	require.Equal(t, &mcpconnector.Options{
		Command: "node", Args: []string{"server.js", filepath.Join(dir, "data"), "8080"},
		Env:          map[string]string{"TOKEN": "s3cret", "RAW": "${X}", "N": "1"},
		Instructions: "Use for issues.", IgnoreAnnotations: true, Secrets: []string{"s3cret"},
	}, c.Connectors[0].MCP)
	require.Equal(t, &mcpconnector.Options{
		URL: "http://127.0.0.1:9/sse", SSE: true, Headers: map[string]string{"Authorization": "Bearer s3cret"},
		StartTimeout: 5 * time.Second, Secrets: []string{"s3cret"},
	}, c.Connectors[2].MCP)
	require.Equal(t, filepath.Join(filepath.Dir(dir), "bin", "other"), c.Connectors[1].MCP.Command)
	require.Equal(t, Limits{PassTimeout: 30 * time.Second, LocalPass: -1, Memory: 256 << 20, Limits: signals.Limits{
		PausedTTLMs: (7 * 24 * time.Hour).Milliseconds(), InlineCalls: 10, GatedCalls: 20, Passes: 30,
		RunTimeMs: (2 * time.Hour).Milliseconds(), HistoryBytes: 40 << 20, HistoryEvents: 1000,
	}}, c.Limits)
	checkRules(t, c.Connectors[0].Rules)
	require.Equal(t, outbound.Options{Hosts: []string{"api.example.com", "http://127.0.0.1:9"},
		Timeout: 5 * time.Second, MaxResponseBytes: 1024, Private: true},
		c.Outbound.Options)
	require.Equal(t, "post", c.Outbound.Rules[0].Pattern)
	o, err := c.Options()
	require.NoError(t, err)
	require.Equal(t, "demo", o.Runtime)
	require.Equal(t, 30*time.Second, o.PassTimeout)
	require.Negative(t, o.LocalPass)
	require.Equal(t, c.Limits.Limits, o.Limits)
	require.Equal(t, []string{"another"}, o.Serve)
	require.Equal(t, []string{"another"}, o.OwnQueues)
	require.Len(t, o.Connectors, 4)
	require.Len(t, o.Rules["tracker"], 5)
	require.Equal(t, child.Options{Memory: 256 << 20, Reuse: -1, Children: 3, Require: []string{"seccomp"}}, o.Sandbox)
}

func checkRules(t *testing.T, rules []connectors.Rule) {
	t.Helper()
	var patterns []string
	for _, rule := range rules {
		patterns = append(patterns, rule.Pattern)
	}
	require.Equal(t, []string{"create_*", "refund", "stats", "secret_*", "*"}, patterns)
	require.True(t, *rules[0].RequiresApproval)
	require.Equal(t, "delete_issue", rules[0].Revert.Method)
	require.NotNil(t, rules[1].ApprovalFor)
	require.Equal(t, connectors.Read, rules[2].Class)
	require.True(t, *rules[2].Reexecute)
	require.True(t, rules[3].Hidden)
	require.False(t, *rules[4].RequiresApproval)
	require.Equal(t, "other", rules[4].Rename)
	require.Equal(t, 5*time.Second, rules[4].Timeout)
	require.Equal(t, 4, rules[4].MaxConcurrent)
	require.Equal(t, 0.5, rules[4].RatePerSecond)
}

func TestConfigForms(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"comments":          "# nothing yet\n",
		"one document":      "---\n",
		"all commented out": "connectors:\n  # tracker:\nlimits:\n",
		"JSON": "{\n\t\"runtime\": \"default\",\n\t\"connectors\": {\"c\": {\"mcp\": {\"command\": " +
			"\"x\"}}}\n}",
		"alias": "connectors:\n  a: &a { mcp: { command: x } }\n  b: *a\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, text)
			require.NoError(t, err)
			require.Equal(t, "default", c.Runtime)
		})
	}
}

func TestConfigMistakes(t *testing.T) {
	t.Setenv("SECRET", "hunter2hunter2")
	const f = "codemode.yaml:"
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "runtime: x\n\n\n\n\n\nconectors: {}",
			f + `7: unknown key "conectors"; did you mean "connectors"?`},
		{"unknown key, nothing near", "zzz: 1", f + `1: unknown key "zzz"`},
		{"near in another case", "limits:\n  pausedttl: 1h",
			f + `2: unknown key "pausedttl"; did you mean "pausedTTL"?`},
		{"duplicate key", "runtime: a\nlimits: {}\nruntime: b", f + `3: duplicate key "runtime", first on line 1`},
		{"duplicate connector", "connectors:\n  c: { mcp: { command: x } }\n  c: { mcp: { command: x } }",
			f + `3: duplicate key "c", first on line 2`},
		{"merge key", "connectors:\n  a: &a { mcp: { command: x } }\n  b:\n    <<: *a\n    mcp: { command: x }",
			f + `4: merge keys (<<) are not supported: write the keys out`},
		{"key that is no text", "connectors:\n  ? [a]\n  : {}", f + `2: a key must be text, but is a list`},
		{"not YAML", "runtime: default\nlimits: {a: 1", f + `2: not valid YAML: did not find expected ',' or '}'`},
		{"not YAML, by the scanner", "runtime: default\n\nlimits: a: 1",
			f + `3: not valid YAML: mapping values are not allowed in this context`},
		{"not YAML, by indentation", "connectors:\n  a: {}\n c: {}\n",
			f + `3: not valid YAML: did not find expected key`},
		{"not YAML, at its end", "{a: 1", f + `2: not valid YAML: did not find expected ',' or '}'`},
		{"two documents", "runtime: a\n---\nruntime: b",
			f + `2: a second document begins here: the configuration is one document`},
		{"root is a list", "- a", f + `1: the configuration must be a mapping, but is a list`},
		{"root is text", "hello", f + `1: the configuration must be a mapping, but is "hello"`},

		{"runtime is a number", "runtime: 5", f + `1: "runtime" must be text, but is 5; put it in quotes`},
		{"runtime is nothing", "runtime:", f + `1: "runtime" must be text, but is empty`},
		{"runtime name", "runtime: a/b",
			f + `1: Invalid codemode runtime name "a/b" — use letters, digits, "_", "-" or "."`},
		{"runtime from a variable", `runtime: "a/${SECRET}"`,
			f + `1: "a/${SECRET}" is not valid after its environment variables were filled in`},
		{"missing variable",
			"runtime: default\nconnectors:\n  c:\n    mcp:\n      command: x\n      env:\n        TOKEN: " +
				"${NO_SUCH_VARIABLE}", f + `7: environment variable NO_SUCH_VARIABLE is not set`},
		{"variable not closed", `runtime: "${SECRET"`,
			f + `1: "${SECRET" has a ${ without a closing }; write $${ for a literal ${`},
		{"not a variable", `runtime: "${SECRET:-x}"`,
			f + `1: "${SECRET:-x}" is not an environment variable; write $${ for a literal ${`},

		{"connectors is a list", "connectors: [a]", f + `1: "connectors" must be a mapping, but is a list`},
		{"connector is text", "connectors:\n  c: x",
			f + `2: connector "c" must be a mapping, but is "x"` + "\n" +
				f + `2: connector "c" says neither "mcp" nor "openapi" nor "temporal"`},
		{"connector is nothing", "connectors:\n  c:",
			f + `2: connector "c" says neither "mcp" nor "openapi" nor "temporal"`},
		{"temporal without queue", connector("temporal: { activities: { Get: {} } }"),
			f + `3: "temporal" needs "taskQueue", that of the team's workers`},
		{"temporal without tools", connector("temporal: { taskQueue: q }"),
			f + `3: "temporal" names neither "activities" nor "workflows"`},
		{"temporal with a queue of our own",
			connector("temporal: { taskQueue: q, activities: { Get: {} } }\ntaskQueue: own"),
			f + `4: "taskQueue" stands inside "temporal": the calls are made by the team's workers`},
		{"limits of a team", connector("temporal: { taskQueue: q, activities: { Get: { maxConcurrent: 1 } } }"),
			f + `2: the rule for "Get" limits calls that the team's workers make: set limits at those, or at ` +
				`their task queue`},
		{"workflow id", connector("temporal: { taskQueue: q, workflows: { Run: { id: 1 + 1 } } }"),
			f + `3: "id" must give text, but this expression gives int`},
		{"workflow id without meaning", connector("temporal: { taskQueue: q, workflows: { Run: { id: order } } }"),
			f + `3: "id" is not a CEL expression: undeclared reference to 'order' (in container '') (column 1)`},
		{"id of an activity", connector("temporal: { taskQueue: q, activities: { Get: { id: args.a } } }"),
			f + `3: unknown key "id"`},
		{"connector name", "connectors:\n  my-shop: { mcp: { command: x } }",
			f + `2: Connector name "my-shop" is not a valid JavaScript identifier`},
		{"connector name of ours", "connectors:\n  codemode: { mcp: { command: x } }",
			f + `2: Connector name "codemode" is reserved for the codemode platform SDK.`},
		{"instructions", connector("mcp: { command: x }\ninstructions: [a]"),
			f + `4: "instructions" must be text, but is a list`},
		{"annotations", connector("mcp: { command: x }\nannotations: distrust"),
			f + `4: "annotations" must be ignore or trust, but is "distrust"`},
		{"key of a connector", connector("mcp: { command: x }\ntool: {}"),
			f + `4: unknown key "tool"; did you mean "tools"?`},
		{"mcp is text", connector("mcp: node server.js"), f + `3: "mcp" must be a mapping, but is "node server.js"` +
			"\n" + f + `3: "mcp" needs "command", which starts the server, or the "url" where it is`},
		{"no command", connector("mcp: { args: [a] }"),
			f + `3: "mcp" needs "command", which starts the server, or the "url" where it is`},
		{"empty command", connector(`mcp: { command: "" }`), f + `3: "command" is empty`},
		{"args is text", connector("mcp: { command: x, args: server.js }"),
			f + `3: "args" must be a list, but is "server.js"`},
		{"an arg is a list", connector("mcp:\n  command: x\n  args:\n    - a\n    - [b]"),
			f + `7: item 2 of "args" must be text, but is a list`},
		{"env is a list", connector("mcp: { command: x, env: [A=b] }"),
			f + `3: "env" must be a mapping, but is a list`},
		{"env is nothing", connector("mcp:\n  command: x\n  env:\n    TOKEN:"),
			f + `6: "TOKEN" must be text, but is empty`},
		{"outbound without hosts", "outbound: {}",
			f + `1: "outbound" needs "hosts", the list of those that programs may reach`},
		{"outbound host", "outbound: { hosts: [\"*\"] }",
			f + `1: "*" is too wide for a host: only "*." before a name of two parts or more stands for others`},
		{"connector outbound", "connectors: { outbound: { mcp: { command: x } } }",
			f + `1: the name "outbound" is that of fetch: give its hosts in a section "outbound" beside "connectors"`},
		{"verbs", connector(`openapi: { document: ./shop.json, verbs: [GET, FETCH] }`),
			f + `3: "verbs" must be a list of GET, PUT, POST, DELETE, PATCH, OPTIONS, HEAD, but is a list`},
		{"serve", "serve: [c]\n" + connector(`mcp: { command: x }`),
			f + `1: "serve" names "c", which is no connector with "taskQueue: own"`},
		{"rate", tools(`x: { ratePerSecond: -1 }`), f + `5: "ratePerSecond" must be a number above 0, but is -1`},
		{"concurrent", tools(`x: { maxConcurrent: 0 }`),
			f + `5: "maxConcurrent" must be a whole number from 1 on, but is 0`},
		{"two ways", connector(`mcp: { url: "http://127.0.0.1/mcp", command: x }`),
			f + `3: "mcp" has both "command" and "url": the server is started, or it is there`},
		{"headers", connector(`mcp: { command: x, headers: { A: b } }`),
			f + `3: "headers" belongs to a server that is reached by "url"`},
		{"args", connector(`mcp: { url: "http://127.0.0.1/mcp", args: [b] }`),
			f + `3: "args" belongs to a server that is reached by "command"`},
		{"no url", connector(`mcp: { url: "" }`), f + `3: "url" is empty`},
		{"transport", connector(`mcp: { url: "http://127.0.0.1/mcp", transport: stdio }`),
			f + `3: "transport" must be sse or streamable-http, but is "stdio"`},
		{"openapi without document", connector(`openapi: { baseURL: "http://127.0.0.1" }`),
			f + `3: "openapi" needs "document", the file or URL of the OpenAPI document`},
		{"credential key", connector(`openapi: { document: a.json, credentials: { key: { tokn: x } } }`),
			f + `3: unknown key "tokn"; did you mean "token"?`},
		{"key of openapi", connector(`openapi: { document: ./shop.json, url: x }`),
			f + `3: unknown key "url"; did you mean "baseURL"?`},
		{"both", connector("openapi: {}\nmcp: { command: x }"),
			f + `2: connector "c" says both "mcp" and "openapi": make one connector of each` + "\n" +
				f + `3: "openapi" needs "document", the file or URL of the OpenAPI document`},

		{"tools is a list", tools("- a"), f + `5: "tools" must be a mapping, but is a list`},
		{"rule is a list", tools("a: [hidden]"), f + `5: the rule for "a" must be a mapping, but is a list`},
		{"rule without a name", tools(`"": { hidden: true }`),
			f + `5: a rule needs the name of a tool, or "*" for all`},
		{"key of a rule", tools("a: { requireApproval: true }"),
			f + `5: unknown key "requireApproval"; did you mean "requiresApproval"?`},
		{"class", tools("a: { class: reader }"), f + `5: "class" must be idempotent or read or write, but is "reader"`},
		{"approval is a number", tools("a: { requiresApproval: 1 }"),
			f + `5: "requiresApproval" must be true, false or an expression such as "args.amount > 100", but is 1`},
		{"approval is nothing", tools("a:\n  requiresApproval:"),
			f + `6: "requiresApproval" must be true, false or an expression such as "args.amount > 100", but is empty`},
		{"approval does not parse", tools(`a: { requiresApproval: "args.amount > " }`),
			f + `5: "requiresApproval" is not a CEL expression: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER} (column 15)`},
		{"approval does not check", tools(`a: { requiresApproval: "arg.amount > 100" }`),
			f + `5: "requiresApproval" is not a CEL expression: undeclared reference to 'arg' (in container '') (column 1)`},
		{"approval knows no result", tools(`a: { requiresApproval: "result.id > 100" }`),
			f + `5: "requiresApproval" is not a CEL expression: undeclared reference to 'result' (in container '') (column 1)`},
		{"approval is no decision", tools(`a: { requiresApproval: "size(args)" }`),
			f + `5: "requiresApproval" must give true or false, but this expression gives int`},
		{"approval with a secret", tools(`a: { requiresApproval: "${SECRET} == 1" }`),
			f + `5: "${SECRET} == 1" is not valid after its environment variables were filled in`},
		{"replay", tools("a: { replay: log }"), f + `5: "replay" must be reexecute, but is "log"`},
		{"replay of approved", tools("a: { replay: reexecute, requiresApproval: true }"),
			f + `5: "replay" cannot be reexecute beside "requiresApproval": what was approved is replayed from the log, never made again`},
		{"replay of a write", tools("a: { class: write, replay: reexecute }"),
			f + `5: "replay" cannot be reexecute beside class write: only a tool of class read may be made again`},
		{"hidden", tools("a: { hidden: yes }"), f + `5: "hidden" must be true or false, but is "yes"`},
		{"quoted boolean", tools(`a: { hidden: "true" }`), f + `5: "hidden" must be true or false, but is "true"`},
		{"boolean from a variable", tools(`a: { hidden: "${SECRET}" }`),
			f + `5: "hidden" must be true or false, but is "${SECRET}"`},
		{"rename", tools("a: { rename: my-name }"),
			f + `5: "rename" must be a name that programs can call, such as "my_name", but is "my-name"`},
		{"rename to then", tools("a: { rename: then }"),
			f + `5: "rename" cannot be "then": awaiting or serializing the connector would call it`},
		{"timeout", tools("a: { timeout: 5 }"),
			f + `5: "timeout" must be a duration such as 90s, 15m, 24h or 7d, but is 5`},
		{"timeout from a variable", tools("a: { timeout: \"${SECRET}\" }"),
			f + `5: "timeout" must be a duration such as 90s, 15m, 24h or 7d, but is "${SECRET}"`},
		{"no approvals", tools("a: { approvals: 0 }"), f + `5: "approvals" must be a whole number from 1 on, but is 0`},
		{"approvals that nobody is asked for", tools("a: { approvals: 2, requiresApproval: false }"),
			f + `5: "approvals" cannot stand beside "requiresApproval: false": leave one of the two out`},
		{"additional without an expression", tools("a: { requiresApproval: true, additional: allow }"),
			f + `5: "additional" is for a rule whose "requiresApproval" is an expression: no other looks at arguments`},
		{"approvers of nothing", tools("a: { approvers: { notRequester: false } }"),
			f + `5: "approvers" needs "notRequester: true", "groups", or both`},
		{"approvers that nobody asks", tools("a: { approvers: { groups: [x] }, requiresApproval: false }"),
			f + `5: "approvers" cannot stand beside "requiresApproval: false": leave one of the two out`},
		{"approvals of what clients do", tools("a: { approvals: 2, resolvedBy: client }"),
			f + `5: "approvals" cannot stand beside "resolvedBy: client": nothing is done that could be approved`},
		{"replay beside approvals", tools("a: { replay: reexecute, approvals: 2 }"),
			f + `5: "replay" cannot be reexecute beside "requiresApproval": what was approved is replayed from the log, never made again`},
		{"two tools of one name", tools("a: { rename: c }\nb: { rename: c }"),
			f + `6: "a" and "b" are both renamed to "c"`},
		{"fetch has no such tool",
			"outbound:\n  hosts: [a.example.com]\n  tools:\n    post: { revert: { tool: undo } }",
			f + `4: connector "outbound" has no tool "undo", which a rule names to undo "post"`},
		{"fetch writes again", "outbound:\n  hosts: [a.example.com]\n  tools:\n    post: { replay: reexecute }",
			f + `4: connector "outbound" tool "post" cannot combine class "write" with replay: "reexecute" — only a tool of class "read" may run again`},
		{"resolved by the server", tools("a: { resolvedBy: server }"),
			f + `5: "resolvedBy" must be client, but is "server"`},
		{"unknown outcome", tools("a: { unknown: retry }"), f + `5: "unknown" must be ask or error, but is "retry"`},
		{"retry is a number", tools("a: { retry: 3 }"), f + `5: "retry" must be a mapping, but is 3`},
		{"too many attempts", tools("a: { retry: { attempts: 101 } }"),
			f + `5: "attempts" can be 100 at most, but is 101`},
		{"revert without tool", tools(`a: { revert: { args: { id: "1" } } }`),
			f + `5: "revert" needs "tool", which undoes the call`},
		{"revert does not check", tools(`a: { revert: { tool: b, args: { id: "output.id" } } }`),
			f + `5: "id" is not a CEL expression: undeclared reference to 'output' (in container '') (column 1)`},
		{"revert argument is nothing", tools("a:\n  revert:\n    tool: b\n    args:\n      id:"),
			f + `9: "id" must be text, but is empty`},

		{"no reuse", "sandbox: { reuse: 0 }",
			f + `1: "reuse" cannot be 0: leave it out for the default, or write off for one child per pass`},
		{"no local pass", "limits: { localPass: 0 }",
			f + `1: "localPass" cannot be 0: leave it out for the default, or write off`},
		{"sandbox reuse", "sandbox: { reuse: -1 }", f + `1: "reuse" must be a whole number from 1 on, but is -1`},
		{"sandbox children", "sandbox: { children: few }",
			f + `1: "children" must be a whole number from 1 on, but is "few"`},
		{"sandbox require", "sandbox: { require: seccomp }", f + `1: "require" must be a list, but is "seccomp"`},
		{"sandbox layer", "sandbox: { require: [walls] }",
			f + `1: "walls" is not a layer of the sandbox: use ` + strings.Join(harden.LayerNames, ", ")},
		{"sandbox layer from a variable", `sandbox: { require: ["${SECRET}"] }`,
			f + `1: "${SECRET}" is not a layer of the sandbox: use ` + strings.Join(harden.LayerNames, ", ")},

		{"pass timeout", "limits: { passTimeout: soon }",
			f + `1: "passTimeout" must be a duration such as 90s, 15m, 24h or 7d, but is "soon"`},
		{"negative timeout", "limits: { passTimeout: -1s }",
			f + `1: "passTimeout" must be a duration such as 90s, 15m, 24h or 7d, but is "-1s"`},
		{"memory", "limits: { memory: lots }",
			f + `1: "memory" must be a size such as 512KiB, 256MiB or 1GiB, but is "lots"`},
		{"memory unit", "limits: { memory: 5 TiBs }",
			f + `1: "memory" must be a size such as 512KiB, 256MiB or 1GiB, but is "5 TiBs"`},
		{"memory is a list", "limits: { memory: [1] }",
			f + `1: "memory" must be a size such as 512KiB, 256MiB or 1GiB, but is a list`},
		{"calls", "limits: { inlineCalls: 0 }", f + `1: "inlineCalls" must be a whole number from 1 on, but is 0`},
		{"many calls", "limits: { inlineCalls: many }",
			f + `1: "inlineCalls" must be a whole number from 1 on, but is "many"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text)
			require.EqualError(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestConfigReportsAllMistakesInOrder(t *testing.T) {
	_, err := load(t, "limits: { memory: x }\nruntime: 5\nconnectors:\n  c:\n    mcp: { command: "+
		"\"${NO_SUCH_VARIABLE}\" }\n    tols: {}\n")
	require.EqualError(t, err, strings.Join([]string{
		`codemode.yaml:1: "memory" must be a size such as 512KiB, 256MiB or 1GiB, but is "x"`,
		`codemode.yaml:2: "runtime" must be text, but is 5; put it in quotes`,
		`codemode.yaml:5: environment variable NO_SUCH_VARIABLE is not set`,
		`codemode.yaml:6: unknown key "tols"; did you mean "tools"?`,
	}, "\n"))
}

func TestConfigFileMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Load("codemode.yaml")
	require.EqualError(t, err, "read the configuration: open codemode.yaml: no such file or directory")
}

func TestApprovalExpressions(t *testing.T) {
	for _, c := range []struct {
		expr, args, want string
	}{
		{"args.amount > 100", `{"amount":100}`, "false"},
		{"args.amount > 100", `{"amount":100.5}`, "true"},
		{"args.amount > 100", `{"amount":18446744073709551615}`, "true"},
		{"args.amount > 100", `{"amount":123456789012345678901234567890}`, "true"},
		{"args.amount > 100", `{}`, "true no such key: amount"},
		{"args.?amount.orValue(0) > 100", `{}`, "false"},
		{"args.amount == 5", `{"amount":5.0}`, "true"},
		{"args.name", `{"name":"x"}`, "true the approval expression gave string instead of true or false"},
		{`args.tags.exists(t, t == "prod")`, `{"tags":["dev","prod"]}`, "true"},
		{"args == null", ``, "true"},
	} {
		t.Run(c.expr+" "+c.args, func(t *testing.T) {
			config, err := load(t, tools("a: { requiresApproval: '"+c.expr+"' }"))
			require.NoError(t, err)
			yes, err := config.Connectors[0].Rules[0].ApprovalFor(connectors.Asked{}, json.RawMessage(c.args))
			got := "false"
			if yes {
				got = "true"
			}
			if err != nil {
				got += " " + err.Error()
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestNamesThatAnExpressionLooksFor(t *testing.T) {
	for expr, want := range map[string][]string{
		"args.amount > 100":                         {"amount"},
		`has(args.a.b) && args["c d"] == "EUR"`:     {"a", "b", "c d"},
		`args.?a.orValue(0) > 1 || args[?"e"] == 1`: {"a", "e"},
		`"f" in args && args.l.exists(i, i.g > 1)`:  {"f", "g", "l"},
		"true": nil,
	} {
		config, err := load(t, tools("a: { requiresApproval: '"+expr+"', additional: allow }"))
		require.NoError(t, err)
		rule := config.Connectors[0].Rules[0]
		require.Equal(t, want, rule.ApprovalNames, expr)
		require.True(t, rule.AllowAdditional)
	}
}

func TestRevertExpressions(t *testing.T) {
	const args = `{"owner":"ada","big":{"__codemode_bigint_v1__":"9007199254740993"}}`
	for _, c := range []struct{ expr, result, want string }{
		{"result.id", `{"id":7}`, `{"x":7}`},
		{"args.owner + '!'", `1`, `{"x":"ada!"}`},
		{"args.big", `1`, `{"x":{"__codemode_bigint_v1__":"9007199254740993"}}`},
		{"[result.id, 1.5, true, null]", `{"id":7}`, `{"x":[7,1.5,true,null]}`},
		{"{'a': result}", `[1]`, `{"x":{"a":[1]}}`},
		{"result.?id", `{}`, `{}`},
		{"result.id", `{}`, "x: no such key: id"},
		{"{1: 2}", `1`, "x: the expression gave a map with a key of type int, which is not JSON"},
		{"type(1)", `1`, "x: the expression gave type, which is not JSON"},
	} {
		t.Run(c.expr, func(t *testing.T) {
			config, err := load(t, tools(`a: { revert: { tool: b, args: { x: "`+c.expr+`" } } }`))
			require.NoError(t, err)
			undoing, err := config.Connectors[0].Rules[0].Revert.Args(json.RawMessage(args), json.RawMessage(c.result))
			if err != nil {
				require.Equal(t, c.want, err.Error())
				return
			}
			require.Equal(t, c.want, string(undoing))
		})
	}
}

func TestApprovalExpressionThatNeverEnds(t *testing.T) {
	config, err := load(t,
		tools(`a: { requiresApproval: "args.l.all(a, args.l.all(b, args.l.all(c, a + b + c >= 0)))" }`))
	require.NoError(t, err)
	list, err := json.Marshal(make([]int, 1000))
	require.NoError(t, err)
	yes, err := config.Connectors[0].Rules[0].ApprovalFor(connectors.Asked{}, json.RawMessage(`{"l":`+string(list)+`}`))
	require.True(t, yes)
	require.ErrorContains(t, err, "cost limit exceeded")
}

func TestPolicyRules(t *testing.T) {
	config, err := load(t,
		tools("a: { requiresApproval: true, approvals: 2, unknown: ask, retry: { attempts: 5, backoff: 2s, "+
			"maxBackoff: 1m } }\nb: { resolvedBy: client }"))
	require.NoError(t, err)
	rules := config.Connectors[0].Rules
	require.Equal(t, connectors.Policy{
		Approvals: 2, AskWhenUnknown: true,
		Retry: connectors.RetryLimits{Attempts: 5, Backoff: 2 * time.Second, MaxBackoff: time.Minute},
	}, rules[0].Policy)
	require.Equal(t, connectors.Policy{ResolvedByClient: true}, rules[1].Policy)
}

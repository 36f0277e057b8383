// Package learnt compares types that are learnt from answers with those that are declared.
package learnt

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/temporal-codemode/codemode/connectors"
	mcpconnector "github.com/temporal-codemode/codemode/connectors/mcp"
	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/signals/learnt"
	"github.com/temporal-codemode/codemode/testenv/documents"
	"github.com/temporal-codemode/codemode/testenv/npm"
)

// results is after how many results a type is compared, and enough is how many of its used fields are right then.
const (
	results = 10
	enough  = 0.9
)

// fields counts the declared fields that an answer uses, and those of them that are learnt with their type.
type fields struct {
	document    any // what references lead into
	seen        map[string]bool
	used, right int
	wrong       []string
}

func (f *fields) share() float64 { return float64(f.right) / float64(max(f.used, 1)) }

// open follows references, and gives the schemas that may hold at a place.
func (f *fields) open(schema any, hops int) (list []map[string]any) {
	node, ok := schema.(map[string]any)
	if !ok || hops > 20 {
		return nil
	}
	if ref, ok := node["$ref"].(string); ok {
		at := f.document
		for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			inner, _ := at.(map[string]any)
			at = inner[strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")]
		}
		return f.open(at, hops+1)
	}
	list = append(list, node)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := node[key].([]any)
		for _, part := range parts {
			list = append(list, f.open(part, hops+1)...)
		}
	}
	return list
}

// compare goes down an answer, what is declared, and what is learnt.
func (f *fields) compare(answer any, schemas []map[string]any, known *learnt.Shape, path string) {
	switch answer := answer.(type) {
	case []any:
		var inside []map[string]any
		for _, s := range schemas {
			inside = append(inside, f.open(s["items"], 0)...)
		}
		for _, item := range answer {
			var shape *learnt.Shape
			if known != nil {
				shape = known.Items
			}
			f.compare(item, inside, shape, path+"[]")
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			var inside []map[string]any
			for _, s := range schemas {
				properties, _ := s["properties"].(map[string]any)
				inside = append(inside, f.open(properties[name], 0)...)
			}
			if len(inside) == 0 {
				continue // not declared by name
			}
			var shape *learnt.Shape
			if known != nil {
				shape = known.Field(name)
			}
			f.count(answer[name], shape, path+"."+name)
			f.compare(answer[name], inside, shape, path+"."+name)
		}
	}
}

func (f *fields) count(value any, shape *learnt.Shape, path string) {
	text, _ := json.Marshal(value)
	if f.seen[path] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[path] = true
	f.used++
	if shape != nil && shape.Kinds.Has(learnt.Look(wire.FromJSON(text)).Kinds) {
		f.right++
		return
	}
	f.wrong = append(f.wrong, path)
}

// server is an MCP server, and calls of its tools that declare what they answer.
type server struct {
	name, pkg string
	args      []string
	calls     map[string]func(i int) string
}

func servers(dir string) []server {
	always := func(args string) func(int) string { return func(int) string { return args } }
	entity := func(i int) string {
		return fmt.Sprintf(`{"entities":[{"name":"n%d","entityType":"person","observations":["o%d"]}]}`, i, i)
	}
	return []server{
		{name: "budget", pkg: "server-budget-allocator", calls: map[string]func(int) string{
			"get_budget_data": always(`{}`)}},
		{name: "cohort", pkg: "server-cohort-heatmap", calls: map[string]func(int) string{
			"get_cohort_data": func(i int) string { return fmt.Sprintf(`{"cohortCount":%d}`, 3+i) }}},
		{name: "customers", pkg: "server-customer-segmentation", calls: map[string]func(int) string{
			"get_customer_data": func(i int) string {
				return []string{`{}`, `{"segment":"SMB"}`, `{"segment":"Startup"}`}[i%3]
			}}},
		{name: "scenario", pkg: "server-scenario-modeler", calls: map[string]func(int) string{
			"get_scenario_data": func(i int) string {
				return fmt.Sprintf(`{"customInputs":{"startingMRR":%d,"monthlyGrowthRate":5,"monthlyChurnRate":2,`+
					`"grossMargin":80,"fixedCosts":10}}`, 100+i)
			}}},
		{name: "thinking", pkg: "server-sequential-thinking", calls: map[string]func(int) string{
			"sequentialthinking": func(i int) string {
				return fmt.Sprintf(`{"thought":"t","nextThoughtNeeded":true,"thoughtNumber":%d,`+
					`"totalThoughts":20}`, i+1)
			}}},
		{name: "memory", pkg: "server-memory", calls: map[string]func(int) string{
			"create_entities": entity, "read_graph": always(`{}`), "search_nodes": always(`{"query":"n"}`),
			"create_relations": func(i int) string {
				return fmt.Sprintf(`{"relations":[{"from":"n%d","to":"n1","relationType":"knows"}]}`, i)
			}}},
		{name: "files", pkg: "server-filesystem", args: []string{dir}, calls: map[string]func(int) string{
			"list_directory": always(fmt.Sprintf(`{"path":%q}`, dir)),
			"read_text_file": always(fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "a.txt")))}},
	}
}

// Types that real servers declare are hidden, learnt from ten answers, and compared with the eleventh.
func TestServersAreLearnt(t *testing.T) {
	modules := filepath.Join(npm.Install(t, "."), "node_modules", "@modelcontextprotocol")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one"), 0o600))
	for _, s := range servers(dir) {
		t.Run(s.name, func(t *testing.T) {
			args := append([]string{filepath.Join(modules, s.pkg, "dist", "index.js")}, s.args...)
			if len(s.args) == 0 {
				args = append(args, "--stdio")
			}
			set, err := connectors.NewSet(t.Context(), []connectors.Connector{mcpconnector.New(s.name,
				mcpconnector.Options{Command: "node", Args: args,
					Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}})}, nil)
			require.NoError(t, err)
			defer set.Close()
			require.NoError(t, set.Err(s.name))
			var total fields
			for _, name := range slices.Sorted(maps.Keys(s.calls)) {
				m, err := set.Lookup(s.name, name)
				require.NoError(t, err)
				var declared any
				require.NoError(t, json.Unmarshal(m.OutputSchema, &declared), "%s declares its results", name)
				call := func(i int) json.RawMessage {
					answer, err := m.Invoke(connectors.Context{Context: t.Context()}, json.RawMessage(s.calls[name](i)))
					require.NoError(t, err)
					return answer
				}
				var known *learnt.Shape
				for i := range results {
					known = learnt.Merge(known, learnt.Look(call(i)))
				}
				var last any
				require.NoError(t, json.Unmarshal(call(results), &last))
				total.document = declared
				total.compare(last, total.open(declared, 0), known, name)
			}
			require.Positive(t, total.used)
			t.Logf("%s: %d of %d used fields are right after %d results", s.name, total.right, total.used, results)
			require.GreaterOrEqual(t, total.share(), enough, total.wrong)
		})
	}
}

// answered is a method's declared type and what it was recorded to answer.
type answered struct {
	name    string
	schema  any
	answers []any
}

// Types that documents declare are hidden, learnt from the answers recorded in or beside them, and compared.
func TestDocumentsAreLearnt(t *testing.T) {
	for name, load := range map[string]func(t *testing.T) (any, []answered){
		"github": github, "stripe": stripe, "docker": docker,
	} {
		t.Run(name, func(t *testing.T) {
			total := fields{}
			document, methods := load(t)
			total.document = document
			require.GreaterOrEqual(t, len(methods), 9)
			for _, m := range methods {
				var known *learnt.Shape
				for i := range results {
					text, err := json.Marshal(m.answers[i%len(m.answers)])
					require.NoError(t, err)
					known = learnt.Merge(known, learnt.Look(wire.FromJSON(text)))
				}
				for _, answer := range m.answers {
					total.compare(answer, total.open(m.schema, 0), known, m.name)
				}
			}
			require.Greater(t, total.used, 100)
			t.Logf("%s: %d of %d used fields of %d methods are right after %d results", name, total.right, total.used,
				len(methods), results)
			require.GreaterOrEqual(t, total.share(), enough, total.wrong[:min(len(total.wrong), 50)])
		})
	}
}

func read(t *testing.T, file string, err error) []byte {
	t.Helper()
	if err != nil {
		t.Skipf("the document could not be fetched: %v", err)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return text
}

// github's answers are the examples of its document.
func github(t *testing.T) (any, []answered) {
	file, err := documents.GitHub(t.Context())
	var document map[string]any
	require.NoError(t, json.Unmarshal(read(t, file, err), &document))
	examples := document["components"].(map[string]any)["examples"].(map[string]any)
	var list []answered
	for path, operations := range document["paths"].(map[string]any) {
		get, _ := operations.(map[string]any)["get"].(map[string]any)
		responses, _ := get["responses"].(map[string]any)
		ok, _ := responses["200"].(map[string]any)
		content, _ := ok["content"].(map[string]any)
		body, _ := content["application/json"].(map[string]any)
		m := answered{name: path, schema: body["schema"]}
		all, _ := body["examples"].(map[string]any)
		for _, example := range all {
			e := example.(map[string]any)
			if ref, ok := e["$ref"].(string); ok {
				e = examples[filepath.Base(ref)].(map[string]any)
			}
			m.answers = append(m.answers, e["value"])
		}
		if len(m.answers) > 0 {
			list = append(list, m)
		}
	}
	return document, list
}

// stripe's answers were recorded beside its document.
func stripe(t *testing.T) (any, []answered) {
	file, err := documents.Stripe(t.Context())
	var document map[string]any
	require.NoError(t, json.Unmarshal(read(t, file, err), &document))
	file, err = documents.StripeFixtures(t.Context())
	var fixtures struct{ Resources map[string]any }
	require.NoError(t, json.Unmarshal(read(t, file, err), &fixtures))
	var list []answered
	for name, schema := range document["components"].(map[string]any)["schemas"].(map[string]any) {
		id, _ := schema.(map[string]any)["x-resourceId"].(string)
		if answer, ok := fixtures.Resources[id]; ok {
			list = append(list, answered{name: name, schema: schema, answers: []any{answer}})
		}
	}
	return document, list
}

// named has text for the keys that YAML reads as numbers.
func named(v any) any {
	switch v := v.(type) {
	case map[any]any:
		all := map[string]any{}
		for key, value := range v {
			all[fmt.Sprint(key)] = named(value)
		}
		return all
	case map[string]any:
		for key := range v {
			v[key] = named(v[key])
		}
	case []any:
		for i := range v {
			v[i] = named(v[i])
		}
	}
	return v
}

// docker's answers are the examples of its document.
func docker(t *testing.T) (any, []answered) {
	file, err := documents.Docker(t.Context())
	var parsed any
	require.NoError(t, yaml.Unmarshal(read(t, file, err), &parsed))
	document := named(parsed).(map[string]any)
	var list []answered
	for path, operations := range document["paths"].(map[string]any) {
		for verb, operation := range operations.(map[string]any) {
			responses, _ := operation.(map[string]any)["responses"].(map[string]any)
			ok, _ := responses["200"].(map[string]any)
			examples, _ := ok["examples"].(map[string]any)
			example := examples["application/json"]
			if schema, whole := ok["schema"].(map[string]any); whole && example == nil {
				example = schema["example"]
			}
			if example != nil {
				list = append(list, answered{name: verb + " " + path, schema: ok["schema"], answers: []any{example}})
			}
		}
	}
	return document, list
}

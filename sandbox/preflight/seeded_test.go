package preflight_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

const customer = `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},
	"email":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},
	"address":{"type":"object","properties":{"city":{"type":"string"},
	"zip":{"type":"string"}}}}}`

// office is the catalogue of the programs in testdata.
var office = tools{
	"tracker.list_issues": shop["tracker.list_issues"], "tracker.get_issue": shop["tracker.get_issue"],
	"tracker.create_issue": shop["tracker.create_issue"],
	"tracker.close_issue": {class: signals.Idempotent, input: `{"type":"object","properties":{"id":{"type":"integer"}},
		"required":["id"]}`},
	"tracker.comment": {class: signals.Write, input: `{"type":"object","properties":{"id":{"type":"integer"},
		"body":{"type":"string"}},"required":["id","body"]}`},
	"mail.send": {class: signals.Write, approval: true, input: `{"type":"object","properties":{"to":{"type":"string"},
		"subject":{"type":"string"},"body":{"type":"string"}},"required":["to","subject"],
		"additionalProperties":false}`},
	"crm.find_customers": {class: signals.Read, input: `{"type":"object","properties":{"query":{"type":"string"}}}`,
		output: `{"type":"array","items":` + customer + `}`},
	"crm.update": {class: signals.Write, input: `{"type":"object","properties":{"id":{"type":"integer"},
		"fields":{"type":"object"}},"required":["id","fields"]}`, output: customer},
	"store.products": {class: signals.Read, input: `{"type":"object","properties":{"page":{"type":"integer"}}}`,
		output: `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{
			"sku":{"type":"string"},"name":{"type":"string"},"price":{"type":"number"},"stock":{"type":"integer"}}}},
			"total":{"type":"integer"},"nextPage":{"type":["integer","null"]}}}`},
	"store.reserve": {class: signals.Write, input: `{"type":"object","properties":{"sku":{"type":"string"},
		"qty":{"type":"integer"}},"required":["sku"],"additionalProperties":false}`},
	"store.order": {class: signals.Write, input: `{"type":"object","properties":{"customer":{"type":"integer"},
		"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},
		"qty":{"type":"integer"}}}}},"required":["customer","items"]}`,
		output: `{"type":"object","properties":{"number":{"type":"string"},"total":{"type":"number"}}}`},
}

// programs are those of testdata, by name.
func programs(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/programs/*.ts")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 20)
	list := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		list[filepath.Base(name)] = string(text)
	}
	return list
}

func judged(t *testing.T, code string, c preflight.Catalogue) preflight.Report {
	t.Helper()
	tree, failure := compile.Parse(code, nil)
	require.Nil(t, failure, code)
	return preflight.Read(tree).Judge(c, "")
}

func TestRightProgramsSayNothing(t *testing.T) {
	for name, code := range programs(t) {
		require.Empty(t, said(judged(t, code, office)), name)
	}
}

// seed is a mistake that can be made at several places of a program: the group of the pattern becomes with.
type seed struct {
	kind    string
	pattern string
	with    string
}

// misspelt leaves out the third letter.
const misspelt = "\x00"

// fields are the names of results, of which the programs ask for one first.
const fields = `(issues|items|title|labels|tags|email|address|city|zip|stock|sku|number|total|nextPage)`

var seeds = []seed{
	{signals.HintConnector, `\b(tracker|store|crm|mail)\.\w+\(`, "trackr"},
	{signals.HintMethod, `\b(?:tracker|store|crm|mail)\.(\w+)\(`, misspelt},
	{signals.HintArgument, `\b(?:tracker|store|crm|mail)\.\w+\(\{ (\w+)\b`, "wrong_name"},
	{signals.HintArgument, `\b(?:tracker|store|crm|mail)\.\w+\(\{ (\w+):`, misspelt},
	{signals.HintArgument, `\b(?:tracker|store|crm|mail)\.\w+\(\{[^{}]*?: ("[^"]*"|\d+)`, "[1, true]"},
	{signals.HintField, `[\w\]]\.` + fields + `\b`, misspelt},
	{signals.HintField, `[\w\]]\.` + strings.Replace(fields, "|nextPage", "", 1) + `\b`, "nonsense"},
	{signals.HintField, `const \{ (\w+)[^}]*\} = await (?:tracker|store|crm)`, "nonsense"},
	{signals.HintAwait, `(await )(?:tracker|store|crm|mail)\.`, ""},
	{signals.HintAwait, `(await )Promise\.all\(\w`, ""},
	{signals.HintWrites, `\A()`, "let at; do { const p = await store.products({ page: at }); " +
		"for (const i of p.items) await store.reserve({ sku: i.sku }); at = p.nextPage } while (at);\n"},
	{signals.HintWrites, `\A()`, "while (true) { const { ok } = (await crm.update({ id: 1, fields: {} })) as any; " +
		"if (ok) break; }\n"},
	{signals.HintEndless, `\A()`, "for (;;) { await tracker.comment({ id: 1, body: 'again' }); }\n"},
	{signals.HintEndless, `\A()`, "let left = 3; " +
		"while (left > 0) { await tracker.comment({ id: left, body: '' }); }\n"},
}

// Mistakes of each kind in twenty programs: one at a time, wherever it can be made.
func TestSeededMistakesAreFound(t *testing.T) {
	made, found := map[string]int{}, map[string]int{}
	in := map[string]map[string]bool{}
	for name, code := range programs(t) {
		for _, s := range seeds {
			for _, at := range regexp.MustCompile(s.pattern).FindAllStringSubmatchIndex(code, -1) {
				from, to := at[2], at[3]
				with := s.with
				if with == misspelt {
					with = code[from:min(from+2, to-1)] + code[min(from+3, to):to]
				}
				broken := code[:from] + with + code[to:]
				if code[from:to] == "await " && strings.Contains(code[from:], "await ") && !runs(broken) {
					continue
				}
				made[s.kind]++
				if in[s.kind] == nil {
					in[s.kind] = map[string]bool{}
				}
				in[s.kind][name] = true
				line := 1 + strings.Count(code[:from], "\n")
				if hints(judged(t, broken, office), s.kind) {
					found[s.kind]++
				} else {
					t.Logf("%s:%d: %s missed, seeded %q for %q", name, line, s.kind, with, code[from:to])
				}
			}
		}
	}
	for kind, n := range made {
		t.Logf("%s: %d of %d found, in %d programs", kind, found[kind], n, len(in[kind]))
		assert.GreaterOrEqual(t, float64(found[kind])/float64(n), 0.95, kind)
	}
}

func runs(code string) bool {
	_, failure := compile.Parse(code, nil)
	return failure == nil
}

func hints(r preflight.Report, kind string) bool {
	for _, h := range r.Hints {
		if h.Kind == kind {
			return true
		}
	}
	return false
}

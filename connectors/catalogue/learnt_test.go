package catalogue

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// seen is a catalogue of one method that was seen to answer so.
func seen(t *testing.T, declared string, results ...string) *Catalogue {
	t.Helper()
	m := connectors.Method{Name: "get", Class: connectors.Read, OutputSchema: json.RawMessage(declared),
		Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }}
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{connectors.New("store", "", m)}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = set.Close() })
	var known *learnt.Shape
	for _, r := range results {
		known = learnt.Merge(known, learnt.Look(json.RawMessage(r)))
	}
	return New(set).WithLearnt(func(string) func(string) *learnt.Shape {
		return func(string) *learnt.Shape { return known }
	})
}

func TestLearntTypesAreShown(t *testing.T) {
	cases := []struct {
		name, declared string
		results        []string
		want           string
	}{
		{"nothing is known", "", nil, "type GetOutput = unknown"},
		{"one result", "", []string{`[1]`}, "// observed in 1 result, not declared\ntype GetOutput = number[]"},
		{"several kinds", "", []string{`1`, `"x"`, `null`, ``}, "type GetOutput = string | number | null | undefined"},
		{"optional", "", []string{`{"id":1,"at":null}`, `{"id":1,"note":"x","at":null}`},
			"type GetOutput = {\n    /** Null so far. */\n    at: unknown;\n    id: number;\n    note?: string;\n}"},
		{"data as keys", "", []string{`{"ada@example.com":{"n":1}}`},
			"type GetOutput = {\n    [key: string]: {\n        n: number;"},
		{"nothing inside", "", []string{`{}`}, "type GetOutput = Record<string, unknown>"},
		{"an empty list", "", []string{`[]`}, "type GetOutput = unknown[]"},
		{"declared", `{"type":"string"}`, []string{`{"id":1}`}, "type GetOutput = string"},
		{"any object declared", `{"type":"object"}`, []string{`{"id":1}`}, "id: number;"},
		{"any object declared, and no object seen", `{"type":"object"}`, []string{`7`},
			"type GetOutput = Record<string, unknown>"},
		{"bytes and bigints", "", []string{
			`[{"__codemode_bigint_v1__":"1"},{"__codemode_binary_v1__":"Uint8Array","data":""}]`,
		}, "type GetOutput = (bigint | Uint8Array)[]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cat := seen(t, c.declared, c.results...)
			require.Contains(t, cat.Describe("store.get").Types, c.want)
			require.Contains(t, cat.Describe("store").Types, c.want)
		})
	}
}

// People, words and the like as keys: what is under each was seen once, so they are data.
func TestKeysThatComeOnceAreAMapping(t *testing.T) {
	types := seen(t, "", `{"red":1,"green":2,"blue":3}`, `{"cyan":1,"pink":2,"grey":3}`, `{"gold":1,"teal":1,"lime":2}`,
		`{"plum":4,"navy":1}`).Describe("store.get").Types
	require.Contains(t, types, "[key: string]: number;")
	require.NotContains(t, types, "plum")
}

func TestContradictionsAreTold(t *testing.T) {
	const item = `{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"tags":{"type":"array",` +
		`"items":{"type":"string"}},"owner":{"$ref":"#/$defs/owner"},"size":{"type":["number","null"]}}}`
	const defs = `,"$defs":{"owner":{"type":"object","properties":{"login":{"type":"string"}}},"item":` + item + `}}`
	cases := []struct{ name, declared, result, want string }{
		{"as declared", `{"$ref":"#/$defs/item"` + defs,
			`{"id":1,"tags":["a"],"owner":{"login":"x"},"size":null,"more":1}`, ""},
		{"another type", `{"$ref":"#/$defs/item"` + defs, `{"id":"1"}`, "id is string, declared integer"},
		{"in an array", `{"$ref":"#/$defs/item"` + defs, `{"id":1,"tags":[1]}`, "tags[] is number, declared string"},
		{"behind a reference", `{"$ref":"#/$defs/item"` + defs, `{"id":1,"owner":{"login":7}}`,
			"owner.login is number, declared string"},
		{"missing", `{"$ref":"#/$defs/item"` + defs, `{}`, "id is missing in 3 of 3, declared as required"},
		{"the whole", `{"type":"array"}`, `{}`, "the result is object, declared array"},
		{"one of several", `{"anyOf":[{"type":"string"},{"type":"object","required":["id"],"properties":{"id":` +
			`{"type":"string"}}}]}`, `{"id":1}`, ""},
		{"several that all say so", `{"allOf":[{"type":"object","properties":{"id":{"type":"string"}}},` +
			`{"type":"object"}]}`, `{"id":1}`, "id is number, declared string"},
		{"nullable", `{"type":"object","properties":{"id":{"type":"string","nullable":true}}}`, `{"id":null}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			docs := seen(t, c.declared, c.result, c.result, c.result).Describe("store.get").Docs
			if c.want == "" {
				require.Equal(t, "Reads only.", docs)
				return
			}
			require.Equal(t, "Reads only. Its results differ from the declared type: "+c.want+".", docs)
		})
	}
}

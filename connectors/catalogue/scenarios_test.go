package catalogue

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/internal/tool"
)

// The tests here are the conformance scenarios of discovery and of the pure
// functions, by their ids.

func TestDisc01SearchRankingAndFlags(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	for query, want := range map[string]SearchResult{
		"list_items": {Path: "store.list_items", Kind: "method", Connector: "store", Method: "list_items",
			Description: "List all items."},
		"listItems": {Path: "store.list_items", Kind: "method", Connector: "store", Method: "list_items",
			Description: "List all items."},
		"list items": {Path: "store.list_items", Kind: "method", Connector: "store", Method: "list_items",
			Description: "List all items."},
		"store.list_items": {Path: "store.list_items", Kind: "method", Connector: "store", Method: "list_items",
			Description: "List all items."},
		"create item": {Path: "store.create_item", Kind: "method", Connector: "store", Method: "create_item",
			Description: "Create an item. Needs approval.", RequiresApproval: true},
	} {
		out := c.Search(query, SearchOptions{})
		require.NotEmpty(t, out.Results, query)
		got := out.Results[0]
		assert.Positive(t, got.Score, query)
		got.Score, got.Signature = 0, ""
		assert.Equal(t, want, got, query)
		assert.GreaterOrEqual(t, out.Total, len(out.Results), query)
	}
	d := c.Describe("store.create_item")
	assert.Equal(t, []any{true, "method", "store.create_item"}, []any{d.RequiresApproval, d.Kind, d.Path})
}

func TestSearchOrderOfObviousQueries(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	for query, first := range map[string]string{
		"note": "add_note", "add-note": "add_note", "Add Note": "add_note", "ADD  NOTE": "add_note",
		"item":       "create_item",
		"items list": "list_items", "create an item": "create_item", "create_item needs": "create_item",
		"store.lis": "list_items", "create_it": "create_item", "store.dash-name": "dash-name", "notes": "add_note",
		"creating items": "create_item", "thorws": "boom", "retrieve item": "get_item", "crated item": "create_item",
	} {
		got := ""
		if out := c.Search(query, SearchOptions{}); len(out.Results) > 0 {
			got = out.Results[0].Method
		}
		assert.Equal(t, first, got, query)
	}
}

func TestDisc05UnknownWordsAndEmptyQueries(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	for query, words := range map[string][]string{
		"zebra": {"zebra"}, "": nil, "---": nil, "apple": {"apple"}, "zebra create": {"zebra"}, "a": {"a"},
	} {
		out := c.Search(query, SearchOptions{})
		assert.Equal(t, words, out.Unmatched, query)
		assert.Equal(t, words != nil, out.Note != "", query)
		out.More, out.Unmatched, out.Note = nil, nil, "" // the reference has none of these
		raw, err := json.Marshal(out)
		require.NoError(t, err)
		assert.JSONEq(t, `{"results":[],"total":0,"truncated":false}`, string(raw), query)
	}
	assert.Equal(t, "store.list_items", c.Search("items list zebra", SearchOptions{}).Results[0].Path)
}

func TestDisc07DescribeAMethodOrNothing(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	assert.Equal(t, DescribeOutput{
		Path: "store.get_item", Description: "Get one item by id.", Kind: "method",
		Types:     "type GetItemInput = {\n    /** Item id */\n    id: number;\n}\ntype GetItemOutput = unknown",
		Signature: "store.get_item(input: GetItemInput): Promise<GetItemOutput>",
		Docs:      "Reads only.",
	}, c.Describe("store.get_item"))
	assert.Equal(t, DescribeOutput{Path: "store.nope", Kind: "method", Types: `"store.nope" not found.`},
		c.Describe("store.nope"))
	for _, name := range []string{"store.then", "store.constructor", "store.toString", "store.__proto__", "constructor",
		"hasOwnProperty", "then", "", "."} {
		assert.Equal(t, fmt.Sprintf("%q", name)+" not found.", c.Describe(name).Types, name)
	}
}

func TestDisc08DescribeForgivesThePrefix(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	for _, target := range []string{"get_item", "nope.get_item", "store.get_item.extra", " store.get_item ",
		"getItem", "store.get-item"} {
		assert.Equal(t, "store.get_item", c.Describe(target).Path, target)
	}
}

func TestDisc10DescribeAConnector(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	for _, target := range []string{"store", "store."} {
		d := c.Describe(target)
		assert.Equal(t, []string{"store", "connector", "Use store for items."}, []string{d.Path, d.Kind, d.Description})
		assert.Regexp(t, `^Use store for items\.\n\ntype [\s\S]*declare const store: \{[\s\S]*get_item: \(input: GetItemInput\) => Promise<GetItemOutput>;`, d.Types)
		assert.LessOrEqual(t, tokens.Count(d.Types), connectorBudget)
	}
}

func TestDisc12ToolDescription(t *testing.T) {
	assert.Regexp(t, "`store`, `api` and `codemode`[\\s\\S]*- `store`\\n- `api`$",
		tool.Description([]string{"store", "api"}, nil, ""))
	assert.Regexp(t, "- `store` — the shop$",
		tool.Description([]string{"store"}, map[string]string{"store": "the shop", "other": "x"}, ""))
	assert.Equal(t, "X", tool.Description([]string{"store"}, nil, "X"))
}

func TestDisc12ValidateToolInput(t *testing.T) {
	const refused = `{"issues":[{"message":"Expected an object with a string code property"}]}`
	for input, want := range map[string]string{
		`{"code":1}`: refused, `{}`: refused, `null`: refused, `"a"`: refused, `[]`: refused, `{"code":null}`: refused,
		``: refused, `{"code":`: refused,
		`{"code":"a","extra":1}`: `{"value":{"code":"a"}}`,
		` {"code":"\u00e9\n"} `:  `{"value":{"code":"é\n"}}`,
		`{"code":""}`:            `{"value":{"code":""}}`,
	} {
		got, err := json.Marshal(tool.CheckInput(json.RawMessage(input)))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), input)
	}
	assert.True(t, json.Valid([]byte(tool.InputSchema)))
}

func TestFn01AndFn02SanitizeToolName(t *testing.T) {
	for in, want := range map[string]string{
		"get-weather": "get_weather", "a.b.c": "a_b_c", "3d": "_3d", "class": "class_", "hello@world!": "helloworld",
		"": "_", "@#$": "$", "@#!": "_",
		"a--b": "a__b", " x ": "_x_", "naïve": "nave", "日本": "_", "int": "int_", "async": "async", "9-9": "_9_9",
		"a/b": "ab", "undefined": "undefined_", "Class": "Class",
	} {
		assert.Equal(t, want, connectors.SanitizeToolName(in), in)
	}
}

func TestFn01Fn05Fn06JSONSchemaToType(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"number"}},"required":["name"]}`,
			"type T = {\n    name: string;\n    age?: number;\n}"},
		{`{"type":"object"}`, "type T = Record<string, unknown>"},
		{`{"type":"object","additionalProperties":false}`, "type T = {}"},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}`, "type T = [string, number]"},
		{`{"enum":["a",null,1]}`, `type T = "a" | null | 1`},
		{`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"number"}}}`, "type T = number"},
		{`{"type":"object","properties":{"me":{"$ref":"#"}}}`, "type T = {\n    me?: T;\n}"},
		{`{"type":"string","nullable":true}`, "type T = string | null"},
		{`{"type":"object","properties":{"a-b":{"type":"string","description":"d */ x\nline2","format":"uuid"},"":{}},"required":["a-b","zz"]}`,
			"type T = {\n    /**\n     * d *\\/ x line2\n     * @format uuid\n     */\n    \"a-b\": string;\n    " +
				"\"\"?: unknown;\n}"},
		{`{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}`, "type T = (string | number)[]"},
	} {
		assert.Equal(t, c.want, types.FromSchema(json.RawMessage(c.schema), "T"), c.schema)
	}
}

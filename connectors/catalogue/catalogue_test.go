package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

func TestDefinitionsAreDeclaredOnceForAllMethods(t *testing.T) {
	const pet = `"$defs":{"Pet":{"type":"object","properties":{"name":{"type":"string"},"friends":{"type":"array","items":{"$ref":"#/$defs/Pet"}}}}}`
	const other = `"$defs":{"Pet":{"type":"object","properties":{"size":{"type":"integer","default":3,"minimum":1}}}}`
	c := catalogueOf(t, connectors.New("shop", "",
		gives(method("get_pet", "", connectors.Read), `{"$ref":"#/$defs/Pet",`+pet+`}`),
		takes(method("add-pet", "Adds.", connectors.Write),
			`{"type":"object","properties":{"pet":{"$ref":"#/$defs/Pet"}},`+pet+`}`),
		takes(method("measure", "Measures.", connectors.Read),
			`{"type":"object","properties":{"pet":{"$ref":"#/$defs/Pet"}},`+other+`}`),
	))
	assert.Equal(t, strings.TrimSpace(`
type GetPetInput = Record<string, unknown>
type GetPetOutput = Pet
type AddPetInput = {
    pet?: Pet;
}
type AddPetOutput = unknown
type MeasureInput = {
    pet?: Pet2;
}
type MeasureOutput = unknown
type Pet = {
    name?: string;
    friends?: Pet[];
}
type Pet2 = {
    /** @default 3 @minimum 1 */
    size?: number;
}

declare const shop: {
	/**
	 * get_pet
	 */
	get_pet: (input: GetPetInput) => Promise<GetPetOutput>;

	/**
	 * Adds.
	 */
	"add-pet": (input: AddPetInput) => Promise<AddPetOutput>;

	/**
	 * Measures.
	 */
	measure: (input: MeasureInput) => Promise<MeasureOutput>;
}`), c.Types("shop"))
	assert.Equal(t, `shop["add-pet"](input: AddPetInput): Promise<AddPetOutput>`, c.Describe("shop.add_pet").Signature)
	d := c.Describe("shop.Pet2")
	assert.Equal(t, []string{"shop.Pet2", "type",
		"type Pet2 = {\n    /** @default 3 @minimum 1 */\n    size?: number;\n}"}, []string{d.Path, d.Kind, d.Types})
}

func TestTypeNamesNeverCollide(t *testing.T) {
	c := catalogueOf(t, connectors.New("c", "",
		takes(method("get-user", "", connectors.Read),
			`{"$ref":"#/$defs/Record","$defs":{"Record":{"type":"object","properties":{"a":{}}}}}`),
		takes(method("get_user", "", connectors.Read),
			`{"$ref":"#/definitions/GetUserInput","definitions":{"GetUserInput":{"type":"object","properties":{"b":{}}}}}`),
		method("getUser", "", connectors.Read),
	))
	text := c.Types("c")
	for _, name := range []string{"GetUserInput", "GetUser2Input", "GetUser3Input", "Record2", "GetUserInput2"} {
		assert.Equal(t, 1, strings.Count(text, "type "+name+" ="), name)
	}
	assert.Empty(t, GenerateTypes(c.set, "nope"))
	assert.Equal(t, "declare const e: {}", catalogueOf(t, connectors.New("e", "")).Types("e"))
}

func TestDialects(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":["string","null"],"enum":["a",null]}`, `"a" | null`},
		{`{"type":["array","null"],"items":{"type":"integer"}}`, `number[] | null`},
		{`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, "{\n    a?: string;\n} | null"},
		{`{"type":"string","x-nullable":true}`, `string | null`},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `[string, ...number[]]`},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `[string]`},
		{`{"patternProperties":{"^x-":{"type":"number"}}}`, "{\n    [key: string]: number;\n}"},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}`,
			"{\n    a?: string;\n} & {\n    [key: string]: number;\n}"},
		{`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"number"}},"required":["b"]},{"required":["a"]}]}`,
			"{\n    a: string;\n    b: number;\n}"},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			"{\n    a?: string;\n    b?: string;\n}"},
		{`{"allOf":[{"anyOf":[{"type":"string"},{"type":"number"}]},{"oneOf":[{"type":"number"},{"type":"null"}]}]}`,
			`(string | number) & (number | null)`},
		{`{"properties":{"n":{"type":"number","minimum":1,"exclusiveMinimum":true,"default":2}}}`,
			"{\n    /** @default 2 @minimum 1 @exclusiveMinimum 1 */\n    n?: number;\n}"},
		{`{"$ref":"#node","$defs":{"Node":{"$anchor":"node","type":"object","properties":{"next":{"$dynamicRef":"#node"}}}}}`,
			"Node\ntype Node = {\n    next?: Node;\n}"},
		{`{"properties":{"t":{"properties":{"kids":{"type":"array","items":{"$ref":"#/properties/t"}}}}}}`,
			"{\n    t?: MInputT;\n}\ntype MInputT = {\n    kids?: MInputT[];\n}"},
		{`{"anyOf":[]}`, "unknown"},
		{`{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"object","properties":{"x":{}}}]},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}}}`,
			"A\ntype A = unknown | {\n    x?: unknown;\n}"},
	} {
		cat := catalogueOf(t,
			catalogueOnly{"c", []connectors.Method{takes(method("m", "", connectors.Read), c.schema)}})
		got := cat.Describe("c.m").Types
		assert.Equal(t, c.want,
			strings.TrimPrefix(strings.Replace(got, "\ntype MOutput = unknown", "", 1), "type MInput = "), c.schema)
	}
}

func TestDescribeStaysWithinItsBudget(t *testing.T) {
	var fields []string
	for i := range 400 {
		fields = append(fields,
			fmt.Sprintf(`"field_%d":{"type":"object","description":%q,"properties":{"value":{"type":"string","description":"The value."},"unit":{"enum":["a","b","c","d","e","f"]}}}`,
				i, strings.Repeat("All about this field. ", 10)))
	}
	schema := `{"type":"object","required":["field_399"],"properties":{` + strings.Join(fields, ",") + `}}`
	c := catalogueOf(t, catalogueOnly{"big",
		[]connectors.Method{gives(takes(method("m", strings.Repeat("Long words. ", 500), connectors.Write), schema),
			schema)}})
	d := c.Describe("big.m")
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	assert.LessOrEqual(t, tokens.Count(string(raw)), 1500)
	assert.Contains(t, d.Types, "type MInput = {\n    ", "input first")
	assert.Contains(t, d.Types[:strings.Index(d.Types, "type MOutput")], "field_399: ",
		"what is required is never left out")
	assert.Contains(t, d.Types, `// Left out for length; codemode.describe("big.<type>") shows one:`+"\n")
	assert.Contains(t, d.Types, "type MInputMore = unknown")

	seen := 0
	for path, text := range allTypes(t, c, "big") {
		if strings.HasPrefix(path, "big.MInput") || path == "big.m" {
			seen += strings.Count(text, "field_")
		}
	}
	assert.GreaterOrEqual(t, seen, 400, "every field can be reached")
}

func TestOverviewOfALargeConnector(t *testing.T) {
	set := madeSet(t, 20_000)
	c := New(set)
	d := c.Describe("service3")
	assert.Equal(t, "connector", d.Kind)
	assert.LessOrEqual(t, tokens.Count(d.Types), connectorBudget)
	assert.Regexp(t, `^service3 has 1,000 methods, too many to show here\.\nFind one: codemode\.search\("what you want", \{ connector: "service3" \}\)\.`+
		` See its types: codemode\.describe\("service3\.<method>"\)\.\n\nMethods by subject, with examples:\n- \w+ \(\d+\): \w+, `, d.Types)
	assert.Greater(t, strings.Count(d.Types, "\n- "), 30)

	for _, m := range set.Methods("service3") {
		m.Tags = []string{"all of it"}
	}
	tagged := New(set).Describe("service3")
	assert.Contains(t, tagged.Types, "\n- all of it (1,000): ")
}

func TestSearchFiltersAndLimits(t *testing.T) {
	c := New(madeSet(t, 2000))
	all := c.Search("invoice", SearchOptions{Limit: MaxResults})
	assert.Len(t, all.Results, MaxResults)
	assert.True(t, all.Truncated)
	few := c.Search("invoice", SearchOptions{Limit: 3})
	assert.Equal(t, all.Results[:3], few.Results)
	assert.Equal(t, all.Results[0].Path, c.Search("invoice", SearchOptions{}).Results[0].Path)
	assert.Equal(t, all.Total, few.Total)
	assert.Len(t, c.Search("invoice", SearchOptions{Limit: 1000}).Results, MaxResults)
	one := c.Search("invoice", SearchOptions{Connector: "service7"})
	require.NotEmpty(t, one.Results)
	for _, r := range one.Results {
		assert.Equal(t, "service7", r.Connector)
	}
	assert.Equal(t, len(one.Results) < one.Total, one.Truncated)
	assert.Zero(t, c.Search("invoice", SearchOptions{Connector: "nope"}).Total)
	assert.Equal(t, all, c.Search("invoice", SearchOptions{Limit: MaxResults}), "order is stable")
}

func TestSearchUnderstandsWords(t *testing.T) {
	c := catalogueOf(t, connectors.New("c", "",
		takes(method("send", "Sends a message.", connectors.Write),
			`{"type":"object","properties":{"recipientAddress":{}}}`),
		method("getHTTPServerStatus", "", connectors.Read),
		method("café_öffnen", "Öffnet das Café.", connectors.Write),
		method("n1", "列出所有用户的订单", connectors.Read),
		method("delete_file", "Deletes a file.", connectors.Write),
		method("putpage", "Stores one page.", connectors.Write),
		method("n2", "Put a page. Put the other page. Put any page.", connectors.Write),
		method("unstar", "", connectors.Write),
	))
	for query, want := range map[string]string{
		"recipient": "send", "sending messages": "send", "http server": "getHTTPServerStatus",
		"cafe": "café_öffnen", "Café öffnen": "café_öffnen", "订单": "n1", "remove file": "delete_file",
		"deletion of files": "delete_file",
		"delete flie":       "", "messaeg": "send", "remove star": "unstar", "getHttp": "getHTTPServerStatus",
	} {
		out := c.Search(query, SearchOptions{})
		got := ""
		if len(out.Results) > 0 {
			got = out.Results[0].Method
		}
		assert.Equal(t, want, got, query)
	}
}

func TestSnippetsAreFoundAndDescribed(t *testing.T) {
	base := catalogueOf(t, storeConnector())
	c := base.With(Snippet{Name: "weekly report", Description: "Sums up the items of a week.", Code: "async () => `x`"},
		Snippet{Name: "store", Code: "```"})
	r := c.Search("report of a week", SearchOptions{}).Results[0]
	assert.Equal(t, []string{"weekly report", "snippet", "weekly report", "snippet"},
		[]string{r.Path, r.Connector, r.Method, r.Kind})
	assert.Equal(t, 1, c.Search("item", SearchOptions{Connector: "snippet"}).Total)
	assert.Equal(t, DescribeOutput{Path: "weekly report", Kind: "snippet", Description: "Sums up the items of a week.",
		Types: "Sums up the items of a week.\n\n```ts\nasync () => `x`\n```"}, c.Describe("weekly report"))
	assert.Equal(t, "snippet", c.Describe("store").Kind, "snippets hide connectors")
	assert.Contains(t, c.Describe("store").Types, "````ts\n```\n````")
	assert.Empty(t, base.Search("weekly", SearchOptions{}).Results, "the catalogue it came from stays as it was")
}

type broken struct{ catalogueOnly }

func (broken) Methods(context.Context) ([]connectors.Method, error) {
	return nil, errors.New("connection refused")
}

func TestUnavailableConnectorsAnswerWithTheReason(t *testing.T) {
	c := catalogueOf(t, storeConnector(), broken{catalogueOnly{name: "down"}})
	for _, target := range []string{"down", "down.get_item"} {
		assert.Contains(t, c.Describe(target).Types, "connection refused", target)
	}
	assert.Equal(t, "store.list_items", c.Search("list items", SearchOptions{}).Results[0].Path)
	assert.Equal(t, []string{"store.list_items"}, c.Describe("store.list_itmes").Similar[:1])
}

func TestBehaviour(t *testing.T) {
	m := approved(method("m", "", connectors.Write))
	m.Revert = func(connectors.Context, json.RawMessage, json.RawMessage) error { return nil }
	some := method("some", "", connectors.Idempotent)
	some.ApprovalFor = func(connectors.Asked, json.RawMessage) (bool, error) { return true, nil }
	c := catalogueOf(t, connectors.New("c", "", m, some))
	assert.Equal(t, "Makes a change. A person approves each call. Can be undone.", c.Describe("c.m").Docs)
	assert.Equal(t, "Makes a change; repeating it changes no more. A person approves some calls, depending on the "+
		"arguments.", c.Describe("c.some").Docs)
	assert.True(t, c.Describe("c.some").RequiresApproval)
}

func TestSharedDefinitionsHaveShortNames(t *testing.T) {
	methods := []connectors.Method{
		gives(method("pods", "", connectors.Read),
			`{"type":"array","items":{"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}}`),
		gives(method("jobs", "", connectors.Read), `{"$ref":"#/definitions/io.k8s.api.batch.v1.Job"}`),
	}
	c := catalogueOf(t, sharing{catalogueOnly{"k", methods}, json.RawMessage(`{"definitions":{"io.k8s.api.core.v1.Pod":{"properties":{"name":{"type":"string"}}},
			"io.k8s.api.batch.v1.Job":{"properties":{"pods":{"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}}},"io.k8s.api.batch.v2.Job":{"type":"object"}}}`)})
	assert.Contains(t, c.Describe("k.pods").Types, "type PodsOutput = Pod[]\ntype Pod = {\n    name?: string;\n}")
	assert.Contains(t, c.Describe("k.jobs").Types,
		"type JobsOutput = V1_Job\ntype V1_Job = {\n    pods?: Pod;\n}\ntype Pod =")
	assert.Equal(t, "type", c.Describe("k.V1_Job").Kind)
}

func TestManyGoroutinesAtOnce(t *testing.T) {
	c := New(madeSet(t, 400))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, q := range madeQueries(20) {
				for _, r := range c.Search(q, SearchOptions{Limit: 2}).Results {
					assert.Equal(t, r.Path, c.Describe(r.Path).Path)
				}
			}
			c.Describe(fmt.Sprintf("service%d", i))
		})
	}
	wg.Wait()
}

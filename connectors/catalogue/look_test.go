package catalogue

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

func cost(t *testing.T, out SearchOutput) int {
	t.Helper()
	raw, err := json.Marshal(out)
	require.NoError(t, err)
	return tokens.Count(string(raw))
}

// An answer without a limit never costs more than its budget, whatever is found.
func TestAnAnswerFitsItsBudget(t *testing.T) {
	_, real := readSearchSet(t)
	long := strings.Repeat("very_long_name_", 20)
	for name, c := range map[string]*Catalogue{
		"real": New(real), "made": New(madeSet(t, 4000)), "store": catalogueOf(t, storeConnector()),
		"long": catalogueOf(t, connectors.New("c", "", method(long+"a", long, connectors.Read),
			method(long+"b", strings.Repeat("long ", 500), connectors.Read))),
	} {
		queries := append(madeQueries(40), "long", "list", "qqqq", "pull request review",
			strings.Repeat("zq xw yk ", 60),
			"how do I list all open pull requests of my repository and then charge the customer who wrote them")
		for _, q := range queries {
			assert.LessOrEqual(t, cost(t, c.Search(q, SearchOptions{})), lookBudget, "%s: %s", name, q)
		}
	}
}

func TestOneLookShowsTheBestAndNamesTheRest(t *testing.T) {
	var methods []connectors.Method
	for i := range 12 {
		methods = append(methods, takes(method(fmt.Sprintf("list_orders_x%d", i), "List orders.", connectors.Read),
			`{"type":"object","properties":{"page":{"type":"integer"},"shop":{"type":"string"}},"required":["shop"]}`))
	}
	c := catalogueOf(t, connectors.New("shop", "", append(methods, method("refund", "Pay back.", connectors.Write))...),
		connectors.New("zoo", "", method("feed", "Feed the animals.", connectors.Write)))
	out := c.Search("list orders", SearchOptions{})
	require.Len(t, out.Results, best)
	for _, r := range out.Results {
		assert.Equal(t, r.Path+"({ shop: string, page?: number })", r.Signature)
		assert.NotContains(t, out.More["shop"], r.Method)
	}
	assert.Equal(t, []any{12, true}, []any{out.Total, out.Truncated})
	assert.Len(t, out.More["shop"], 13-best, "what was found, then its siblings")
	assert.Equal(t, "refund", out.More["shop"][13-best-1])
	assert.Equal(t, []string{"feed"}, out.More["zoo"], "what else there is")

	one := c.Search("list orders", SearchOptions{Connector: "zoo"})
	assert.Empty(t, one.Results)
	assert.NotContains(t, one.More, "shop", "only the connector that was asked for")

	name := c.Search("shop.refund", SearchOptions{})
	assert.Equal(t, "refund", name.Results[0].Method)
	assert.Empty(t, name.More, "a name needs nothing beside it")
}

func TestASearchSaysWhatItDidNotFind(t *testing.T) {
	c := catalogueOf(t, storeConnector())
	out := c.Search("item zebra", SearchOptions{})
	assert.Equal(t, []string{"zebra"}, out.Unmatched)
	assert.Equal(t, noteNearest, out.Note)
	assert.Contains(t, out.More["store"][:3], "create_item", "the nearest come first")
	out = c.Search("wxyz", SearchOptions{})
	assert.Equal(t, noteNothing, out.Note)
	out = c.Search("list items", SearchOptions{})
	assert.Empty(t, out.Note)
	assert.Empty(t, out.Unmatched)
}

func TestSketch(t *testing.T) {
	wide := `{"type":"object","properties":{`
	for i := range 60 {
		wide += fmt.Sprintf(`"field_%d":{"type":"string"},`, i)
	}
	wide += `"id":{"type":"string"}},"required":["id"]}`
	for schema, want := range map[string]string{
		``:                  "c.m(input)",
		`{"type":"object"}`: "c.m()",
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":["string","null"]},"c-d":{"type":"boolean"}},
			"required":["c-d"]}`: `c.m({ "c-d": boolean, a?: number, b?: any })`,
		`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"array","items":{"type":"number"}},
			"c":{"type":"array",
				"items":{"enum":["x","y"]}}}}`: `c.m({ a?: "x" | "y", b?: number[], c?: ("x" | "y")[] })`,
		`{"type":"object","properties":{"body":{"type":"object","properties":{"title":{"type":"string"},
			"at":{"type":"object","properties":{"x":{}}}},
				"required":["title"]}},"required":["body"]}`: `c.m({ body: { title: string, at?: object } })`,
	} {
		m := method("m", "", connectors.Read)
		if schema != "" {
			m = takes(m, schema)
		}
		c := catalogueOf(t, connectors.New("c", "", m))
		assert.Equal(t, want, c.Search("m", SearchOptions{}).Results[0].Signature, schema)
	}
	c := catalogueOf(t, connectors.New("c", "", takes(method("m", "", connectors.Read), wide)))
	text := c.Search("m", SearchOptions{}).Results[0].Signature
	assert.True(t, strings.HasPrefix(text, "c.m({ id: string, field_0?: string, "), text)
	assert.True(t, strings.HasSuffix(text, ", … })"), text)
	assert.LessOrEqual(t, tokens.Count(text), 2*sketchBudget)
}

// The tools of six MCP servers and tasks in people's words: half of the tasks were looked at when weights were chosen.
func TestToolsOfMCPServers(t *testing.T) {
	raw, err := os.ReadFile("testdata/mcp.json")
	require.NoError(t, err)
	var s struct {
		Connectors map[string]string
		Catalog    []struct {
			Path, Description string
			InputSchema       json.RawMessage
		}
		Queries []struct {
			Q    string
			Gold [][]string
		}
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	methods, names := map[string][]connectors.Method{}, []string{}
	for _, e := range s.Catalog {
		space, name, _ := strings.Cut(e.Path, ".")
		if methods[space] == nil {
			names = append(names, space)
		}
		m := method(name, e.Description, connectors.Write)
		methods[space] = append(methods[space], takes(m, string(e.InputSchema)))
	}
	var cs []connectors.Connector
	for _, name := range names {
		cs = append(cs, connectors.New(name, s.Connectors[name], methods[name]...))
	}
	c := catalogueOf(t, cs...)
	ranked, shown := 0, 0
	for _, q := range s.Queries {
		is := func(path string) bool { return slices.Contains(q.Gold[0], path) }
		list := c.Search(q.Q, SearchOptions{Limit: 10}).Results
		if slices.ContainsFunc(list, func(r SearchResult) bool { return is(r.Path) }) {
			ranked++
		}
		out := c.Search(q.Q, SearchOptions{})
		seen := slices.ContainsFunc(out.Results, func(r SearchResult) bool { return is(r.Path) })
		for space, list := range out.More {
			seen = seen || slices.ContainsFunc(list, func(name string) bool { return is(space + "." + name) })
		}
		if seen {
			shown++
		}
	}
	n := float64(len(s.Queries))
	t.Logf("%d tasks: recall@10 %.3f, shown %.3f", len(s.Queries), float64(ranked)/n, float64(shown)/n)
	assert.GreaterOrEqual(t, float64(ranked)/n, 0.75)
	assert.GreaterOrEqual(t, float64(shown)/n, 0.95)
}

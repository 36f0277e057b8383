package catalogue

import (
	"math"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
	"github.com/temporal-codemode/codemode/internal/words"
)

// MaxResults bounds a search, and is how many it gives when no limit is asked for.
const MaxResults = 50

// SearchOptions narrow a search.
type SearchOptions struct {
	// Connector, when set, is the only one searched; "snippet" stands for the snippets.
	Connector string `json:"connector,omitempty"`
	// Limit is the number of results wanted, at most [MaxResults]. 0 is the most.
	Limit int `json:"limit,omitempty"`
}

// SearchResult is one find.
type SearchResult struct {
	Path             string  `json:"path"`
	Connector        string  `json:"connector"`
	Method           string  `json:"method"`
	Description      string  `json:"description"`
	RequiresApproval bool    `json:"requiresApproval,omitempty"`
	Kind             string  `json:"kind"`
	Score            float64 `json:"score"`
}

// SearchOutput is what codemode.search answers. Total counts what was found
// before the limit.
type SearchOutput struct {
	Results   []SearchResult `json:"results"`
	Total     int            `json:"total"`
	Truncated bool           `json:"truncated"`
}

// Search ranks methods and snippets by how well they fit a query: a few words,
// or a name as far as it is known. Words that occur nowhere find nothing.
func (c *Catalogue) Search(query string, o SearchOptions) SearchOutput {
	limit := MaxResults
	if o.Limit > 0 {
		limit = min(o.Limit, MaxResults)
	}
	found, total := c.find(query, o.Connector)
	out := SearchOutput{Results: []SearchResult{}, Total: total, Truncated: total > limit}
	for _, h := range found[:min(len(found), limit)] {
		out.Results = append(out.Results, resultOf(h))
	}
	return out
}

// summaryLimit is in bytes: describe gives the whole.
const summaryLimit = 300

func resultOf(h search.Hit) SearchResult {
	r := SearchResult{
		Path: h.Path, Connector: h.Connector, Method: h.Name, Kind: KindMethod,
		Description: words.Abridge(words.Plain(h.Description), summaryLimit),
		Score:       math.Round(float64(h.Score)*100) / 100,
	}
	if m, ok := h.Of.(*connectors.Bound); ok {
		r.RequiresApproval = m.MayNeedApproval()
	} else {
		r.Kind = KindSnippet
	}
	return r
}

func (c *Catalogue) find(query, connector string) (hits []search.Hit, total int) {
	indexes := []*search.Index{c.index()}
	if len(c.snippets) > 0 {
		indexes = append(indexes, c.saved())
	}
	return search.Find(query, indexes, connector)
}

// methodItems are the methods of all connectors in their order.
func (c *Catalogue) methodItems() []search.Item {
	var list []search.Item
	for _, name := range c.order {
		for _, m := range c.spaces[name].Methods {
			list = append(list, search.Item{
				Connector: m.Connector, Name: m.Method.Name, Path: m.Path(), Origin: m.Origin,
				Description: m.Description,
				Tags:        m.Tags, Parameters: m.InputSchema, Of: m,
			})
		}
	}
	return list
}

func (c *Catalogue) snippetItems() []search.Item {
	items := make([]search.Item, len(c.snippets))
	for i, s := range c.snippets {
		items[i] = search.Item{Connector: KindSnippet, Name: s.Name, Path: s.Name, Description: s.Description}
	}
	return items
}

package discovery

import (
	"cmp"
	"math"
	"slices"
	"strings"
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
		out.Results = append(out.Results, h.result())
	}
	return out
}

// hit is an item found.
type hit struct {
	item
	score   float32
	path    string
	literal bool
}

// summaryLimit is in bytes: describe gives the whole.
const summaryLimit = 300

func (h hit) result() SearchResult {
	r := SearchResult{
		Path: h.path, Connector: h.connector(), Method: h.name(), Kind: KindMethod,
		Description: shorten(plainText(h.description()), summaryLimit),
		Score:       math.Round(float64(h.score)*100) / 100,
	}
	if h.snippet != nil {
		r.Kind = KindSnippet
	} else {
		r.RequiresApproval = h.method.MayNeedApproval()
	}
	return r
}

// find gives the best hits, at least as many as a search shows, and how many
// there are. When the query turns out to be a name, synonyms are not wanted; when nothing has all of it but each word is known, items with some are better
// than none.
func (c *Catalogue) find(query, connector string) (hits []hit, total int) {
	q := newQuery(query)
	if len(q.tokens) == 0 {
		return nil, 0
	}
	indexes := []*index{c.index()}
	if len(c.snippets) > 0 {
		indexes = append(indexes, c.saved())
	}
	hits, total = rank(q, indexes, connector)
	switch {
	case slices.ContainsFunc(hits, func(h hit) bool { return h.literal }):
		q.literal = true
	case total == 0 && allKnown(q, indexes):
		q.lenient = true
	default:
		return hits, total
	}
	return rank(q, indexes, connector)
}

func rank(q query, indexes []*index, connector string) (hits []hit, total int) {
	for _, ix := range indexes {
		found, n := ix.search(q, indexes, connector)
		hits, total = append(hits, found...), total+n
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path))
	})
	return hits, total
}

func allKnown(q query, indexes []*index) bool {
	for i := range q.tokens {
		if !slices.ContainsFunc(indexes, func(ix *index) bool { return ix.knows(q, i) }) {
			return false
		}
	}
	return true
}

func (c *Catalogue) snippetItems() []item {
	items := make([]item, len(c.snippets))
	for i := range c.snippets {
		items[i] = item{snippet: &c.snippets[i]}
	}
	return items
}

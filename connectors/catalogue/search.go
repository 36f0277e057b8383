package catalogue

import (
	"math"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/internal/words"
)

// MaxResults bounds a search.
const MaxResults = 50

// SearchOptions narrow a search.
type SearchOptions struct {
	// Connector, when set, is the only one searched; "snippet" stands for the snippets.
	Connector string `json:"connector,omitempty"`
	// Limit is the number of results wanted, at most [MaxResults]. 0 is as many as fit into an answer of 1,500 tokens
	// beside the names of others.
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
	// Signature is how the best are called: the arguments by name and type, those first that a call needs.
	Signature string `json:"signature,omitempty"`
}

// SearchOutput is what codemode.search answers. Total counts what was found
// before the limit.
//
// More names what was found beside the results, by connector, and where there is room for it what else the connectors
// have. Unmatched are the words of the query that no method has in any form.
type SearchOutput struct {
	Results   []SearchResult `json:"results"`
	Total     int            `json:"total"`
	Truncated bool           `json:"truncated"`

	More      map[string][]string `json:"more,omitempty"`
	Unmatched []string            `json:"unmatched,omitempty"`
	// Note says what it means that there are no results.
	Note string `json:"note,omitempty"`
}

// Search ranks methods and snippets by how well they fit a query: a few words, a task in a sentence, or a name as far
// as it is known. Of one or two words results have all, of more some; what has fewer is only named.
func (c *Catalogue) Search(query string, o SearchOptions) SearchOutput {
	hits, total := c.find(query, o.Connector)
	l := &look{out: SearchOutput{Results: []SearchResult{}, Total: total}, room: lookBudget - headCost,
		shown: map[string]bool{}}
	l.out.Unmatched = c.unmatched(query)
	for _, word := range l.out.Unmatched {
		l.room -= tokens.Count(word) + 1
	}
	c.best(l, hits, o.Limit)
	l.out.Truncated = total > len(l.out.Results)
	switch {
	case len(l.out.Results) > 0:
	case len(hits) > 0:
		l.out.Note = noteNearest
	case len(l.out.Unmatched) > 0:
		l.out.Note = noteNothing
	default: // nothing was asked for
		return l.out
	}
	l.room -= tokens.Count(l.out.Note)
	c.fill(l, hits, o.Connector)
	return l.out
}

// best shows the first hits, with signatures: as many as were asked for, else as many as there is room for.
func (c *Catalogue) best(l *look, hits []search.Hit, limit int) {
	room, most, length := bestBudget, best, briefLimit
	if limit > 0 {
		room, most, length = math.MaxInt, min(limit, MaxResults), summaryLimit
	}
	for _, h := range hits {
		if h.Weak {
			continue
		}
		if len(l.out.Results) == most {
			return
		}
		r := resultOf(h, length)
		if m, ok := h.Of.(*connectors.Bound); ok && len(l.out.Results) < best {
			r.Signature = sketch(m)
		}
		before := l.room
		if !l.result(r, room) {
			return
		}
		room -= before - l.room
	}
}

// summaryLimit is in bytes: describe gives the whole.
const summaryLimit = 300

func resultOf(h search.Hit, length int) SearchResult {
	r := SearchResult{
		Path: h.Path, Connector: h.Connector, Method: h.Name, Kind: KindMethod,
		Description: words.Abridge(words.Plain(h.Description), length),
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
	return search.Find(query, c.indexes(), connector)
}

func (c *Catalogue) unmatched(query string) []string { return search.Unmatched(query, c.indexes()) }

func (c *Catalogue) indexes() []*search.Index {
	indexes := []*search.Index{c.index()}
	if len(c.snippets) > 0 {
		indexes = append(indexes, c.saved())
	}
	return indexes
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

// abouts are what connectors say of themselves.
func (c *Catalogue) abouts() map[string]string {
	list := map[string]string{}
	for _, name := range c.order {
		list[name] = c.set.Instructions(name)
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

package search

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is an item that was found. Hits of several indexes compare by their scores.
type Hit struct {
	Item
	Score float32
	// literal says that the query is the item's name.
	literal bool
}

// Find gives the best hits of a query over several indexes, and how many there are. A connector, when named, is the
// only one searched.
//
// When the query turns out to be a name, synonyms are not wanted; when nothing has all of it but each word is known,
// items with some are better than none.
func Find(text string, indexes []*Index, connector string) (hits []Hit, total int) {
	q := newQuery(text)
	if len(q.tokens) == 0 {
		return nil, 0
	}
	hits, total = q.over(indexes, connector)
	switch {
	case slices.ContainsFunc(hits, func(h Hit) bool { return h.literal }):
		q.literal = true
	case total == 0 && q.allKnown(indexes):
		q.lenient = true
	default:
		return hits, total
	}
	return q.over(indexes, connector)
}

// over searches every index and puts all hits in one order.
func (q query) over(indexes []*Index, connector string) (hits []Hit, total int) {
	for _, ix := range indexes {
		found, n := ix.search(q, indexes, connector)
		hits, total = append(hits, found...), total+n
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
	return hits, total
}

// allKnown says that each word of the query occurs somewhere.
func (q query) allKnown(indexes []*Index) bool {
	for i := range q.tokens {
		if !slices.ContainsFunc(indexes, func(ix *Index) bool { return ix.knows(q, i) }) {
			return false
		}
	}
	return true
}

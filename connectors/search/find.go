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
	// Weak hits lack words of the query that are needed.
	Weak bool
	// Literal says that the query is the item's name.
	Literal bool
	// parts are what each word of the query adds to the score.
	parts []float32
}

// Unmatched lists the words of a query, as they were typed, that no item has in any form. Beside others, verbs that
// every catalogue has in other words do not count.
func Unmatched(text string, indexes []*Index) (list []string) {
	q := newQuery(text)
	for i, t := range q.tokens {
		if t.chatter || len(q.tokens) > 1 && Verbs[t.stem] {
			continue
		}
		if !slices.ContainsFunc(indexes, func(ix *Index) bool { return ix.knows(q, i) }) {
			list = append(list, t.text)
		}
	}
	return list
}

// Find gives the best hits of a query over several indexes, and how many there are. A connector, when named, is the
// only one searched.
//
// When the query turns out to be a name, synonyms are not wanted; when nothing has all of it but each word is known,
// items with some are better than none. When nothing has any, weak hits are those with words spelled most alike.
func Find(text string, indexes []*Index, connector string) (hits []Hit, total int) {
	q := newQuery(text)
	if len(q.tokens) == 0 {
		return nil, 0
	}
	hits, total = q.over(indexes, connector)
	switch {
	case slices.ContainsFunc(hits, func(h Hit) bool { return h.Literal }):
		q.literal = true
	case total == 0 && q.allKnown(indexes):
		q.lenient = true
	case len(hits) == 0:
		q.alike = true
		hits, _ = q.over(indexes, connector)
		for i := range hits {
			hits[i].Weak = true
		}
		return hits, 0
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
	short := q.counted() <= shortQuery
	slices.SortFunc(hits, func(a, b Hit) int {
		if short && a.Weak != b.Weak {
			if a.Weak {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
	if q.sentence() {
		spread(hits)
	}
	return hits, total
}

// spreadOver is how many places are given out one by one.
const spreadOver = 60

// spread puts hits in an order in which those come earlier that have what the ones before them lack: a task often needs
// several methods, each for some of its words.
func spread(hits []Hit) {
	if len(hits) == 0 {
		return
	}
	left := make([]float32, len(hits[0].parts))
	for i := range left {
		left[i] = 1
	}
	for place := range min(len(hits), spreadOver) {
		next := place + nextOf(hits[place:], left)
		chosen := hits[next]
		copy(hits[place+1:next+1], hits[place:next])
		hits[place] = chosen
		for n, part := range chosen.parts {
			left[n] *= 1 - (1-tuned.told)*part/max(0.001, slices.Max(chosen.parts))
		}
	}
}

// nextOf is which hit has the most of what is left of each word; scores fall, so that few have to be looked at.
func nextOf(hits []Hit, left []float32) (next int) {
	most := float32(-1)
	for i, h := range hits {
		if h.Score < most {
			break
		}
		var now, sum float32
		for n, part := range h.parts {
			now += part * left[n]
			sum += part
		}
		if score := h.Score * now / max(sum, 0.001); score > most {
			next, most = i, score
		}
	}
	return next
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

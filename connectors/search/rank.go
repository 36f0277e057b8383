package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// tally counts up what is found. It is used again and again, since it is as
// large as the catalogue.
type tally struct {
	score   []float32
	best    []float32 // of the word being counted
	matched []uint8   // words
	cover   []float32 // the weight of the words that matched
	last    []uint8   // word that was counted last, plus one
	touched []uint32
	found   []candidate
}

func newTally(n int) *tally {
	return &tally{score: make([]float32, n), best: make([]float32, n), matched: make([]uint8, n),
		cover: make([]float32, n), last: make([]uint8, n)}
}

func (t *tally) reset() {
	for _, n := range t.touched {
		t.score[n], t.best[n], t.cover[n], t.matched[n], t.last[n] = 0, 0, 0, 0, 0
	}
	t.touched = t.touched[:0]
}

// count adds the best of a word's alternatives to each item that has one.
func (t *tally) count(word uint8, r reach, weight float32, counts bool) {
	for _, p := range r.list {
		value := p.weight * r.factor
		switch {
		case t.last[p.item] != word:
			if t.last[p.item] == 0 {
				t.touched = append(t.touched, p.item)
			}
			t.last[p.item] = word
			if counts {
				t.matched[p.item]++
			}
			t.cover[p.item] += weight
			t.best[p.item] = value
			t.score[p.item] += value
		case value > t.best[p.item]:
			t.score[p.item] += value - t.best[p.item]
			t.best[p.item] = value
		}
	}
}

// maxWords is what a tally can count.
const maxWords = 200

// candidates are how many of the best are looked at closely.
const candidates = 200

// search gives the best items of one index; all are those that rarity counts over. Total counts those that have the
// words that are needed.
func (ix *Index) search(q query, all []*Index, connector string) (hits []Hit, total int) {
	t := ix.scratch.Get().(*tally)
	defer func() { t.reset(); ix.scratch.Put(t) }()
	reaches := ix.resolve(q, all)
	of := ix.count(q, reaches, t)
	typed := ix.named(q)
	found, total := ix.covered(q, t, of, typed, connector)
	ix.lend(q, found, all)
	found = top(found, candidates)
	for n, boost := range typed {
		if ix.within(n, connector) {
			total++
			found = append(found, candidate{n, t.score[n] + boost})
		}
	}
	m := newMatch(q)
	needed := uint8(q.needed())
	for _, c := range found {
		closeness, literal := ix.closeness(m, c.item)
		hits = append(hits, Hit{Item: ix.items[c.item], Score: c.score + closeness,
			Literal: literal || typed[c.item] >= exactBoost,
			Weak:    t.matched[c.item] < needed && typed[c.item] == 0, parts: q.parts(reaches, c.item)})
	}
	return hits, total
}

// reach is a term that stands for a word of the query, as far as items have it.
type reach struct {
	list   []posting
	factor float32
}

// resolve finds what stands for each word of the query.
func (ix *Index) resolve(q query, all []*Index) [][]reach {
	reaches := make([][]reach, len(q.tokens))
	for i, word := range q.tokens {
		factor := word.importance(len(q.tokens))
		for _, a := range ix.alternatives(q, i) {
			if list := ix.postings(a.term); list != nil {
				reaches[i] = append(reaches[i], reach{list, factor * a.factor * rarityOf(a.term, all)})
			}
		}
	}
	return reaches
}

// importance is what a word counts, however rare it is.
func (t token) importance(words int) float32 {
	switch {
	case t.optional:
		return tuned.optional
	case t.chatter:
		return tuned.chatter
	case unicode.IsDigit(rune(t.text[0])) && words > sentence:
		return tuned.digits
	}
	return 1
}

// count adds up what each item has of the query, and gives what the whole query weighs.
func (ix *Index) count(q query, reaches [][]reach, t *tally) (of float32) {
	for i, word := range reaches {
		weight := float32(0)
		for _, r := range word {
			weight = max(weight, r.factor)
		}
		of += weight
		for _, r := range word {
			t.count(uint8(i+1), r, weight, !q.tokens[i].optional)
		}
	}
	return of
}

// parts are what each word of a sentence adds to an item's score; nil for other queries.
func (q query) parts(reaches [][]reach, item uint32) []float32 {
	if !q.sentence() {
		return nil
	}
	list := make([]float32, len(reaches))
	for i, word := range reaches {
		for _, r := range word {
			at, found := slices.BinarySearchFunc(r.list, item,
				func(p posting, n uint32) int { return cmp.Compare(p.item, n) })
			if found {
				list[i] = max(list[i], r.list[at].weight*r.factor)
			}
		}
	}
	return list
}

// covered lists the items that have words of the query, but for those that were found by their names, and counts those
// that have enough of them.
func (ix *Index) covered(q query, t *tally, of float32, typed map[uint32]float32, connector string) (
	list []candidate, enough int,
) {
	needed := uint8(q.needed())
	t.found = t.found[:0]
	for _, n := range t.touched {
		if typed[n] != 0 || !ix.within(n, connector) {
			continue
		}
		if t.matched[n] >= needed {
			enough++
		}
		cover := t.cover[n] / max(of, 0.001)
		t.found = append(t.found, candidate{n, t.score[n] * (tuned.coverBase + (1-tuned.coverBase)*cover)})
	}
	return t.found, enough
}

// siblings are how many of a connector's best stand for it.
const siblings = 3

// lend raises items by what their connector is about: how well its best items fit, and what its own description has of
// the query.
func (ix *Index) lend(q query, found []candidate, all []*Index) {
	if ix.connectors < 2 {
		return
	}
	lent := make([]float32, ix.connectors)
	for n, list := range ix.bestOf(found) {
		for _, score := range list {
			lent[n] += tuned.sibling * score / siblings
		}
	}
	for _, t := range q.tokens {
		for _, p := range ix.about[t.stem] {
			lent[p.item] += tuned.about * min(rarityOf(t.stem, all), rarity(len(ix.about[t.stem]), ix.connectors)+1)
		}
	}
	for i, c := range found {
		found[i].score += lent[ix.spaces[c.item]]
	}
}

// bestOf are the highest scores in each connector.
func (ix *Index) bestOf(found []candidate) [][siblings]float32 {
	best := make([][siblings]float32, ix.connectors)
	for _, c := range found {
		list := &best[ix.spaces[c.item]]
		for i := range list {
			if c.score > list[i] {
				copy(list[i+1:], list[i:])
				list[i] = c.score
				break
			}
		}
	}
	return best
}

// knows tells whether all words of a query stand for something.
func (ix *Index) knows(q query, i int) bool {
	return slices.ContainsFunc(ix.alternatives(q, i), func(a alternative) bool { return ix.postings(a.term) != nil })
}

func rarityOf(term string, all []*Index) float32 {
	n, items := 0, 0
	for _, ix := range all {
		n += len(ix.postings(term))
		items += len(ix.items)
	}
	return rarity(n, items)
}

func (ix *Index) within(n uint32, connector string) bool {
	return connector == "" || ix.items[n].Connector == connector
}

type candidate struct {
	item  uint32
	score float32
}

// top moves the n best to the front, in no order, and gives those.
func top(list []candidate, n int) []candidate {
	low, high := 0, len(list)
	for high-low > 1 && n < len(list) {
		pivot := list[low+(high-low)/2].score
		i, j := low, high-1
		for i <= j {
			for list[i].score > pivot {
				i++
			}
			for list[j].score < pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case n <= j:
			high = j + 1
		case n >= i:
			low = i
		default:
			return list[:n]
		}
	}
	return list[:min(n, len(list))]
}

const (
	exactBoost  = 100
	prefixBoost = 30
	// maxTyped bounds the names that a few letters begin.
	maxTyped = 64
)

// named finds the items whose name or path the query is, or begins.
func (ix *Index) named(q query) map[uint32]float32 {
	boosts := map[uint32]float32{}
	if len(q.folded) < leastPrefix {
		return boosts
	}
	at, _ := slices.BinarySearchFunc(ix.names, q.folded,
		func(e nameEntry, s string) int { return strings.Compare(e.folded, s) })
	for i, e := range ix.names[at:] {
		if !strings.HasPrefix(e.folded, q.folded) || i == maxTyped && e.folded != q.folded {
			break
		}
		boost := float32(prefixBoost) * float32(len(q.folded)) / float32(len(e.folded))
		if e.folded == q.folded {
			boost = exactBoost
		}
		boosts[e.item] = max(boosts[e.item], boost)
	}
	return boosts
}

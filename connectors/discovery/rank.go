package discovery

import (
	"cmp"
	"slices"
	"strings"
)

// tally counts up what is found. It is used again and again, since it is as
// large as the catalogue.
type tally struct {
	score   []float32
	best    []float32 // of the word being counted
	matched []uint8   // words
	last    []uint8   // word that was counted last, plus one
	touched []uint32
}

func newTally(n int) *tally {
	return &tally{score: make([]float32, n), best: make([]float32, n), matched: make([]uint8, n), last: make([]uint8, n)}
}

func (t *tally) reset() {
	for _, n := range t.touched {
		t.score[n], t.best[n], t.matched[n], t.last[n] = 0, 0, 0, 0
	}
	t.touched = t.touched[:0]
}

// count adds the best of a word's alternatives to each item that has one.
func (t *tally) count(word uint8, list []posting, factor float32) {
	for _, p := range list {
		value := p.weight * factor
		switch {
		case t.last[p.item] != word:
			if t.matched[p.item] == 0 {
				t.touched = append(t.touched, p.item)
			}
			t.last[p.item] = word
			t.matched[p.item]++
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
const candidates = 256

// search gives the best items of one index; all are those that rarity counts over.
func (ix *index) search(q query, all []*index, connector string) (hits []hit, total int) {
	t := ix.scratch.Get().(*tally)
	defer func() { t.reset(); ix.scratch.Put(t) }()
	q.tokens = q.tokens[:min(len(q.tokens), maxWords)]
	for i := range q.tokens {
		for _, a := range ix.alternatives(q, i) {
			if list := ix.postings(a.term); list != nil {
				t.count(uint8(i+1), list, a.factor*rarityOf(a.term, all))
			}
		}
	}
	typed := ix.named(q)
	var found []candidate
	for _, n := range t.touched {
		if int(t.matched[n]) >= q.needed() && typed[n] == 0 && ix.within(n, connector) {
			cover := float32(t.matched[n]) / float32(len(q.tokens))
			found = append(found, candidate{n, t.score[n] * (coverBase + (1-coverBase)*cover)})
		}
	}
	total = len(found)
	found = top(found, candidates)
	for n, boost := range typed {
		if ix.within(n, connector) {
			total++
			found = append(found, candidate{n, t.score[n] + boost})
		}
	}
	for _, c := range found {
		it := ix.items[c.item]
		hits = append(hits, hit{item: it, score: c.score + q.closeness(it), path: it.path()})
	}
	return hits, total
}

const coverBase = 0.4

func rarityOf(term string, all []*index) float32 {
	n, items := 0, 0
	for _, ix := range all {
		n += len(ix.postings(term))
		items += len(ix.items)
	}
	return rarity(n, items)
}

func (ix *index) within(n uint32, connector string) bool {
	return connector == "" || ix.items[n].connector() == connector
}

type candidate struct {
	item  uint32
	score float32
}

// top keeps the n best, in no order.
func top(list []candidate, n int) []candidate {
	for len(list) > n {
		pivot := list[len(list)/2].score
		var better, equal, worse []candidate
		for _, c := range list {
			switch cmp.Compare(c.score, pivot) {
			case 1:
				better = append(better, c)
			case 0:
				equal = append(equal, c)
			default:
				worse = append(worse, c)
			}
		}
		switch {
		case len(better) >= n:
			list = better
		case len(better)+len(equal) >= n:
			return append(better, equal[:n-len(better)]...)
		default:
			return append(append(better, equal...), top(worse, n-len(better)-len(equal))...)
		}
	}
	return list
}

const (
	exactBoost  = 100
	prefixBoost = 30
	// maxTyped bounds the names that a few letters begin.
	maxTyped = 64
)

// named finds the items whose name or path the query is, or begins.
func (ix *index) named(q query) map[uint32]float32 {
	boosts := map[uint32]float32{}
	if len(q.folded) < leastPrefix {
		return boosts
	}
	at, _ := slices.BinarySearchFunc(ix.names, q.folded, func(e nameEntry, s string) int { return strings.Compare(e.folded, s) })
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

const (
	// nameShare rewards names that say nothing but what was asked for.
	nameShare = 6
	// queryShare rewards names that say all that was asked for.
	queryShare = 3
	// literal rewards words found as they were typed.
	literal = 0.5
)

// closeness compares the query with an item's name, word by word.
func (q query) closeness(it item) float32 {
	name := it.name()
	if it.method != nil && it.method.Origin != "" {
		name = it.method.Origin
	}
	var parts, inName, asTyped int
	covered := make([]bool, len(q.tokens))
	for _, w := range words(name) {
		for _, part := range w.parts {
			parts++
			i, same := q.match(part)
			if i < 0 {
				continue
			}
			inName++
			if same && !covered[i] {
				asTyped++
			}
			covered[i] = true
		}
	}
	if parts == 0 || inName == 0 {
		return 0
	}
	n := 0
	for _, c := range covered {
		if c {
			n++
		}
	}
	share := float32(n) / float32(len(q.tokens))
	return nameShare*share*float32(inName)/float32(parts) + queryShare*share + literal*float32(asTyped)
}

// match finds the word of the query that a part of a name stands for.
func (q query) match(part string) (i int, same bool) {
	stemmed := stem(part)
	for i, t := range q.tokens {
		if t.stem == stemmed || slices.Contains(synonyms[t.stem], stemmed) {
			return i, t.text == part
		}
	}
	return -1, false
}

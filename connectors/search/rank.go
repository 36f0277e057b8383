package search

import (
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/words"
)

// tally counts up what is found. It is used again and again, since it is as
// large as the catalogue.
type tally struct {
	score   []float32
	best    []float32 // of the word being counted
	matched []uint8   // words
	last    []uint8   // word that was counted last, plus one
	touched []uint32
	found   []candidate
}

func newTally(n int) *tally {
	return &tally{score: make([]float32, n), best: make([]float32, n), matched: make([]uint8, n),
		last: make([]uint8, n)}
}

func (t *tally) reset() {
	for _, n := range t.touched {
		t.score[n], t.best[n], t.matched[n], t.last[n] = 0, 0, 0, 0
	}
	t.touched = t.touched[:0]
}

// count adds the best of a word's alternatives to each item that has one.
func (t *tally) count(word uint8, list []posting, factor float32, counts bool) {
	for _, p := range list {
		value := p.weight * factor
		switch {
		case t.last[p.item] != word:
			if t.last[p.item] == 0 {
				t.touched = append(t.touched, p.item)
			}
			t.last[p.item] = word
			if counts {
				t.matched[p.item]++
			}
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

// search gives the best items of one index; all are those that rarity counts over.
func (ix *Index) search(q query, all []*Index, connector string) (hits []Hit, total int) {
	t := ix.scratch.Get().(*tally)
	defer func() { t.reset(); ix.scratch.Put(t) }()
	ix.count(q, t, all)
	typed := ix.named(q)
	found := ix.covered(q, t, typed, connector)
	total = len(found)
	found = top(found, candidates)
	for n, boost := range typed {
		if ix.within(n, connector) {
			total++
			found = append(found, candidate{n, t.score[n] + boost})
		}
	}
	m := newMatch(q)
	for _, c := range found {
		closeness, literal := ix.closeness(m, c.item)
		hits = append(hits, Hit{Item: ix.items[c.item], Score: c.score + closeness, literal: literal})
	}
	return hits, total
}

func (ix *Index) count(q query, t *tally, all []*Index) {
	for i, word := range q.tokens {
		factor := float32(1)
		if word.optional {
			factor = optionalFactor
		}
		for _, a := range ix.alternatives(q, i) {
			if list := ix.postings(a.term); list != nil {
				t.count(uint8(i+1), list, factor*a.factor*rarityOf(a.term, all), !word.optional)
			}
		}
	}
}

// covered lists the items that have enough of the query's words, but for those
// that were found by their names.
func (ix *Index) covered(q query, t *tally, typed map[uint32]float32, connector string) []candidate {
	needed, counted := uint8(q.needed()), float32(max(1, q.counted()))
	t.found = t.found[:0]
	for _, n := range t.touched {
		if t.matched[n] >= needed && typed[n] == 0 && ix.within(n, connector) {
			cover := float32(t.matched[n]) / counted
			t.found = append(t.found, candidate{n, t.score[n] * (coverBase + (1-coverBase)*cover)})
		}
	}
	return t.found
}

// knows tells whether all words of a query stand for something.
func (ix *Index) knows(q query, i int) bool {
	return slices.ContainsFunc(ix.alternatives(q, i), func(a alternative) bool { return ix.postings(a.term) != nil })
}

const (
	coverBase      = 0.4
	optionalFactor = 0.4
)

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

const (
	// nameShare and summaryShare reward a name and a summary that say nothing
	// but what was asked for, nameQuery and summaryQuery those that say all of it.
	nameShare, summaryShare = 6, 6
	nameQuery, summaryQuery = 1.5, 3
	// typedWord rewards words of the name found as they were typed.
	typedWord = 0.5
	// firstWord rewards a summary that begins as the query does, with a verb mostly.
	firstWord = 1
	// synonymShare is what a synonym counts.
	synonymShare = 0.7
	// plainPart is what a word counts that most names have, when it was not asked for.
	plainPart = 0.4
)

// plainParts of names are what a method without further words does.
var plainParts = stems("get list read fetch retrieve return user authenticated")

// closeness compares the query with an item's name and summary, word by word.
// literal says that the name is the query's words and no others.
func (ix *Index) closeness(m *match, n uint32) (score float32, literal bool) {
	share, of, typed := ix.compare(m, ix.distinct[n][0])
	literal = of == 1 && m.all()
	score = nameShare*share*of + nameQuery*share + typedWord*typed
	summary := ix.distinct[n][1]
	share, of, _ = ix.compare(m, summary)
	if len(summary) > 0 && ix.table[summary[0]].stem == m.q.tokens[0].stem {
		score += firstWord
	}
	return score + summaryShare*share*of + summaryQuery*share, literal
}

// summaryLength is how much of a description's first sentence is compared.
const summaryLength = 120

func summary(description string) string {
	s := words.Plain(description[:min(len(description), 4*summaryLength)])
	if first, _, found := strings.Cut(s, ". "); found && len(first) <= summaryLength {
		return first
	}
	return words.Abridge(s, summaryLength)
}

// compare tells how much of the query some words say, how much of the words
// that is, and how many stand as they were typed.
func (ix *Index) compare(m *match, list []uint32) (share, of, typed float32) {
	clear(m.found)
	m.typed = 0
	var said, all float32
	for _, n := range list {
		switch w := ix.table[n]; {
		case m.mark(w):
			said++
			all++
		case w.plain && m.bareOK:
			all += plainPart
		default:
			all++
		}
	}
	if said == 0 {
		return 0, 0, 0
	}
	return m.share(), said / all, m.typed
}

// match is how far each word of a query was found.
type match struct {
	q      query
	found  []float32
	typed  float32
	bareOK bool
}

// newMatch takes one word in the singular for any method about the thing, and
// other queries without a verb for those that read.
func newMatch(q query) *match {
	one := len(q.tokens) == 1 && singular(q.tokens[0].text) == q.tokens[0].text
	return &match{q: q, found: make([]float32, len(q.tokens)), bareOK: !one}
}

// mark notes the words of the query that another word stands for.
func (m *match) mark(w distinctTerm) (any bool) {
	for i, t := range m.q.tokens {
		switch {
		case t.stem == w.stem:
			if t.text == w.text && m.found[i] < 1 {
				m.typed++
			}
			m.found[i], any = 1, true
		case !m.q.literal && slices.Contains(t.synonyms, w.stem):
			m.found[i], any = max(m.found[i], synonymShare), true
		}
	}
	return any
}

// all tells whether each word that counts was found itself.
func (m *match) all() bool {
	for i, found := range m.found {
		if found < 1 && !m.q.tokens[i].optional {
			return false
		}
	}
	return true
}

func (m *match) share() float32 {
	var sum, of float32
	for i, found := range m.found {
		weight := float32(1)
		if m.q.tokens[i].optional {
			weight = optionalFactor
		}
		sum += weight * found
		of += weight
	}
	return sum / of
}

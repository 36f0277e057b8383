package search

import (
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/internal/words"
)

// plainParts of names are what a method without further words does.
var plainParts = stems("get list read fetch retrieve return user authenticated")

// closeness compares the query with an item's name and summary, word by word.
// literal says that the name is the query's words and no others.
func (ix *Index) closeness(m *match, n uint32) (score float32, literal bool) {
	share, of, typed := ix.compare(m, ix.distinct[n][0])
	literal = of == 1 && m.all()
	score = tuned.nameShare*share*of + tuned.nameQuery*share + tuned.typedWord*typed + tuned.nameSaid*of
	summary := ix.distinct[n][1]
	share, of, _ = ix.compare(m, summary)
	if len(summary) > 0 && ix.table[summary[0]].stem == m.q.tokens[0].stem {
		score += tuned.firstWord
	}
	score += tuned.summaryShare*share*of + tuned.summaryQuery*share
	return score / (1 + tuned.closeDecay*float32(max(0, len(m.q.tokens)-4))), literal
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
		w := ix.table[n]
		switch told := m.mark(w); {
		case told > 0:
			said += told
			all++
		case w.plain && m.bareOK:
			all += tuned.plainPart
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
	q                 query
	found, importance []float32
	typed             float32
	bareOK            bool
}

// newMatch takes one word in the singular for any method about the thing, and
// other queries without a verb for those that read.
func newMatch(q query) *match {
	one := len(q.tokens) == 1 && singular(q.tokens[0].text) == q.tokens[0].text
	m := &match{q: q, found: make([]float32, len(q.tokens)), bareOK: !one}
	for _, t := range q.tokens {
		m.importance = append(m.importance, t.importance(len(q.tokens)))
	}
	return m
}

// mark notes the words of the query that another word stands for, and gives how much they tell.
func (m *match) mark(w distinctTerm) (told float32) {
	for i, t := range m.q.tokens {
		switch {
		case t.stem == w.stem:
			if t.text == w.text && m.found[i] < 1 {
				m.typed++
			}
			m.found[i], told = 1, max(told, m.tells(i))
		case !m.q.literal && slices.Contains(t.synonyms, w.stem):
			m.found[i], told = max(m.found[i], tuned.synonymShare), max(told, m.tells(i))
		}
	}
	return told
}

// tells is how much a word of the query says of a name that has it; an optional one is as good there.
func (m *match) tells(i int) float32 {
	if m.q.tokens[i].optional {
		return 1
	}
	return m.importance[i]
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
		sum += m.importance[i] * found
		of += m.importance[i]
	}
	return sum / of
}

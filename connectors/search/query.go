package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/temporal-codemode/codemode/internal/words"
)

// query is what is looked for.
type query struct {
	tokens []token
	// folded is the query as a name.
	folded string
	// asName says that it was typed as one: without spaces.
	asName bool
	// literal queries take no synonyms, lenient ones any item that has a word.
	literal, lenient bool
	// alike queries take words that are merely spelled alike.
	alike bool
}

// token is a word of a query.
type token struct {
	text, stem string
	synonyms   []string
	// optional words help to rank, but need not be found.
	optional bool
	// chatter is a word of a sentence that asks for help and does not say with what.
	chatter bool
	// joined are terms that stand for this word and others beside it.
	joined []string
}

func newQuery(text string) query {
	text = strings.TrimSpace(text)
	q := query{folded: words.Fold(text), asName: !strings.ContainsAny(text, " \t\n")}
	text = text[:min(len(text), maxQuery)]
	q.tokens = tokensOf(text, !q.asName)
	if q.counted() == 0 {
		q.tokens = tokensOf(text, false)
	}
	q.tokens = q.tokens[:min(len(q.tokens), maxWords)]
	if q.sentence() {
		for i, t := range q.tokens {
			if chatter[t.text] {
				q.tokens[i].chatter = true
			}
		}
	}
	for i := 1; i < len(q.tokens); i++ {
		pair := Stem(q.tokens[i-1].text + q.tokens[i].text)
		q.tokens[i-1].joined = append(q.tokens[i-1].joined, pair)
		q.tokens[i].joined = append(q.tokens[i].joined, pair)
	}
	return q
}

// A query of at most shortQuery words finds what has all of them, a longer one what has any. One of more than sentence
// words is a task put into words, some of which only ask for help.
const shortQuery, sentence = 2, 4

func (q query) sentence() bool { return q.counted() > sentence }

// maxQuery is in bytes; a model sometimes pastes its whole task.
const maxQuery = 500

// tokensOf are the words of a query, each once.
func tokensOf(text string, stopped bool) (list []token) {
	for _, w := range WordsOf(text) {
		for _, part := range spelled(w.Parts) {
			t := token{text: part, stem: Stem(part), optional: stopped && selfWords[part]}
			t.synonyms = synonyms[t.stem]
			if w.whole != "" {
				t.joined = append(t.joined, Stem(w.whole))
			}
			known := slices.ContainsFunc(list, func(o token) bool { return o.stem == t.stem })
			if !known && !(stopped && stopWords[part] && !t.optional) {
				list = append(list, t)
			}
		}
	}
	return list
}

// spelled writes short forms out.
func spelled(parts []string) (list []string) {
	for _, part := range parts {
		if long, ok := phrases[part]; ok {
			list = append(list, strings.Fields(long)...)
		} else {
			list = append(list, part)
		}
	}
	return list
}

// counted is how many words are not optional.
func (q query) counted() (n int) {
	for _, t := range q.tokens {
		if !t.optional {
			n++
		}
	}
	return n
}

// needed is how many of a query's words an item must have.
func (q query) needed() int {
	if n := q.counted(); !q.lenient && n <= shortQuery {
		return n
	}
	return 1
}

// alternative is a term that stands for a word of the query, at a discount.
type alternative struct {
	term   string
	factor float32
}

const (
	// maxExpansions bounds the terms that a prefix may stand for, maxKin those of the same family as a word.
	maxExpansions = 24
	maxKin        = 8
	leastPrefix   = 3
	leastTypo     = 5
	leastKin      = 5
)

// alternatives lists the terms for a word: itself and synonyms, or, for a word
// that does not occur, those that it begins, or else those it may be a slip for.
func (ix *Index) alternatives(q query, i int) []alternative {
	t := q.tokens[i]
	if q.alike {
		return ix.alike(t.text)
	}
	list := []alternative{{t.stem, 1}}
	for _, joined := range t.joined {
		list = append(list, alternative{joined, tuned.joined})
	}
	if _, known := ix.ids[t.stem]; q.literal || known && len(q.tokens) == 1 {
		t.synonyms = nil // one word that is known is meant as it is
	}
	for _, s := range t.synonyms {
		list = append(list, alternative{s, tuned.synonym})
	}
	if !q.literal && len(q.tokens) > 1 {
		list = append(list, ix.kin(t.stem)...)
	}
	if slices.ContainsFunc(list,
		func(a alternative) bool { _, ok := ix.ids[a.term]; return ok && a.factor != tuned.joined }) {
		return list
	}
	least := leastPrefix
	if q.asName && i == len(q.tokens)-1 && i > 0 {
		least = 1
	}
	if len(t.text) >= least {
		list = append(list, ix.beginning(t.text)...)
	}
	if len(list) == 1+len(t.joined)+len(t.synonyms) && utf8.RuneCountInString(t.text) >= leastTypo {
		list = append(list, ix.slips(t.stem)...)
	}
	return list
}

// kin are terms of the same family as a word: those that begin as it does and differ in an ending.
func (ix *Index) kin(stem string) (list []alternative) {
	if len(stem) < leastKin || !isASCII(stem) || stem[0] <= '9' {
		return nil
	}
	prefix := stem[:max(leastKin, len(stem)-2)]
	at, _ := slices.BinarySearch(ix.vocabulary, prefix)
	for _, term := range ix.vocabulary[at:] {
		if !strings.HasPrefix(term, prefix) || len(list) == maxKin {
			break
		}
		if term != stem && len(term) <= len(stem)+3 {
			list = append(list, alternative{term, tuned.kin})
		}
	}
	return list
}

// beginning are the terms with a prefix, the shorter the better.
func (ix *Index) beginning(prefix string) (list []alternative) {
	at, _ := slices.BinarySearch(ix.vocabulary, prefix)
	for _, term := range ix.vocabulary[at:] {
		if !strings.HasPrefix(term, prefix) || len(list) == maxExpansions {
			break
		}
		list = append(list, alternative{term, tuned.prefix * float32(len(prefix)+2) / float32(len(term)+2)})
	}
	return list
}

// slips are the terms that one changed, missing, added or swapped letter after
// the first makes of a word.
func (ix *Index) slips(w string) (list []alternative) {
	at, _ := slices.BinarySearch(ix.vocabulary, w[:1])
	for _, term := range ix.vocabulary[at:] {
		if term[0] != w[0] {
			break
		}
		if oneSlip(w, term) {
			list = append(list, alternative{term, tuned.typo})
		}
	}
	return list
}

const (
	// leastAlike is the share of pairs of letters that words spelled alike have in common, maxAlike how many are taken.
	leastAlike = 0.45
	maxAlike   = 5
)

// alike are the terms with the most pairs of letters of a word.
func (ix *Index) alike(w string) (list []alternative) {
	wanted := letterPairs(w)
	for _, term := range ix.vocabulary {
		if len(term) > 2*len(w) || len(w) > 2*len(term) {
			continue
		}
		common := 0
		for pair := range letterPairs(term) {
			if wanted[pair] {
				common++
			}
		}
		if share := 2 * float32(common) / float32(max(1, len(w)+len(term)-2)); share >= leastAlike {
			list = append(list, alternative{term, share * tuned.typo})
		}
	}
	slices.SortStableFunc(list, func(a, b alternative) int { return cmp.Compare(b.factor, a.factor) })
	return list[:min(len(list), maxAlike)]
}

func letterPairs(w string) map[string]bool {
	pairs := map[string]bool{}
	for i := range len(w) - 1 {
		pairs[w[i:i+2]] = true
	}
	return pairs
}

func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
		return true
	}
	return i < len(a) && a[i+1:] == b[i+1:]
}

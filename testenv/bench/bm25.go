package main

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/internal/words"
)

// plainBM25 is the textbook's, over name and description as one text: the baseline of bench search.
type plainBM25 struct {
	paths   []string
	counts  []map[string]int
	lengths []int
	average float64
	holders map[string]int
	// descriptions are shown as far as shownDescription.
	descriptions map[string]string
}

// A search by plain BM25 shows paths with descriptions, as search tools mostly do, until shownTokens are used up.
const shownTokens, shownDescription = 1500, 300

func (s *searchSet) plain() *plainBM25 {
	b := &plainBM25{holders: map[string]int{}, descriptions: map[string]string{}}
	for _, entry := range s.Catalog {
		_, name, _ := strings.Cut(entry.Path, ".")
		list := plainWords(name + " " + entry.Description)
		counts := map[string]int{}
		for _, word := range list {
			counts[word]++
		}
		for word := range counts {
			b.holders[word]++
		}
		b.paths, b.counts, b.lengths = append(b.paths, entry.Path), append(b.counts, counts),
			append(b.lengths, len(list))
		b.descriptions[entry.Path] = words.Abridge(words.Plain(entry.Description), shownDescription)
		b.average += float64(len(list)) / float64(len(s.Catalog))
	}
	return b
}

// plainWords splits by case and by all that is neither letter nor digit.
func plainWords(text string) []string {
	var b strings.Builder
	before := rune(' ')
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(b.String())
}

func (b *plainBM25) search(query string) []string {
	scores := make([]float64, len(b.paths))
	var found []int
	for i := range b.paths {
		if scores[i] = b.score(i, plainWords(query)); scores[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
	var paths []string
	for _, i := range found[:min(50, len(found))] {
		paths = append(paths, b.paths[i])
	}
	return paths
}

// answer shows what search finds, as far as that fits.
func (b *plainBM25) answer(query string) (a searchAnswer) {
	a.ranked = b.search(query)
	for _, path := range a.ranked {
		text, _ := json.Marshal(map[string]string{"path": path, "description": b.descriptions[path]})
		if cost := tokens.Count(string(text)) + 1; a.tokens+cost <= shownTokens {
			a.tokens += cost
			a.named = append(a.named, path)
		}
	}
	return a
}

func (b *plainBM25) score(i int, query []string) (score float64) {
	for _, word := range query {
		f, n := float64(b.counts[i][word]), float64(b.holders[word])
		idf := math.Log(1 + (float64(len(b.paths))-n+0.5)/(n+0.5))
		score += idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(b.lengths[i])/b.average))
	}
	return score
}

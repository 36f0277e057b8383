package catalogue

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/search"
)

// searchSet is queries over the operations of GitHub and Stripe, each with what
// should be found. The even ones were looked at when weights were chosen.
type searchSet struct {
	Catalog []struct{ Path, Description string }
	Queries []struct {
		Q    string
		Gold [][]string
	}
}

func readSearchSet(t *testing.T) (searchSet, *connectors.Set) {
	t.Helper()
	raw, err := os.ReadFile("testdata/search.json")
	require.NoError(t, err)
	var s searchSet
	require.NoError(t, json.Unmarshal(raw, &s))
	methods := map[string][]connectors.Method{}
	for _, e := range s.Catalog {
		space, name, _ := strings.Cut(e.Path, ".")
		methods[space] = append(methods[space], method(name, e.Description, connectors.Write))
	}
	var cs []connectors.Connector
	for _, space := range []string{"github", "stripe"} {
		cs = append(cs, catalogueOnly{space, methods[space]})
	}
	set, err := connectors.NewSet(t.Context(), cs, nil)
	require.NoError(t, err)
	return s, set
}

// recall is the share of queries for which a search has what is wanted among its first k.
func (s searchSet) recall(k int, search func(string) []string) float64 {
	hits := 0
	for _, q := range s.Queries {
		found := search(q.Q)
		found = found[:min(k, len(found))]
		if slices.ContainsFunc(q.Gold[0], func(p string) bool { return slices.Contains(found, p) }) {
			hits++
		}
	}
	return float64(hits) / float64(len(s.Queries))
}

func TestSearchBeatsPlainBM25(t *testing.T) {
	s, set := readSearchSet(t)
	c := New(set)
	ours := func(q string) (paths []string) {
		for _, r := range c.Search(q, SearchOptions{Limit: 10}).Results {
			paths = append(paths, r.Path)
		}
		return paths
	}
	plain := newPlainBM25(set)
	t.Logf("%d queries: recall@1 %.3f, @5 %.3f, @10 %.3f; plain BM25 %.3f, %.3f, %.3f", len(s.Queries),
		s.recall(1, ours), s.recall(5, ours), s.recall(10, ours), s.recall(1, plain.search), s.recall(5, plain.search),
		s.recall(10, plain.search))
	assert.GreaterOrEqual(t, s.recall(10, ours), s.recall(10, plain.search)+0.1)
	assert.GreaterOrEqual(t, s.recall(1, ours), 0.6)
}

// plainBM25 is the textbook's, over name and description as one text.
type plainBM25 struct {
	paths   []string
	counts  []map[string]int
	lengths []int
	average float64
	holders map[string]int
}

func newPlainBM25(set *connectors.Set) *plainBM25 {
	b := &plainBM25{holders: map[string]int{}}
	for _, space := range set.Names() {
		for _, m := range set.Methods(space) {
			counts, n := map[string]int{}, 0
			for _, w := range search.WordsOf(m.Method.Name + " " + m.Description) {
				for _, part := range w.Parts {
					counts[part]++
					n++
				}
			}
			for part := range counts {
				b.holders[part]++
			}
			b.paths, b.counts, b.lengths = append(b.paths, m.Path()), append(b.counts, counts), append(b.lengths, n)
			b.average += float64(n)
		}
	}
	b.average /= float64(len(b.paths))
	return b
}

func (b *plainBM25) search(q string) []string {
	type scored struct {
		path  string
		score float64
	}
	var list []scored
	for i, path := range b.paths {
		if score := b.score(i, q); score > 0 {
			list = append(list, scored{path, score})
		}
	}
	slices.SortStableFunc(list, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	var paths []string
	for _, x := range list[:min(10, len(list))] {
		paths = append(paths, x.path)
	}
	return paths
}

func (b *plainBM25) score(i int, q string) (score float64) {
	for _, w := range search.WordsOf(q) {
		for _, part := range w.Parts {
			f, n := float64(b.counts[i][part]), float64(b.holders[part])
			idf := math.Log(1 + (float64(len(b.paths))-n+0.5)/(n+0.5))
			score += idf * f * 2.2 / (f + 1.2*(0.25+0.75*float64(b.lengths[i])/b.average))
		}
	}
	return score
}

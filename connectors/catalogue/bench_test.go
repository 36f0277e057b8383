package catalogue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
)

var (
	madeVerbs = strings.Fields("create get list update delete search send cancel approve export import start stop " +
		"restore archive")
	madeNouns = strings.Fields(`invoice customer order payment shipment ticket project board card user group role policy token bucket object queue topic
		stream table row column index cluster node pod service route gateway certificate domain record zone volume snapshot image instance network
		subnet firewall rule alert metric dashboard report job task workflow run step artifact release branch commit review comment label milestone
		webhook event message channel thread file folder share permission calendar meeting contact lead deal campaign segment template form survey`)
	madeWords = strings.Fields(`of the a for with by and in to given optional returns result details currently single multiple existing new specified
		filtered paginated page limit region account organization status state name identifier description owner created time`)
)

// madeSet is a catalogue of n methods over twenty connectors.
func madeSet(t testing.TB, n int) *connectors.Set {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var cs []connectors.Connector
	for c := range 20 {
		var methods []connectors.Method
		for i := range n / 20 {
			verb, a, b := pick(madeVerbs), pick(madeNouns), pick(madeNouns)
			text := []string{verb, "one", a, "of a", b}
			for range 12 {
				text = append(text, pick(madeWords), pick(madeNouns))
			}
			m := method(fmt.Sprintf("%s_%s_%s_%d", verb, a, b, i), strings.Join(text, " ")+".", connectors.Write)
			methods = append(methods,
				takes(m, fmt.Sprintf(
					`{"type":"object","properties":{"%s_id":{"type":"string"},"%s":{"type":"object","properties":{"%s":{}}},"limit":{}}}`,
					a, b, pick(madeNouns))))
		}
		cs = append(cs, catalogueOnly{fmt.Sprintf("service%d", c), methods})
	}
	set, err := connectors.NewSet(t.Context(), cs, nil)
	require.NoError(t, err)
	return set
}

func madeQueries(n int) (list []string) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		verb, a, b := madeVerbs[r.IntN(len(madeVerbs))], madeNouns[r.IntN(len(madeNouns))],
			madeNouns[r.IntN(len(madeNouns))]
		list = append(list, []string{
			verb + " " + a, verb + "_" + a + "_" + b, "how do I " + verb + " the " + a + " of my " + b,
			a, verb + " zebra", b + "s", verb + a,
		}[i%7])
	}
	return list
}

// TestSearchAtScale holds the promise of 20 ms at 100,000 methods, with room for slow machines.
func TestSearchAtScale(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: indexes 100,000 methods")
	}
	set := madeSet(t, 100_000)
	before := heap()
	start := time.Now()
	c := New(set)
	c.Search("warm up", SearchOptions{})
	built := time.Since(start)
	size := heap() - before
	var took []time.Duration
	for _, q := range madeQueries(700) {
		start := time.Now()
		c.Search(q, SearchOptions{})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	t.Logf("index: %v, %d MiB; search: p50 %v, p95 %v, max %v", built.Round(time.Millisecond), size>>20,
		took[len(took)/2], p95, took[len(took)-1])
	assert.Less(t, p95, 100*time.Millisecond)
	assert.Less(t, built, 60*time.Second)
	runtime.KeepAlive(c)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkSearch(b *testing.B) {
	c := New(madeSet(b, 100_000))
	queries := madeQueries(700)
	c.Search("warm up", SearchOptions{})
	for i := 0; b.Loop(); i++ {
		c.Search(queries[i%len(queries)], SearchOptions{})
	}
}

func BenchmarkIndex(b *testing.B) {
	set := madeSet(b, 100_000)
	for b.Loop() {
		New(set).Search("warm up", SearchOptions{})
	}
}

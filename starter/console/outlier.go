package console

import (
	"fmt"
	"slices"
)

// What stands out follows two rules that fit in a sentence each. A number does that is farther from the middle half of
// its column than three times that half's spread. Any other value does that no other row has, in a column of ten rows
// or more in which nearly all values are shared: columns of names or numbers of orders, each its own, mark nothing.
const (
	spreads      = 3
	fewestSpread = 5  // numbers that have a middle half worth the name
	fewestShared = 10 // rows
	rareOne      = 10 // one row in so many may be alone with its value
)

// mark says which cells of a column stand out, and why.
func (t *table) mark(n int) {
	var numbers []float64
	for _, r := range t.Rows {
		if v := r.Cells[n].number; v != nil {
			f, _ := v.Float64()
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == len(t.Rows) && len(numbers) >= fewestSpread {
		low, high, spread := middle(numbers)
		if spread > 0 {
			t.markFar(n, numbers, low, high, spread)
			return
		}
	}
	t.markAlone(n)
}

// middle gives the quartiles and the distance between them.
func middle(numbers []float64) (low, high, spread float64) {
	sorted := slices.Sorted(slices.Values(numbers))
	low, high = quantile(sorted, 0.25), quantile(sorted, 0.75)
	return low, high, high - low
}

// quantile interpolates between the two nearest values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	n := int(at)
	if n+1 >= len(sorted) {
		return sorted[n]
	}
	return sorted[n] + (at-float64(n))*(sorted[n+1]-sorted[n])
}

func (t *table) markFar(n int, numbers []float64, low, high, spread float64) {
	for at, v := range numbers {
		switch {
		case v > high+spreads*spread:
			t.Rows[at].Cells[n].Why = "far above the others"
		case v < low-spreads*spread:
			t.Rows[at].Cells[n].Why = "far below the others"
		}
	}
}

func (t *table) markAlone(n int) {
	if len(t.Rows) < fewestShared {
		return
	}
	counts := map[string]int{}
	for _, r := range t.Rows {
		counts[r.Cells[n].raw]++
	}
	alone := 0
	for _, count := range counts {
		if count == 1 {
			alone++
		}
	}
	if alone > max(1, len(t.Rows)/rareOne) {
		return
	}
	for at := range t.Rows {
		if c := &t.Rows[at].Cells[n]; counts[c.raw] == 1 {
			c.Why = fmt.Sprintf("the only one of %d", len(t.Rows))
		}
	}
}

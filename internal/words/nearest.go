package words

import (
	"cmp"
	"slices"
	"strings"
)

const maxNear = 3

// Nearest gives the candidates that a mistyped name probably meant, the closest
// first. Case and separators do not count.
func Nearest(name string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	want := Fold(name)
	var found []match
	for _, candidate := range candidates {
		if d, ok := closeness(want, Fold(candidate)); ok {
			found = append(found, match{candidate, d})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, m := range found[:min(len(found), maxNear)] {
		names = append(names, m.name)
	}
	return names
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "", "/", "", ".", "", ":", "", "$", "")

// Fold makes names equal that differ only in case and separators.
func Fold(name string) string { return strings.ToLower(separators.Replace(name)) }

// closeness accepts a third of the letters wrong, or one name inside the other.
func closeness(a, b string) (distance int, ok bool) {
	limit := max(len(a), len(b)) / 3
	if abs(len(a)-len(b)) <= limit {
		if d := editDistance(a, b); d <= limit {
			return d, true
		}
	}
	if min(len(a), len(b)) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return limit + abs(len(a)-len(b)), true
	}
	return 0, false
}

func abs(n int) int { return max(n, -n) }

// editDistance is Levenshtein's, over bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			swap := diagonal
			if a[i] != b[j] {
				swap++
			}
			diagonal = row[j+1]
			row[j+1] = min(swap, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

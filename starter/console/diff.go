package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// change is one difference between the issued and the edited arguments.
type change struct {
	Path          string
	Before, After value
	Added, Gone   bool
}

// diff lists what was changed, by path. Both sides are masked.
func diff(before, after json.RawMessage) []change {
	a, _ := decode(signals.Mask(before))
	b, _ := decode(signals.Mask(after))
	var list []change
	compare(&list, "", a, b, len(before) > 0, len(after) > 0)
	return list
}

func compare(list *[]change, path string, a, b any, hasA, hasB bool) {
	mapA, isMapA := a.(map[string]any)
	mapB, isMapB := b.(map[string]any)
	if isMapA && isMapB {
		for _, name := range unionOf(mapA, mapB) {
			valueA, inA := mapA[name]
			valueB, inB := mapB[name]
			compare(list, strings.TrimPrefix(path+"."+signals.Visible(name), "."), valueA, valueB, inA, inB)
		}
		return
	}
	textA, _ := signals.Marshal(a)
	textB, _ := signals.Marshal(b)
	if hasA == hasB && bytes.Equal(textA, textB) {
		return
	}
	if path == "" {
		path = "argument"
	}
	*list = append(*list, change{Path: path, Before: show(textA), After: show(textB), Added: !hasA, Gone: !hasB})
}

func unionOf(a, b map[string]any) []string {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

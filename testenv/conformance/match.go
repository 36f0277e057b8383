package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// absent is the value of what is not there: undefined, which differs from null.
type absent struct{}

// mismatch is one difference. It is an error so that a step can fail with it.
type mismatch struct{ path, got, want string }

func (m *mismatch) Error() string { return fmt.Sprintf("%s: got %s, want %s", m.path, m.got, m.want) }

// decode reads JSON, its numbers kept as they are written.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows after the JSON value")
	}
	return v, nil
}

// asJSON is a Go value in the shape in which the contract's JSON shows it.
func asJSON(v any) (any, error) {
	if v == (absent{}) {
		return v, nil
	}
	raw, err := signals.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decode(raw)
}

// match compares an expectation with a value at a path; nil means that it matches.
func match(path string, want, got any) *mismatch {
	switch want := want.(type) {
	case map[string]any:
		if len(want) == 1 {
			for key, arg := range want {
				if matcher, ok := matchers[key]; ok {
					return matcher(path, arg, got)
				}
			}
		}
		return matchObject(path, want, got)
	case []any:
		return matchList(path, want, got)
	case json.Number:
		if n, ok := got.(json.Number); ok && sameNumber(want, n) {
			return nil
		}
	default:
		if !isContainer(got) && want == got {
			return nil
		}
	}
	return differs(path, got, show(want))
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func differs(path string, got any, want string) *mismatch {
	return &mismatch{path: path, got: show(got), want: want}
}

func matchObject(path string, want map[string]any, got any) *mismatch {
	object, ok := got.(map[string]any)
	if !ok {
		return differs(path, got, show(want))
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if key == "$absent" {
			if m := matchAbsent(path, want[key], object); m != nil {
				return m
			}
			continue
		}
		if m := match(path+member(key), want[key], field(got, key)); m != nil {
			return m
		}
	}
	return nil
}

func matchAbsent(path string, keys any, object map[string]any) *mismatch {
	names, ok := keys.([]any)
	if !ok {
		return badExpectation(path, "$absent", keys)
	}
	for _, name := range names {
		key, ok := name.(string)
		if !ok {
			return badExpectation(path, "$absent", keys)
		}
		if value, there := object[key]; there {
			return differs(path+member(key), value, "no such key")
		}
	}
	return nil
}

func matchList(path string, want []any, got any) *mismatch {
	elements, ok := got.([]any)
	if !ok {
		return differs(path, got, show(want))
	}
	if len(elements) != len(want) {
		return &mismatch{path + ".length", fmt.Sprintf("%d in %s", len(elements), show(got)), strconv.Itoa(len(want))}
	}
	for i := range want {
		if m := match(fmt.Sprintf("%s[%d]", path, i), want[i], elements[i]); m != nil {
			return m
		}
	}
	return nil
}

// matchers stand alone in an object. Filled in init, since they match recursively.
var matchers map[string]func(path string, arg, got any) *mismatch

func init() {
	matchers = map[string]func(string, any, any) *mismatch{
		"$re": matchRe, "$len": matchLen, "$any": matchAny, "$oneOf": matchOneOf, "$set": matchSet,
		"$absent": func(path string, arg, got any) *mismatch {
			return matchObject(path, map[string]any{"$absent": arg}, got)
		},
	}
}

func matchRe(path string, arg, got any) *mismatch {
	text, ok := arg.(string)
	if !ok {
		return badExpectation(path, "$re", arg)
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		return badExpectation(path, "$re", arg)
	}
	if value, ok := got.(string); ok && expression.MatchString(value) {
		return nil
	}
	return differs(path, got, "a text that /"+text+"/ finds")
}

func matchLen(path string, arg, got any) *mismatch {
	length := -1
	switch got := got.(type) {
	case []any:
		length = len(got)
	case string:
		length = signals.Units(got)
	}
	want, ok := arg.(json.Number)
	if !ok {
		return badExpectation(path, "$len", arg)
	}
	if length >= 0 && sameNumber(want, json.Number(strconv.Itoa(length))) {
		return nil
	}
	return differs(path, got, "a list or text of length "+want.String())
}

func matchAny(path string, _, got any) *mismatch {
	if got == (absent{}) {
		return differs(path, got, "any value")
	}
	return nil
}

func matchOneOf(path string, arg, got any) *mismatch {
	choices, ok := arg.([]any)
	if !ok {
		return badExpectation(path, "$oneOf", arg)
	}
	for _, choice := range choices {
		if match(path, choice, got) == nil {
			return nil
		}
	}
	return differs(path, got, "one of "+show(choices))
}

// matchSet gives each expectation an element of its own, whatever the order: a bipartite matching.
func matchSet(path string, arg, got any) *mismatch {
	wants, ok := arg.([]any)
	if !ok {
		return badExpectation(path, "$set", arg)
	}
	elements, ok := got.([]any)
	if !ok {
		return differs(path, got, "a list with "+show(wants))
	}
	owner := make([]int, len(elements)) // which expectation has the element; -1 for none
	for i := range owner {
		owner[i] = -1
	}
	for w := range wants {
		if !assign(w, wants, elements, owner, make([]bool, len(elements))) {
			return differs(path, got, "elements of their own for "+show(wants))
		}
	}
	return nil
}

// assign finds an element for an expectation, moving others to elements that suit them as well.
func assign(w int, wants, elements []any, owner []int, tried []bool) bool {
	for e := range elements {
		if tried[e] || match("", wants[w], elements[e]) != nil {
			continue
		}
		tried[e] = true
		if owner[e] < 0 || assign(owner[e], wants, elements, owner, tried) {
			owner[e] = w
			return true
		}
	}
	return false
}

func badExpectation(path, key string, arg any) *mismatch {
	return &mismatch{path, "an expectation that cannot be read",
		fmt.Sprintf("a proper argument of %s, not %s", key, show(arg))}
}

// sameNumber compares by value: 1, 1.0 and 1e0 are the same. Integers are compared to the last digit.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, ok := new(big.Int).SetString(a.String(), 10)
	y, ok2 := new(big.Int).SetString(b.String(), 10)
	if ok && ok2 {
		return x.Cmp(y) == 0
	}
	f, err := a.Float64()
	g, err2 := b.Float64()
	return err == nil && err2 == nil && f == g
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func member(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	return fmt.Sprintf("[%q]", key)
}

const shownBytes = 1000

func show(v any) string {
	if v == (absent{}) {
		return "nothing"
	}
	raw, err := signals.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return short(raw)
}

func short(raw []byte) string { return signals.Cut(strings.TrimSpace(string(raw)), shownBytes) }

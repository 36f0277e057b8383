// Package truncate cuts what a model is given to a budget.
//
// Its rule: JSON stays JSON of the same shape, with marks where something is missing, and what fits stays as it is.
package truncate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

// Options say how much is kept. MaxChars counts UTF-16 units, as
// JavaScript's length does, and wins over MaxTokens, at four of them a token.
// Zero of both is 6,000 tokens.
type Options struct {
	MaxChars, MaxTokens int
}

const (
	charsPerToken    = 4
	defaultMaxTokens = 6000
	truncationMark   = "--- TRUNCATED ---"
	// leastKept is what a text or container is worth keeping at: one that would
	// get less is left out in favour of those beside it.
	leastKept = 128
)

func (o Options) budget() (chars, tokens int) {
	tokens = o.MaxTokens
	if tokens <= 0 {
		tokens = defaultMaxTokens
	}
	if chars = o.MaxChars; chars <= 0 {
		chars = tokens * charsPerToken
	}
	return chars, tokens
}

// Response cuts a text to a budget and says so at its end.
func Response(s string, o Options) string {
	chars, limit := o.budget()
	length := units(s)
	if length <= chars {
		return s
	}
	return fmt.Sprintf("%s\n\n%s\nResponse was ~%s tokens (limit: %s). Narrow the request to reduce response size.",
		firstUnits(s, chars), truncationMark, tokens.Thousands((length+charsPerToken-1)/charsPerToken),
		tokens.Thousands(limit))
}

// Result cuts a JSON value to a budget. What fits stays as it is; texts
// are cut like [TruncateResponse] does; of anything else the largest parts are
// cut, so that it stays JSON of the same shape, with a mark where something is
// missing. What is no JSON stays, too.
func Result(value json.RawMessage, o Options) json.RawMessage {
	if !json.Valid(value) {
		return value
	}
	v := readValue(bytes.TrimSpace(value))
	if v.kind == '"' {
		return json.RawMessage(quoted(Response(v.text, o)))
	}
	chars, _ := o.budget()
	if v.size <= chars {
		return value
	}
	cut := v.shrink(chars)
	if cut.size > chars {
		return json.RawMessage(quoted(Response(v.json(), o)))
	}
	return json.RawMessage(cut.json())
}

// value is JSON taken apart, with its size as JSON.stringify would write it.
type value struct {
	kind byte // '"', '[', '{', or 'x' for what cannot be cut
	text string
	list []value // elements, or the values of keys
	keys []string
	size int
}

func readValue(raw []byte) value {
	switch raw[0] {
	case '"':
		s, _ := rawjson.String(raw)
		return textValue(s)
	case '[':
		items, _ := rawjson.List(raw)
		list := make([]value, len(items))
		for i, item := range items {
			list[i] = readValue(item)
		}
		return listValue(list)
	case '{':
		var keys []string
		var list []value
		for _, m := range rawjson.Entries(raw) {
			keys, list = append(keys, m.Key), append(list, readValue(m.Value))
		}
		return objectValue(keys, list)
	}
	plain := string(raw)
	return value{kind: 'x', text: plain, size: len(plain)}
}

func textValue(s string) value { return value{kind: '"', text: s, size: units(quoted(s))} }

func listValue(list []value) value {
	v := value{kind: '[', list: list, size: 2 + max(0, len(list)-1)}
	for _, item := range list {
		v.size += item.size
	}
	return v
}

func objectValue(keys []string, list []value) value {
	v := value{kind: '{', keys: keys, list: list, size: 2 + max(0, len(list)-1)}
	for i, item := range list {
		v.size += keySize(keys[i]) + item.size
	}
	return v
}

func keySize(key string) int { return units(quoted(key)) + 1 }

func (v value) json() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v value) write(b *strings.Builder) {
	switch v.kind {
	case 'x':
		b.WriteString(v.text)
	case '"':
		b.WriteString(quoted(v.text))
	default:
		b.WriteByte(v.kind)
		for i, item := range v.list {
			if i > 0 {
				b.WriteByte(',')
			}
			if v.kind == '{' {
				b.WriteString(quoted(v.keys[i]) + ":")
			}
			item.write(b)
		}
		b.WriteByte(v.kind + 2)
	}
}

// quoted writes a text as JSON.stringify does.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	out := strings.TrimSuffix(b.String(), "\n")
	if strings.Contains(out, `\u202`) {
		out = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(out)
	}
	return out
}

// units is a text's length in JavaScript.
func units(s string) (n int) {
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// firstUnits is slice(0, n), but never half a character.
func firstUnits(s string, n int) string {
	for i, r := range s {
		if n -= max(1, utf16.RuneLen(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

func (v value) shrink(most int) value {
	switch {
	case v.size <= most:
		return v
	case v.kind == '"':
		return v.shrinkText(most)
	case v.kind == '[':
		return v.shrinkList(most)
	case v.kind == '{':
		return v.shrinkObject(most)
	}
	return v
}

func (v value) shrinkText(most int) value {
	suffix := " " + truncationMark + " " + tokens.Thousands(units(v.text)) + " chars"
	keep := max(0, most-len(suffix)-2)
	cut := textValue(firstUnits(v.text, keep) + suffix)
	for keep > 0 && cut.size > most {
		keep = max(0, keep-(cut.size-most))
		cut = textValue(firstUnits(v.text, keep) + suffix)
	}
	if cut.size <= most {
		return cut
	}
	return textValue(truncationMark[:min(max(0, most-2), len(truncationMark))])
}

// floor is what a value is kept at least at; what cannot be cut has to fit whole.
func (v value) floor(most int) int {
	if v.kind == 'x' {
		return v.size
	}
	return floorOf(v.size, most)
}

// floorOf takes at most half of the room, so that a small one keeps something.
func floorOf(size, most int) int { return min(size, leastKept, max(2, most/2)) }

// allocate shares room among values: the smallest first, each gets its size or
// an equal part of what is left.
func allocate(list []value, room int) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return list[a].size - list[b].size })
	shares := make([]int, len(list))
	for n, i := range order {
		shares[i] = min(list[i].size, floorDiv(room, len(order)-n))
		room -= shares[i]
	}
	return shares
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func shrinkAll(list []value, room int) []value {
	cut := make([]value, len(list))
	for i, share := range allocate(list, room) {
		cut[i] = list[i].shrink(share)
	}
	return cut
}

func (v value) shrinkList(most int) value {
	note := func(dropped int) value {
		return textValue(truncationMark + " " + tokens.Thousands(dropped) + " more items")
	}
	keep := v.listKeeps(most, note(len(v.list)).size+1)
	dropped := len(v.list) - keep
	room := most - 2 - max(0, keep-1)
	if dropped > 0 {
		room -= note(dropped).size
		if keep > 0 {
			room--
		}
	}
	cut := shrinkAll(v.list[:keep], room)
	if dropped > 0 {
		if marked := listValue(append(slices.Clone(cut), note(dropped))); marked.size <= most {
			return marked
		}
	}
	return listValue(cut)
}

// listKeeps is how many elements fit at their floors, beside the note if not all do.
func (v value) listKeeps(most, noteSize int) int {
	sum := 2 + max(0, len(v.list)-1)
	for _, item := range v.list {
		sum += item.floor(most)
	}
	if sum <= most {
		return len(v.list)
	}
	used := 2 + noteSize
	for i, item := range v.list {
		if used += item.floor(most) + 1; used > most {
			return i
		}
	}
	return len(v.list)
}

func (v value) shrinkObject(most int) value {
	o := v.omission(most)
	if o.cost() > most {
		room := most - 2 - keySize(o.key)
		if room < 2 {
			return objectValue(nil, nil)
		}
		return objectValue([]string{o.key}, []value{textValue(o.note()).shrink(room)})
	}
	var keys []string
	var list []value
	for i, key := range v.keys {
		if !o.dropped[i] {
			keys, list = append(keys, key), append(list, v.list[i])
		}
	}
	if len(o.dropped) > 0 {
		keys, list = append(keys, o.key), append(list, textValue(o.note()))
	}
	room := most - 2 - max(0, len(list)-1)
	for _, key := range keys {
		room -= keySize(key)
	}
	return objectValue(keys, shrinkAll(list, room))
}

// omission is the keys that an object loses, and what is said of them.
type omission struct {
	of      value
	most    int
	key     string
	dropped map[int]bool
	floors  int
	names   int
}

// omission drops the largest values until the rest fits at their floors.
func (v value) omission(most int) *omission {
	o := &omission{of: v, most: most, key: truncationMark, dropped: map[int]bool{}}
	for slices.Contains(v.keys, o.key) {
		o.key += " "
	}
	order := make([]int, len(v.list))
	for i, item := range v.list {
		order[i] = i
		o.floors += keySize(v.keys[i]) + item.floor(most)
	}
	slices.SortStableFunc(order, func(a, b int) int { return v.list[b].size - v.list[a].size })
	for _, i := range order {
		if o.cost() <= most {
			break
		}
		o.dropped[i] = true
		o.floors -= keySize(v.keys[i]) + v.list[i].floor(most)
		o.names += units(quoted(v.keys[i])) - 2
	}
	return o
}

// cost is the least size of what is left.
func (o *omission) cost() int {
	n, marker := len(o.of.list)-len(o.dropped), 0
	if len(o.dropped) > 0 {
		note := len(tokens.Thousands(len(o.dropped))+" keys omitted: ") + o.names + 2*(len(o.dropped)-1)
		marker = keySize(o.key) + floorOf(note+2, o.most)
		n++
	}
	return 2 + max(0, n-1) + o.floors + marker
}

func (o *omission) note() string {
	var names []string
	for i, key := range o.of.keys {
		if o.dropped[i] {
			names = append(names, key)
		}
	}
	return tokens.Thousands(len(names)) + " keys omitted: " + strings.Join(names, ", ")
}

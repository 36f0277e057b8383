// Package rawjson reads and writes JSON in place, without decoding it.
//
// Its rule: what it is given is valid and, unless a function says otherwise, compact, as Compact makes it.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"unicode/utf8"
)

// Documents are kept as compact JSON and read in place: decoded into Go values
// a large one costs seconds and many times its size, and most of it is never
// looked at. The functions below rely on that form, which Compact gives.

var errNotJSON = errors.New("it is not valid JSON")

// Compact checks a text and takes white space out of it.
func Compact(data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(data))
	if err := json.Compact(&b, data); err != nil {
		return nil, errNotJSON
	}
	compact := b.Bytes()
	if !utf8.Valid(compact) {
		compact = bytes.ToValidUTF8(compact, []byte("\uFFFD"))
	}
	return bytes.Clone(compact), nil
}

// SkipValue gives the index behind the value that starts at i.
func SkipValue(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = SkipString(raw, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
			continue
		default:
			i = SkipLiteral(raw, i)
		}
		if depth == 0 {
			return i
		}
	}
	return len(raw)
}

func SkipLiteral(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', '}', ']', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

// Members visits the members of an object, in order; anything else has none.
func Members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !IsObject(raw) {
			return
		}
		for i := 1; i < len(raw) && raw[i] == '"'; i++ {
			colon := SkipString(raw, i)
			end := SkipValue(raw, colon+1)
			if !yield(Text(raw[i:colon]), raw[colon+1:end]) {
				return
			}
			i = end
		}
	}
}

// Elements visits the elements of an array; anything else has none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !IsArray(raw) {
			return
		}
		for i := 1; i < len(raw) && raw[i] != ']'; i++ {
			end := SkipValue(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			i = end
		}
	}
}

func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func IsArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func IsText(raw []byte) bool   { return len(raw) > 0 && raw[0] == '"' }
func IsTrue(raw []byte) bool   { return string(raw) == "true" }
func IsNull(raw []byte) bool   { return string(raw) == "null" }

func IsNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// Member is the value of one member, nil when there is none.
func Member(raw []byte, name string) []byte {
	for key, value := range Members(raw) {
		if key == name {
			return value
		}
	}
	return nil
}

// Path goes down through members.
func Path(raw []byte, names ...string) []byte {
	for _, name := range names {
		raw = Member(raw, name)
	}
	return raw
}

// Text is the content of a string literal, empty for anything else.
func Text(raw []byte) string {
	if !IsText(raw) || len(raw) < 2 {
		return ""
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(raw, &text) // valid already, and half a surrogate pair is replaced
	return text
}

func Texts(raw []byte) (list []string) {
	for element := range Elements(raw) {
		if IsText(element) {
			list = append(list, Text(element))
		}
	}
	return list
}

// Quote is the string literal of a text.
func Quote(text string) []byte {
	raw, _ := Marshal(text) // strings always can be
	return raw
}

// Step goes to a member or, in an array, to an element.
func Step(raw []byte, step string) []byte {
	if IsObject(raw) {
		return Member(raw, step)
	}
	index, err := strconv.Atoi(step)
	if err != nil {
		return nil
	}
	for element := range Elements(raw) {
		if index == 0 {
			return element
		}
		index--
	}
	return nil
}

// Object writes an object member by member.
type Object struct{ Raw []byte }

func (o *Object) Add(name string, value []byte) {
	o.Raw = append(append(o.Raw, ','), Quote(name)...)
	o.Raw = append(append(o.Raw, ':'), value...)
}

func (o *Object) Empty() bool { return len(o.Raw) == 0 }

func (o *Object) Bytes() []byte {
	if o.Empty() {
		return []byte("{}")
	}
	return append(append([]byte{'{'}, o.Raw[1:]...), '}')
}

// Array writes an array of what is JSON already.
func Array(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

func TextArray(texts []string) []byte {
	raw, _ := Marshal(texts)
	return raw
}

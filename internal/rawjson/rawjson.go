// Package rawjson reads and writes JSON in place, without decoding it: a large document decoded into Go values costs
// seconds and many times its size, and most of it is never looked at. The order of members is kept.
//
// Its rule: what it is given is valid JSON without white space around it. Values that it hands out are parts of what it
// was given.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"unicode/utf8"
)

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

// Members visits the members of an object, in order; anything else has none.
func Members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !IsObject(raw) {
			return
		}
		for i := SkipSpace(raw, 1); i < len(raw) && raw[i] == '"'; {
			end := SkipString(raw, i)
			key := Text(raw[i:end])
			i = SkipSpace(raw, SkipSpace(raw, end)+1)
			end = SkipValue(raw, i)
			if !yield(key, raw[i:end]) {
				return
			}
			i = skipComma(raw, end)
		}
	}
}

// Entry is a member of an object.
type Entry struct {
	Key   string
	Value []byte
}

// Entries lists the members of an object. As in JavaScript, of a repeated key the first place and the last value count.
func Entries(raw []byte) []Entry {
	var list []Entry
	for key, value := range Members(raw) {
		list = append(list, Entry{key, value})
	}
	if !repeats(list) {
		return list
	}
	at := make(map[string]int, len(list))
	kept := list[:0]
	for _, m := range list {
		if i, seen := at[m.Key]; seen {
			kept[i].Value = m.Value
			continue
		}
		at[m.Key] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

// manyEntries is how many make a map cheaper than to compare each with each.
const manyEntries = 24

func repeats(list []Entry) bool {
	if len(list) > manyEntries {
		return true // may repeat: a map will tell
	}
	for i := range list {
		for j := range i {
			if list[i].Key == list[j].Key {
				return true
			}
		}
	}
	return false
}

// Elements visits the elements of an array; anything else has none.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !IsArray(raw) {
			return
		}
		for i := SkipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
			end := SkipValue(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			i = skipComma(raw, end)
		}
	}
}

// List is the elements of an array; ok tells an empty one from no array.
func List(raw []byte) (list [][]byte, ok bool) {
	for element := range Elements(raw) {
		list = append(list, element)
	}
	return list, IsArray(raw)
}

// IsObject and the like tell by the first byte what a value is.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// IsArray tells an array.
func IsArray(raw []byte) bool { return len(raw) > 0 && raw[0] == '[' }

// IsText tells a string.
func IsText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// IsTrue tells true.
func IsTrue(raw []byte) bool { return string(raw) == "true" }

// IsNull tells null.
func IsNull(raw []byte) bool { return string(raw) == "null" }

// IsNumber tells a number.
func IsNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// Member is the value of one member, nil when there is none; of a repeated one the first.
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

// String is the content of a string literal; ok is false for anything else.
func String(raw []byte) (text string, ok bool) {
	if !IsText(raw) || len(raw) < 2 {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	err := json.Unmarshal(raw, &text) // half a surrogate pair is replaced
	return text, err == nil
}

// Text is the content of a string literal, empty for anything else.
func Text(raw []byte) string {
	text, _ := String(raw)
	return text
}

// Texts are the strings of an array, without what else it holds.
func Texts(raw []byte) (list []string) {
	for element := range Elements(raw) {
		if text, ok := String(element); ok {
			list = append(list, text)
		}
	}
	return list
}

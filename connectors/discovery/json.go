package discovery

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Schemas are read where they lie, one level at a time: property order stays
// that of the document, and of a large document only what is asked for is
// parsed. The functions here take JSON that [document] found valid.

// member is one entry of an object, its value unread.
type member struct {
	key string
	raw []byte
}

// object lists the members of an object, none for any other value. As in
// JavaScript, of a repeated key the first place and the last value count.
func object(raw []byte) []member {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var list []member
	for i := skipSpace(raw, 1); i < len(raw) && raw[i] != '}'; {
		end := skipValue(raw, i)
		key, _ := text(raw[i:end])
		i = skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, i)
		list = append(list, member{key, raw[i:end]})
		i = next(raw, end)
	}
	return lastOfEach(list)
}

func lastOfEach(list []member) []member {
	if !repeats(list) {
		return list
	}
	at := make(map[string]int, len(list))
	kept := list[:0]
	for _, m := range list {
		if i, seen := at[m.key]; seen {
			kept[i].raw = m.raw
			continue
		}
		at[m.key] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

func repeats(list []member) bool {
	if len(list) > 24 {
		return true // may repeat: a map will tell
	}
	for i := range list {
		for j := range i {
			if list[i].key == list[j].key {
				return true
			}
		}
	}
	return false
}

// elements lists what an array holds; ok tells an empty one from no array.
func elements(raw []byte) (list [][]byte, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
		end := skipValue(raw, i)
		list = append(list, raw[i:end])
		i = next(raw, end)
	}
	return list, true
}

// text is the value of a string.
func text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func texts(raw []byte) (list []string) {
	items, _ := elements(raw)
	for _, item := range items {
		if s, ok := text(item); ok {
			list = append(list, s)
		}
	}
	return list
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// next steps over the comma after a value, if there is one.
func next(raw []byte, i int) int {
	if i = skipSpace(raw, i); i < len(raw) && raw[i] == ',' {
		i = skipSpace(raw, i+1)
	}
	return i
}

func skipValue(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
		return skipContainer(raw, i)
	}
	for i < len(raw) && !ends(raw[i]) {
		i++
	}
	return i
}

// ends tells of what follows a number, true, false or null.
func ends(c byte) bool { return c == ',' || c == ']' || c == '}' || c <= ' ' }

func skipString(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipContainer(raw []byte, i int) int {
	for depth := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// compact is JSON without white space, as JSON.stringify writes it but for
// numbers and escapes, which stay.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "null"
	}
	return b.String()
}

// number writes a number as JavaScript's String does.
func number(raw []byte) string {
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil:
		return "number"
	case f == 0:
		return "0"
	}
	if a := math.Abs(f); a >= 1e21 || a < 1e-6 {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func trimmed(raw []byte) []byte { return bytes.TrimSpace(raw) }

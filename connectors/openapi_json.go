package connectors

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
// looked at. The functions below rely on that form, which compactJSON gives.

var errNotJSON = errors.New("it is not valid JSON")

// compactJSON checks a text and takes white space out of it.
func compactJSON(data []byte) ([]byte, error) {
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

// skipText gives the index behind the string literal that starts at i. Most of a
// document is prose, so it is worth to look for the quote alone.
func skipText(raw []byte, i int) int {
	for i++; i < len(raw); {
		quote := bytes.IndexByte(raw[i:], '"')
		if quote < 0 {
			break
		}
		escapes := 0
		for escapes < quote && raw[i+quote-1-escapes] == '\\' {
			escapes++
		}
		if i += quote + 1; escapes%2 == 0 {
			return i
		}
	}
	return len(raw)
}

// skipJSON gives the index behind the value that starts at i.
func skipJSON(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = skipText(raw, i)
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
			i = skipLiteral(raw, i)
		}
		if depth == 0 {
			return i
		}
	}
	return len(raw)
}

func skipLiteral(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', '}', ']', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

// jsonMembers visits the members of an object, in order; anything else has none.
func jsonMembers(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !isObject(raw) {
			return
		}
		for i := 1; i < len(raw) && raw[i] == '"'; i++ {
			colon := skipText(raw, i)
			end := skipJSON(raw, colon+1)
			if !yield(jsonText(raw[i:colon]), raw[colon+1:end]) {
				return
			}
			i = end
		}
	}
}

// jsonElements visits the elements of an array; anything else has none.
func jsonElements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !isArray(raw) {
			return
		}
		for i := 1; i < len(raw) && raw[i] != ']'; i++ {
			end := skipJSON(raw, i)
			if !yield(raw[i:end]) {
				return
			}
			i = end
		}
	}
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isText(raw []byte) bool   { return len(raw) > 0 && raw[0] == '"' }
func isTrue(raw []byte) bool   { return string(raw) == "true" }
func isNull(raw []byte) bool   { return string(raw) == "null" }

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// jsonMember is the value of one member, nil when there is none.
func jsonMember(raw []byte, name string) []byte {
	for key, value := range jsonMembers(raw) {
		if key == name {
			return value
		}
	}
	return nil
}

// jsonPath goes down through members.
func jsonPath(raw []byte, names ...string) []byte {
	for _, name := range names {
		raw = jsonMember(raw, name)
	}
	return raw
}

// jsonText is the content of a string literal, empty for anything else.
func jsonText(raw []byte) string {
	if !isText(raw) || len(raw) < 2 {
		return ""
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var text string
	_ = json.Unmarshal(raw, &text) // valid already, and half a surrogate pair is replaced
	return text
}

func jsonTexts(raw []byte) (list []string) {
	for element := range jsonElements(raw) {
		if isText(element) {
			list = append(list, jsonText(element))
		}
	}
	return list
}

// quoteJSON is the string literal of a text.
func quoteJSON(text string) []byte {
	raw, _ := marshal(text) // strings always can be
	return raw
}

// jsonStep goes to a member or, in an array, to an element.
func jsonStep(raw []byte, step string) []byte {
	if isObject(raw) {
		return jsonMember(raw, step)
	}
	index, err := strconv.Atoi(step)
	if err != nil {
		return nil
	}
	for element := range jsonElements(raw) {
		if index == 0 {
			return element
		}
		index--
	}
	return nil
}

// jsonObject writes an object member by member.
type jsonObject struct{ raw []byte }

func (o *jsonObject) add(name string, value []byte) {
	o.raw = append(append(o.raw, ','), quoteJSON(name)...)
	o.raw = append(append(o.raw, ':'), value...)
}

func (o *jsonObject) empty() bool { return len(o.raw) == 0 }

func (o *jsonObject) bytes() []byte {
	if o.empty() {
		return []byte("{}")
	}
	return append(append([]byte{'{'}, o.raw[1:]...), '}')
}

// jsonArray writes an array of what is JSON already.
func jsonArray(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

func textArray(texts []string) []byte {
	raw, _ := marshal(texts)
	return raw
}

package rawjson

import "bytes"

// Positions in a text: each function takes an index and gives the one behind what stands there.

// SkipSpace steps over white space.
func SkipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// SkipString steps over the string literal that starts at i. Most of a document is prose, so looking for the quote
// alone is several times faster than looking at each byte.
func SkipString(raw []byte, i int) int {
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

// SkipValue steps over the value that starts at i.
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
		case ',', ':', ' ', '\n', '\t', '\r':
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

// SkipLiteral steps over a number, true, false or null.
func SkipLiteral(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', '}', ']', ':', '"', '{', '[', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// skipComma steps over what separates two values.
func skipComma(raw []byte, i int) int {
	if i = SkipSpace(raw, i); i < len(raw) && raw[i] == ',' {
		i = SkipSpace(raw, i+1)
	}
	return i
}

// EachNumber visits the number tokens.
func EachNumber(raw []byte, visit func(from, to int)) {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '"':
			i = SkipString(raw, i)
		case c == '-' || c >= '0' && c <= '9':
			from := i
			i = SkipLiteral(raw, i)
			visit(from, i)
		default:
			i++
		}
	}
}

// HasHugeNumber finds exponents beyond a double's: who computes with exact fractions would need gigabytes for
// 1e999999999.
func HasHugeNumber(raw []byte) bool {
	huge := false
	EachNumber(raw, func(from, to int) {
		if e := bytes.IndexAny(raw[from:to], "eE"); e >= 0 {
			huge = huge || len(bytes.TrimLeft(raw[from+e+1:to], "+-0")) > 3
		}
	})
	return huge
}

// Size is how much a value holds.
type Size struct {
	Elements int // values in it, itself too
	Depth    int // levels of nesting
	Digits   int // of its longest number, as written
}

// Measure counts what a value holds.
func Measure(raw []byte) Size {
	s := Size{Elements: 1}
	depth := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = SkipString(raw, i)
			continue
		case c == '-' || c >= '0' && c <= '9':
			from := i
			i = SkipLiteral(raw, i)
			s.Digits = max(s.Digits, i-from)
			continue
		case c == '{' || c == '[':
			depth++
			s.Depth = max(s.Depth, depth)
			if next := SkipSpace(raw, i+1); next < len(raw) && raw[next] != '}' && raw[next] != ']' {
				s.Elements++
			}
		case c == '}' || c == ']':
			depth--
		case c == ',':
			s.Elements++
		}
		i++
	}
	return s
}

// IsDigits accepts one or more decimal digits and nothing else.
func IsDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

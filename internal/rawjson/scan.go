package rawjson

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal that leaves <, > and & alone.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// EachNumber visits the number tokens of valid JSON.
func EachNumber(raw []byte, visit func(from, to int)) {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '"':
			i = SkipString(raw, i)
		case c == '-' || c >= '0' && c <= '9':
			from := i
			for i < len(raw) && isNumberByte(raw[i]) {
				i++
			}
			visit(from, i)
		default:
			i++
		}
	}
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// SkipString gives the index behind the string literal that starts at i. Most of a document is prose, so looking for the
// quote alone is several times faster than looking at each byte.
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

// IsDigits accepts one or more decimal digits and nothing else.
func IsDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// HasHugeNumber finds exponents beyond a double's: the validator computes with
// exact fractions, and 1e999999999 would take gigabytes.
func HasHugeNumber(raw []byte) bool {
	huge := false
	EachNumber(raw, func(from, to int) {
		if e := bytes.IndexAny(raw[from:to], "eE"); e >= 0 {
			huge = huge || len(bytes.TrimLeft(raw[from+e+1:to], "+-0")) > 3
		}
	})
	return huge
}

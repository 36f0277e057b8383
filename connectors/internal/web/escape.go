package web

import (
	"strings"
)

// PercentEncode is encodeURIComponent. With reserved it leaves alone what has a
// meaning in URLs, but not what would end a member of the query or the query,
// and takes escapes for what they are.
func PercentEncode(text string, reserved bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte(unreservedMarks, c) >= 0,
			reserved && strings.IndexByte(reservedMarks, c) >= 0,
			reserved && c == '%' && isEscape(text[i:]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

const (
	unreservedMarks = "-_.~!*'()"
	reservedMarks   = ":/?@$,;="
	hexDigits       = "0123456789ABCDEF"
)

func isEscape(text string) bool {
	return len(text) >= 3 && isHex(text[1]) && isHex(text[2])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// EncodedPair escapes both sides of a pair and leaves alone what has a meaning in URLs.
func EncodedPair(name, value string) Pair {
	return Pair{Name: PercentEncode(name, true), Value: PercentEncode(value, true)}
}

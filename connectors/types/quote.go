package types

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

func IsIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !tokens.IsLower(c) && !tokens.IsUpper(c) && c != '_' && c != '$' && (i == 0 || !tokens.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}

// quoteName writes a property name as TypeScript wants it.
func quoteName(name string) string {
	if IsIdentifier(name) {
		return name
	}
	return quote(name)
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\\' || r == '"':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var lowerAfterUnderscore = regexp.MustCompile(`_[a-z]`)

// pascal makes a type's name of a method's, a definition's or a property's.
func pascal(name string) string {
	clean := lowerAfterUnderscore.ReplaceAllStringFunc(connectors.SanitizeToolName(name), func(s string) string {
		return strings.ToUpper(s[1:])
	})
	return strings.ToUpper(clean[:1]) + clean[1:]
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

func Trimmed(raw []byte) []byte { return bytes.TrimSpace(raw) }

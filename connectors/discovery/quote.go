package discovery

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/temporal-codemode/codemode/connectors"
)

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLower(c) && !isUpper(c) && c != '_' && c != '$' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return s != ""
}

// quoteName writes a property name as TypeScript wants it.
func quoteName(name string) string {
	if isIdentifier(name) {
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

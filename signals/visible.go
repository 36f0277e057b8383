package signals

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible makes characters readable that hide, that steer a terminal, or that reorder the text around them: who decides
// has to see what is there. Line breaks and tabs stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hides) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r)
}

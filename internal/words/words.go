// Package words holds what all packages need for names and short texts: sets of words, near matches, cutting.
//
// Its rule: nothing here knows what the words mean.
package words

import (
	"regexp"
	"strings"
)

func Set(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

const MaxValue = 80

// Identifier is what JavaScript takes for a name, letters beyond ASCII aside.
var Identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

package search

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// word is a run of letters and digits, and what it splits into by case.
type word struct {
	Parts []string
	// whole is the word unsplit, when it has several parts.
	whole string
}

// WordsOf splits a text by punctuation and case. Accents are dropped, and scripts
// without spaces are cut into pairs of characters.
func WordsOf(s string) []word {
	var list []word
	for _, field := range strings.FieldsFunc(unaccented(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if parts := splitCase(field); len(parts) > 1 {
			list = append(list, word{parts, strings.ToLower(field)})
		} else {
			list = append(list, word{Parts: pairs(strings.ToLower(field))})
		}
	}
	return list
}

// unaccented drops accents.
func unaccented(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// splitCase cuts before a capital that follows a small letter or a digit, and
// before the last of several capitals: HTTPServer2Go is http, server2, go.
func splitCase(s string) []string {
	if !hasInnerUpper(s) {
		return []string{strings.ToLower(s)}
	}
	var (
		parts []string
		start int
		runes = []rune(s)
	)
	for i := 1; i < len(runes); i++ {
		if !unicode.IsUpper(runes[i]) {
			continue
		}
		before := !unicode.IsUpper(runes[i-1])
		after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if before || after {
			parts = append(parts, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return append(parts, strings.ToLower(string(runes[start:])))
}

func hasInnerUpper(s string) bool {
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// pairs cuts a run of characters that are words themselves.
func pairs(s string) []string {
	if isASCII(s) {
		return []string{s}
	}
	runes := []rune(s)
	if len(runes) < 3 ||
		!unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
		return []string{s}
	}
	list := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		list = append(list, string(runes[i:i+2]))
	}
	return list
}

// Stem cuts English endings, so that create, creates, created, creating and
// creation are one. What it makes of other words does not matter as long as it
// is the same each time.
func Stem(w string) string {
	if len(w) <= 3 || !isASCII(w) || w[0] >= '0' && w[0] <= '9' {
		return w
	}
	w = singular(w)
	for _, ending := range []struct {
		suffix string
		least  int // letters that must be left
	}{{"ation", 4}, {"ment", 5}, {"ing", 3}, {"ed", 3}, {"ion", 4}, {"e", 3}} {
		if head, ok := strings.CutSuffix(w, ending.suffix); ok && len(head) >= ending.least && hasVowel(head) {
			w = undouble(head, ending.suffix)
			break
		}
	}
	w = strings.TrimSuffix(w, "e")
	if len(w) > 5 && strings.HasSuffix(w, "ll") {
		w = w[:len(w)-1]
	}
	return w
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"),
		strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble makes stop of stopp, which stopped and stopping leave.
func undouble(head, suffix string) string {
	n := len(head)
	if (suffix == "ed" || suffix == "ing") && head[n-1] == head[n-2] &&
		!strings.ContainsRune("aeioulsz", rune(head[n-1])) {
		return head[:n-1]
	}
	return head
}

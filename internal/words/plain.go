package words

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	Markup = regexp.MustCompile(`</?(?:p|a|b|i|em|strong|code|br|ul|ol|li|span|div|h[1-6])(?:\s[^<>]*)?/?>`)
	link   = regexp.MustCompile(`\[([^\[\]]*)\]\([^()\s]*\)`)
)

// Plain is a description without markup, on one line.
func Plain(s string) string {
	if strings.IndexByte(s, '<') >= 0 {
		s = Markup.ReplaceAllString(s, " ")
	}
	if strings.Contains(s, "](") {
		s = link.ReplaceAllString(s, "$1")
	}
	return strings.Join(strings.Fields(s), " ")
}

// Abridge keeps whole sentences where it can, whole words otherwise.
func Abridge(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	head := s[:limit]
	if end := strings.LastIndex(head, ". "); end >= limit/3 {
		return head[:end+1]
	}
	if space := strings.LastIndexByte(head, ' '); space >= limit/2 {
		head = head[:space]
	}
	return head + "…"
}

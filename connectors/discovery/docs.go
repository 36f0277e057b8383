package discovery

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// docs is what a schema says about a value beside its type.
type docs struct {
	description, format string
	// limits are tags such as "@default 30 @maximum 100".
	limits string
}

// detail is how much of the docs is printed.
type detail int

const (
	whole detail = iota
	short
	terse
	bare
)

// longest description at each detail, in bytes.
var longest = map[detail]int{short: 100, terse: 40}

func (d docs) comment(level detail, indent string) string {
	lines := d.lines(level)
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return indent + "/** " + lines[0] + " */\n"
	}
	return indent + "/**\n" + indent + " * " + strings.Join(lines, "\n"+indent+" * ") + "\n" + indent + " */\n"
}

func (d docs) lines(level detail) (lines []string) {
	if level == bare {
		return nil
	}
	description := d.description
	if limit, cut := longest[level]; cut {
		description = shorten(plainText(description), limit)
	}
	for _, line := range []string{description, tag("@format ", d.format), d.limits} {
		if line != "" {
			lines = append(lines, commentText(line))
		}
	}
	if level == terse && len(lines) > 1 {
		return []string{strings.Join(lines, " ")}
	}
	return lines
}

func tag(name, value string) string {
	if value == "" {
		return ""
	}
	return name + value
}

var lineBreak = regexp.MustCompile(`\r?\n`)

// commentText keeps a text inside the comment and on its line.
func commentText(s string) string {
	return strings.ReplaceAll(lineBreak.ReplaceAllString(s, " "), "*/", `*\/`)
}

var (
	markup = regexp.MustCompile(`</?(?:p|a|b|i|em|strong|code|br|ul|ol|li|span|div|h[1-6])(?:\s[^<>]*)?/?>`)
	link   = regexp.MustCompile(`\[([^\[\]]*)\]\([^()\s]*\)`)
)

// plainText is a description without markup, on one line.
func plainText(s string) string {
	s = markup.ReplaceAllString(s, " ")
	s = link.ReplaceAllString(s, "$1")
	return strings.Join(strings.Fields(s), " ")
}

// shorten keeps whole sentences where it can, whole words otherwise.
func shorten(s string, limit int) string {
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

// docs reads what a property's schema says. A reference to what has no
// declaration of its own is documented by what it leads to.
func (c *converter) docs(raw []byte) docs {
	s := newSchema(raw)
	d := docs{description: s.text("description"), format: s.text("format")}
	if c.exact {
		return d
	}
	if ref := s.ref(); ref != "" && d == (docs{}) {
		if target, ok := c.doc.resolve(ref); ok && c.doc.name(target) == "" || ok && c.small(target) {
			s = newSchema(target)
			d = docs{description: s.text("description"), format: s.text("format")}
		}
	}
	d.limits = limits(s)
	return d
}

// limitTags are the keywords shown, in this order.
var limitTags = []string{
	"default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "readOnly", "writeOnly", "deprecated",
}

const longestLimit = 60

func limits(s schema) string {
	var tags []string
	for _, m := range s.members {
		if tag := limitTag(m, s); tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.SortStableFunc(tags, func(a, b string) int { return cmp.Compare(tagOrder(a), tagOrder(b)) })
	return strings.Join(tags, " ")
}

func tagOrder(tag string) int {
	name, _, _ := strings.Cut(tag, " ")
	return slices.Index(limitTags, name[1:])
}

func limitTag(m member, s schema) string {
	if !slices.Contains(limitTags, m.key) || len(m.raw) > longestLimit {
		return ""
	}
	switch string(m.raw) {
	case "false":
		if m.key != "default" {
			return ""
		}
	case "true":
		if m.key == "default" {
			break
		}
		// Draft 4 says with true that the limit beside it is exclusive.
		if bound, draft4 := strings.CutPrefix(m.key, "exclusiveM"); draft4 {
			return "@" + m.key + " " + string(s.get("m"+bound))
		}
		return "@" + m.key
	}
	value, isText := text(m.raw)
	if !isText || m.key == "default" {
		value = compact(m.raw)
	}
	return "@" + m.key + " " + value
}

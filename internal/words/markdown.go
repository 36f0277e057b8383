package words

import (
	"regexp"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// Texts that programs and tools chose stand in the Markdown of the Temporal Web UI only as code: there they can neither
// end what they stand in, nor make links, images or rows of a table.

var ticks = regexp.MustCompile("`+")

// Fenced is a block of code in Markdown, with a fence longer than any inside.
func Fenced(language, text string) string {
	fence := "```"
	for _, inside := range ticks.FindAllString(text, -1) {
		if len(inside) >= len(fence) {
			fence = inside + "`"
		}
	}
	return fence + language + "\n" + strings.TrimSuffix(signals.Visible(text), "\n") + "\n" + fence
}

// inSpan keeps a text inside its span, and the span inside a cell of a table, which ends inside of spans too.
var inSpan = strings.NewReplacer("`", `\u0060`, "|", `\u007c`, "\n", " ", "\t", " ")

// CodeSpan is a piece of code in a line of Markdown, or in a cell of a table; empty for an empty text.
func CodeSpan(text string) string {
	if text = strings.TrimSpace(inSpan.Replace(signals.Visible(text))); text == "" {
		return ""
	}
	return "`" + text + "`"
}

// active is what Markdown, or who reads it, could make more of than text.
var active = regexp.MustCompile("[`\\[\\]<>*_~|\\\\#&]|://|www\\.|@")

// OneLine is a line of Markdown that shows a text: as it is where that is only text, else as code.
func OneLine(text string) string {
	text = signals.Visible(text)
	if active.MatchString(text) || strings.ContainsAny(text, "\n\t") {
		return CodeSpan(text)
	}
	return text
}

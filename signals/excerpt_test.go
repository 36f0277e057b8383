package signals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 100) + "x" + strings.Repeat("b", 100)
	for name, c := range map[string]struct {
		code         string
		line, column int
		want         string
	}{
		"a line":               {"const a = 1\nreturn a.b.c", 2, 12, "return a.b.c\n           ^"},
		"indented":             {"{\n\t  a.b()\r\n}", 2, 6, "a.b()\n  ^"},
		"caret in the indent":  {"    a()", 1, 3, "  a()\n^"},
		"the end of the line":  {"a(", 1, 3, "a(\n  ^"},
		"beyond it":            {"a(", 1, 90, "a(\n  ^"},
		"after an emoji":       {`f("😀", x)`, 1, 9, "f(\"😀\", x)\n       ^"},
		"inside a fence":       {"```ts\nreturn x.y\n```", 2, 10, "return x.y\n         ^"},
		"no such line":         {"a", 2, 1, ""},
		"an empty line":        {"a\n\nb", 2, 1, ""},
		"what hides":           {"a\u202eb\x1b.c", 1, 5, "a·b·.c\n    ^"},
		"the middle of a line": {long, 1, 101, "…" + long[21:179] + "…\n" + strings.Repeat(" ", 80) + "^"},
		"the beginning of one": {long, 1, 3, long[:159] + "…\n  ^"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Excerpt(c.code, &Position{Line: c.line, Column: c.column}))
		})
	}
	require.Empty(t, Excerpt("a", nil))
}

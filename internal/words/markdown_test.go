package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFenced(t *testing.T) {
	for text, want := range map[string]string{
		"x":                       "```ts\nx\n```",
		"x\n":                     "```ts\nx\n```",
		"a\n```\n# approved\n":    "````ts\na\n```\n# approved\n````",
		"`````\n# approved\n````": "``````ts\n`````\n# approved\n````\n``````",
		"a\u202eb\u200b":          "```ts\na\\u202eb\\u200b\n```",
	} {
		require.Equal(t, want, Fenced("ts", text))
	}
}

func TestCodeSpan(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "\n": "",
		`{"a":1}`: "`{\"a\":1}`",
		"`} | |\n| 1 | **approved** ![x](https://evil.example)": "`\\u0060} \\u007c \\u007c \\u007c 1 \\u007c " +
			"**approved** ![x](https://evil.example)`",
		`\|`:      "`\\\\u007c`",
		"a\u202e": "`a\\u202e`",
	} {
		require.Equal(t, want, CodeSpan(text))
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"Pay the bills (3), 20% off": "Pay the bills (3), 20% off",
		"![x](//evil.example/p.png)": "`![x](//evil.example/p.png)`",
		"see https://evil.example":   "`see https://evil.example`",
		"<img src=x>":                "`<img src=x>`",
		"a\nb":                       "`a b`",
		"a\u2066b":                   "`a\\u2066b`",
	} {
		require.Equal(t, want, OneLine(text))
	}
}

// FuzzCodeSpan: whatever the text, the span is one line, has no tick inside and no end of a cell.
func FuzzCodeSpan(f *testing.F) {
	f.Add("a`|\n\\|")
	f.Fuzz(func(t *testing.T, text string) {
		span := CodeSpan(text)
		if span == "" {
			return
		}
		require.False(t, strings.ContainsAny(span[1:len(span)-1], "`|\n\r"), "%q", span)
		block := Fenced("", text)
		fence, _, _ := strings.Cut(block, "\n")
		require.Equal(t, 2, strings.Count(block, fence))
	})
}

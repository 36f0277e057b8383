package tool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/temporal-codemode/codemode/internal/tokens"
)

func TestToolDescriptionIsShortAndFlat(t *testing.T) {
	names := []string{"github", "stripe", "kubernetes", "filesystem", "memory"}
	hints := map[string]string{}
	for _, name := range names {
		hints[name] = "for everything about " + name
	}
	text := Description(names, hints, "")
	assert.LessOrEqual(t, tokens.Count(text), 500)
	for _, said := range []string{
		"`github`, `stripe`, `kubernetes`, `filesystem`, `memory` and `codemode`", "codemode.search(", "signature",
		"unmatched", "`more`", "codemode.describe(", "TypeScript", "Promise.all",
		"approval", "paused", "codemode.step(", "fetch", "Never guess",
	} {
		assert.Contains(t, text, said)
	}
	none := Description(nil, nil, "")
	assert.Contains(t, none, "The only globals are `codemode`, beside standard JavaScript")
	assert.NotContains(t, none, "Connectors\n")
	assert.Equal(t, "- `a` — one line",
		Description([]string{"a"}, map[string]string{"a": " one\nline "},
			"")[strings.LastIndex(Description([]string{"a"}, map[string]string{"a": " one\nline "}, ""), "\n")+1:])
}

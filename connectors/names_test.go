package connectors

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/internal/words"
)

func TestSanitizeToolName(t *testing.T) {
	for in, want := range map[string]string{
		"":             "_",
		"get-weather":  "get_weather",
		"a.b.c":        "a_b_c",
		"a--b":         "a__b",
		" x ":          "_x_",
		"a\u00a0b":     "a_b",
		"a\ufeffb":     "a_b",
		"a\u2003b":     "a_b",
		"a\u0085b":     "ab",
		"3d":           "_3d",
		"9-9":          "_9_9",
		"class":        "class_",
		"Class":        "Class",
		"int":          "int_",
		"undefined":    "undefined_",
		"await":        "await_",
		"async":        "async",
		"NaN":          "NaN",
		"then":         "then",
		"constructor":  "constructor",
		"@#$":          "$",
		"@#!":          "_",
		"a/b":          "ab",
		"naïve":        "nave",
		"日本":           "_",
		"𝒳a":           "a",
		"a\xffb":       "ab",
		"hello@world!": "helloworld",
	} {
		assert.Equal(t, want, SanitizeToolName(in), "%q", in)
	}
}

func TestConnectorNames(t *testing.T) {
	for name, want := range map[string]string{
		"codemode":   `Connector name "codemode" is reserved for the codemode platform SDK.`,
		"":           `Connector name "" is not a valid JavaScript identifier`,
		"a-b":        `Connector name "a-b" is not a valid JavaScript identifier`,
		"1a":         `Connector name "1a" is not a valid JavaScript identifier`,
		"a\n":        `Connector name "a\n" is not a valid JavaScript identifier`,
		"class":      `Connector name "class" is reserved`,
		"eval":       `Connector name "eval" is reserved`,
		"Promise":    `Connector name "Promise" is reserved`,
		"setTimeout": `Connector name "setTimeout" is reserved`,
		"Error":      `Connector name "Error" is reserved`,
		"console":    `Connector name "console" is reserved`,
		"globalThis": `Connector name "globalThis" is reserved`,
		"undefined":  `Connector name "undefined" is reserved`,
		"__logs":     `Connector name "__logs" is reserved`,
		"int":        "",
		"$_1":        "",
		"snippet":    "",
	} {
		_, err := NewSet(context.Background(), []Connector{New(name, "")}, nil)
		if want == "" {
			assert.NoError(t, err, "%q", name)
			continue
		}
		require.EqualError(t, err, want)
		var config *ConfigError
		assert.ErrorAs(t, err, &config)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"list_items", "get_item", "create_item", "add_note", "x"}
	for name, want := range map[string][]string{
		"getItem":    {"get_item"},
		"get_items":  {"get_item", "list_items"},
		"note":       {"add_note"},
		"crate_item": {"create_item"},
		"zzzzzz":     nil,
		"":           nil,
		"y":          nil,
		"X":          {"x"},
		"item":       {"get_item", "list_items", "create_item"},
	} {
		assert.Equal(t, want, words.Nearest(name, names), "%q", name)
	}
}

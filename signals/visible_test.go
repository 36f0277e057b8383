package signals

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"Grüße, 漢字\n\t✓":             "Grüße, 漢字\n\t✓",
		"a\u202eb\u2066\u200b\ufeff": `a\u202eb\u2066\u200b\ufeff`,
		"\x1b[2K\r\u0085":            `\u001b[2K\u000d\u0085`,
		"\u2028\u2029":               `\u2028\u2029`,
		"\u3164\u115f\uffa0\u2800":   `\u3164\u115f\uffa0\u2800`,
		"\u034f\ufe0f\U000e0101":     `\u034f\ufe0f\ue0101`,
		"\U000e0061":                 `\ue0061`,
	} {
		require.Equal(t, want, Visible(text))
	}
}

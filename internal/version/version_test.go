package version

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumberIsTheNewestOfTheChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	require.Regexp(t, `(?m)\A# Changelog\n(?:[^#].*\n|\n)*## `+Number+`\b`, string(text))
}

func TestText(t *testing.T) {
	require.Regexp(t, `^codemode 0\.\d+\.\d+.*, go1\.\d+.* \w+/\w+$`, Text("codemode"))
	require.Equal(t, " (0123456789ab, changed since)", revision([]debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"},
	}))
	require.Empty(t, revision(nil))
}

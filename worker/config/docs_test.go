package config

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The configurations that the pages show can be read as they stand.
func TestDocumentedConfigurations(t *testing.T) {
	for _, name := range []string{"TRACKER_TOKEN", "REMOTE_TOKEN", "ID", "SECRET"} {
		t.Setenv(name, "x")
	}
	pages := map[string]string{}
	for _, page := range []string{"../../docs/connectors.md", "../../README.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		pages[page] = string(text)
	}
	blocks := 0
	for page, text := range pages {
		for _, block := range regexp.MustCompile("(?s)(?:```yaml\n|<<'EOF'\n)(.*?)(?:```|EOF\n)").FindAllStringSubmatch(text, -1) {
			blocks++
			_, err := load(t, block[1])
			require.NoError(t, err, "%s:\n%s", page, block[1])
		}
	}
	require.Equal(t, 5, blocks)
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// A record becomes the fixture of a test: its secrets are masked, in the program too.
func TestShowWritesAFixture(t *testing.T) {
	id, runtime := "recorded", "--runtime="+fresh("fixture")
	worker(t, trackerConfig(strings.TrimPrefix(runtime, "--runtime="), t.TempDir()+"/tracker.json"))
	run(t, 0, `const login = { token: "sk_live_0123456789" }; return { login, n: 1 }`, "--id", id, runtime)
	file := filepath.Join(t.TempDir(), "recorded.json")
	require.Equal(t, 0, starter(t, "", "show", id, runtime, "--fixture", file).code)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(content), "sk_live")
	var record signals.Record
	require.NoError(t, json.Unmarshal(content, &record))
	require.Equal(t, signals.Completed, record.Status)
	require.JSONEq(t, `{"login":{"token":"•••"},"n":1}`, string(record.Result))
	require.Equal(t, 1, starter(t, "", "show", id, runtime, "--fixture", "/no/such/folder/f.json").code)
}

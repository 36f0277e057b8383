package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/npm"
)

// TestTypeScriptClient goes through all that a client does, with the second major of MCP's TypeScript client, in both
// of its modes.
func TestTypeScriptClient(t *testing.T) {
	modules := filepath.Join(npm.Install(t, "../npm/clients"), "node_modules")
	targets := map[string]func(*testing.T) []string{
		"stdio": func(*testing.T) []string { return []string{filepath.Join(binaries, "starter"), "mcp"} },
		"http":  func(t *testing.T) []string { return []string{listen(t)} },
		"sse": func(t *testing.T) []string {
			return []string{strings.Replace(listen(t, "--sse"), "/mcp?", "/sse?", 1)}
		},
	}
	for _, mode := range []string{"auto", "legacy"} {
		for how, target := range targets {
			t.Run(mode+"/"+how, func(t *testing.T) {
				cmd := exec.Command("node",
					append([]string{"testdata/client2.mjs", modules, mode, how}, target(t)...)...)
				cmd.Env, cmd.Stderr = minimalEnv(), os.Stderr
				text, err := cmd.Output()
				require.NoError(t, err, "%s", text)
				var did struct {
					List            []string
					Run             int
					Approve, Reject string
					Reconnect       string
					Progress        string
					Mixed           []string
					Asked           int
				}
				require.NoError(t, json.Unmarshal(text, &did), "%s", text)
				require.Equal(t, []string{"codemode"}, did.List)
				require.Equal(t, 2, did.Run)
				require.Equal(t, "one", did.Approve)
				require.Equal(t, []string{"first", "Action tracker.create_issue rejected by user: no need", "edited"},
					did.Mixed)
				require.Contains(t, did.Reject, "never")
				require.Equal(t, "later", did.Reconnect)
				require.Equal(t, 7, did.Asked)
				id := strings.Fields(did.Progress)[1]
				eventually(t, func() bool {
					record := decode[signals.Record](t, starter(t, "", "show", id, "--json"))
					return record.Error == signals.ExecutionCancelled
				})
			})
		}
	}
}

package codemode

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who wants only the client gets neither the engine nor what connectors need, and a process as it was.
func TestTheClientTravelsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range []string{
		"dop251/goja", "evanw/esbuild", "mark3labs/mcp-go", "modelcontextprotocol/go-sdk",
		"getkin/kin-openapi", "cel.dev/", "dlclark/regexp2",
		module + "/sandbox", module + "/connectors/mcp", module + "/connectors/openapi", module + "/workflows",
	} {
		require.NotContains(t, string(out), name)
	}
	require.Less(t, strings.Count(string(out), "\n"), 500, "packages")
	require.Equal(t, "Local", time.Local.String())
}

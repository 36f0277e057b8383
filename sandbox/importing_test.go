package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/temporal-codemode/codemode"

// output is what a command prints to its standard output.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, problems.String())
	return string(out)
}

// built is the binary of a program of testdata/importing, as a command that runs in a zone which is not UTC.
func built(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.exe")
	output(t, exec.Command("go", "build", "-o", path, "./testdata/importing/"+name))
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), "TZ=America/New_York")
	return cmd
}

// TestClientBuildsNoEngine: whoever only asks for executions gets none of what runs them.
func TestClientBuildsNoEngine(t *testing.T) {
	deps := strings.Fields(output(t, exec.Command("go", "list", "-deps", module)))
	require.Contains(t, deps, module+"/signals")
	for _, heavy := range []string{"dop251/goja", "evanw/esbuild", "mark3labs/mcp-go", "getkin/kin-openapi"} {
		for _, dep := range deps {
			require.NotContains(t, dep, heavy)
		}
	}
}

// TestContractBuildsNoEngine: the same of whoever implements an executor or drives one.
func TestContractBuildsNoEngine(t *testing.T) {
	deps := output(t, exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "."))
	require.ElementsMatch(t, []string{module + "/sandbox", module + "/signals"}, strings.Fields(deps))
}

// TestImportingChangesNothing: a program's time zone stays its own, and its name does not make it a child.
func TestImportingChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: it builds two programs")
	}
	client := built(t, "client")
	require.Equal(t, "false", output(t, client))

	worker := built(t, "worker")
	require.Equal(t, "false true true", output(t, worker))
	named := exec.Command(worker.Path)
	named.Env, named.Args = worker.Env, []string{"codemode-sandbox-child", "memory=1000000", "plain"}
	require.Equal(t, "false true true", output(t, named), "only child.Main makes a process a child")
}

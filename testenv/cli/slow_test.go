package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// The test binary plays an MCP server with one slow tool when its environment names a directory: the tool creates the
// file began in it, and returns once somebody writes to the pipe there.
const slowDir = "CODEMODE_CLI_SLOW"

func serveSlow(dir string) error {
	s := server.NewMCPServer("slow", "1.0.0")
	s.AddTool(mcp.NewTool("write"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := os.WriteFile(filepath.Join(dir, "began"), nil, 0o600); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(dir, "pipe"))
		return mcp.NewToolResultText(string(text)), err
	})
	return server.ServeStdio(s)
}

func slowWorker(t *testing.T, dir string) *workerProcess {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return worker(t, fmt.Sprintf("runtime: slow\nconnectors:\n  slow:\n    mcp: { command: %q, env: { %s: %q } }\n",
		self, slowDir, dir))
}

// A worker that is told to stop lets a call finish: one that is cut off is an outcome that nobody knows.
func TestWorkerDrains(t *testing.T) {
	id := fresh("drain")
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	w := slowWorker(t, dir)
	r := starter(t, "return await slow.write({})", "run", "-", "--runtime", "slow", "--id", id, "--no-wait")
	require.Equal(t, 0, r.code, r.stderr)
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "began")); return err == nil })
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, func() bool { return w.stderr.contains("stopping: calls that run are given 30s to finish") })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pipe"), []byte("finished"), 0o600))
	require.NoError(t, w.wait())
	slowWorker(t, dir)
	o := outcome(t, 0, "wait", id, "--runtime", "slow")
	require.Equal(t, `"finished"`, string(o.Result))
	require.Equal(t, signals.Applied, o.Calls[0].State)
}

// The server remembers a worker for a while after it was killed, so only the missing answer tells.
func TestWorkerKilled(t *testing.T) {
	id, runtime := fresh("killed"), fresh("killed")
	w := worker(t, trackerConfig(runtime, filepath.Join(t.TempDir(), "s.json")))
	run(t, 3, create("x"), "--runtime", runtime, "--id", id)
	require.NoError(t, w.cmd.Process.Kill())
	require.Error(t, w.wait())
	r := starter(t, "", "pending", id, "--runtime", runtime, "--json")
	require.Equal(t, 5, r.code)
	require.Equal(t, "[]\n", r.stdout)
	require.Contains(t, r.stderr, "no worker of runtime "+runtime+" answered in time")
	require.Equal(t, 0, starter(t, "", "show", id, "--runtime", runtime).code, "records need no worker")
}

func TestInterruptedRunGoesOn(t *testing.T) {
	id := fresh("interrupted")
	cmd := command("starter", "run", "-", "--id", id, "--json")
	end := begin(t, cmd, sleeps)
	eventually(t, func() bool { return starter(t, "", "show", id).code == 0 })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	r := end()
	require.Equal(t, 3, r.code, r.stderr)
	o := decode[signals.Outcome](t, r)
	require.Equal(t, signals.Running, o.Status)
	require.Equal(t, id, o.ExecutionID)
	require.Equal(t, 0, starter(t, "", "cancel", id).code)
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 20*time.Second, 50*time.Millisecond)
}

//go:build unix

package mcp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readPID reads the last line.
func readPID(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.Fields(text)
	pid, err := strconv.Atoi(string(lines[len(lines)-1]))
	require.NoError(t, err)
	return pid
}

// alive does not count what has ended and waits to be collected by another process.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	return !bytes.Contains(stat, []byte(") Z "))
}

// The server runs in a group of its own and leaves nothing behind.
func TestMCPCloseEndsTheServer(t *testing.T) {
	opts, _ := mcpServer(t, "tracker")
	left := filepath.Join(t.TempDir(), "left")
	opts.Command, opts.Args = "sh", []string{"-c", `sleep 300 & echo $! > "$1"; exec "$2"`, "sh", left, opts.Command}
	set := mcpSet(t, opts)
	require.NoError(t, set.Err("mcp"))
	server, child := readPID(t, opts.Env[startsEnv]), readPID(t, left)
	group, err := syscall.Getpgid(server)
	require.NoError(t, err)
	assert.Equal(t, server, group)
	assert.True(t, alive(child))

	waiting := make(chan error, 1)
	go func() {
		_, err := invoke(context.Background(), t, set, "slow", `{"ms":60000}`)
		waiting <- err
	}()
	require.NoError(t, set.Close())
	assert.Error(t, <-waiting)
	assert.False(t, alive(server))
	assert.Eventually(t, func() bool { return !alive(child) }, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, set.Close(), "twice")
}

// A server that went away between calls costs nobody a call.
func TestMCPServerGoneWhileIdle(t *testing.T) {
	opts, starts := mcpServer(t, "tracker")
	set := mcpSet(t, opts)
	for n := 1; n <= 2; n++ {
		pid := readPID(t, opts.Env[startsEnv])
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool { return !alive(pid) }, 5*time.Second, time.Millisecond)
		time.Sleep(100 * time.Millisecond) // its last thread closes the pipes
		assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", ``))
		assert.Equal(t, n+1, starts())
	}
}

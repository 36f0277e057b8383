package harden

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const secretEnv = "CODEMODE_TEST_SECRET"

// TestMain is also a worker that tells what a server that it starts can read of it.
func TestMain(m *testing.M) {
	if os.Getenv(secretEnv) == "" {
		os.Exit(m.Run())
	}
	if err := Private(); err != nil {
		panic(err)
	}
	const server = `tr '\0' ' ' </proc/$PPID/environ; cat /proc/$PPID/mem | head -c 1; ls -l /proc/$$/fd`
	cmd := exec.Command("sh", "-c", server)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, _ := cmd.CombinedOutput()
	fmt.Printf("%s", out)
}

// The servers that a worker starts have its user, and yet read nothing of its environment and memory.
func TestPrivate(t *testing.T) {
	dir, err := os.MkdirTemp("", "codemode-private-")
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	require.NoError(t, os.Chmod(dir, 0o755))
	worker := filepath.Join(dir, "worker")
	in, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	to, err := os.OpenFile(worker, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, in)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	inherited, err := os.Create(filepath.Join(dir, "inherited"))
	require.NoError(t, err)
	defer func() { _ = inherited.Close() }()

	cmd := exec.Command(worker)
	cmd.Env = []string{secretEnv + "=hunter2", "PATH=" + os.Getenv("PATH")}
	cmd.Dir = dir
	cmd.ExtraFiles = []*os.File{inherited}
	if os.Getuid() == 0 { // whom nothing is kept from
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "hunter2")
	require.Contains(t, string(out), "ermission denied")
	require.NotContains(t, string(out), "inherited")
}

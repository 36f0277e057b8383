package child

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// asWorker makes the test process what the stock worker is.
const asWorker = "CODEMODE_TEST_AS_WORKER"

func init() {
	beforeTests = append(beforeTests, func() {
		_, _ = syscall.Dup(2) // as a process has that a careless one started
		if os.Getenv(asWorker) == "" {
			return
		}
		if err := harden.Private(); err != nil {
			panic(err)
		}
	})
}

// TestContainedOnOtherHosts runs one attack of each kind as an unprivileged user, and where user namespaces are
// refused.
func TestContainedOnOtherHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short, as the attacks are")
	}
	for name, attributes := range map[string]*syscall.SysProcAttr{
		"unprivileged": {Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
		"no user namespaces": {
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if attributes.Credential != nil && os.Getuid() != 0 {
				t.Skip("only root can become another user; this run is unprivileged already")
			}
			cmd := copyOfThisTest(t)
			cmd.Env = []string{"CODEMODE_ATTACKS=" + someAttacks(t), "HOME=/", asWorker + "=1"}
			if attributes.Cloneflags != 0 {
				cmd.Env = append(cmd.Env, noUserNamespaces+"=1")
			} else if layerOf(pool().Layers(), "namespaces").Active {
				cmd.Env = append(cmd.Env, wantNamespaces+"=1")
			}
			cmd.SysProcAttr = attributes
			out, err := cmd.CombinedOutput()
			if err != nil && attributes.Cloneflags != 0 && len(out) == 0 {
				t.Skip("this host makes no user namespaces at all, so the tests beside this one run without them")
			}
			require.NoError(t, err, "%s", out)
			t.Logf("%s", out)
		})
	}
}

// copyOfThisTest is a command that any user may run: the go command keeps its own binary private.
func copyOfThisTest(t *testing.T) *exec.Cmd {
	dir := publicDir(t)
	path := filepath.Join(dir, "sandbox.test")
	in, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	cmd := exec.Command(path, "-test.run", "TestAttacks$|TestIsolatedLayers|TestNothingGetsOutOfAChild", "-test.v")
	cmd.Dir = dir
	return cmd
}

func publicDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "codemode-hosts-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func someAttacks(t *testing.T) string {
	dir := publicDir(t)
	for _, name := range []string{"cpu_loop.js", "mem_typed_array_huge.js", "stack_regex_nested.js",
		"esc_native_error_paths.js", "stack_js_catch.js"} {
		text, err := os.ReadFile(filepath.Join("testdata/attacks", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return dir
}

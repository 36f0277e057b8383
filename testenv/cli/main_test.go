package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/testenv/tracker"
)

// The test binary plays the tracker when its environment says where that keeps its state.
const trackerState = "CODEMODE_CLI_TRACKER"

var (
	binaries string // where worker and starter are
	address  string // of the server that all tests share
	state    string // of the tracker of the shared worker
)

func TestMain(m *testing.M) {
	if path := os.Getenv(trackerState); path != "" {
		if err := tracker.Serve(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if kind := os.Getenv(hostileServer); kind != "" {
		serveHostile(kind)
		return
	}
	if dir := os.Getenv(slowDir); dir != "" {
		if err := serveSlow(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "codemode-cli-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binaries, state = filepath.Join(dir, "bin"), filepath.Join(dir, "tracker.json")
	build := exec.Command("go", "build", "-o", binaries+"/", "./worker", "./starter")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the commands: %w\n%s", err, out)
	}
	s, err := server.Start(context.Background(), server.Options{})
	if err != nil {
		return 1, err
	}
	defer s.Stop()
	address = s.Address()
	config := filepath.Join(dir, "codemode.yaml")
	if err := os.WriteFile(config, []byte(trackerConfig("default", state)), 0o600); err != nil {
		return 1, err
	}
	w, err := startWorker(config)
	if err != nil {
		return 1, err
	}
	defer func() { _ = w.stop() }()
	return m.Run(), nil
}

// trackerConfig is a configuration with the demo tracker and every kind of rule.
func trackerConfig(runtime, state string) string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`
runtime: %s
connectors:
  tracker:
    mcp: { command: %q, env: { %s: %q } }
    instructions: Use for issues.
    tools:
      create_issue:  { requiresApproval: true, revert: { tool: delete_issue, args: { id: "result.id" } } }
      delete_issue:  { requiresApproval: "args.id > 4" }
      list_comments: { hidden: true }
      get_issue:     { rename: issue }
`, runtime, self, trackerState, state)
}

// workerProcess is a running worker.
type workerProcess struct {
	cmd    *exec.Cmd
	ready  string
	stderr *output
	ended  chan struct{}
	err    error
}

// output collects what a process writes while others read it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) contains(text string) bool { return strings.Contains(o.String(), text) }

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binaries, name), args...)
	cmd.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+address, "USER=ada", "HOME="+binaries, "TEMPORAL_CONFIG_FILE=",
		"CODEMODE_LOG=")
	return cmd
}

// startWorker starts a worker and returns when it is ready.
func startWorker(config string, env ...string) (*workerProcess, error) {
	return startCommand(command("worker", "--config", config), env...)
}

func startCommand(cmd *exec.Cmd, env ...string) (*workerProcess, error) {
	w := &workerProcess{cmd: cmd, stderr: &output{}, ended: make(chan struct{})}
	w.cmd.Env = append(w.cmd.Env, env...)
	w.cmd.Stderr = w.stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the worker ended before it was ready: %s", w.stderr), w.cmd.Wait())
	}
	w.ready = strings.TrimSuffix(line, "\n")
	go func() {
		defer close(w.ended)
		_, _ = io.Copy(io.Discard, lines)
		w.err = w.cmd.Wait()
	}()
	return w, nil
}

func (w *workerProcess) stop() error {
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	return w.wait()
}

func (w *workerProcess) wait() error {
	select {
	case <-w.ended:
		return w.err
	case <-time.After(45 * time.Second):
		_ = w.cmd.Process.Kill()
		return errors.New("the worker did not stop")
	}
}

// worker starts a worker for one test.
func worker(t *testing.T, config string) *workerProcess {
	t.Helper()
	path := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	w, err := startWorker(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.stop() })
	return w
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// starter runs the starter with a program on its standard input.
func starter(t *testing.T, program string, args ...string) result {
	t.Helper()
	return finish(t, command("starter", args...), program)
}

func finish(t *testing.T, cmd *exec.Cmd, stdin string) result {
	t.Helper()
	return begin(t, cmd, stdin)()
}

// begin starts a command; what it returns waits for the end.
func begin(t *testing.T, cmd *exec.Cmd, stdin string) func() result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	require.NoError(t, cmd.Start())
	return func() result {
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			require.NoError(t, err)
		}
		r := result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
		require.NotContains(t, r.stdout+r.stderr, "\x1b", "a pipe gets no colours")
		return r
	}
}

// decode reads the one JSON document that standard output must be, and no key that the contract does not know.
func decode[T any](t *testing.T, r result) T {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	var v T
	require.NoError(t, d.Decode(&v), r.stdout+r.stderr)
	require.ErrorIs(t, d.Decode(new(any)), io.EOF, "one document only: %s", r.stdout)
	return v
}

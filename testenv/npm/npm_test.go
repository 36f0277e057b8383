package npm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// standIn is a script in npm's place, for a user without cached packages.
type standIn struct {
	runs string // has a line for each time that it was asked
	from string // a folder with a lock
}

func newStandIn(t *testing.T, script string) *standIn {
	t.Helper()
	installs.Clear()
	dir := t.TempDir()
	s := &standIn{runs: filepath.Join(dir, "runs"), from: filepath.Join(dir, "from")}
	require.NoError(t, os.Mkdir(s.from, 0o700))
	for _, name := range []string{"package.json", "package-lock.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(s.from, name), []byte(`{"name":"`+t.Name()+`"}`), 0o600))
	}
	text := "#!/bin/sh\necho run >> " + s.runs + "\n" + script
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npm"), []byte(text), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return s
}

func (s *standIn) wasAskedOnce(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(s.runs)
	require.NoError(t, err)
	require.Equal(t, "run\n", string(text))
}

func TestInstalledOnceForAllProcesses(t *testing.T) {
	s := newStandIn(t, `grep -q TestInstalledOnce package.json && mkdir node_modules`)
	dir := Install(t, s.from)
	require.DirExists(t, filepath.Join(dir, "node_modules"))
	require.Equal(t, dir, Install(t, s.from))
	installs.Clear() // as in another process
	require.Equal(t, dir, Install(t, s.from))
	s.wasAskedOnce(t)
}

// caller notes how Install gave up on a test.
type caller struct {
	testing.TB
	skipped, failed string
}

func (c *caller) Skip(args ...any)  { c.skipped = args[0].(string); panic(c) }
func (c *caller) Fatal(args ...any) { c.failed = args[0].(string); panic(c) }

func (c *caller) install(from string) {
	defer func() { _ = recover() }()
	Install(c, from)
}

func TestSkippedUnlessRequired(t *testing.T) {
	s := newStandIn(t, `echo the registry is unreachable; exit 1`)
	t.Setenv("CODEMODE_NPM", "")
	c := &caller{TB: t}
	c.install(s.from)
	require.Contains(t, c.skipped, "npm ci: exit status 1\nthe registry is unreachable")
	t.Setenv("CODEMODE_NPM", "required")
	c.install(s.from)
	require.Contains(t, c.failed, "the registry is unreachable")
	s.wasAskedOnce(t)

	t.Setenv("PATH", t.TempDir())
	c.install(s.from)
	require.Contains(t, c.failed, "npm is not installed")
}

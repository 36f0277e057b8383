package cache

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nameVariable makes a process of this test binary fill an entry: see TestProcessesFillAtOnce.
const nameVariable = "CODEMODE_TEST_FILL"

func TestMain(m *testing.M) {
	if name := os.Getenv(nameVariable); name != "" {
		if _, err := Dir(name, fillWhenTold); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// fillWhenTold fills half, says so, and goes on when its standard input ends.
func fillWhenTold(dir string) error {
	err := os.WriteFile(filepath.Join(dir, "first"), nil, 0o600)
	_, _ = os.Stdout.WriteString(".")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "second"), nil, 0o600))
}

func fill(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600) }

func neverFill(string) error { return errors.New("filled a second time") }

// homeIs makes a folder the user's home on every system, and gives where the entries then lie.
func homeIs(t *testing.T, home string) string {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	user, _ := os.UserCacheDir()
	return filepath.Join(user, folder)
}

func TestAnEntryIsMadeOnce(t *testing.T) {
	homeIs(t, t.TempDir())
	dir, err := Dir("entry", fill)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "file"))
	again, err := Dir("entry", neverFill)
	require.NoError(t, err)
	require.Equal(t, dir, again)
}

func TestWhatFailedIsNotKept(t *testing.T) {
	root := homeIs(t, t.TempDir())
	_, err := Dir("entry", func(dir string) error { return errors.Join(fill(dir), errors.New("no network")) })
	require.EqualError(t, err, "no network")
	left, err := filepath.Glob(filepath.Join(root, "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Every process is in the middle of filling before the first of them may finish.
func TestProcessesFillAtOnce(t *testing.T) {
	root := homeIs(t, t.TempDir())
	t.Setenv(nameVariable, "entry")
	var finish []func()
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 1))
		require.NoError(t, err)
		finish = append(finish, func() {
			require.NoError(t, in.Close())
			require.NoError(t, cmd.Wait())
			dir, err := Dir("entry", neverFill)
			require.NoError(t, err)
			require.FileExists(t, filepath.Join(dir, "first"))
			require.FileExists(t, filepath.Join(dir, "second"))
		})
	}
	for _, f := range finish {
		f()
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	require.NoError(t, err)
	require.Len(t, left, 1, "the slower ones clean up")
}

// A container's user has no home, or one that belongs to somebody else.
func TestWithoutHome(t *testing.T) {
	build := t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, home := range map[string]string{"unknown": "", "cannot be written to": file} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOCACHE", build)
			homeIs(t, home)
			dir, err := Dir(name, fill)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(build, folder, name), dir)
		})
	}
}

func TestNoFolderAtAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	homeIs(t, file)
	t.Setenv("GOCACHE", file)
	_, err := Dir("entry", neverFill)
	require.ErrorContains(t, err, "no folder to keep entry in: set XDG_CACHE_HOME")
	require.ErrorContains(t, err, file, "both reasons are told")
}

func TestOldLeftoversAreSwept(t *testing.T) {
	root := homeIs(t, t.TempDir())
	old, young := filepath.Join(root, unfinished+"old"), filepath.Join(root, unfinished+"young")
	require.NoError(t, errors.Join(os.MkdirAll(old, 0o755), os.MkdirAll(young, 0o755)))
	long := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(old, long, long))
	_, err := Dir("entry", fill)
	require.NoError(t, err)
	require.NoDirExists(t, old)
	require.DirExists(t, young, "somebody may be filling it")
}

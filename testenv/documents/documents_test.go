package documents

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gateVariable has the address that the test's npm asks whether it may go on.
const gateVariable = "CODEMODE_TEST_GATE"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "npm" {
		os.Exit(m.Run())
	}
	if err := npmPack(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// npmPack is what `npm pack` does, as soon as the gate opens.
func npmPack() error {
	gate, err := net.Dial("tcp", os.Getenv(gateVariable))
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, gate)
	f, err := os.Create("package.tgz")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	files := tar.NewWriter(z)
	for _, name := range []string{"package/generated/api.github.com.json", "package/needless.json", "../outside"} {
		err = errors.Join(err, files.WriteHeader(&tar.Header{Name: name, Size: 2, Mode: 0o600}))
		_, wrong := files.Write([]byte("{}"))
		err = errors.Join(err, wrong)
	}
	fmt.Println("package.tgz")
	return errors.Join(err, files.Close(), z.Close(), f.Close())
}

// useGate puts the test's npm in npm's place, for a user without cached documents.
func useGate(t *testing.T) net.Listener {
	t.Helper()
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = gate.Close() })
	t.Setenv(gateVariable, gate.Addr().String())
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "npm")))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, dir)
	}
	return gate
}

// Two benchmarks, or a benchmark and a test, want the same document at the same time.
func TestFetchedTwiceAtOnce(t *testing.T) {
	gate := useGate(t)
	type answer struct {
		file string
		err  error
	}
	answers := make(chan answer)
	var waiting []net.Conn
	for range 2 {
		go func() {
			file, err := GitHub(t.Context())
			answers <- answer{file, err}
		}()
		conn, err := gate.Accept()
		require.NoError(t, err)
		waiting = append(waiting, conn)
	}
	for _, conn := range waiting {
		require.NoError(t, conn.Close())
		got := <-answers
		require.NoError(t, got.err)
		text, err := os.ReadFile(got.file)
		require.NoError(t, err)
		require.Equal(t, "{}", string(text))
	}
}

func TestOnlyWhatIsWantedIsUnpacked(t *testing.T) {
	gate := useGate(t)
	go func() {
		if conn, err := gate.Accept(); err == nil {
			_ = conn.Close()
		}
	}()
	file, err := GitHub(t.Context())
	require.NoError(t, err)
	var names []string
	root := filepath.Dir(filepath.Dir(file))
	require.NoError(t, filepath.WalkDir(filepath.Dir(root), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	require.Equal(t, []string{file}, names)
}

// noModules is an empty module cache. What this machine has of modules serves as a proxy, so that nothing is fetched
// twice.
func noModules(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(cache)+"/cache/download,"+proxy)
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -modcacherw")
}

func TestStripeWithoutModules(t *testing.T) {
	noModules(t)
	for range 2 {
		file, err := Stripe(t.Context())
		require.NoError(t, err)
		require.FileExists(t, file)
	}
}

// The mock server answers by the document that is built into it, so both have to be of one version.
func TestStripesDocumentIsTheMocks(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}@{{.Version}}", strings.Split(stripe, "@")[0]).Output()
	require.NoError(t, err)
	require.Equal(t, stripe, strings.TrimSpace(string(out)), "change the version in documents.go too")
}

func TestFailuresTellTheirCause(t *testing.T) {
	noModules(t)
	t.Setenv("GOPROXY", "off")
	_, err := Stripe(t.Context())
	require.ErrorContains(t, err, "go mod download "+stripe+": ")
	require.ErrorContains(t, err, "GOPROXY=off")
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("PATH", dir)
	_, err = GitHub(t.Context())
	require.ErrorContains(t, err, `npm pack `+github+`: exec: "npm"`)
}

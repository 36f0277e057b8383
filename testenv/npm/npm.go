// Package npm installs the npm packages that tests need, from a package.json and its lock.
//
// Its rule: a test that needs packages installs them itself and is skipped only where npm cannot do that.
package npm

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Install gives a folder with the node_modules that a folder's package-lock.json lists. It is made once for each lock
// and kept among the temporary files.
func Install(t testing.TB, from string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("skipped: npm is not installed, and with it the servers that this test talks to")
	}
	lock := read(t, filepath.Join(from, "package-lock.json"))
	sum := sha256.Sum256(lock)
	dir := filepath.Join(os.TempDir(), "codemode-npm-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	making, err := os.MkdirTemp("", "codemode-npm-making-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(making)
	for name, text := range map[string][]byte{"package-lock.json": lock, "package.json": read(t, filepath.Join(from, "package.json"))} {
		if err := os.WriteFile(filepath.Join(making, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = making
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("skipped: npm could not install the packages that this test talks to: %v\n%s", err, out)
	}
	if err := os.Rename(making, dir); err != nil { // another test was faster
		if _, there := os.Stat(dir); there != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

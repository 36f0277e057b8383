// Package npm installs the npm packages that tests need, from a package.json and its lock.
//
// Its rule: a test that needs packages installs them itself. It is skipped only where npm cannot do that, and fails
// even there if CODEMODE_NPM is "required".
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/testenv/cache"
)

// patience is how long npm may take. Where a firewall swallows what it sends, npm itself would try for a quarter of an
// hour, longer than all tests of a package may take.
const patience = 3 * time.Minute

// installs are this process' results, failures too, by entry: the next test need not wait for the same failure.
var installs sync.Map

// Install gives a folder with the node_modules that a folder's package-lock.json lists. It is made once for each lock.
func Install(t testing.TB, from string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		giveUp(t, "npm is not installed, and with it what this test talks to")
	}
	files := map[string][]byte{}
	for _, name := range []string{"package-lock.json", "package.json"} {
		if files[name], err = os.ReadFile(filepath.Join(from, name)); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(files["package-lock.json"])
	entry := "npm-" + hex.EncodeToString(sum[:8])
	once, _ := installs.LoadOrStore(entry, sync.OnceValues(func() (string, error) {
		return cache.Dir(entry, func(dir string) error { return install(npm, dir, files) })
	}))
	dir, err := once.(func() (string, error))()
	if err != nil {
		giveUp(t, fmt.Sprintf("npm could not install the packages that this test talks to: %v", err))
	}
	return dir
}

func giveUp(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CODEMODE_NPM") == "required" {
		t.Fatal("CODEMODE_NPM is required, but " + why)
	}
	t.Skip("skipped: " + why)
}

func install(npm, dir string, files map[string][]byte) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

// Package cache keeps what tests and benchmarks fetch, for all checkouts of a user.
//
// Its rule: an entry is complete or it is not there, however many processes make it at once and whichever is killed.
package cache

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	folder     = "codemode-testenv"
	unfinished = "making-"
)

// Dir gives an entry's folder. Where it is missing, fill makes it in a folder of its own, which then takes that place.
// An entry stays as it is, so its name has to tell everything that it is made from, such as a version.
func Dir(name string, fill func(dir string) error) (string, error) {
	failed := errors.New("tried the user's cache folder and Go's build cache")
	for root := range roots {
		dir := filepath.Join(root, name)
		if isThere(dir) {
			return dir, nil
		}
		making, err := begin(root)
		if err == nil {
			return dir, finish(making, dir, fill)
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("no folder to keep %s in: set XDG_CACHE_HOME to one that can be written to: %w", name, failed)
}

// roots are where entries may lie, the best place first. The second is for containers, whose users often have no home:
// without a build cache there would be no tests. The folder for temporary files is none of them: others write there
// too.
func roots(yield func(string) bool) {
	if user, err := os.UserCacheDir(); err == nil && !yield(filepath.Join(user, folder)) {
		return
	}
	if build, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
		yield(filepath.Join(strings.TrimSpace(string(build)), folder))
	}
}

func isThere(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

func begin(root string) (string, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	sweep(root)
	return os.MkdirTemp(root, unfinished)
}

// sweep removes what killed processes left unfinished.
func sweep(root string) {
	left, _ := filepath.Glob(filepath.Join(root, unfinished+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// finish fills a folder and puts it in its place, unless another process was faster: what that made is the same.
func finish(making, dir string, fill func(dir string) error) error {
	defer os.RemoveAll(making)
	if err := fill(making); err != nil {
		return err
	}
	if err := os.Rename(making, dir); err != nil && !isThere(dir) {
		return fmt.Errorf("keep what was fetched: %w", err)
	}
	return nil
}

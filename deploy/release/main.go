// Command release builds the worker and the command line for all platforms, with checksums and a bill of materials.
//
//	go run ./deploy/release DIR [GOOS/GOARCH ...]
//
// Binaries are static, and the same bytes wherever the same commit is built with the same Go. SHA256SUMS is what
// sha256sum --check reads; each NAME.cdx.json is a CycloneDX bill of materials, read out of the binary itself.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/temporal-codemode/codemode/internal/version"
)

var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// commands are the packages that are delivered, by the name of the binary.
var commands = map[string]string{"codemode": "./starter", "codemode-worker": "./worker"}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "say where to: go run ./deploy/release DIR [GOOS/GOARCH ...]")
		os.Exit(2)
	}
	if len(os.Args) > 2 {
		platforms = os.Args[2:]
	}
	if err := release(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func release(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	var sums bytes.Buffer
	for _, platform := range platforms {
		for _, name := range []string{"codemode", "codemode-worker"} {
			file, err := build(dir, name, platform)
			if err != nil {
				return err
			}
			for _, made := range []string{file, file + ".cdx.json"} {
				text, err := os.ReadFile(made)
				if err != nil {
					return fmt.Errorf("read what was built: %w", err)
				}
				fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), filepath.Base(made))
			}
		}
	}
	return write(filepath.Join(dir, "SHA256SUMS"), sums.Bytes())
}

// build makes one binary and its bill of materials, and gives the binary's file.
func build(dir, name, platform string) (string, error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("platform %q: GOOS/GOARCH, such as linux/arm64", platform)
	}
	file := filepath.Join(dir, fmt.Sprintf("%s_%s_%s_%s", name, version.Number, system, processor))
	if system == "windows" {
		file += ".exe"
	}
	// The commit would come from the checkout, which may be an archive: the same source gives the same bytes without.
	compile := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file,
		commands[name])
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+system, "GOARCH="+processor)
	compile.Stdout, compile.Stderr = os.Stderr, os.Stderr
	if err := compile.Run(); err != nil {
		return "", fmt.Errorf("build %s for %s: %w", name, platform, err)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read what %s was built of: %w", file, err)
	}
	text, err := json.MarshalIndent(billOf(name, info), "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the bill of materials: %w", err)
	}
	return file, write(file+".cdx.json", append(text, '\n'))
}

func write(file string, text []byte) error {
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// bill is a bill of materials in CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// Purl names the package in every tool's words, https://github.com/package-url/purl-spec.
	Purl string `json:"purl,omitempty"`
}

func billOf(name string, info *debug.BuildInfo) bill {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{component{Type: "application", Name: name, Version: version.Number}},
		Components: []component{{Type: "platform", Name: "go", Version: info.GoVersion,
			Purl: "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, component{Type: "library", Name: m.Path, Version: m.Version,
			Purl: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	return b
}

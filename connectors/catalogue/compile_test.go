package catalogue

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/internal/tokens"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Versions are pinned so that a run years from now means the same.
const (
	typescript  = "typescript@5.9.3"
	oasExamples = "@readme/oas-examples@8.2.2"
)

// npmInstall gives the node_modules folder with some packages, or skips the test.
func npmInstall(t *testing.T, packages ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: needs npm packages " + strings.Join(packages, ", "))
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		giveUp(t, "npm is not installed, so there is no TypeScript compiler to ask")
	}
	name := strings.NewReplacer("/", "_", "@", "_").Replace(strings.Join(packages, "+"))
	dir := filepath.Join(os.TempDir(), "codemode-npm-"+strconv.Itoa(os.Getuid())+"-"+name)
	if _, err := os.Stat(dir); err == nil {
		return filepath.Join(dir, "node_modules")
	}
	making, err := os.MkdirTemp("", "codemode-npm-making-")
	require.NoError(t, err)
	defer os.RemoveAll(making)
	install := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", making},
		packages...)
	if out, err := exec.Command(npm, install...).CombinedOutput(); err != nil {
		giveUp(t, fmt.Sprintf("npm could not install %v: %v\n%s", packages, err, out))
	}
	if err := os.Rename(making, dir); err != nil { // unless another process was faster
		require.DirExists(t, dir, err)
	}
	return filepath.Join(dir, "node_modules")
}

func giveUp(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CODEMODE_NPM") == "required" {
		t.Fatal("CODEMODE_NPM is required, but " + why)
	}
	t.Skip("skipped: " + why)
}

// requireCompiles asks TypeScript's own compiler about some texts, each in a
// namespace of its own.
func requireCompiles(t *testing.T, modules string, texts map[string]string) {
	t.Helper()
	var b strings.Builder
	n := 0
	for name, text := range texts {
		n++
		fmt.Fprintf(&b, "// %s\nnamespace N%d {\n%s\n}\n", strings.ReplaceAll(name, "\n", " "), n, text)
	}
	file := filepath.Join(t.TempDir(), "types.ts")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	tsc := filepath.Join(modules, "typescript", "bin", "tsc")
	out, err := exec.Command("node", tsc, "--noEmit", "--strict", "--target", "es2022", file).CombinedOutput()
	if err == nil {
		return
	}
	keep := filepath.Join(os.TempDir(), "codemode-discovery-failed.ts")
	_ = os.WriteFile(keep, []byte(b.String()), 0o644)
	t.Fatalf("TypeScript refuses the types in %s:\n%s", keep, words.Abridge(string(out), 3000))
}

// allTypes describes every method of a catalogue, and each type that was left out.
func allTypes(t *testing.T, c *Catalogue, connector string) map[string]string {
	t.Helper()
	found := map[string]string{}
	queue := []string{}
	for _, m := range c.spaces[connector].Methods {
		queue = append(queue, m.Path())
	}
	for i := 0; i < len(queue) && i < 20_000; i++ {
		d := c.Describe(queue[i])
		require.False(t, strings.HasPrefix(d.Types, notFound(queue[i])), queue[i])
		assert.LessOrEqual(t, tokens.Count(d.Types), typesBudget, queue[i])
		found[queue[i]] = d.Types
		_, left, _ := strings.Cut(d.Types, "// Left out")
		for _, line := range strings.Split(left, "\n") {
			if name, ok := strings.CutSuffix(line, " = unknown"); ok {
				path := connector + "." + strings.TrimPrefix(name, "type ")
				if _, seen := found[path]; !seen {
					found[path] = ""
					queue = append(queue, path)
				}
			}
		}
	}
	return found
}

func TestTypeScriptAcceptsTypesOfRealDocuments(t *testing.T) {
	modules := npmInstall(t, typescript, oasExamples)
	files, err := filepath.Glob(filepath.Join(modules, "@readme", "oas-examples", "*", "json", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := map[string]string{}
	for _, file := range files {
		c := apiCatalogue(t, "api", file)
		for path, types := range allTypes(t, c, "api") {
			texts[filepath.Base(filepath.Dir(filepath.Dir(file)))+"/"+filepath.Base(file)+" "+path] = types
		}
		texts[file] = c.Types("api")
	}
	requireCompiles(t, modules, texts)
}

// TestTypeScriptAcceptsTypesOfLargeDocuments takes files that are too large to
// fetch for each run: CODEMODE_OPENAPI_DOCUMENTS lists them, separated like a PATH.
func TestTypeScriptAcceptsTypesOfLargeDocuments(t *testing.T) {
	files := filepath.SplitList(os.Getenv("CODEMODE_OPENAPI_DOCUMENTS"))
	if len(files) == 0 {
		t.Skip("skipped: CODEMODE_OPENAPI_DOCUMENTS names no OpenAPI documents")
	}
	modules := npmInstall(t, typescript)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := apiCatalogue(t, "api", file)
			texts := allTypes(t, c, "api")
			t.Logf("%d methods, %d pages", len(c.set.Methods("api")), len(texts))
			texts["whole"] = c.Types("api")
			requireCompiles(t, modules, texts)
		})
	}
}

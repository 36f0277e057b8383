// Command build bundles the prelude's sources into dist, lowered for goja. Run it from sandbox/engine/prelude after
// `npm ci`.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The banner of what comes from core-js; its licence text is LICENSE-core-js.
const coreJS = "/* Contains core-js %s, (c) 2013-2025 Denis Pushkarev, (c) 2025-2026 CoreJS Company, MIT licence: " +
	"see ../LICENSE-core-js */\n"

func main() {
	sources, err := filepath.Glob("src/*.js")
	if err != nil || len(sources) == 0 {
		fail("no sources here: run it from sandbox/engine/prelude", err)
	}
	for _, source := range sources {
		text, err := bundle(source)
		if err == nil {
			err = os.WriteFile(filepath.Join("dist", filepath.Base(source)), []byte(text), 0o644)
		}
		if err != nil {
			fail(source, err)
		}
	}
}

// bundle makes one script: an expression, the function that the loader calls with a scope to define globals in.
func bundle(source string) (string, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{source}, Bundle: true, Format: api.FormatCommonJS, Platform: api.PlatformNeutral,
		Target: api.ESNext,
		Supported: map[string]bool{"for-await": false, "async-generator": false, "using": false,
			"dynamic-import": false},
		// core-js means the scope it is given where it names these
		Define: map[string]string{"URL": "globalThis.URL", "URLSearchParams": "globalThis.URLSearchParams",
			"Iterator": "globalThis.Iterator"},
		Charset: api.CharsetASCII, LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifySyntax: true,
	})
	if len(result.Errors) > 0 {
		return "", fmt.Errorf("%s", result.Errors[0].Text)
	}
	text := "(function(globalThis,kit,module){" + strings.TrimSpace(string(result.OutputFiles[0].Contents)) + "\n})\n"
	if strings.Contains(text, "__core-js_shared__") {
		text = fmt.Sprintf(coreJS, version()) + text
	}
	return text, nil
}

func version() string {
	text, err := os.ReadFile("node_modules/core-js/package.json")
	if err != nil {
		fail("run npm ci first", err)
	}
	_, rest, _ := strings.Cut(string(text), `"version": "`)
	number, _, _ := strings.Cut(rest, `"`)
	return number
}

func fail(what string, err error) {
	fmt.Fprintln(os.Stderr, what, err)
	os.Exit(1)
}

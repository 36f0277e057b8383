package compile

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// NormalizeFences returns the program inside a model's answer: the first fenced block where the text is, or contains,
// one; any other text as it is. Lines before the block are kept as empty lines, so that positions stay the model's own.
func NormalizeFences(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	start := fenceOpen.FindStringIndex(text)
	if start == nil {
		return text
	}
	if strings.TrimSpace(text[:start[0]]) != "" && parses(text) {
		return text // the fence stands inside a comment or a template literal
	}
	body := text[start[1]:]
	if end := fenceClose.FindStringIndex(body); end != nil {
		body = body[:end[0]]
	}
	return strings.Repeat("\n", strings.Count(text[:start[1]], "\n")) + body
}

var (
	fenceOpen  = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)[ \t]*[A-Za-z]*[ \t]*\r?\n")
	fenceClose = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)[ \t]*\r?$")
)

func parses(text string) bool {
	_, errs := transform(bodyPrefix, text, bodySuffix)
	return len(errs) == 0
}

// The wrapper's first line holds nothing of the program, so that line n+1 of the wrapped text is line n of the source.
const (
	mainName    = "__codemode_main"
	exportName  = "__default____" // with "=", as long as "export default"
	bodyPrefix  = "async function " + mainName + "(){\n"
	bodySuffix  = "\n}"
	valuePrefix = "async function " + mainName + "(){return (\n"
	valueSuffix = "\n)}"
)

// supported lists the syntax that goja runs itself and esbuild must leave alone (true), or lower or refuse (false);
// everything else of ES2024 goja has.
var supported = map[string]bool{
	"for-await": false, "async-generator": false, "using": false, "decorators": false, "dynamic-import": false,
	"top-level-await": true,
	// rewriteLiterals sees to what goja lacks of these
	"regexp-match-indices": true, "regexp-set-notation": true, "regexp-unicode-property-escapes": true,
}

type transformed struct {
	code string
	smap []byte
}

// transform strips TypeScript and lowers newer syntax of the program between prefix and suffix.
func transform(prefix, source, suffix string) (transformed, []api.Message) {
	result := transformAs(api.LoaderTS, prefix+source+suffix)
	if len(result.Errors) > 0 { // a few JavaScript expressions mean something else in TypeScript
		if js := transformAs(api.LoaderJS, prefix+source+suffix); len(js.Errors) == 0 {
			result = js
		}
	}
	return transformed{string(result.Code), result.Map}, result.Errors
}

func transformAs(loader api.Loader, text string) api.TransformResult {
	return api.Transform(text, api.TransformOptions{
		Loader: loader, Target: api.ESNext, Supported: supported, Charset: api.CharsetUTF8,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Sourcefile: ProgramSource,
		LogLevel: api.LogLevelSilent, TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true}}`,
	})
}

// transformProgram tries the forms that models write: statements, with or without exports, or one bare expression.
func transformProgram(source string, modules map[string]string) (transformed, *sandbox.Failure) {
	out, errs := transformModule(source, modules)
	if len(errs) == 0 {
		return out, nil
	}
	value := strings.TrimRight(source, " \t\r\n;")
	if out, valueErrs := transform(valuePrefix, value, valueSuffix); len(valueErrs) == 0 {
		return out, nil
	}
	return transformed{}, syntaxFailure(errs[0], modules)
}

// transformModule rewrites `export` and `import` in place, at the very positions where the parser refuses them.
func transformModule(source string, modules map[string]string) (transformed, []api.Message) {
	prefix := "var " + exportName + ";" + bodyPrefix
	out, errs := transform(bodyPrefix, source, bodySuffix)
	for tries := 0; tries < 100 && len(errs) > 0; tries++ {
		replaced, ok := replaceExport(source, errs[0])
		if !ok {
			replaced, ok = replaceImport(source, errs[0], modules)
		}
		if !ok {
			return out, errs
		}
		source = replaced
		out, errs = transform(prefix, source, bodySuffix)
	}
	return out, errs
}

var exportKeyword = regexp.MustCompile(`^export(\s+default\b)?`)

func replaceExport(source string, m api.Message) (string, bool) {
	if m.Location == nil || !strings.Contains(m.Text, `"export"`) {
		return "", false
	}
	lines := strings.SplitAfter(source, "\n")
	n := m.Location.Line - 2
	if n < 0 || n >= len(lines) || m.Location.Column > len(lines[n]) {
		return "", false
	}
	rest := lines[n][m.Location.Column:]
	keyword := exportKeyword.FindStringSubmatch(rest)
	if keyword == nil {
		return "", false
	}
	with := strings.Repeat(" ", len(keyword[0]))
	if keyword[1] != "" {
		with = exportName + "=" + strings.Repeat(" ", max(0, len(keyword[0])-len(exportName)-1))
	}
	lines[n] = lines[n][:m.Location.Column] + with + rest[len(keyword[0]):]
	return strings.Join(lines, ""), true
}

func syntaxFailure(m api.Message, modules map[string]string) *sandbox.Failure {
	f := &sandbox.Failure{Kind: sandbox.SyntaxError, Message: "SyntaxError: " + m.Text}
	if m.Location == nil {
		return f
	}
	f.Position = &signals.Position{Line: max(1, m.Location.Line-1), Column: m.Location.Column + 1}
	if importLine.MatchString(m.Location.LineText) {
		f.Message = "SyntaxError: import is not available in programs; use the connectors, which are globals"
		if len(modules) > 0 {
			names := strings.Join(slices.Sorted(maps.Keys(modules)), ", ")
			f.Message = "SyntaxError: only these modules can be imported: " + names
		}
	}
	return f
}

var importLine = regexp.MustCompile(`^\s*import\b`)

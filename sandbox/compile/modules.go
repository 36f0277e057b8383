package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/temporal-codemode/codemode/sandbox"
)

const importName = "__codemode_import"

// importStatement finds a static import: type, clause, module.
var importStatement = regexp.MustCompile(`^import\b\s*(type\s+)?(?:([^'";]*?)\s*\bfrom\s*)?['"]([^'"\n]+)['"]`)

// replaceImport turns the static import at which the parser stopped into a constant of the same lines.
func replaceImport(source string, m api.Message, modules map[string]string) (string, bool) {
	if m.Location == nil {
		return "", false
	}
	lines := strings.SplitAfter(source, "\n")
	n := m.Location.Line - 2
	if n < 0 || n >= len(lines) || m.Location.Column > len(lines[n]) {
		return "", false
	}
	rest := strings.Join(lines[n:], "")
	at := strings.LastIndex(rest[:m.Location.Column], "import") // the parser stops at the word after it
	if at < 0 {
		return "", false
	}
	found := importStatement.FindStringSubmatch(rest[at:])
	if found == nil {
		return "", false
	}
	statement := importAs(found[1] != "", found[2], found[3]) + strings.Repeat("\n", strings.Count(found[0], "\n"))
	if _, known := modules[found[3]]; !known && found[1] == "" {
		return "", false
	}
	return strings.Join(lines[:n], "") + rest[:at] + statement + rest[at+len(found[0]):], true
}

// importAs words an import as a constant: `a, {b as c}` from m becomes const {default: a, b: c} =
// __codemode_import("m").
func importAs(typeOnly bool, clause, module string) string {
	if typeOnly {
		return ";"
	}
	call := fmt.Sprintf("%s(%q)", importName, module)
	var names []string
	rest := clause
	if list, head, ok := braces(clause); ok {
		rest = head
		for _, item := range strings.Split(list, ",") {
			if item = strings.TrimSpace(item); item != "" && !strings.HasPrefix(item, "type ") {
				names = append(names, asPattern.ReplaceAllString(item, ": "))
			}
		}
	}
	text := ""
	for _, item := range strings.Split(rest, ",") {
		item = strings.TrimSpace(item)
		if all, ok := strings.CutPrefix(item, "*"); ok {
			text += fmt.Sprintf("const %s=%s;", strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(all), "as")),
				call)
		} else if item != "" {
			names = append(names, "default: "+item)
		}
	}
	if len(names) > 0 {
		text += fmt.Sprintf("const {%s}=%s;", strings.Join(names, ", "), call)
	}
	if text == "" {
		return call + ";"
	}
	return text
}

var asPattern = regexp.MustCompile(`\s+as\s+`)

func braces(clause string) (list, head string, ok bool) {
	open, end := strings.Index(clause, "{"), strings.LastIndex(clause, "}")
	if open < 0 || end < open {
		return "", "", false
	}
	return clause[open+1 : end], clause[:open] + clause[end+1:], true
}

// dynamicImport finds import(…), which the transformer turns into a promise of require(…).
var dynamicImport = regexp.MustCompile(`\bimport\s*\(`)

// moduleLoader is the source of the functions behind the imports of a program; empty where it needs none.
func moduleLoader(source string, modules map[string]string) (string, *sandbox.Failure) {
	dynamic := dynamicImport.MatchString(source)
	if len(modules) == 0 && !dynamic {
		return "", nil
	}
	var b strings.Builder
	if dynamic {
		fmt.Fprintf(&b, "function require(name){return %s(name)}", importName)
	}
	fmt.Fprintf(&b, "function %s(name){const c=%s.c??=Object.create(null);if(c[name])return c[name].exports;"+
		"const table={__proto__:null", importName, importName)
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		result := api.Transform(modules[name], api.TransformOptions{
			Loader: api.LoaderTS, Format: api.FormatCommonJS, Target: api.ESNext, Supported: supported,
			Charset: api.CharsetUTF8, LogLevel: api.LogLevelSilent,
		})
		if len(result.Errors) > 0 {
			message := fmt.Sprintf("SyntaxError in module %q: %s", name, result.Errors[0].Text)
			return "", &sandbox.Failure{Kind: sandbox.SyntaxError, Message: message}
		}
		fmt.Fprintf(&b, ",%q:function(module,exports,require){%s\n}", name, result.Code)
	}
	fmt.Fprintf(&b, "};const f=table[name];if(!f)throw new Error('No such module \"'+name+'\". "+
		"Programs reach the outside through the connectors, which are globals.');"+
		"const m=c[name]={exports:{}};f(m,m.exports,%s);"+
		"if(!m.exports.__esModule)m.exports=Object.assign({default:m.exports},m.exports);return m.exports}", importName)
	return b.String(), nil
}

// ModulesVersion names the content of modules, for the engine version; empty without modules.
func ModulesVersion(modules map[string]string) string {
	if len(modules) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(hash, "%q %q\n", name, modules[name])
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}

package compile

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// NormalizeCode gives the source of an async arrow function that does what the program does. Source that cannot be
// parsed becomes its body as it is, so that whoever runs it hears of the mistake.
func NormalizeCode(code string) string {
	source := strings.TrimSpace(NormalizeFences(code))
	if source == "" {
		return "async () => {}"
	}
	if value, ok := cutDefault(source); ok {
		return value
	}
	tree := parseBody(source)
	if tree == nil { // TypeScript, perhaps
		if source, tree = lowered(source); tree == nil {
			return arrow(source)
		}
	}
	last := len(tree) - 1
	switch s := tree[last].(type) {
	case *ast.ExpressionStatement:
		if _, isArrow := s.Expression.(*ast.ArrowFunctionLiteral); isArrow && last == 0 {
			return strings.TrimRight(source, "; \t\r\n")
		}
		if text := returned(source, tree); text != "" {
			return text
		}
	case *ast.FunctionDeclaration:
		if last == 0 {
			return arrow(source + "\nreturn " + s.Function.Name.Name.String() + "();")
		}
	}
	return arrow(source)
}

func arrow(body string) string { return "async () => {\n" + body + "\n}" }

var (
	defaultPrefix = regexp.MustCompile(`^export\s+default\s+`)
	anonymous     = regexp.MustCompile(`^(?:async\s+)?function\s*\*?\s*\(`)
	classPrefix   = regexp.MustCompile(`^class\s*(?:extends\b|\{)`)
)

// cutDefault normalizes what a program exports as default.
func cutDefault(source string) (string, bool) {
	prefix := defaultPrefix.FindString(source)
	if prefix == "" {
		return "", false
	}
	value := strings.TrimSpace(strings.TrimRight(source[len(prefix):], "; \t\r\n"))
	switch {
	case anonymous.MatchString(value):
		return arrow("return (" + value + ")();"), true
	case classPrefix.MatchString(value):
		return arrow("return (" + value + ");"), true
	}
	return NormalizeCode(value), true
}

const bodyOffset = len(bodyPrefix)

func parseBody(source string) []ast.Statement {
	tree, err := parser.ParseFile(nil, "", bodyPrefix+source+bodySuffix, 0, parser.WithDisableSourceMaps)
	if err != nil || len(tree.Body) != 1 {
		return nil
	}
	main, ok := tree.Body[0].(*ast.FunctionDeclaration)
	if !ok {
		return nil
	}
	list := main.Function.Body.List
	for len(list) > 0 { // a semicolon too many
		if _, empty := list[len(list)-1].(*ast.EmptyStatement); !empty {
			return list
		}
		list = list[:len(list)-1]
	}
	return nil
}

// lowered is what is left of TypeScript without its types.
func lowered(source string) (string, []ast.Statement) {
	out, errs := transform(bodyPrefix, source, bodySuffix)
	body, isBody := strings.CutPrefix(strings.TrimSpace(out.code), "async function "+mainName+"() {")
	if len(errs) > 0 || !isBody {
		return source, nil
	}
	body = strings.TrimSpace(strings.TrimSuffix(body, "}"))
	return body, parseBody(body)
}

// returned puts the last expression into a return statement. The parser does not say where brackets around it stand, so
// they are looked for; "" where that does not give a program.
func returned(source string, list []ast.Statement) string {
	last := list[len(list)-1].(*ast.ExpressionStatement)
	from := 0
	if n := len(list); n > 1 {
		from = position(list[n-2].Idx1())
	}
	end := position(last.Expression.Idx1())
	if from < 0 || from > end || end > len(source) {
		return ""
	}
	start := from + skip(source[from:], ";")
	end += skipBrackets(source[end:])
	if start >= end {
		return ""
	}
	text := arrow(source[:start] + "return (" + strings.TrimRight(source[start:end], "; \t\r\n") + ")")
	if _, err := parser.ParseFile(nil, "", "("+text+")", 0, parser.WithDisableSourceMaps); err != nil {
		return ""
	}
	return text
}

func position(at file.Idx) int { return int(at) - 1 - bodyOffset }

var blank = regexp.MustCompile(`^(?:\s+|//[^\n]*|/\*(?s:.*?)\*/)`)

// skip is the length of white space, comments and some other characters at the beginning of a text.
func skip(text, also string) int {
	at := 0
	for at < len(text) {
		if found := blank.FindString(text[at:]); found != "" {
			at += len(found)
			continue
		}
		if !strings.ContainsRune(also, rune(text[at])) {
			break
		}
		at++
	}
	return at
}

// skipBrackets goes past the closing brackets that follow.
func skipBrackets(text string) int {
	end := 0
	for {
		next := end + skip(text[end:], "")
		if next >= len(text) || text[next] != ')' {
			return end
		}
		end = next + 1
	}
}

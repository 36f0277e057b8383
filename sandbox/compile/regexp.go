package compile

//lint:file-ignore ST1005 The texts are those of JavaScript's own SyntaxErrors, which programs see.

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// throughRegexp2 makes goja use regexp2, the only one of its two engines that knows properties, and changes no match.
const throughRegexp2 = "(?=)"

// RewriteRegExp turns a pattern into one that goja reads as JavaScript means it. indices reports the d flag, which is
// emulated.
func RewriteRegExp(pattern, flags string) (rewritten, flagsLeft string, indices bool, err error) {
	indices = strings.Contains(flags, "d")
	sets := strings.Contains(flags, "v")
	if strings.Count(flags, "d") > 1 || strings.Count(flags, "v") > 1 || sets && strings.Contains(flags, "u") {
		return "", "", false, fmt.Errorf("Invalid flags supplied to RegExp constructor '%s'", flags)
	}
	flags = strings.NewReplacer("d", "", "v", "u").Replace(flags)
	if sets {
		if pattern, err = flattenSets(pattern); err != nil {
			return "", "", false, err
		}
	}
	if strings.Contains(flags, "u") {
		pattern, err = expandProperties(pattern)
	}
	return pattern, flags, indices, err
}

// flattenSets takes the pattern of a v flag: nested classes without operators are the same as one flat class.
func flattenSets(pattern string) (string, error) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			if depth > 0 && pattern[i+1] == 'q' {
				return "", fmt.Errorf("Invalid regular expression: /%s/v: "+
					"string literals in classes are not supported", pattern)
			}
			b.WriteString(pattern[i : i+2])
			i++
			continue
		case c == '[':
			if depth++; depth > 1 {
				if strings.HasPrefix(pattern[i:], "[^") {
					return "", fmt.Errorf("Invalid regular expression: /%s/v: "+
						"a negated class inside a class is not supported", pattern)
				}
				continue
			}
		case c == ']' && depth > 0:
			if depth--; depth > 0 {
				continue
			}
		case depth > 0 && (strings.HasPrefix(pattern[i:], "--") || strings.HasPrefix(pattern[i:], "&&")):
			return "", fmt.Errorf("Invalid regular expression: /%s/v: set operations are not supported; use a "+
				"lookahead, "+
				"as in (?![aeiou])[a-z]", pattern)
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// expandProperties rewrites the property escapes of a pattern with the u flag.
func expandProperties(pattern string) (string, error) {
	if !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		return pattern, nil
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c != '\\' || i+1 == len(pattern) {
			inClass = c == '[' || inClass && c != ']'
			b.WriteByte(c)
			continue
		}
		i++
		end := strings.IndexByte(pattern[i:], '}')
		if (pattern[i] != 'p' && pattern[i] != 'P') || !strings.HasPrefix(pattern[i+1:], "{") || end < 0 {
			b.WriteString(pattern[i-1 : i+1])
			continue
		}
		set, err := propertySet(pattern[i+2:i+end], pattern[i] == 'P', inClass)
		if err != nil {
			return "", fmt.Errorf("Invalid regular expression: /%s/: %w", pattern, err)
		}
		b.WriteString(set)
		i += end
	}
	return b.String() + throughRegexp2, nil
}

// propertySet writes one property in the names that regexp2 knows.
func propertySet(name string, negated, inClass bool) (string, error) {
	parts, ok := derived[name]
	if !ok {
		canonical, err := propertyName(name)
		if err != nil {
			return "", err
		}
		if negated {
			return `\P{` + canonical + "}", nil
		}
		return `\p{` + canonical + "}", nil
	}
	switch {
	case !inClass && negated:
		return "[^" + parts + "]", nil
	case !inClass:
		return "[" + parts + "]", nil
	case negated:
		return "", fmt.Errorf(`\P{%s} inside a class is not supported`, name)
	}
	return parts, nil
}

// derived are the properties that are made of others.
var derived = map[string]string{
	"Any": `\u{0}-\u{10FFFF}`, "ASCII": `\x00-\x7F`, "Assigned": `\P{Cn}`,
	"Alphabetic": `\p{L}\p{Nl}\p{Other_Alphabetic}`, "Alpha": `\p{L}\p{Nl}\p{Other_Alphabetic}`,
	"Uppercase": `\p{Lu}\p{Other_Uppercase}`, "Upper": `\p{Lu}\p{Other_Uppercase}`,
	"Lowercase": `\p{Ll}\p{Other_Lowercase}`, "Lower": `\p{Ll}\p{Other_Lowercase}`,
	"ID_Start": `\p{L}\p{Nl}\p{Other_ID_Start}`, "IDS": `\p{L}\p{Nl}\p{Other_ID_Start}`,
	"XID_Start": `\p{L}\p{Nl}\p{Other_ID_Start}`, "XIDS": `\p{L}\p{Nl}\p{Other_ID_Start}`,
	"ID_Continue":  `\p{L}\p{Nl}\p{Other_ID_Start}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Other_ID_Continue}`,
	"XID_Continue": `\p{L}\p{Nl}\p{Other_ID_Start}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Other_ID_Continue}`,
	"IDC":          `\p{L}\p{Nl}\p{Other_ID_Start}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Other_ID_Continue}`,
	"LC":           `\p{Lu}\p{Ll}\p{Lt}`, "Cased_Letter": `\p{Lu}\p{Ll}\p{Lt}`,
	"RGI_Emoji": `\p{Emoji_Presentation}\p{Extended_Pictographic}`,
}

var emoji = map[string]string{
	"Emoji": "Emoji", "Emoji_Component": "Emoji_Component", "EComp": "Emoji_Component",
	"Emoji_Modifier": "Emoji_Modifier", "EMod": "Emoji_Modifier",
	"Emoji_Modifier_Base": "Emoji_Modifier_Base", "EBase": "Emoji_Modifier_Base",
	"Emoji_Presentation": "Emoji_Presentation", "EPres": "Emoji_Presentation",
	"Extended_Pictographic": "Extended_Pictographic", "ExtPict": "Extended_Pictographic", "Math": "Math",
}

var scriptNames = map[string]string{
	"Latn": "Latin", "Grek": "Greek", "Cyrl": "Cyrillic", "Hani": "Han", "Hira": "Hiragana",
	"Kana": "Katakana", "Hang": "Hangul",
	"Arab": "Arabic", "Hebr": "Hebrew", "Thai": "Thai", "Deva": "Devanagari", "Armn": "Armenian",
	"Geor": "Georgian", "Zyyy": "Common",
	"Zinh": "Inherited", "Beng": "Bengali", "Taml": "Tamil", "Telu": "Telugu", "Ethi": "Ethiopic",
	"Khmr": "Khmer", "Mong": "Mongolian",
}

func propertyName(name string) (string, error) {
	property, value, valued := strings.Cut(name, "=")
	if !valued {
		property, value = "", name
	}
	switch property {
	case "", "General_Category", "gc":
		if alias, ok := unicode.CategoryAliases[value]; ok {
			value = alias
		}
		if unicode.Categories[value] != nil {
			return value, nil
		}
		if property == "" && emoji[value] != "" {
			return emoji[value], nil
		}
		if property == "" && unicode.Properties[value] != nil {
			return value, nil
		}
	case "Script", "sc", "Script_Extensions", "scx":
		if long, ok := scriptNames[value]; ok {
			value = long
		}
		if unicode.Scripts[value] != nil {
			return value, nil
		}
	}
	return "", fmt.Errorf("Invalid property name %s", name)
}

// hasSpecialLiterals reports whether a program may have literals to rewrite; a false alarm costs a little time.
func hasSpecialLiterals(code string) bool {
	return strings.Contains(code, `\p{`) || strings.Contains(code, `\P{`) || specialFlags.MatchString(code)
}

var specialFlags = regexp.MustCompile(`/[gimsuy]*[dv]`)

// rewriteLiterals rewrites the regular expression literals of a program that goja would misread.
func rewriteLiterals(tree *ast.Program) *sandbox.Failure {
	w := &literals{file: tree.File}
	w.walk(reflect.ValueOf(tree.Body))
	return w.failure
}

type literals struct {
	file    *file.File
	failure *sandbox.Failure
}

var expressionType = reflect.TypeFor[ast.Expression]()

// walk looks at every expression below v; goja's syntax tree has no walker of its own.
func (w *literals) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if literal, ok := v.Interface().(*ast.RegExpLiteral); ok && v.Type() == expressionType {
			if with := w.rewrite(literal); with != nil && v.CanSet() {
				v.Set(reflect.ValueOf(with))
			}
			return
		}
		w.walk(v.Elem())
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*file.File]() && v.Elem().Kind() == reflect.Struct {
			w.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && f.Kind() > reflect.Complex128 && f.Kind() != reflect.String {
				w.walk(f)
			}
		}
	}
}

// rewrite changes a literal in place, or gives what stands for it.
func (w *literals) rewrite(literal *ast.RegExpLiteral) ast.Expression {
	properties := strings.Contains(literal.Pattern, `\p{`) || strings.Contains(literal.Pattern, `\P{`)
	if !strings.ContainsAny(literal.Flags, "dv") && !properties {
		return nil
	}
	pattern, flags, indices, err := RewriteRegExp(literal.Pattern, literal.Flags)
	switch {
	case err != nil:
		if w.failure == nil {
			at := w.file.Position(int(literal.Idx) - w.file.Base())
			w.failure = &sandbox.Failure{Kind: sandbox.SyntaxError, Message: "SyntaxError: " + err.Error()}
			w.failure.Position = &signals.Position{Line: max(1, at.Line-1), Column: at.Column}
		}
	case indices:
		return newRegExp(literal)
	default:
		literal.Pattern, literal.Flags = pattern, flags
	}
	return nil
}

// newRegExp constructs what a literal with the d flag means.
func newRegExp(literal *ast.RegExpLiteral) ast.Expression {
	text := func(s string) ast.Expression {
		return &ast.StringLiteral{Idx: literal.Idx, Literal: s, Value: unistring.NewFromString(s)}
	}
	return &ast.NewExpression{
		New: literal.Idx, Callee: &ast.Identifier{Name: "RegExp", Idx: literal.Idx},
		ArgumentList: []ast.Expression{text(literal.Pattern), text(literal.Flags)},
	}
}

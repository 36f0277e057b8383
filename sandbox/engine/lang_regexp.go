package engine

import (
	"unicode"
	"unicode/utf16"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox/compile"
)

// jsRegExp takes a pattern and flags and gives a pattern, flags, and whether indices are wanted.
func (e *Engine) jsRegExp(f goja.FunctionCall) goja.Value {
	pattern, flags, indices, err := compile.RewriteRegExp(f.Argument(0).String(), f.Argument(1).String())
	if err != nil {
		panic(e.syntaxError(err.Error()))
	}
	return e.vm.ToValue(e.vm.NewArray(pattern, flags, indices))
}

func (e *Engine) syntaxError(message string) goja.Value {
	v, err := e.vm.New(e.vm.Get("SyntaxError"), e.vm.ToValue(message))
	if err != nil {
		return e.vm.NewTypeError(message)
	}
	return v
}

// jsIndices matches a pattern again at a known place, to tell where its groups are: source, i, m, s, u, text, index.
func (e *Engine) jsIndices(f goja.FunctionCall) goja.Value {
	options := regexp2.ECMAScript
	flags := []regexp2.RegexOptions{regexp2.IgnoreCase, regexp2.Multiline, regexp2.Singleline, regexp2.Unicode}
	for i, option := range flags {
		if f.Argument(i + 1).ToBoolean() {
			options |= option
		}
	}
	re, err := regexp2.Compile(f.Argument(0).String(), options, regexp2.OptionMaxBacktrackingStackSize(-1))
	if err != nil {
		panic(e.syntaxError(err.Error()))
	}
	runes, places, start := subject(f.Argument(5), f.Argument(4).ToBoolean(), int(f.Argument(6).ToInteger()))
	match, err := re.FindRunesMatchStartingAt(runes, start)
	spans, names := []any{}, []any{}
	if err == nil && match != nil {
		for _, g := range match.Groups() {
			names = append(names, g.Name)
			if len(g.Captures) == 0 {
				spans = append(spans, -1, -1)
				continue
			}
			spans = append(spans, places[g.RuneIndex], places[g.RuneIndex+g.RuneLength])
		}
	}
	result := e.vm.NewObject()
	_ = result.Set("spans", e.vm.NewArray(spans...))
	_ = result.Set("names", e.vm.NewArray(names...))
	return result
}

// subject splits a text into what the pattern matches by, units or characters, each with its place in units.
func subject(text goja.Value, characters bool, start int) (runes []rune, places []int, at int) {
	s := text.String()
	units := utf16.Encode([]rune(s))
	for i := 0; i < len(units); i++ {
		if i == start {
			at = len(runes)
		}
		places = append(places, i)
		if characters && i+1 < len(units) {
			if r := utf16.DecodeRune(rune(units[i]), rune(units[i+1])); r != unicode.ReplacementChar {
				runes = append(runes, r)
				i++
				continue
			}
		}
		runes = append(runes, rune(units[i]))
	}
	if start >= len(units) {
		at = len(runes)
	}
	return runes, append(places, len(units)), at
}

package engine

//lint:file-ignore ST1005 The texts are those of JavaScript's own SyntaxErrors, which programs see.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/signals"
)

// maxJSONDepth bounds the nesting of JSON that programs read.
const maxJSONDepth = 10_000

// jsonReader builds a runtime's values straight from JSON: goja's own JSON.parse takes three times as long, loses lone
// surrogates and has no bound on depth.
type jsonReader struct {
	e      *Engine
	text   string
	at     int
	depth  int
	tagged bool // bytes and bigints are in their tagged form
}

// decode gives the value that JSON of the log or of a host says; tagged bytes and bigints become what they were.
func (e *Engine) decode(raw json.RawMessage) (goja.Value, error) {
	if len(raw) == 0 {
		return goja.Undefined(), nil
	}
	text := string(raw)
	r := jsonReader{e: e, text: text, tagged: strings.Contains(text, marker)}
	return r.document()
}

// jsParse is JSON.parse without a reviver.
func (e *Engine) jsParse(f goja.FunctionCall) goja.Value {
	r := jsonReader{e: e, text: f.Argument(0).String()}
	v, err := r.document()
	if err != nil {
		panic(e.syntaxError(err.Error()))
	}
	return v
}

func (r *jsonReader) document() (goja.Value, error) {
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if r.skip(); r.at < len(r.text) {
		return nil, fmt.Errorf("Unexpected non-whitespace character after JSON at position %d", r.position())
	}
	return v, nil
}

func (r *jsonReader) skip() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// position counts as JavaScript does.
func (r *jsonReader) position() int { return signals.Units(r.text[:min(r.at, len(r.text))]) }

func (r *jsonReader) unexpected() error {
	if r.at >= len(r.text) {
		return fmt.Errorf("Unexpected end of JSON input")
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	shown := r.text
	if len(shown) > 40 {
		shown = "..." + strings.ToValidUTF8(shown[max(0, r.at-10):min(len(shown), r.at+10)], "") + "..."
	}
	return fmt.Errorf("Unexpected token '%c', %q is not valid JSON (position %d)", c, shown, r.position())
}

func (r *jsonReader) value() (goja.Value, error) {
	r.skip()
	if r.at >= len(r.text) {
		return nil, r.unexpected()
	}
	switch c := r.text[r.at]; c {
	case '{', '[':
		if r.depth++; r.depth > maxJSONDepth {
			return nil, fmt.Errorf("JSON is nested more than %d levels deep", maxJSONDepth)
		}
		defer func() { r.depth-- }()
		if c == '{' {
			return r.object()
		}
		return r.array()
	case '"':
		return r.string()
	case 't':
		return r.word("true", r.e.vm.ToValue(true))
	case 'f':
		return r.word("false", r.e.vm.ToValue(false))
	case 'n':
		return r.word("null", goja.Null())
	}
	return r.number()
}

func (r *jsonReader) word(word string, v goja.Value) (goja.Value, error) {
	for i := range len(word) {
		if r.at >= len(r.text) || r.text[r.at] != word[i] {
			return nil, r.unexpected()
		}
		r.at++
	}
	return v, nil
}

func (r *jsonReader) array() (goja.Value, error) {
	var items []any
	r.at++
	if r.skip(); r.at < len(r.text) && r.text[r.at] == ']' {
		r.at++
		return r.e.vm.NewArray(), nil
	}
	for {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		switch end, err := r.separator(']'); {
		case err != nil:
			return nil, err
		case end:
			return r.e.vm.NewArray(items...), nil
		}
	}
}

// separator passes a comma, or the end of what stands open.
func (r *jsonReader) separator(closing byte) (end bool, err error) {
	if r.skip(); r.at < len(r.text) {
		if c := r.text[r.at]; c == ',' || c == closing {
			r.at++
			return c == closing, nil
		}
	}
	return false, r.unexpected()
}

func (r *jsonReader) object() (goja.Value, error) {
	o := r.e.vm.NewObject()
	r.at++
	if r.skip(); r.at < len(r.text) && r.text[r.at] == '}' {
		r.at++
		return o, nil
	}
	tag, members := "", 0
	for {
		key, err := r.member(o)
		if err != nil {
			return nil, err
		}
		if members++; r.tagged && (key == bigintKey || key == binaryKey) {
			tag = key
		}
		switch end, err := r.separator('}'); {
		case err != nil:
			return nil, err
		case end && (tag == bigintKey && members == 1 || tag == binaryKey && members == 2):
			return r.untag(o, tag)
		case end:
			return o, nil
		}
	}
}

func (r *jsonReader) member(o *goja.Object) (string, error) {
	if r.skip(); r.at >= len(r.text) || r.text[r.at] != '"' {
		return "", r.unexpected()
	}
	name, err := r.key()
	if err != nil {
		return "", err
	}
	if r.skip(); r.at >= len(r.text) || r.text[r.at] != ':' {
		return "", r.unexpected()
	}
	r.at++
	v, err := r.value()
	if err != nil {
		return "", err
	}
	shown := name
	if r.tagged {
		shown = unescaped(name)
	}
	return name, o.DefineDataProperty(shown, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

func (r *jsonReader) key() (string, error) {
	if plain, ok := r.plain(); ok {
		return plain, nil
	}
	v, err := r.escaped()
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func (r *jsonReader) string() (goja.Value, error) {
	if plain, ok := r.plain(); ok {
		return r.e.vm.ToValue(plain), nil
	}
	return r.escaped()
}

// plain reads a string without escapes, or nothing.
func (r *jsonReader) plain() (string, bool) {
	start := r.at + 1
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return r.text[start:i], true
		case c == '\\' || c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads a string in units, so that lone surrogates survive.
func (r *jsonReader) escaped() (goja.Value, error) {
	r.at++
	var units []uint16
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return goja.StringFromUTF16(units), nil
		case c == '\\':
			unit, err := r.escape()
			if err != nil {
				return nil, err
			}
			units = append(units, unit)
		case c < ' ':
			return nil, fmt.Errorf("Bad control character in string literal in JSON at position %d", r.position())
		case c < utf8.RuneSelf:
			units = append(units, uint16(c))
			r.at++
		default:
			char, size := utf8.DecodeRuneInString(r.text[r.at:])
			units = utf16.AppendRune(units, char)
			r.at += size
		}
	}
	return nil, fmt.Errorf("Unterminated string in JSON at position %d", r.position())
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (r *jsonReader) escape() (uint16, error) {
	if r.at+1 >= len(r.text) {
		r.at = len(r.text)
		return 0, fmt.Errorf("Unterminated string in JSON at position %d", r.position())
	}
	c := r.text[r.at+1]
	if simple := escapes[c]; simple != 0 {
		r.at += 2
		return uint16(simple), nil
	}
	if c == 'u' && r.at+6 <= len(r.text) {
		if n, err := strconv.ParseUint(r.text[r.at+2:r.at+6], 16, 16); err == nil && r.text[r.at+2] != '+' {
			r.at += 6
			return uint16(n), nil
		}
		return 0, fmt.Errorf("Bad Unicode escape in JSON at position %d", r.position())
	}
	return 0, fmt.Errorf("Bad escaped character in JSON at position %d", r.position())
}

// number reads what JSON allows, and no more.
func (r *jsonReader) number() (goja.Value, error) {
	start := r.at
	if r.peek() == '-' {
		r.at++
	}
	switch c := r.peek(); {
	case c == '0':
		r.at++
	case c >= '1' && c <= '9':
		r.digits()
	default:
		return nil, r.unexpected()
	}
	whole := true
	if r.peek() == '.' {
		whole = false
		r.at++
		if !r.digits() {
			return nil, r.unexpected()
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		whole = false
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		if !r.digits() {
			return nil, r.unexpected()
		}
	}
	return r.numeric(r.text[start:r.at], whole), nil
}

func (r *jsonReader) numeric(text string, whole bool) goja.Value {
	if whole && len(text) < 16 && text != "-0" {
		n, _ := strconv.ParseInt(text, 10, 64)
		return r.e.vm.ToValue(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // too large is an infinity, as in JavaScript
	if f == 0 && strings.HasPrefix(text, "-") {
		f = math.Copysign(0, -1)
	}
	return r.e.vm.ToValue(f)
}

// peek is the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) digits() bool {
	start := r.at
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.at++
	}
	return r.at > start
}

// What reads like a tag in data has the keys of one behind escapes, see package wire.
const (
	marker    = "__codemode_b"
	bigintKey = "__codemode_bigint_v1__"
	binaryKey = "__codemode_binary_v1__"
	escape    = "~"
)

// unescaped is a key as the program sees it.
func unescaped(key string) string {
	if bare := strings.TrimLeft(key, escape); bare != key && (bare == bigintKey || bare == binaryKey) {
		return key[len(escape):]
	}
	return key
}

// jsMarkers counts what reads like the key of a tag.
func (e *Engine) jsMarkers(f goja.FunctionCall) goja.Value {
	return e.vm.ToValue(strings.Count(f.Argument(0).String(), marker))
}

// untag gives the bytes or the bigint that an object stands for. What only resembles a tag is data, and stays as it is.
func (r *jsonReader) untag(o *goja.Object, tag string) (goja.Value, error) {
	text, ok := o.Get(tag).(goja.String)
	if !ok {
		return o, nil
	}
	if tag == bigintKey {
		if !isBigInt(text.String()) {
			return o, nil
		}
		return r.e.js.bigint(goja.Undefined(), text)
	}
	data, ok := o.Get("data").(goja.String)
	if !ok {
		return o, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(data.String())
	if err != nil {
		return o, nil
	}
	switch text.String() {
	case "ArrayBuffer":
		return r.e.buffer(bytes), nil
	case "Uint8Array", "ArrayBufferView":
		return r.e.vm.New(r.e.js.uint8, r.e.buffer(bytes))
	}
	return o, nil
}

// isBigInt accepts digits, after a sign or none, as BigInt writes them.
func isBigInt(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] == '0' && len(digits) > 1 {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

package connectors

import (
	"fmt"
	"strings"

	"github.com/temporal-codemode/codemode/internal/words"
	"github.com/temporal-codemode/codemode/signals"
)

// SanitizeToolName turns any name into a JavaScript identifier: dashes, dots
// and white space become "_", other characters outside [A-Za-z0-9_$] vanish, a
// leading digit gets "_" before it and a reserved word gets "_" after it.
func SanitizeToolName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '-' || r == '.' || isJSSpace(r):
			b.WriteByte('_')
		case r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		}
	}
	clean := b.String()
	switch {
	case clean == "":
		return "_"
	case clean[0] >= '0' && clean[0] <= '9':
		return "_" + clean
	case reservedWords[clean] || reservedToolWords[clean]:
		return clean + "_"
	}
	return clean
}

// isJSSpace is JavaScript's \s, which unlike unicode.IsSpace has U+FEFF and lacks U+0085.
func isJSSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// checkConnectorName accepts what can be a constant in a program without hiding
// anything the program or the engine needs.
func checkConnectorName(name string) error {
	switch {
	case name == "codemode":
		return ConfigErrorf("%s", signals.PlatformName(name))
	case !words.Identifier.MatchString(name):
		return ConfigErrorf("%s", signals.NoIdentifier(name))
	case reservedWords[name] || hostGlobals[name] || strings.HasPrefix(name, "__"):
		return ConfigErrorf("%s", signals.ReservedName(name))
	}
	return nil
}

// checkMethodName refuses the names that JavaScript calls by itself on a value
// that is awaited or serialized.
func checkMethodName(connector, name string) error {
	switch name {
	case "":
		return fmt.Errorf("connector %q has a tool without a name", connector)
	case "then", "toJSON":
		return fmt.Errorf("connector %q tool %q cannot have this name: awaiting or serializing the connector would "+
			"call it — rename the tool",
			connector, name)
	}
	return nil
}

// reservedWords cannot be identifiers in module code.
var reservedWords = words.Set(`
	arguments await break case catch class const continue debugger default delete do else enum eval export
	extends false finally for function if implements import in instanceof interface let new null package
	private protected public return static super switch this throw true try typeof var void while with yield`)

// reservedToolWords are identifiers all the same; the reference marks them, so do we.
var reservedToolWords = words.Set(`
	abstract boolean byte char double final float goto int long native short synchronized throws transient
	undefined volatile`)

// hostGlobals are the names a program, the compiled code around it or the
// engine's own library refers to; a connector of that name would hide them.
var hostGlobals = words.Set(`
	globalThis undefined NaN Infinity Object Function Array String Number Boolean Symbol BigInt Math JSON
	Date RegExp Promise Proxy Reflect Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator Intl
	Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError DOMException
	ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array
	Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array
	parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape
	unescape console setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate
	queueMicrotask structuredClone atob btoa performance crypto TextEncoder TextDecoder URL URLSearchParams
	AbortController AbortSignal Event EventTarget WebAssembly require module exports process
	WorkerEntrypoint CodeExecutor`)

package preflight

import "github.com/temporal-codemode/codemode/internal/words"

// globals are the names that programs have without any connector. A test of the engine compares them with its own.
var globals = words.Set(`
	arguments Object Function Array String Number BigInt RegExp Date Boolean Proxy Reflect Error
	AggregateError TypeError ReferenceError SyntaxError RangeError EvalError URIError eval
	Math JSON Intl Iterator ArrayBuffer SharedArrayBuffer
	DataView Atomics Uint8Array Uint8ClampedArray Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array
	Float32Array Float64Array BigInt64Array BigUint64Array Symbol WeakSet WeakMap WeakRef FinalizationRegistry Map Set
	Promise globalThis self NaN undefined Infinity isNaN parseInt parseFloat isFinite decodeURI decodeURIComponent
	encodeURI encodeURIComponent escape unescape console setTimeout setInterval setImmediate clearTimeout clearInterval
	clearImmediate queueMicrotask structuredClone fetch atob btoa performance crypto Crypto CryptoKey SubtleCrypto
	TextEncoder TextDecoder URL URLSearchParams Headers Request Response FormData Blob File AbortController AbortSignal
	Event EventTarget CustomEvent
	DOMException navigator DisposableStack AsyncDisposableStack SuppressedError ReadableStream
	WritableStream TransformStream WebAssembly require module exports process`)

// IsGlobal reports whether every program has a global of that name.
func IsGlobal(name string) bool { return globals[name] }

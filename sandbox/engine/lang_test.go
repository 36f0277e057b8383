package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

func TestLanguageRefusals(t *testing.T) {
	for code, want := range map[string]string{
		"try { eval('1') } catch (e) { return e.name }":                          `"EvalError"`,
		"try { (function* () {}).constructor('1') } catch (e) { return e.name }": `"EvalError"`,
		"try { Function('return 1')() } catch (e) { return e.name }":             `"EvalError"`,
		"try { setTimeout('x = 1') } catch (e) { return e.name }":                `"TypeError"`,
		"['process', 'require', 'Buffer', 'WebAssembly', 'caches', 'WebSocket', 'SharedArrayBuffer', " +
			"'GoError'].filter((n) => n in globalThis)": "[]",
		"try { new RegExp('\\\\p{Nope}', 'u') } catch (e) { return [e.name, e.message] }":                `["SyntaxError","Invalid regular expression: /\\p{Nope}/: Invalid property name Nope"]`,
		"try { JSON.parse('['.repeat(20000)) } catch (e) { return [e.name, e.message] }":                 `["SyntaxError","JSON is nested more than 10000 levels deep"]`,
		"try { new Intl.DateTimeFormat('en', {timeZone: 'Local'}) } catch (e) { return e.name }":         `"RangeError"`,
		"try { new Intl.DateTimeFormat('en', {timeZone: '../etc/passwd'}) } catch (e) { return e.name }": `"RangeError"`,
		"try { await crypto.subtle.digest('MD5', new Uint8Array(1)) } catch (e) { return e.name }":       `"NotSupportedError"`,
		"try { structuredClone(store) } catch (e) { return e.name }":                                     `"DataCloneError"`,
		"Object.keys(globalThis).sort()": `["codemode","console","store"]`,
		"try { globalThis.nope } catch { return 1 } try { nope } catch (e) { return e.name }": `"ReferenceError"`,
		"[typeof URL, 'URL' in globalThis, typeof Nope]":                                      `["function",true,"undefined"]`,
		"globalThis.URL = 5; globalThis.Headers = class Mine {}; return [URL, Headers.name]":  `[5,"Mine"]`,
		"const old = Date; globalThis.Date = class Fake { static now() { return 7 } }; return [Date.now(), new " +
			"old(0).getTime()]": "[7,0]",
		"Math.random = () => 1; const u = new URL('http://a/?b=c'); return [Math.random(), u.search]":     `[1,"?b=c"]`,
		"/(?:x(?!y))*END/.test('x'.repeat(200000) + 'END')":                                               "true",
		"const o = JSON.parse('{\"__proto__\": {\"x\": 1}}'); return [o.x === undefined, Object.keys(o)]": `[true,["__proto__"]]`,
	} {
		t.Run(code, func(t *testing.T) { sandboxtest.RequireValue(t, want, runProgram(t, code)) })
	}
}

func TestLanguageSyntaxErrorsHavePlaces(t *testing.T) {
	for code, line := range map[string]int{
		"let a = 1\nreturn /[\\p{L}--[a-z]]/v":       2,
		"\nreturn /\\p{Nope}/u":                      2,
		"let a\n\nconst {b: [s = 1] = []} = {b: []}": 3, // goja's parser fails at it
		"return 1 +": 1,
	} {
		r := runProgram(t, code)
		require.Equal(t, sandbox.Failed, r.End, code)
		require.Contains(t, r.Failure.Message, "SyntaxError: ")
		require.NotNil(t, r.Failure.Position, code)
		require.Equal(t, line, r.Failure.Position.Line, code)
	}
}

// A module that a step loads is loaded elsewhere when the step is skipped; that must shift nothing.
func TestLoadingIsInvisible(t *testing.T) {
	for _, module := range []string{"new URL('http://a').href", "[1].values().map(x => x).toArray()",
		"new DisposableStack().disposed", "'a'.isWellFormed()", "Intl.DateTimeFormat().resolvedOptions().timeZone"} {
		d := newDriver(t, `await codemode.step('s', () => `+module+`); const before = Math.random(); const again = `+module+`;
await store.w_gate({before, again, after: Math.random(), id: crypto.randomUUID()}); return 'same'`)
		require.Equal(t, sandbox.Blocked, d.Once().End)
		d.SettleOpen(0)
		sandboxtest.RequireValue(t, `"same"`, d.Once())
	}
}

func TestValuesCrossExactly(t *testing.T) {
	d := newDriver(t, `const v = await store.given({}); return [Object.keys(v), v.s.charCodeAt(0), v.b instanceof Uint8Array, [...v.b], typeof v.n, v.big > 1e21, Object.hasOwn(v, '__proto__'), 1 / v.z]`)
	d.Host.Methods["given"] = func(json.RawMessage) (string, error) {
		return `{"z":-0,"10":1,"a":1,"s":"\ud800","b":{"__codemode_binary_v1__":"Uint8Array","data":"AQL/"},"n":{"__codemode_bigint_v1__":"9007199254740993"},"big":1e22,"__proto__":2}`, nil
	}
	sandboxtest.RequireValue(t,
		`[["10","z","a","s","b","n","big","__proto__"],55296,true,[1,2,255],"bigint",true,true,null]`, d.Finish())
}

// What reads like a tag in data is data: it neither ends programs nor changes on its way.
func TestDataThatReadsLikeTags(t *testing.T) {
	const bigint, binary = `"__codemode_bigint_v1__"`, `"__codemode_binary_v1__"`
	for _, same := range []string{
		`{` + bigint + `:"no number"}`, `{` + bigint + `:"1","title":"x"}`, `{` + bigint + `:" 1"}`,
		`{` + bigint + `:null}`, `{` + binary + `:"Uint8Array","data":"?"}`, `{` + binary + `:"Blob","data":"AQ=="}`,
		`{` + binary + `:"Uint8Array"}`,
	} {
		requireSeen(t, same, same)
	}
	requireSeen(t, `{"~__codemode_bigint_v1__":"1"}`, `{`+bigint+`:"1"}`)
	requireSeen(t, `{"~~__codemode_bigint_v1__":1,"~a":1}`, `{"~__codemode_bigint_v1__":1,"~a":1}`)
}

// requireSeen requires what a program sees of a value that a call gives.
func requireSeen(t *testing.T, given, want string) {
	t.Helper()
	d := newDriver(t, `return JSON.stringify(await store.given({}))`)
	d.Host.Methods["given"] = func(json.RawMessage) (string, error) { return given, nil }
	quoted, err := json.Marshal(want)
	require.NoError(t, err)
	sandboxtest.RequireValue(t, string(quoted), d.Finish())
}

// What a program passes on is what it got, real tags and what reads like them.
func TestTagsOfTheProgramsOwn(t *testing.T) {
	for code, want := range map[string]string{
		`return {__codemode_bigint_v1__: '1'}`: `{"~__codemode_bigint_v1__":"1"}`,
		`return [5n, {a: {__codemode_bigint_v1__: '1', b: [7n]}, '~__codemode_binary_v1__': 1}]`: `[` +
			`{"__codemode_bigint_v1__":"5"},{"a":{"~__codemode_bigint_v1__":"1",` +
			`"b":[{"__codemode_bigint_v1__":"7"}]},"~~__codemode_binary_v1__":1}]`,
		`return [new Uint8Array([1]), '__codemode_bigint_v1__', 2n]`: `[` +
			`{"__codemode_binary_v1__":"Uint8Array","data":"AQ=="},"__codemode_bigint_v1__",` +
			`{"__codemode_bigint_v1__":"2"}]`,
		`const v = await store.echo({__codemode_bigint_v1__: '12', n: 3n}); return [Object.keys(v), typeof v.n]`: `` +
			`[["__codemode_bigint_v1__","n"],"bigint"]`,
	} {
		sandboxtest.RequireValue(t, want, newDriver(t, code).Finish())
	}
}

func TestEngineVersionCoversTheWholePrelude(t *testing.T) {
	paths := strings.Join(preludePaths(), " ")
	for _, name := range append(eagerScripts, "dates", "es") {
		require.Contains(t, paths, name+".js")
		require.NotNil(t, preludeScripts()[name])
	}
	for _, m := range lazyModules {
		require.NotNil(t, preludeScripts()[m.name], m.name)
	}
	require.Contains(t, Version(), "prelude")
}

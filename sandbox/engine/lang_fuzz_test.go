package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

func languageEngine(t testing.TB) *Engine {
	e := New(context.Background(), sandbox.Pass{Seed: "s"}, &sandboxtest.Host{})
	require.NoError(t, e.newRuntime())
	return e
}

// FuzzValues: what is JSON is read, what is not is refused, and a value that has crossed once crosses again unchanged.
func FuzzValues(f *testing.F) {
	for _, text := range []string{
		`null`, `[]`, `{}`, `{"a":[1,2.5,-0,1e400,true,false,null,"x\u00e9\ud83d\ude00\ud800"]}`,
		`{"__proto__":{"x":1},"b":1,"2":2,"1":1}`, `"\ud800"`,
		`{"__codemode_bigint_v1__":"12345678901234567890"}`, `{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}`,
		`{"__codemode_binary_v1__":"ArrayBuffer","data":"AQID"}`,
		`{"__codemode_binary_v1__":1}`, `01`, `[1,]`, `{"a":1,}`, `"\x"`, "\"\n\"", `nul`, `1e5`, `-`, `[[[[[[`,
		` 1 `, `{"a":1,"a":2}`, `1.0`, `"\u12"`, `"\/\b\f\n\r\t\"\\"`,
	} {
		f.Add(text)
	}
	e := languageEngine(f)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || text == "" {
			return
		}
		plain := jsonReader{e: e, text: text}
		_, err := plain.document()
		if valid := json.Valid([]byte(text)); valid != (err == nil) &&
			!strings.Contains(text, strings.Repeat("[", maxJSONDepth/2)) {
			t.Fatalf("valid: %v, but reading it says: %v", valid, err)
		}
		value, err := e.decode(json.RawMessage(text))
		if err != nil {
			return
		}
		once := encodeText(t, e, value)
		again, err := e.decode(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := encodeText(t, e, again); !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func encodeText(t testing.TB, e *Engine, v goja.Value) json.RawMessage {
	text, failure := e.encode(v)
	if failure != nil {
		t.Fatalf("%+v", *failure)
	}
	return text
}

// FuzzBytes: bytes and bigints come back as they were.
func FuzzBytes(f *testing.F) {
	f.Add([]byte{}, int64(0))
	f.Add([]byte{0, 255, 128}, int64(-5))
	e := languageEngine(f)
	f.Fuzz(func(t *testing.T, b []byte, n int64) {
		array, err := e.vm.New(e.js.uint8, e.buffer(bytes.Clone(b)))
		require.NoError(t, err)
		big, err := e.js.bigint(goja.Undefined(), e.vm.ToValue(n))
		if err != nil {
			return
		}
		back, err := e.decode(encodeText(t, e, e.vm.NewArray(array, big)))
		require.NoError(t, err)
		list := back.ToObject(e.vm)
		require.True(t, bytes.Equal(b, list.Get("0").Export().([]byte)))
		require.True(t, list.Get("1").StrictEquals(big))
	})
}

// FuzzRegExp: rewriting a pattern never panics, and what it gives compiles or is refused as a syntax error.
func FuzzRegExp(f *testing.F) {
	for _, p := range []string{`\p{L}+`, `[\p{Lu}\d-]`, `\P{Script=Greek}`, `[^\p{Alphabetic}]`, `\p{`, `[[a-z]--[b]]`,
		`\p{Emoji}\u{1F600}`, `\\p{L}`, `[\]\p{L}]`} {
		f.Add(p, "u")
		f.Add(p, "gdv")
	}
	e := languageEngine(f)
	construct, _ := goja.AssertFunction(e.vm.Get("RegExp"))
	f.Fuzz(func(t *testing.T, pattern, flags string) {
		v, err := construct(goja.Undefined(), e.vm.ToValue(pattern), e.vm.ToValue(flags))
		if err == nil {
			exec := method(v.ToObject(e.vm), "exec")
			_, err = exec(v, e.vm.ToValue("aé Ω-1"))
		}
		if err != nil && !strings.Contains(err.Error(), "SyntaxError") {
			t.Fatalf("/%s/%s: %v", pattern, flags, err)
		}
	})
}

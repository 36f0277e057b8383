package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEncodeValue(t *testing.T) {
	type row struct {
		ID   int64  `json:"id"`
		HTML string `json:"html"`
	}
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"nil is undefined", nil, ""},
		{"empty raw is undefined", json.RawMessage{}, ""},
		{"raw null is null", json.RawMessage("null"), "null"},
		{"raw is passed on", json.RawMessage(`{"b":1, "a":90071992547409930}`), `{"b":1, "a":90071992547409930}`},
		{"bytes", []byte{1, 2, 3}, `{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}`},
		{"no bytes", []byte(nil), `{"__codemode_binary_v1__":"Uint8Array","data":""}`},
		{"nil pointer is null", (*row)(nil), "null"},
		{"no HTML escapes", row{1, "<a>&"}, `{"id":1,"html":"<a>&"}`},
		{"largest number", row{ID: 1<<53 - 1}, `{"id":9007199254740991,"html":""}`},
		{"smallest bigint", row{ID: 1 << 53}, `{"id":{"__codemode_bigint_v1__":"9007199254740992"},"html":""}`},
		{"negative bigint", []int64{-(1<<53 - 1), -(1 << 53)},
			`[-9007199254740991,{"__codemode_bigint_v1__":"-9007199254740992"}]`},
		{"big.Int", new(big.Int).Lsh(big.NewInt(1), 70), `{"__codemode_bigint_v1__":"1180591620717411303424"}`},
		{"digits in text", []string{`99999999999999999999`, `"12345678901234567890\`},
			`["99999999999999999999","\"12345678901234567890\\"]`},
		{"fractions and exponents", json.Number("12345678901234567890.5"), `12345678901234567890.5`},
	} {
		got, err := Encode(c.in)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(got), c.name)
		assert.Equal(t, c.want == "", got == nil, c.name)
	}
}

func TestEncodeValueRefuses(t *testing.T) {
	for name, in := range map[string]any{
		"NaN": math.NaN(), "channel": make(chan int), "broken raw": json.RawMessage(`{"a":`),
	} {
		_, err := Encode(in)
		assert.Error(t, err, name)
	}
}

func TestPlainJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"absent", "", ""},
		{"no tags", `{"b": 1, "a":[null]}`, `{"b": 1, "a":[null]}`},
		{"bigint", `{"__codemode_bigint_v1__":"-12345678901234567890"}`, `-12345678901234567890`},
		{"zero", `[{"__codemode_bigint_v1__":"0"}]`, `[0]`},
		{"nested, order and space kept", `{"z":{"__codemode_bigint_v1__":"7"}, "a":"x"}`, `{"z":7, "a":"x"}`},
		{"bytes", `{"f":{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}}`, `{"f":"AQID"}`},
		{"bytes, members swapped and spaced", "{ \"data\" : \"AQID\" ,\n\"__codemode_binary_v1__\":\"ArrayBuffer\" }",
			`"AQID"`},
		{"view", `{"__codemode_binary_v1__":"ArrayBufferView","data":""}`, `""`},
		{"inside a string", `{"s":"{\"__codemode_bigint_v1__\":\"1\"}"}`, `{"s":"{\"__codemode_bigint_v1__\":\"1\"}"}`},
		{"not digits", `{"__codemode_bigint_v1__":"1],[2"}`, `{"__codemode_bigint_v1__":"1],[2"}`},
		{"leading zero", `{"__codemode_bigint_v1__":"01"}`, `{"__codemode_bigint_v1__":"01"}`},
		{"sign only", `{"__codemode_bigint_v1__":"-"}`, `{"__codemode_bigint_v1__":"-"}`},
		{"number value", `{"__codemode_bigint_v1__":1}`, `{"__codemode_bigint_v1__":1}`},
		{"another member", `{"__codemode_bigint_v1__":"1","a":2}`, `{"__codemode_bigint_v1__":"1","a":2}`},
		{"not base64", `{"__codemode_binary_v1__":"Uint8Array","data":"?"}`,
			`{"__codemode_binary_v1__":"Uint8Array","data":"?"}`},
		{"unknown kind", `{"__codemode_binary_v1__":"Blob","data":"AQID"}`,
			`{"__codemode_binary_v1__":"Blob","data":"AQID"}`},
		{"third member", `{"__codemode_binary_v1__":"Uint8Array","data":"","x":{"__codemode_bigint_v1__":"1"}}`,
			`{"__codemode_binary_v1__":"Uint8Array","data":"","x":1}`},
		{"data first, no tag", `{"data":"AQID","k":{"__codemode_bigint_v1__":"1"}}`, `{"data":"AQID","k":1}`},
		{"lone surrogate kept", `{"s":"\ud800","n":{"__codemode_bigint_v1__":"1"}}`, `{"s":"\ud800","n":1}`},
	} {
		got, err := Plain(json.RawMessage(c.in))
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(got), c.name)
	}
	_, err := Plain(json.RawMessage(`{"a":`))
	assert.EqualError(t, err, "not valid JSON")
}

// All of what others send is data.
func TestFromJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,"__codemode_bigint_v1__"]}`: `{"a":[1,"__codemode_bigint_v1__"]}`,
		`{"__codemode_bigint_v1__":"1"}`:     `{"~__codemode_bigint_v1__":"1"}`,
		`{"a":{"__codemode_binary_v1__" : "x"},"n":90071992547409930}`: `{"a":{"~__codemode_binary_v1__" : "x"},` +
			`"n":{"__codemode_bigint_v1__":"90071992547409930"}}`,
		`{"~__codemode_bigint_v1__":"1"}`:              `{"~~__codemode_bigint_v1__":"1"}`,
		`{"\u005f_codemode_bigint_v1__":"1"}`:          `{"~__codemode_bigint_v1__":"1"}`,
		`{"\u007e\u005f_codemode_bigint_v1\u005f_":1}`: `{"~~__codemode_bigint_v1__":1}`,
		`{"s":"\u0000","~a":1,"__codemode_bother":2}`:  `{"s":"\u0000","~a":1,"__codemode_bother":2}`,
	} {
		got := FromJSON(json.RawMessage(in))
		assert.Equal(t, want, string(got))
		back, err := Plain(got)
		require.NoError(t, err)
		assert.JSONEq(t, in, string(back))
	}
}

// FuzzFromJSON: whatever comes in comes out again.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{"\u005f_codemode_bigint_v1__":"1","~":12345678901234567890}`, `{"__codemode_bigint_v1__":"12"}`,
		`[{"~__codemode_binary_v1__":"Uint8Array","data":"AQID"},"\u0000"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		back, err := Plain(FromJSON(in))
		require.NoError(t, err)
		var want, got any
		decode := func(raw []byte, into *any) {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			require.NoError(t, d.Decode(into))
		}
		decode(in, &want)
		decode(back, &got)
		require.Equal(t, want, got)
	})
}

// FuzzWire holds the codec to its promises: what it makes is valid JSON, no
// unsafe integer is left outside a string, and plain JSON gives the bytes back.
func FuzzWire(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-9007199254740993,1.5e3,"99999999999999999999"],"b":{"c":12345678901234567890}}`,
		`"\\\"9007199254740993"`, `-9007199254740992`, `[[[[123456789012345678901234567890]]]]`,
		`{"__codemode_bigint_v1__":"12"}`, `{"data":"AQID","__codemode_binary_v1__":"Uint8Array"}`,
		`{"__codemode_binary_v1__":{"__codemode_bigint_v1__":"1"}}`, `{"data":"`, `1e999999`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			if len(in) > 0 {
				_, err := Plain(in)
				require.Error(t, err)
			}
			return
		}
		plain, err := Plain(in)
		require.NoError(t, err)
		require.True(t, json.Valid(plain), "plain: %s", plain)
		if !strings.Contains(string(in), "__codemode_") {
			require.Equal(t, string(in), string(plain))
		}

		tagged := TagBigInts(plain)
		require.True(t, json.Valid(tagged), "tagged: %s", tagged)
		eachNumberAsGo(t, tagged)
		if !strings.Contains(string(plain), "__codemode_") {
			back, err := Plain(tagged)
			require.NoError(t, err)
			require.Equal(t, string(plain), string(back))
		}
	})
}

// eachNumberAsGo looks with encoding/json for integers that tagging has left.
func eachNumberAsGo(t *testing.T, raw []byte) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	limit := big.NewInt(1<<53 - 1)
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		if n, ok := token.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			v, ok := new(big.Int).SetString(n.String(), 10)
			require.True(t, ok)
			require.LessOrEqual(t, v.CmpAbs(limit), 0, "%s in %s", n, raw)
		}
	}
}

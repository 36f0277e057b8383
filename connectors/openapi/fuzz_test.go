package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/internal/words"
)

// FuzzOpenAPIDocument loads documents that were changed at random, as text or,
// with a seed, in their structure. Nothing may panic, every name must be usable,
// every schema must compile, and a request must have a path of its own.
func FuzzOpenAPIDocument(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "openapi", "examples", "*", "*.*"))
	require.NoError(f, err)
	files = append(files, filepath.Join("testdata", "openapi", "api.json"))
	for i, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		if len(data) < 16<<10 {
			f.Add(data, uint64(0))
			f.Add(data, uint64(i+1))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) > 64<<10 {
			return
		}
		if seed != 0 {
			data = mutated(data, rand.New(rand.NewPCG(seed, 0)))
		}
		exercise(t, data)
	})
}

// TestOpenAPIMutations does some of what the fuzzer does, in every run.
func TestOpenAPIMutations(t *testing.T) {
	data := readTestdata(t, filepath.Join("examples", "2.0", "petstore.json"))
	modern := readTestdata(t, filepath.Join("examples", "3.0", "polymorphism.json"))
	own := readTestdata(t, "api.json")
	for seed := range uint64(100) {
		exercise(t, mutated(own, rand.New(rand.NewPCG(seed, 1))))
		if seed%10 == 0 {
			exercise(t, mutated(data, rand.New(rand.NewPCG(seed, 1))))
			exercise(t, mutated(modern, rand.New(rand.NewPCG(seed, 1))))
		}
	}
}

// anyValues are what a mistaken author may have written.
var anyValues = []string{
	`null`, `true`, `false`, `0`, `-1`, `1e999`, `12345678901234567890`, `""`, `"x"`, `"string"`, `"object"`, `"array"`,
	`"path"`, `"query"`, `"header"`,
	`"cookie"`, `"body"`, `"formData"`, `"deepObject"`, `"matrix"`, `"#"`, `"#/"`, `"#/paths"`,
	`"#/components/schemas/User"`, `"#/definitions/Pet"`, `"/{a}/{b}"`,
	`"{"`, `"\u0000"`, `"\ud800"`, `"(?<a"`, `[]`, `[null]`, `[[]]`, `[{}]`, `{}`, `{"$ref":"#"}`,
	`{"$ref":"#/components/schemas/Node"}`, `{"$ref":7}`,
	`{"type":"object","properties":{"a":{"readOnly":true}},"required":["a"]}`,
	`{"allOf":[{"$ref":"#/components/schemas/User"},null]}`,
	`{"type":["string","null"],"nullable":true,"enum":[1]}`, `{"":{"":{}}}`, `{"*/*":{}}`,
	`{"multipart/form-data":{"encoding":{"a":{"style":"x"}}}}`, `{"get":{}}`,
}

// mutated changes some values of a document.
func mutated(data []byte, random *rand.Rand) []byte {
	file, err := parseFile(data, "")
	if err != nil {
		return data
	}
	raw := file.raw
	for range 1 + random.IntN(4) {
		raw = mutate(raw, random)
	}
	return raw
}

// mutate goes down at random and changes what it comes to.
func mutate(raw []byte, random *rand.Rand) []byte {
	var keys []string
	var values [][]byte
	for key, value := range rawjson.Members(raw) {
		keys, values = append(keys, key), append(values, value)
	}
	for value := range rawjson.Elements(raw) {
		values = append(values, value)
	}
	if len(values) == 0 || random.IntN(12) == 0 {
		return []byte(anyValues[random.IntN(len(anyValues))])
	}
	i := random.IntN(len(values))
	switch random.IntN(40) {
	case 0: // leave it out
		values[i] = nil
	case 1: // let it stand where another does
		values[i] = values[random.IntN(len(values))]
	default:
		values[i] = mutate(values[i], random)
	}
	if rawjson.IsArray(raw) {
		return rawjson.Array(slicesWithoutNil(values))
	}
	var o rawjson.Object
	for i, key := range keys {
		if values[i] != nil {
			o.Add(key, values[i])
		}
	}
	return o.Bytes()
}

func slicesWithoutNil(values [][]byte) (kept [][]byte) {
	for _, v := range values {
		if v != nil {
			kept = append(kept, v)
		}
	}
	return kept
}

// exercise uses all that a document offers.
func exercise(t *testing.T, data []byte) {
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, "h", r.URL.Host)
		assert.True(t, strings.HasPrefix(r.URL.EscapedPath(), "/base/"), r.URL.String())
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	})
	c := New("api", Options{Data: data, BaseURL: "http://h/base", Transport: transport,
		Credentials: map[string]Credential{
			"petstore_auth": {Token: "t"}, "api_key": {Token: "t"}, "basicAuth": {Username: "u"},
			"oauth": {ClientID: "c", TokenURL: "http://127.0.0.1:1"},
		}})
	if len(data) == 0 {
		return
	}
	methods, err := c.Methods(t.Context())
	if err != nil {
		return
	}
	large, err := c.(connectors.LargeConnector).Large(t.Context())
	require.NoError(t, err)
	require.True(t, json.Valid(large.Definitions()))
	for _, text := range c.(connectors.Warner).Warnings() {
		assert.True(t, strings.HasPrefix(text, `OpenAPI connector "api": `))
	}
	set := connectorstest.NewSet(t, nil, fixed{c, methods})
	require.NoError(t, set.Err("api"))
	for i, b := range set.Methods("api") {
		checkExercised(t, b, large.Methods[i])
	}
}

// fixed keeps a set from reading the document once more.
func (f fixed) Methods(context.Context) ([]connectors.Method, error) { return f.methods, nil }

type fixed struct {
	connectors.Connector
	methods []connectors.Method
}

func checkExercised(t *testing.T, b *connectors.Bound, m connectors.Method) {
	assert.Regexp(t, words.Identifier, b.Method.Name)
	for _, raw := range []json.RawMessage{b.InputSchema, b.OutputSchema, m.Arguments()} {
		err := validate.Schema(raw)
		assert.NoError(t, err, "%s: %s", b.Method.Name, raw)
	}
	for _, value := range []string{`"a"`, `7`, `["x",null]`, `{"k":[1]}`, wireABC} {
		var o rawjson.Object
		for name := range rawjson.Members(rawjson.Member(m.InputSchema, "properties")) {
			if name != typeProperty {
				o.Add(name, []byte(value))
			}
		}
		if err := b.Validate(o.Bytes()); err != nil {
			assert.NotContains(t, err.Error(), "cycle")
		}
		got, err := b.Invoke(connectorstest.CallContext(), o.Bytes())
		var panicked *connectors.PanicError
		assert.NotErrorAs(t, err, &panicked)
		assert.True(t, err != nil || len(got) > 0)
	}
}

// FuzzOpenAPIParameters writes values in every style and reads them back with a
// parser that has nothing in common with the writer.
func FuzzOpenAPIParameters(f *testing.F) {
	for i := range styleTable {
		f.Add(uint8(i), uint8(i), "blue", "black,&=;|% ü/?#")
	}
	f.Fuzz(func(t *testing.T, row, kind uint8, first, second string) {
		s := styleTable[int(row)%len(styleTable)]
		k := []string{scalarKind, listKind, objectKind}[int(kind)%3]
		first, second = carried(s.in, s.style, first), carried(s.in, s.style, second)
		var value any = "v" + first
		switch k {
		case listKind:
			value = []string{"v" + first, "v" + second}
		case objectKind:
			value = map[string]string{"a" + keyOf(first): "v" + second, "b": "v" + first}
		}
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		checkRoundTrip(t, s.in, s.style, s.explode, k, string(raw))
	})
}

// carried takes out of a text what its place has no way to carry.
func carried(in, style, text string) string {
	text = strings.ToValidUTF8(text, "?")
	without := ""
	switch {
	case in == inHeader:
		text = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7F || r == ',' || r == '=' {
				return -1
			}
			return r
		}, text)) + "."
	case style == styleLabel:
		without = "."
	case style == styleSpace:
		without = " "
	case style == stylePipe:
		without = "|"
	}
	if without != "" {
		text = strings.ReplaceAll(text, without, "")
	}
	return text
}

// keyOf is a name that a cookie can have, too.
func keyOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, text)
}

// FuzzOpenAPIJSON compares reading in place with encoding/json.
func FuzzOpenAPIJSON(f *testing.F) {
	for _, text := range []string{`{}`, `[]`, `{"a":[1,{"b":"\"}"}],"":null}`, ` [ true , "\u00fc" ] `, `"x"`, `-1.5e3`,
		`{"a":1,"a":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		compact, err := rawjson.Compact(data)
		require.Equal(t, json.Valid(data), err == nil)
		if err != nil {
			return
		}
		rebuilt := rebuild(compact)
		var want, got bytes.Buffer
		require.NoError(t, json.Compact(&want, compact))
		require.NoError(t, json.Compact(&got, rebuilt), "%s", rebuilt)
		var a, b any
		decode := func(raw []byte, v *any) {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			require.NoError(t, d.Decode(v))
		}
		decode(compact, &a)
		decode(rebuilt, &b)
		require.Equal(t, a, b)
		require.Equal(t, len(compact), rawjson.SkipValue(compact, 0))
	})
}

// rebuild writes a value from what the readers give.
func rebuild(raw []byte) []byte {
	switch {
	case rawjson.IsObject(raw):
		var o rawjson.Object
		for key, value := range rawjson.Members(raw) {
			o.Add(key, rebuild(value))
		}
		return o.Bytes()
	case rawjson.IsArray(raw):
		var list [][]byte
		for value := range rawjson.Elements(raw) {
			list = append(list, rebuild(value))
		}
		return rawjson.Array(list)
	case rawjson.IsText(raw):
		return rawjson.Quote(rawjson.Text(raw))
	}
	return raw
}

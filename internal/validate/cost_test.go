package validate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// diamond is a schema of levels that each evaluate the next one twice, in the given form.
func diamond(levels int, form, leaf string) json.RawMessage {
	var defs []string
	for n := range levels {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n+1)
		defs = append(defs, fmt.Sprintf(`"d%d":`, n)+strings.ReplaceAll(form, "NEXT", next))
	}
	defs = append(defs, fmt.Sprintf(`"d%d":%s`, levels, leaf))
	return json.RawMessage(`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `}}`)
}

// expression is the usual discriminated union, which refers to itself.
const expression = `{"$ref":"#/$defs/node","$defs":{"node":{"oneOf":[
	{"type":"object","properties":{"op":{"const":"add"},"l":{"$ref":"#/$defs/node"},"r":{"$ref":"#/$defs/node"}}},
	{"type":"object","properties":{"op":{"const":"mul"},"l":{"$ref":"#/$defs/node"},"r":{"$ref":"#/$defs/node"}}},
	{"type":"object","properties":{"op":{"const":"neg"},"l":{"$ref":"#/$defs/node"}}},
	{"type":"number"}]}}}`

func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"op":"mul","l":`, depth) + "1" + strings.Repeat(`,"r":2}`, depth))
}

// No check takes longer than its budget, whatever schema and value are: they are written by strangers.
func TestChecksAreBounded(t *testing.T) {
	defs := func(d json.RawMessage) string { return string(d[strings.Index(string(d), `"$defs"`):]) }
	for _, c := range []struct {
		name   string
		schema string
		value  string
	}{
		{"allOf", string(diamond(60, `{"allOf":[NEXT,NEXT]}`, `{}`)), `{}`},
		{"anyOf", string(diamond(60, `{"anyOf":[NEXT,NEXT]}`, `false`)), `{}`},
		{"oneOf", string(diamond(60, `{"oneOf":[NEXT,NEXT]}`, `true`)), `{}`},
		{"if", string(diamond(60, `{"if":NEXT,"then":NEXT}`, `true`)), `{}`},
		{"dependent", string(diamond(60, `{"dependentSchemas":{"a":NEXT,"b":NEXT}}`, `{}`)), `{"a":1,"b":1}`},
		{"not", `{"not":{"$ref":"#/$defs/d0"},` +
			defs(diamond(60, `{"dependentSchemas":{"a":NEXT,"b":NEXT}}`, `false`)), `{"a":1,"b":1}`},
		{"anchors", `{"$id":"http://x/outer","$ref":"inner","$defs":{
			"found":{"$dynamicAnchor":"n","allOf":[{"$ref":"#/$defs/d0"}]},
			"inner":{"$id":"inner","$dynamicRef":"#n","$defs":{"y":{"$dynamicAnchor":"n"}}},` +
			strings.TrimPrefix(defs(diamond(60, `{"allOf":[NEXT,NEXT]}`, `{}`)), `"$defs":{`), `{}`},
		{"old draft", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/$defs/d0",` +
			defs(diamond(60, `{"allOf":[NEXT,NEXT]}`, `{}`)), `{}`},
		{"members", `{"$ref":"#/$defs/node","$defs":{"node":{"allOf":[
			{"properties":{"a":{"$ref":"#/$defs/node"}}},{"properties":{"a":{"$ref":"#/$defs/node"}}}]}}}`,
			strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)},
		{"honest union", expression, string(nested(40))},
		{"wrong elements", `{"items":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 200) + `{"type":"object"}]}}`,
			"[" + strings.Repeat("1,", 90_000) + "1]"},
		{"long lists", `{"items":{"enum":[` + strings.Repeat(`"aaaa",`, 5_000) + `"b"]}}`,
			"[" + strings.Repeat(`"c",`, 90_000) + `"c"]`},
		{"patterns", `{"items":{"pattern":"^(a|b|ab)*c{500}(d|e){900}$"}}`,
			"[" + strings.Repeat(`"`+strings.Repeat("ab", 50)+`",`, 9_000) + `""]`},
		{"pattern names", `{"patternProperties":{"^(a|b|ab)*c{500}(d|e){900}$":true}}`,
			`{"` + strings.Repeat("ab", 400_000) + `":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema, err := Compile(json.RawMessage(c.schema))
			require.NoError(t, err)
			assert.Equal(t, []string{problemTooCostly}, Problems(schema, json.RawMessage(c.value)))
			assert.Empty(t, heavy, "the next heavy check finds its place")
		})
	}
}

// Whatever does not fit a schema costs no more than it must.
func TestOrdinaryChecksHaveRoom(t *testing.T) {
	row := `{"id":1234,"name":"a name","tags":["x","y"],"at":"2026-01-02T03:04:05Z"}`
	text := strings.Repeat("lorem ipsum ", 80_000)
	for _, c := range []struct{ name, schema, value string }{
		{"union", expression, string(nested(6))},
		{"rows", `{"items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{
			"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":1},
			"at":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}T"},
			"tags":{"type":"array","items":{"enum":["x","y","z"]},"uniqueItems":true}}}}`,
			"[" + strings.Repeat(row+",", 12_000) + row + "]"},
		{"text", `{"type":"string","pattern":"^[a-z ]+$","maxLength":1000000}`, `"` + text + `"`},
		{"alternatives", `{"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"},{"type":"boolean"}]}}`,
			"[" + strings.Repeat("true,", 99_000) + "true]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema, err := Compile(json.RawMessage(c.schema))
			require.NoError(t, err)
			assert.Empty(t, Problems(schema, json.RawMessage(c.value)))
		})
	}
}

func TestShape(t *testing.T) {
	long := strings.Repeat("7", 1_001)
	for _, c := range [][2]string{
		{`{"a":[1,2,{"b":"1,2,[{"}]}`, ""},
		{"[" + strings.Repeat("1,", 100_000) + "1]",
			"100002 values are too many: at most 100000 can be passed at once"},
		{strings.Repeat("[", 501) + strings.Repeat("]", 501),
			"values are nested 501 levels deep: at most 500 can be passed"},
		{`{"n":` + long + `}`, "a number has 1001 digits: at most 1000 can be passed"},
		{`"` + long + `"`, ""},
		{`1e999999999`, "a number is out of range"},
		{"[" + strings.Repeat(`"x,y",`, 49_000) + `"[[[[[,,,,,"]`, ""},
	} {
		assert.Equal(t, c[1], Shape(json.RawMessage(c[0])))
	}
}

// Schemas that would take much memory to compile are refused, and patterns that would accept every string.
func TestSchemasAreBounded(t *testing.T) {
	many := `{"properties":{` + strings.Repeat(`"a":{},`, 60_000) + `"z":{}}}`
	_, err := Compile(json.RawMessage(many))
	assert.ErrorIs(t, err, errTooLarge)
	var subs []string
	for n := range maxSubschemas {
		subs = append(subs, fmt.Sprintf(`"p%d":{"type":"string"}`, n))
	}
	_, err = Compile(json.RawMessage(`{"properties":{` + strings.Join(subs, ",") + `}}`))
	assert.ErrorContains(t, err, "too large")
	_, err = Compile(json.RawMessage(`{"minimum":` + strings.Repeat("9", 2_000) + `}`))
	assert.Error(t, err)

	repeated, err := Compile(json.RawMessage(`{"pattern":"` + strings.Repeat("(x|a{1000})", 500) + `"}`))
	require.NoError(t, err)
	assert.Empty(t, Problems(repeated, json.RawMessage(`"no"`)))
}

// A method's schema is shared by all programs that call it.
func TestChecksAtTheSameTime(t *testing.T) {
	bomb, err := Compile(diamond(60, `{"allOf":[NEXT,NEXT]}`, `{}`))
	require.NoError(t, err)
	other, err := Compile(json.RawMessage(expression))
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { assert.Equal(t, []string{problemTooCostly}, Problems(bomb, json.RawMessage(`{}`))) })
		all.Go(func() { assert.Equal(t, []string{problemTooCostly}, Problems(other, nested(40))) })
		all.Go(func() { assert.Empty(t, Problems(other, nested(3))) })
	}
	all.Wait()
}

// FuzzProblems: what strangers write ends, with the same words every time.
func FuzzProblems(f *testing.F) {
	f.Add([]byte(expression), []byte(nested(3)))
	f.Add([]byte(diamond(30, `{"allOf":[NEXT,NEXT]}`, `{}`)), []byte(`{}`))
	f.Add([]byte(`{"pattern":"(a|b{1000}){3}","enum":["x"]}`), []byte(`"abbb"`))
	f.Add([]byte(`{"uniqueItems":true,"contains":{"multipleOf":0.1}}`), []byte(`[1,1,2.5,"x"]`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		compiled, err := Compile(schema)
		if err != nil || compiled == nil || !json.Valid(value) {
			return
		}
		require.Equal(t, Problems(compiled, value), Problems(compiled, value))
		require.Empty(t, heavy)
	})
}

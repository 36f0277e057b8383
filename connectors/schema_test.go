package connectors

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/validate"
)

func nothing(Context, json.RawMessage) (any, error) { return nil, nil }

func boundWith(t *testing.T, schema string) *Bound {
	t.Helper()
	set, err := NewSet(context.Background(), []Connector{remote{name: "store", methods: []Method{
		{Name: "get_item", InputSchema: json.RawMessage(schema), Execute: nothing},
	}}}, nil)
	require.NoError(t, err)
	b, err := set.Lookup("store", "get_item")
	require.NoError(t, err)
	return b
}

func TestValidate(t *testing.T) {
	const prefix = "Invalid arguments for store.get_item: "
	const item = `{"type":"object","properties":{"id":{"type":"number"}},"required":["id"]}`
	for _, c := range []struct{ name, schema, args, want string }{
		{"fits", item, `{"id":1,"more":true}`, ""},
		{"wrong type", item, `{"id":"1"}`, "id: expected number, but got string"},
		{"absent is {}", item, ``, "id: required, but missing"},
		{"absent fits", `{"type":"object"}`, ``, ""},
		{"null is null", item, `null`, "expected object, but got null"},
		{"not an object", item, `"x"`, "expected object, but got string"},
		{"not JSON", item, `{`, "arguments are not valid JSON"},
		{"bigint is a number", item, `{"id":{"__codemode_bigint_v1__":"12345678901234567890"}}`, ""},
		{"bigint is an integer", `{"type":"integer","maximum":5}`, `{"__codemode_bigint_v1__":"6"}`,
			"maximum: got 6, want 5"},
		{"bytes are a string", `{"type":"string","minLength":5}`,
			`{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}`, "minLength: got 4, want 5"},
		{"no schema", ``, `[1]`, ""},
		{"null schema", `null`, `[1]`, ""},
		{"true", `true`, `[1]`, ""},
		{"several types", `{"type":["string","null"]}`, `1`, "expected string or null, but got number"},
		{"unknown property", `{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1,"c":2}`,
			"b: not a known property; c: not a known property"},
		{"enum", `{"properties":{"s":{"enum":["open","closed"]}}}`, `{"s":"<x>"}`,
			`s: expected one of "open", "closed", but got "<x>"`},
		{"const", `{"properties":{"s":{"const":1}}}`, `{"s":2}`, `s: expected 1, but got 2`},
		{"paths", `{"properties":{"items":{"items":{"properties":{"a-b":{"type":"string"}}}}}}`,
			`{"items":[{},{"a-b":1}]}`, `items[1]["a-b"]: expected string, but got number`},
		{"digits as a key", `{"properties":{"0":{"type":"string"}}}`, `{"0":1}`,
			`["0"]: expected string, but got number`},
		{"first five", `{"items":{"type":"string"}}`, `[1,2,3,4,5,6,7]`,
			"[0]: expected string, but got number; [1]: expected string, but got number; [2]: expected string, but " +
				"got number; [3]: expected string, but got number; [4]: expected string, but got number; and 2 more"},
		{"union of types", `{"properties":{"v":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}}}`,
			`{"v":true}`, "v: expected number or string or null, but got boolean"},
		{"union, right branch", `{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`,
			`{}`, "a: required, but missing"},
		{"union by discriminator", `{"oneOf":[
			{"properties":{"t":{"const":"a"}},"required":["t"]},
			{"properties":{"t":{"const":"b"}},"required":["t","x","y"]}]}`, `{"t":"b"}`, "x: required, but missing; y: required, but missing"},
		{"references", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}}`, `"x"`,
			"expected number, but got string"},
		{"pattern that only JavaScript has", `{"properties":{"a":{"pattern":"^(?=a)"},"b":{"type":"number"}}}`,
			`{"a":"b","b":"b"}`, "b: expected number, but got string"},
		{"in order", `{"additionalProperties":{"type":"string"}}`, `{"d":1,"c":1,"b":1,"a":1}`,
			"a: expected string, but got number; b: expected string, but got number; c: expected string, but got " +
				"number; d: expected string, but got number"},
		{"pattern", `{"pattern":"^a"}`, `"b"`, "'b' does not match pattern '^a'"},
		{"format is left to the method", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"date-time"}`,
			`"soon"`, ""},
		{"draft 7 form without $schema", `{"items":[{"type":"string"}],"additionalItems":false}`,
			`[1]`, "[0]: expected string, but got number"},
		{"draft 4 form without $schema", `{"type":"number","minimum":1,"exclusiveMinimum":true}`,
			`1`, "exclusiveMinimum: got 1, want 1"},
		{"huge exponent", item, `{"id":1e999999999}`, "a number is out of range"},
		{"large exponent", item, `{"id":1e+0308}`, ""},
	} {
		err := boundWith(t, c.schema).Validate(json.RawMessage(c.args))
		if c.want == "" {
			assert.NoError(t, err, c.name)
			continue
		}
		require.Error(t, err, c.name)
		assert.Equal(t, prefix+c.want, err.Error(), c.name)
		var invalid *InvalidArgumentsError
		assert.ErrorAs(t, err, &invalid, c.name)
	}
}

// A server's mistake must not take its tool away; an author's own is refused.
func TestUnusableSchema(t *testing.T) {
	for name, schema := range map[string]string{
		"file":        `{"$ref":"file:///etc/passwd"}`,
		"network":     `{"$ref":"http://127.0.0.1:1/x.json"}`,
		"meta schema": `{"$schema":"http://127.0.0.1:1/schema"}`,
		"no schema":   `{"type":"strange"}`,
		"no JSON":     `{`,
		"huge number": `{"maximum":1e999999999}`,
	} {
		b := boundWith(t, schema)
		assert.NoError(t, b.Validate(json.RawMessage(`1`)), name)
		assert.Error(t, b.SchemaError(), name)

		_, err := NewSet(context.Background(),
			[]Connector{New("c", "", Method{Name: "t", InputSchema: json.RawMessage(schema), Execute: nothing})}, nil)
		assert.ErrorContains(t, err, `connector "c" tool "t" has an unusable input schema: `, name)
	}
	assert.ErrorContains(t, boundWith(t, `{"$ref":"file:///etc/passwd"}`).SchemaError(), "are not followed")
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":1}`)
	f.Add(`{"$ref":"#"}`, `[]`)
	f.Add(`{"anyOf":[{"type":"string"},{"oneOf":[{"const":1},{"enum":[2,3]}]}]}`, `{"__codemode_bigint_v1__":"5"}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		compiled, err := validate.Compile(json.RawMessage(schema))
		if err != nil || compiled == nil || !json.Valid([]byte(args)) {
			return
		}
		plain, err := wire.Plain(json.RawMessage(args))
		require.NoError(t, err)
		first := validate.Problems(compiled, plain)
		require.Equal(t, first, validate.Problems(compiled, plain), "the same words every time")
	})
}

package catalogue

import (
	"encoding/json"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
	"github.com/temporal-codemode/codemode/internal/tokens"
)

var schemaSeeds = []string{
	`true`, `false`, `null`, `[]`, `"x"`, `{}`, `{"type":"object"}`,
	`{"type":"object","properties":{"a-b":{"type":"string","description":"d */ x\nline2","format":"*/"},"":{}, "__proto__":{"type":"null"}},"required":["a-b"]}`,
	`{"$defs":{"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"}}}},"$ref":"#/$defs/Node"}`,
	`{"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"string"}]}},"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#"}]}`,
	`{"definitions":{"Record":{"enum":["a","\"","\\",1.0,-0,1e400]}},"items":[{"$ref":"#/definitions/Record"}],"additionalItems":{"type":"string"}}`,
	`{"allOf":[{"type":"object","properties":{"a":{"oneOf":[{"const":{"x":[1]}},{"type":["string","null","array"]}]}}},{"required":["a"]}],"nullable":true}`,
	`{"type":"object","properties":{"t":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/properties/t"}}}}},"additionalProperties":{"type":"number"}}`,
	`{"prefixItems":[true,{"patternProperties":{"^x":{"type":"integer","minimum":1,"exclusiveMinimum":true,"default":"*/"}}}],"items":false}`,
}

// FuzzSchemaToType feeds anything to both ways of writing a schema as types: the
// output has to be TypeScript, and the described one within its budget.
func FuzzSchemaToType(f *testing.F) {
	for _, s := range schemaSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		parses(t, types.FromSchema(json.RawMessage(schema), "T"))
		m := method("do-it", "Does it. */", connectors.Write)
		m.InputSchema, m.OutputSchema = json.RawMessage(schema), json.RawMessage(schema)
		c := catalogueOf(t, sharing{catalogueOnly{"c", []connectors.Method{m}}, json.RawMessage(schema)})
		d := c.Describe("c.do-it")
		parses(t, d.Types)
		require.LessOrEqual(t, tokens.Count(d.Types), 2*typesBudget)
		parses(t, c.Types("c"))
		c.Search("do it", SearchOptions{})
	})
}

func parses(t *testing.T, code string) {
	t.Helper()
	out := api.Transform(code, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent})
	if len(out.Errors) > 0 {
		t.Fatalf("not TypeScript: %s\n%s", out.Errors[0].Text, code)
	}
}

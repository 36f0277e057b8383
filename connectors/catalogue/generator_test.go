package catalogue

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/types"
)

// schemaMaker makes schemas of every kind, sensible or not. It draws from data
// while there is some, so that a fuzzer can steer it.
type schemaMaker struct{ data []byte }

func (m *schemaMaker) n(n int) int {
	if len(m.data) == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b) % n
}

func (m *schemaMaker) pick(list ...any) any { return list[m.n(len(list))] }

func (m *schemaMaker) list(depth, most int) []any {
	list := []any{}
	for range m.n(most + 1) {
		list = append(list, m.schema(depth-1))
	}
	return list
}

func (m *schemaMaker) properties(depth int) map[string]any {
	list := map[string]any{}
	for range m.n(6) {
		name := m.pick("a", "b_c", "x-y", "", "日本", "id", "new line\n", `q"uote`, "$d", "constructor", "__proto__",
			"*/", "default").(string)
		list[name] = m.schema(depth - 1)
	}
	return list
}

func (m *schemaMaker) literals() []any {
	list := []any{}
	for range m.n(5) {
		list = append(list, m.pick("a", 1, -2.5, nil, true, map[string]any{"x": []any{1}}, `b"c`, 1e21, 1e-7,
			"*/", "\u2028"))
	}
	return list
}

func (m *schemaMaker) schema(depth int) any {
	if depth <= 0 || len(m.data) == 0 {
		return map[string]any{"type": m.pick("string", "number", "boolean", "null", "file", []any{"string", "null"})}
	}
	s := map[string]any{}
	for range 1 + m.n(3) {
		m.keyword(s, depth)
	}
	return s
}

func (m *schemaMaker) keyword(s map[string]any, depth int) {
	switch m.n(20) {
	case 0, 1, 2:
		s["type"], s["properties"] = m.pick("object", []any{"object", "null"}), m.properties(depth)
		s["required"] = []any{"a", "id", "zz"}
	case 3:
		s["type"] = []any{m.pick("string", "array", "object", "x"), m.pick("null", "integer", 3)}
	case 4:
		s["anyOf"] = m.list(depth, 4)
	case 5:
		s["oneOf"] = m.list(depth, 3)
	case 6, 7:
		s["allOf"] = m.list(depth, 3)
	case 8:
		s["type"], s["items"] = "array", m.schema(depth-1)
	case 9:
		s["prefixItems"], s["items"] = m.list(depth, 3), m.pick(false, true, m.schema(depth-1))
	case 10:
		s["items"], s["additionalItems"] = m.list(depth, 3), m.schema(depth-1)
	case 11:
		s["enum"] = m.literals()
	case 12:
		s["const"] = m.pick("a", 0, nil, false, map[string]any{"z": 1})
	case 13:
		s["additionalProperties"] = m.pick(true, false, m.schema(depth-1))
	case 14:
		s["patternProperties"] = map[string]any{"^x": m.schema(depth - 1)}
	case 15:
		s["nullable"], s["description"], s["format"] = m.pick(true, false), "d */ \n", "*/"
	case 16:
		s["default"], s["minimum"], s["exclusiveMinimum"], s["pattern"] = "*/", 1, m.pick(true, 2), "^*/$"
	case 17, 18:
		s["$ref"] = m.pick("#", "#/$defs/X", "#/$defs/a~1b", "#/definitions/Record", "#/properties/a", "#/nope",
			"http://x/y", "#anchor", "#/$defs/X/properties/a")
	case 19:
		s["title"] = m.pick("Title", "a b", "")
	}
}

func (m *schemaMaker) root() json.RawMessage {
	s, ok := m.schema(5).(map[string]any)
	if !ok {
		return json.RawMessage(`true`)
	}
	if m.n(3) > 0 {
		s["$defs"] = map[string]any{"X": m.schema(4), "a/b": m.schema(3),
			"anchored": map[string]any{"$anchor": "anchor", "type": "string"}}
		s["definitions"] = map[string]any{"Record": m.schema(3), "x": m.schema(2)}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}

func madeSchema(data []byte) json.RawMessage { return (&schemaMaker{data}).root() }

func randomSchema(seed uint64) json.RawMessage {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 20+r.IntN(400))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return madeSchema(data)
}

// pages are all that a catalogue prints of a schema.
func pages(t *testing.T, schema json.RawMessage) map[string]string {
	t.Helper()
	m := takes(gives(method("do-it", "Does it. */", connectors.Write), string(schema)), string(schema))
	other := takes(method("doIt", "", connectors.Read), string(schema))
	set, err := connectors.NewSet(t.Context(),
		[]connectors.Connector{catalogueOnly{"c", []connectors.Method{m, other}}}, nil)
	require.NoError(t, err)
	c := New(set)
	found := allTypes(t, c, "c")
	found["c"] = c.Types("c")
	return found
}

func TestRandomSchemasParse(t *testing.T) {
	for seed := range uint64(400) {
		schema := randomSchema(seed)
		parses(t, types.FromSchema(schema, "T"))
		for _, text := range pages(t, schema) {
			parses(t, text)
		}
	}
}

func TestTypeScriptAcceptsRandomSchemas(t *testing.T) {
	modules := npmInstall(t, typescript)
	texts := map[string]string{}
	for seed := range uint64(600) {
		schema := randomSchema(seed)
		for path, text := range pages(t, schema) {
			texts[strconv.FormatUint(seed, 10)+" "+path+" "+string(schema)] = text
		}
	}
	requireCompiles(t, modules, texts)
}

func FuzzMadeSchemaParses(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Fuzz(func(t *testing.T, data []byte) {
		schema := madeSchema(data)
		parses(t, types.FromSchema(schema, "T"))
		for _, text := range pages(t, schema) {
			parses(t, text)
		}
	})
}

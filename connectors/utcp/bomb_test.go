package utcp

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
)

// bombs are schemas whose types, written in full, would take far more than they do.
func bombs() map[string]string {
	var diamond, wide []string
	for n := range 40 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, n+1)
		diamond = append(diamond, strings.ReplaceAll(
			fmt.Sprintf(`"d%d":{"allOf":[NEXT,NEXT],"properties":{"a":NEXT,"b":NEXT}}`, n), "NEXT", next))
	}
	for n := range 2_000 {
		wide = append(wide, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/big"}`, n))
	}
	members := `{"type":"object","properties":{` + strings.Join(wide, ",") + `},"$defs":{"big":`
	branch := `{"type":"object","properties":{"l":{"$ref":"#/$defs/node"},"r":{"$ref":"#/$defs/node"}}},`
	return map[string]string{
		"diamond": `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(diamond, ",") + `,"d40":{}}}`,
		"union": `{"$ref":"#/$defs/node","$defs":{"node":{"oneOf":[` + strings.Repeat(branch, 9) +
			`{"type":"number"}]}}}`,
		"text": members + `{"type":"string","description":"` + strings.Repeat("word ", 200_000) + `"}}}`,
		"enum": members + `{"enum":[` + strings.Repeat(`"aaaaaaaaaaaaaaaaaaa",`, 20_000) + `"b"]}}}`,
		"deep": strings.Repeat(`{"type":"array","items":`, 240) + "{}" + strings.Repeat("}", 240),
	}
}

// What is written of a schema that a stranger wrote has a bound, and so has the work.
func TestTypesOfBombs(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			schema := json.RawMessage(text)
			set := connectorstest.NewSet(t, nil, connectors.New("x", "", connectors.Method{
				Name: "m", Description: "d", InputSchema: schema, OutputSchema: schema,
				Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, nil },
			}))
			found := catalogue.New(set)
			for way, answer := range map[string]func() any{
				"describe connector": func() any { return found.Describe("x") },
				"describe method":    func() any { return found.Describe("x.m") },
				"search":             func() any { return found.Search("m", catalogue.SearchOptions{}) },
				"info":               func() any { return New(set, found).Info([]string{"x.m"}, 0) },
				"search_tools":       func() any { return New(set, found).Search("m", nil, 0) },
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				text, err := json.Marshal(answer())
				runtime.ReadMemStats(&after)
				require.NoError(t, err)
				assert.Less(t, len(text), 40_000, way)
				assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(600<<20), way)
			}
		})
	}
}

// tools_info tells of some tools at once, whatever it is asked.
func TestInfoIsBounded(t *testing.T) {
	set := connectorstest.NewSet(t, nil, connectors.New("x", "", connectors.Method{
		Name: "m", Description: strings.Repeat("d", 5_000),
		Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, nil },
	}))
	c := New(set, catalogue.New(set))
	names := make([]string, 1_000_000)
	for i := range names {
		names[i] = "x.m"
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := c.Info(names, 0)
	runtime.ReadMemStats(&after)
	assert.Less(t, len(out.Text), defaultBudget+200)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	assert.Contains(t, out.Text, fmt.Sprintf("// %d more names were not looked up", len(names)-out.Found))
	assert.LessOrEqual(t, out.Found, maxNames)

	assert.NotContains(t, c.Info(names[:2], 0).Text, "more names")
	assert.Less(t, len(c.Info([]string{strings.Repeat("n", 1_000_000)}, 0).Text), 1_000)
	small := c.Info(names[:50], 20_000)
	assert.Less(t, len(small.Text), 20_200)
}

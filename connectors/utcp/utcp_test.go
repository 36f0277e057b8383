package utcp

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/catalogue"
)

func TestGuard(t *testing.T) {
	for name, guarded := range map[string]string{
		"path": "path_", "Path": "Path_", "path_": "path__", "file_path": "file_path", "filepath": "filepath",
		"fs": "fs_", "netto": "netto",
		"https": "https_", "x-path": "x-path_", "fetch": "fetch_", "run_exec": "run_exec_", "retrieval": "retrieval_",
		"process":   "process_",
		"processes": "processes", "get_item": "get_item", "dns": "dns_", "evaluate": "evaluate",
	} {
		require.Equal(t, guarded, Guard(name))
		require.Equal(t, name, Unguard(guarded))
	}
	require.Equal(t, `fs.read({path: 'a', "x-path": 1}).path + path2_ + netto_`,
		Unguard(`fs_.read({path_: 'a', "x-path_": 1}).path_ + path2_ + netto_`))
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func FuzzGuard(f *testing.F) {
	f.Add("path_")
	f.Fuzz(func(t *testing.T, name string) {
		if back := Unguard(Guard(name)); back != name && identifier.MatchString(name) {
			t.Fatalf("%q became %q", name, back)
		}
	})
}

func fixture(t *testing.T) *Catalogue {
	schema := func(text string) json.RawMessage { return json.RawMessage(text) }
	execute := func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }
	method := func(name, description, input string) connectors.Method {
		return connectors.Method{Name: name, Description: description, InputSchema: schema(input), Execute: execute}
	}
	files := connectors.New("fs", "",
		method("read", "Reads a file.",
			`{"type":"object","properties":{"path":{"type":"string","description":"Where it is."}},"required":["path"]}`))
	lab := connectors.New("lab", "", func() []connectors.Method {
		add := method("add", "Adds two numbers.\nThey */ may be negative.", `{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"integer","description":"The\nfirst."},
			"mode":{"enum":["x","y",3]},"list":{"type":"array","items":{"$ref":"#/$defs/item"}},"or":{"type":["string","null"]},"any":{},"odd-key":{"anyOf":[{"type":"string"},{"type":"string"}]}},
			"required":["a","b"],"$defs":{"item":{"type":"object","properties":{"inner":{"$ref":"#/$defs/item"}}}}}`)
		add.OutputSchema = schema(`{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}`)
		add.Tags = []string{"math"}
		list := method("list_items", "Lists.", "")
		list.Origin, list.RequiresApproval = "list-items", true
		return []connectors.Method{add, list}
	}()...)
	set, err := connectors.NewSet(context.Background(), []connectors.Connector{lab, files}, nil)
	require.NoError(t, err)
	return New(set, catalogue.New(set))
}

func TestInterfaceTexts(t *testing.T) {
	c := fixture(t)
	require.Equal(t, `
namespace lab {
  interface addInput {
    b: number;
    /** The first. */
    a: number;
    mode?: "x" | "y" | 3;
    list?: {
      inner?: any;
    }[];
    or?: string | null;
    any?: any;
    "odd-key"?: string;
  }
  interface addOutput {
    sum: number;
  }
}

/**
 * Adds two numbers.
 * They *\/ may be negative.
 * Tags: math
 * Access as: lab.add(args)
 */
`, *c.Interface("lab.add"))
	require.Contains(t, *c.Interface("fs.read"),
		"namespace fs_ {\n  interface readInput {\n    /** Where it is. */\n    path_: string;")
	require.Contains(t, *c.Interface("fs_.read"), "Access as: fs_.read(args)")
	require.Equal(t, *c.Interface("lab.list-items"), *c.Interface("lab.list_items"))
	require.Contains(t, *c.Interface("lab.list-items"), "Needs a person's approval")
	require.Nil(t, c.Interface("lab.none"))
	require.Nil(t, c.Interface("lab"))
	require.Contains(t, c.Interfaces(0), "fs_.read")
	require.Contains(t, c.Interfaces(600), "More tools exist")
}

func TestDetails(t *testing.T) {
	deep := connectors.Method{Name: "deep", OutputSchema: json.RawMessage(`{"type":"object"}`),
		InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"object",
			"description":"Of it.","properties":{"b":{"type":"array","items":{"type":"object",
			"properties":{"c":{"type":"string"}}}}}}}}`),
		Execute: func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }}
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{connectors.New("lab", "", deep)}, nil)
	require.NoError(t, err)
	c := New(set, catalogue.New(set))
	text := func(at int) string {
		out, _, _ := strings.Cut(c.write(c.find("lab.deep"), at), "}\n\n/**")
		return out
	}
	require.Equal(t, `
namespace lab {
  interface deepInput {
    /** Of it. */
    path_: {
      b?: {
        c?: string;
      }[];
    };
  }
  type deepOutput = { [key: string]: any };
`, text(0))
	require.Equal(t, `
namespace lab {
  interface deepInput {
    path_: {
      b?: { [key: string]: any }[];
    };
  }
  type deepOutput = any;
`, text(3))
}

// TestLargeTypesAreShownInLessDetail: each level has ten of the next, so that whole types would take megabytes.
func TestLargeTypesAreShownInLessDetail(t *testing.T) {
	var properties []string
	for _, name := range "abcdefghij" {
		properties = append(properties, `"`+string(name)+`":{"$ref":"#/$defs/%d"}`)
	}
	level := `"%d":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
	var levels []string
	for i := range 8 {
		one := strings.Replace(level, "%d", strconv.Itoa(i), 1)
		levels = append(levels, strings.ReplaceAll(one, "%d", strconv.Itoa(i+1)))
	}
	wide := connectors.Method{Name: "wide",
		InputSchema: json.RawMessage(`{"$ref":"#/$defs/0","$defs":{` + strings.Join(levels, ",") + `,"8":{}}}`),
		Execute:     func(connectors.Context, json.RawMessage) (any, error) { return nil, nil }}
	set, err := connectors.NewSet(t.Context(), []connectors.Connector{connectors.New("lab", "", wide)}, nil)
	require.NoError(t, err)
	text := *New(set, catalogue.New(set)).Interface("lab.wide")
	require.Less(t, len(text), maxInterface)
	require.Contains(t, text, "j?: { [key: string]: any };", "what is shown is the same for all properties")
}

func TestSearch(t *testing.T) {
	c := fixture(t)
	out := c.Search("read a file", nil, 0)
	require.Equal(t, "fs_.read", out.Tools[0].Name)
	require.Len(t, out.Tools, 3, "what fits nothing fills up")
	one, all := 1, 0
	require.Len(t, c.Search("zzz", &one, 0).Tools, 1)
	require.Len(t, c.Search("zzz", &all, 0).Tools, 3)
	for _, budget := range []int{1500, 900, 500, 300, 100} {
		text, err := json.Marshal(c.Search("add two numbers", nil, budget))
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), budget)
	}
	require.Equal(t, "lab.add", c.Search("add two numbers", nil, 700).Tools[0].Name)
}

func TestListInfoAndKeys(t *testing.T) {
	c := fixture(t)
	require.Equal(t, []string{"lab.add", "lab.list_items", "fs_.read"}, c.List().Tools)
	info := c.Info([]string{"lab.add", "lab.none", "lab.list-items"}, 0)
	require.Equal(t, 2, info.Found)
	require.Contains(t, info.Text, "// Tool 'lab.none' not found")
	require.Equal(t, "", c.Info(nil, 0).Text)
	require.Less(t, len(c.Info([]string{"lab.add"}, 500).Text), 500)
	require.Equal(t, KeysOutput{Success: true, ToolName: "lab.add", Required: []string{}}, c.Keys("lab.add"))
	require.Equal(t, "Tool 'x.y' not found", c.Keys("x.y").Error)
	require.True(t, strings.HasPrefix(*c.Interface("fs.read"), "\n"))
}

package conformance

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScenarioMistakes(t *testing.T) {
	for _, tc := range []struct{ name, scenario, problem string }{
		{"unknown scenario key", `{"id":"a","retries":1,"steps":[{"note":"n"}]}`, `unknown scenario key "retries"`},
		{"no steps", `{"id":"a","steps":[]}`, `no steps`},
		{"unknown step", `{"id":"a","steps":[{"note":"n"},{"explode":true}]}`,
			`step 2: no known operation among its keys: explode`},
		{"unknown step key", `{"id":"a","steps":[{"run":"1","expects":1}]}`,
			`step 1: unknown key "expects" beside run`},
		{"key of another step", `{"id":"a","steps":[{"run":"1","seq":1}]}`, `step 1: unknown key "seq" beside run`},
		{"two operations", `{"id":"a","steps":[{"run":"1","approve":true}]}`,
			`step 1: it has several operations: approve, run`},
		{"missing key", `{"id":"a","steps":[{"rejectId":"x"}]}`, `step 1: rejectId needs the key "seq"`},
		{"key twice", `{"id":"a","steps":[{"run":"1","run":"2"}]}`, `step 1: the key "run" is given twice`},
		{"wrong type", `{"id":"a","steps":[{"run":1}]}`, `step 1: run: want a text, not 1`},
		{"wrong type beside", `{"id":"a","steps":[{"run":"1","pad":"x"}]}`, `step 1: pad: want an integer, not "x"`},
		{"only true", `{"id":"a","steps":[{"approve":false}]}`, `step 1: approve: want one of [true], not false`},
		{"true or a name", `{"id":"a","steps":[{"pending":1}]}`,
			`step 1: pending: want one of [true], not 1; or want a text, not 1`},
		{"unknown function", `{"id":"a","steps":[{"util":"f","args":[]}]}`,
			`step 1: util: want one of [sanitizeToolName jsonSchemaToType truncateResult truncateResponse], not "f"`},
		{"unknown field", `{"id":"a","steps":[{"set":{"throwhooks":true}}]}`,
			`step 1: set: unknown key or wrong type: throwhooks`},
		{"unknown option", `{"id":"a","opts":{"Timeout":1},"steps":[{"note":"n"}]}`, `unknown option "Timeout"`},
		{"unknown step option", `{"id":"a","steps":[{"run":"1","opts":{"connectors":[]}}]}`,
			`step 1: unknown option "connectors"`},
		{"option type", `{"id":"a","opts":{"conns":"store"},"steps":[{"note":"n"}]}`,
			`option conns: want a list of texts, not "store"`},
		{"option value", `{"id":"a","opts":{"transform":"x"},"steps":[{"note":"n"}]}`,
			`option transform: want one of [wrap throw], not "x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.EqualError(t, decodeScenario([]byte(tc.scenario)).Err,
				tc.problem)
		})
	}
}

func TestOptionsOverlay(t *testing.T) {
	l := decodeScenario([]byte(`{"id":"a","section":"s","title":"t","cls":"A","note":"n","hidden":true,
		"opts":{"timeout":200,"conns":["mcp"]},
		"steps":[{"run":"1","opts":{"conns":[],"name":"x","maxExecutions":0}},{"run":"1"}]}`))
	require.NoError(t, l.Err)
	zero := 0
	require.Equal(t, options{Conns: []string{}, Timeout: 200, Name: "x", MaxExecutions: &zero},
		l.steps[0].options.decode())
	require.Equal(t, options{Conns: []string{"mcp"}, Timeout: 200}, l.steps[1].options.decode())
	require.Equal(t, options{Conns: []string{"store"}}, rawOptions{}.decode())
	require.Equal(t, 200*time.Millisecond, milliseconds(200))
}

func TestNoteBesideAnOperation(t *testing.T) {
	s, err := decodeStep(nil, []byte(`{"run":"1","note":"why"}`))
	require.NoError(t, err)
	require.Equal(t, "run", s.name)
}

func TestPad(t *testing.T) {
	for step, want := range map[string]string{
		`{"run":"1 //x","pad":8}`: "1 //xxxx", `{"run":"1 //x","pad":2}`: "1 //x", `{"run":"😀","pad":4}`: "😀xx",
		`{"run":"1"}`: "1",
	} {
		s, err := decodeStep(nil, []byte(step))
		require.NoError(t, err)
		require.Equal(t, want, code(s))
	}
}

func TestLoad(t *testing.T) {
	for text, problem := range map[string]string{
		`{}`: "is not a list", `[]`: "has no scenarios", `[{"steps":[]}]`: "no id of its own",
		`[{"id":"a"},{"id":"a"}]`: "scenario 2 has no id of its own", `[{"id":"a/b"}]`: "that can name a subtest",
	} {
		file := filepath.Join(t.TempDir(), "f.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := Load(file)
		require.ErrorContains(t, err, problem)
	}
	all, err := Load("testdata/scenarios.json")
	require.NoError(t, err)
	require.Len(t, all, 73)
	for _, l := range all {
		require.NoError(t, l.Err, l.ID)
	}
}

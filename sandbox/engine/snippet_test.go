package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

// withSnippets answers codemode.run with sources by name, and lets search count.
func withSnippets(d *sandboxtest.Driver, sources map[string]string) {
	searches := 0
	d.Host.Methods["search"] = func(args json.RawMessage) (string, error) {
		searches++
		return fmt.Sprintf(`{"asked":%s,"n":%d}`, args, searches), nil
	}
	d.Host.Methods["describe"] = func(args json.RawMessage) (string, error) { return string(args), nil }
	d.Host.Methods["run"] = func(args json.RawMessage) (string, error) {
		var in struct{ Name string }
		_ = json.Unmarshal(args, &in)
		source, ok := sources[in.Name]
		if !ok {
			return fmt.Sprintf(`{"error":"Snippet \"%s\" not found."}`, in.Name), nil
		}
		text, err := json.Marshal(map[string]string{"source": source})
		return string(text), err
	}
}

func TestLookupsAreReplayedAndNumberedApart(t *testing.T) {
	d := newDriver(t, `
		const a = await codemode.search('one', {connector: 'store', limit: 3, other: 1});
		const w = await store.w_put({n: 1});
		const b = await codemode.search(2);
		const c = await codemode.describe();
		return [a.asked, a.n, w, b.asked, b.n, c];`)
	withSnippets(d, nil)
	first := d.Once()
	require.Equal(t, sandbox.Blocked, first.End)
	require.Equal(t, 0, first.Blocked[0].Seq, "a look-up takes no number of the calls")
	require.Equal(t, -1, first.Entries[0].ID)
	r := d.Finish()
	require.JSONEq(t, `[{"query":"one","connector":"store","limit":3},1,{"n":1},{"query":"2"},2,{"target":"undefined"}]`, string(r.Value))
}

func TestSnippetsRunInTheProgram(t *testing.T) {
	d := newDriver(t, `
		console.log('before');
		const r = await codemode.run('outer', {who: 'ann'});
		console.log('after');
		return [r, await codemode.run('none')];`)
	withSnippets(d, map[string]string{
		"outer": "```ts\nasync (input: {who: string}) => {\n  console.log('in');\n  const w = await " +
			"store.w_put(input);\n  return [w, await codemode.run('inner', 2)];\n}\n```",
		"inner": `const n = await store.w_put({n: 1}); console.log('deep'); return n`,
	})
	r := d.Finish()
	require.JSONEq(t, `[[{"who":"ann"},{"n":1}],{"error":"Snippet \"none\" not found."}]`, string(r.Value))
	require.Equal(t, []string{"before", "[outer] in", "[inner] deep", "after"}, allLines(t, d))
}

// allLines is the whole console output of a finished program, by running it once more over its log.
func allLines(t *testing.T, d *sandboxtest.Driver) []string {
	t.Helper()
	d.Pass.Lines = 0
	return d.Once().Logs
}

func TestSnippetFailuresCanBeCaught(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"throws":       {`throw new Error('bad')`, "Code execution failed: bad"},
		"throws text":  {`throw 'bad'`, "Code execution failed: bad"},
		"syntax":       {`const x = ;`, `Code execution failed: SyntaxError: Unexpected ";"`},
		"endless":      {`return await codemode.run('s')`, "snippets run one another more than 8 deep"},
		"rejected":     {`return Promise.reject(new TypeError('no'))`, "Code execution failed: no"},
		"no such tool": {`return await store.nope({})`, `Tool "nope" not found on store`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, `try { await codemode.run('s') } catch (e) { return e.message }`)
			withSnippets(d, map[string]string{"s": c.source})
			r := d.Finish()
			require.Equal(t, sandbox.Completed, r.End, "%+v", r.Failure)
			require.Contains(t, strings.ReplaceAll(string(r.Value), `\"`, `"`), c.want)
		})
	}
}

func TestSnippetSeesNothingOfTheProgram(t *testing.T) {
	d := newDriver(t, `const secret = 1; return await codemode.run('s')`)
	withSnippets(d, map[string]string{"s": `return typeof secret`})
	require.Equal(t, `"undefined"`, string(d.Finish().Value))
}

func TestLookupThatChangedIsADivergence(t *testing.T) {
	d := newDriver(t, `await codemode.search('a'); await store.w_put(); return 1`)
	withSnippets(d, nil)
	d.Once()
	d.Pass.Code = strings.Replace(d.Pass.Code, "'a'", "'b'", 1)
	r := d.Once()
	require.Equal(t, sandbox.Diverged, r.Failure.Kind)
	require.Contains(t, r.Failure.Message,
		"Codemode replay divergence at look-up 1: codemode.search was called with different arguments")
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

func newSyncDriver(t *testing.T, code string) *sandboxtest.Driver {
	d := newDriver(t, code)
	d.Pass.Synchronous = true
	return d
}

func TestSyncCallsReturnTheirValues(t *testing.T) {
	d := newSyncDriver(t, `
		const sum = store.echo({a: 1}).a + store.w_put({a: 2}).a + (await store.a_ask({a: 3})).a;
		const all = await Promise.all([store.echo({x: 1}), store.w_put({x: 2})]);
		return [sum, all, typeof store.echo({}).then];`)
	r := d.Finish()
	require.JSONEq(t, `[6,[{"x":1},{"x":2}],"undefined"]`, string(r.Value))
}

func TestSyncCallsThrow(t *testing.T) {
	d := newSyncDriver(t, `
		const seen = [];
		for (const f of [() => store.broken({}), () => store.none({}), () => store.w_bad({})]) {
			try { f() } catch (e) { seen.push([e instanceof Error, e.message]) }
		}
		return seen;`)
	d.Host.Methods["broken"] = func(json.RawMessage) (string, error) { return "", fmt.Errorf("kaput") }
	d.Settle = func(sandbox.BlockedCall) sandbox.Settlement {
		return sandbox.Settlement{Err: &signals.CallError{Message: "no"}}
	}
	r := d.Finish()
	require.JSONEq(t, `[[true,"kaput"],[true,"Tool \"none\" not found on store"],[true,"no"]]`, string(r.Value))
}

func TestUncaughtErrorOfASyncCallEndsTheProgram(t *testing.T) {
	d := newSyncDriver(t, "const a = 1;\n  store.none({});\nreturn 1;")
	r := d.Once()
	require.Equal(t, sandbox.Failed, r.End)
	require.Equal(t, `Tool "none" not found on store`, r.Failure.Message)
	require.Equal(t, 2, r.Failure.Position.Line)
}

// TestNothingRunsWhenASyncCallEndsThePass: a program cannot observe that it was paused.
func TestNothingRunsWhenASyncCallEndsThePass(t *testing.T) {
	for name, code := range map[string]string{
		"try":       `try { store.w_put({n: 1}) } catch { console.log('caught') } finally { console.log('finally') } return 1`,
		"async":     `const f = async () => { try { return store.w_put({n: 1}) } catch { console.log('caught') } finally { console.log('finally') } }; await f().catch(() => console.log('c')).finally(() => console.log('f')); return 1`,
		"then":      `await Promise.resolve().then(() => store.w_put({n: 1})).then(() => console.log('then'), () => console.log('caught')); return 1`,
		"callback":  `[1].map(() => store.w_put({n: 1})); console.log('after'); return 1`,
		"direct":    `[{n: 1}].forEach(store.w_put); console.log('after'); return 1`,
		"getter":    `const o = { get x() { try { return store.w_put({n: 1}) } finally { console.log('finally') } } }; JSON.stringify(o); console.log('after'); return 1`,
		"generator": `function* g() { try { yield store.w_put({n: 1}) } finally { console.log('finally') } } for (const x of g()) console.log('in'); console.log('after'); return 1`,
		"iterator":  `for (const x of { *[Symbol.iterator]() { try { yield 1; yield 2 } finally { console.log('closed') } } }) store.w_put({n: 1}); console.log('after'); return 1`,
		"timer":     `setTimeout(() => { try { store.w_put({n: 1}) } finally { console.log('finally') } }, 1); await new Promise(r => setTimeout(r, 5)); console.log('after'); return 1`,
		"sleeper":   `setTimeout(() => console.log('rang'), 90_000); store.w_put({n: 1}); console.log('after'); return 1`,
		"step":      `await codemode.step('s', () => { try { return store.w_put({n: 1}) } finally { console.log('finally') } }); console.log('after'); return 1`,
		"tostring": "`${{ toString() { try { return String(store.w_put({n: 1}).n) } finally { " +
			"console.log('finally') } } }}`; console.log('after'); return 1",
		"comparator": `[2, 1].sort((a, b) => store.w_put({n: 1}).n); console.log('after'); return 1`,
		"other jobs": `Promise.resolve().then(() => console.log('job')); store.w_put({n: 1}); await 0; return 1`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newSyncDriver(t, code)
			r := d.Once()
			require.Nil(t, r.Failure)
			require.Equal(t, sandbox.Blocked, r.End)
			require.Len(t, r.Blocked, 1)
			require.Empty(t, r.Logs)
			require.Empty(t, r.Timers, "nothing reaches a program that stands in a call")
			r = d.Finish()
			require.Equal(t, "1", string(r.Value))
			require.NotZero(t, r.Lines+len(r.Logs))
		})
	}
}

func TestSyncPassAfterAnApprovalIssuesTheCallAgain(t *testing.T) {
	d := newSyncDriver(t, `return store.a_ask({n: store.echo({v: 2}).v})`)
	first := d.Once()
	require.Len(t, first.Entries, 1)
	again := d.Once()
	require.Equal(t, sandbox.Blocked, again.End)
	require.Empty(t, again.Blocked, "it is open already")
	require.Empty(t, again.Entries)
	require.JSONEq(t, `{"n":2}`, string(d.Finish().Value))
}

func TestSyncDivergence(t *testing.T) {
	d := newSyncDriver(t, `store.w_put({n: 1}); return 1`)
	d.Once()
	d.Pass.Code = `store.w_put({n: 2}); return 1`
	require.Equal(t, sandbox.Diverged, d.Once().Failure.Kind, "other arguments")
	d.Pass.Code = `store.echo({n: 1}); return 1`
	require.Equal(t, sandbox.Diverged, d.Once().Failure.Kind, "another method")
	d.Pass.Code = `return 1`
	require.Equal(t, sandbox.Diverged, d.Once().Failure.Kind, "no call")

	d = newSyncDriver(t, `const p = codemode.search('x'); await p; store.echo({}); store.w_put({}); return 1`)
	withSnippets(d, nil)
	d.Once()
	d.Pass.Code = `const p = codemode.search('x'); store.echo({}); await p; store.w_put({}); return 1`
	require.Equal(t, sandbox.Diverged, d.Once().Failure.Kind, "another order")
}

func TestSyncPassesRollOver(t *testing.T) {
	d := newSyncDriver(t,
		`let n = 0; for (let i = 0; i < 30; i++) n += store.echo({i, pad: 'x'.repeat(300)}).i; return n`)
	d.Pass.Limits.BufferBytes = 1000
	first := d.Once()
	require.Equal(t, sandbox.More, first.End)
	require.NotEmpty(t, first.Entries)
	require.Equal(t, "435", string(d.Finish().Value))
	require.Len(t, d.Host.Calls, 30, "each read is made once")

	d = newSyncDriver(t,
		`let n = 0; for (let i = 0; i < 5; i++) n += store.echo({i, pad: 'x'.repeat(400)}).i; return n`)
	d.Pass.Limits.ResultBytes = 1500
	require.Equal(t, sandbox.More, d.Once().End, "what does not fit is left to the next pass")
	require.Equal(t, "10", string(d.Finish().Value))
}

func TestSyncCallIsCutOffByTheTimeout(t *testing.T) {
	d := newSyncDriver(t, `try { store.slow({}) } finally { console.log('finally') } return 1`)
	release := make(chan struct{})
	defer close(release)
	d.Host.Methods["slow"] = func(json.RawMessage) (string, error) { <-release; return "1", nil }
	d.Pass.Limits.Timeout = 50 * time.Millisecond
	r := d.Once()
	require.Equal(t, sandbox.TimedOut, r.Failure.Kind)
	require.Empty(t, r.Logs)
	require.True(t, r.Entries[0].Dropped)
}

func TestSyncEscalatedCallIsGated(t *testing.T) {
	d := newSyncDriver(t, `return store.echo({n: 1}).n`)
	result, err := d.Exec.Run(t.Context(), d.Pass, escalating{d.Host})
	require.NoError(t, err)
	require.Equal(t, sandbox.Blocked, result.End)
	require.Equal(t, "echo", result.Blocked[0].Method)
}

func TestSyncRefusalsCountTowardsTheBudget(t *testing.T) {
	d := newSyncDriver(t, `for (;;) { try { store.none({}) } catch {} }`)
	d.Pass.Limits.InlineCalls = 20
	require.Equal(t, sandbox.BudgetExceeded, d.Once().Failure.Kind)
}

func TestSyncProgramsAskTheCatalogue(t *testing.T) {
	d := newSyncDriver(t, `
		const text = __getToolInterface('store.w_put');
		const found = search_tools({task_description: 'put', limit: 2});
		store.w_put({});
		return [text, found.length, list_tools(), tools_info({tool_names: ['a']}), get_required_keys_for_tool({tool_name: 'a'}), __interfaces];`)
	for _, method := range []string{"utcp.interface", "utcp.search", "utcp.list", "utcp.info", "utcp.keys",
		"utcp.interfaces"} {
		d.Host.Methods[method] = func(args json.RawMessage) (string, error) {
			var answer any = method + string(args)
			if method == "utcp.info" {
				answer = map[string]any{"text": answer, "found": 1}
			}
			text, err := json.Marshal(answer)
			return string(text), err
		}
	}
	r := d.Finish()
	require.JSONEq(t, `["utcp.interface{\"target\":\"store.w_put\"}",35,"utcp.list{}","utcp.info{\"names\":[\"a\"]}","utcp.keys{\"target\":\"a\"}","utcp.interfaces{}"]`, string(r.Value))
	require.Len(t, d.Host.Calls, 6, "answers are replayed")
}

type escalating struct{ *sandboxtest.Host }

func (escalating) Call(context.Context, sandbox.Call) sandbox.Settlement {
	return sandbox.Settlement{Escalate: true}
}

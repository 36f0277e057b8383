package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

func newDriver(t *testing.T, code string) *sandboxtest.Driver {
	return sandboxtest.NewDriver(t, &InProcess{}, code)
}

func runProgram(t *testing.T, code string) sandbox.Result {
	t.Helper()
	return newDriver(t, code).Finish()
}

func TestForms(t *testing.T) {
	for code, want := range map[string]string{
		"async () => 42":                         "42",
		"async () => 42;":                        "42",
		"() => 7":                                "7",
		"1 + 1":                                  "2",
		"1 + 1;":                                 "2",
		"const a = 2;\nconst b = 3;\na * b":      "6",
		"return 5":                               "5",
		"await Promise.resolve(4)":               "4",
		"```ts\nasync () => { return 42; }\n```": "42",
		"```JavaScript\nreturn 1\n```":           "1",
		"Here you go:\n```js\nreturn 2\n```\nEnjoy!":           "2",
		"```\r\nreturn 3\r\n```":                               "3",
		"async function main() { return 'x'; }":                `"x"`,
		"function other() { return 1 }":                        "1",
		"const main = async () => 1":                           "1",
		"const main = async () => 1;":                          "1",
		"let f = function () { return 9 }":                     "9",
		"const h = 1; const main = async () => h + 1":          "2",
		"function a(){return 1} function main(){return a()+1}": "2",
		"export default async () => 7":                         "7",
		"export default async function () { return 8 }":        "8",
		"export default function main() { return 81 }":         "81",
		"export default {a: 1}":                                `{"a":1}`,
		"const x = 1;\nexport default () => x":                 "1",
		"export const x = 3; return x":                         "3",
		"(async function () { return 10 })":                    "10",
		"async function () { return 11 }":                      "11",
		"(async () => 12)()":                                   "12",
		"({a: 1})":                                             `{"a":1}`,
		"   ":                                                  "",
		"// nothing":                                           "",
		"const n: number = 1; interface A { b: string }; const f = <T,>(x: T): T => x; return f<number>(n)": "1",
		"async (): Promise<number> => { const a = { b: 1 } as any; return a!.b }":                           "1",
		"enum E { A = 3 } return E.A":                                                                           "3",
		"let t = 0; for await (const x of [1,2,3]) t += x; return t":                                            "6",
		"async function* g() { yield 1; yield 2 } const r = []; for await (const x of g()) r.push(x); return r": "[1,2]",
		"/*\n```\nnot a fence\n```\n*/ return 23":                                                               "23",
	} {
		t.Run(code, func(t *testing.T) { sandboxtest.RequireValue(t, want, runProgram(t, code)) })
	}
}

func TestPositions(t *testing.T) {
	for _, c := range []struct {
		code, message string
		line          int
	}{
		{"const a = 1;\nconst b = ;\n", "SyntaxError: Unexpected \";\"", 2},
		{"const a: number = 1;\n\nthrow new Error('boom')", "boom", 3},
		{"async () => {\n  const x = null;\n  return x.y\n}", "Cannot read property 'y' of", 3},
		{"Some prose\n```ts\nconst a = 1\nthrow new TypeError('t')\n```", "t", 4},
		{"import x from 'y'\nreturn 1",
			"SyntaxError: import is not available in programs; use the connectors, which are globals", 1},
		{"const a = 1\nawait store.nope({})", `Tool "nope" not found on store`, 2},
		{"return /(/", "SyntaxError: ", 1},
	} {
		t.Run(c.code, func(t *testing.T) {
			r := runProgram(t, c.code)
			require.Equal(t, sandbox.Failed, r.End)
			require.Contains(t, r.Failure.Message, c.message)
			require.NotNil(t, r.Failure.Position)
			require.Equal(t, c.line, r.Failure.Position.Line)
		})
	}
}

func TestFailures(t *testing.T) {
	for code, want := range map[string]string{
		"throw 'text'":         "text",
		"throw ''":             "The program threw an empty string",
		"throw new Error('')":  "Error (without a message)",
		"throw null":           "The program threw null",
		"throw undefined":      "The program threw undefined",
		"throw {code: 1}":      `The program threw {"code":1}`,
		"throw {message: 'm'}": "m",
		"throw Symbol('s')":    "The program threw Symbol(s)",
		"throw 5":              "The program threw 5",
		"await host.write()": "host is not defined (the only globals available in the sandbox are: store, " +
			"codemode)",
		"await new Promise(() => {})": "The program can never finish",
		"await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')])":      ": a; b",
		"setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})": "late",
		"throw {get message() { throw 1 }}": "The program threw a " +
			"value that cannot be described",
		"(function f() { f() })()": "Maximum call stack size " +
			"exceeded",
		"undeclared = 1": "undeclared is not defined",
	} {
		t.Run(code, func(t *testing.T) {
			r := runProgram(t, code)
			require.Equal(t, sandbox.Failed, r.End)
			require.Contains(t, r.Failure.Message, want)
		})
	}
}

func TestValuesHaveOneType(t *testing.T) {
	code := `
const kinds = async (v) => { const x = await store.echo(v); return [typeof x, x instanceof Uint8Array, x === null, String(x)] };
const step = async (v) => { const x = await codemode.step('s', () => v); return [typeof x, x instanceof Uint8Array, x === null, String(x)] };
const values = [undefined, null, new Uint8Array([1, 2]), 12345678901234567890n, new Date(0), 'é\ud83d\ude00', NaN];
const out = [];
for (const v of values) { out.push(await kinds(v)); out.push(await step(v)); }
await store.w_gate({});
return out;`
	d := newDriver(t, code)
	live := d.Once()
	require.Equal(t, sandbox.Blocked, live.End)
	want := `["undefined",false,false,"undefined"],["undefined",false,false,"undefined"],` +
		`["object",false,true,"null"],["object",false,true,"null"],["object",true,false,"1,2"],["object",true,false,"1,2"],` +
		`["bigint",false,false,"12345678901234567890"],["bigint",false,false,"12345678901234567890"],` +
		`["string",false,false,"1970-01-01T00:00:00.000Z"],["string",false,false,"1970-01-01T00:00:00.000Z"],` +
		`["string",false,false,"é😀"],["string",false,false,"é😀"],["object",false,true,"null"],["object",false,true,"null"]`
	d.SettleOpen(0)
	sandboxtest.RequireValue(t, "["+want+"]", d.Once())
}

func TestNamespaces(t *testing.T) {
	for code, want := range map[string]string{
		"await store === store":     "true",
		"store.echo === store.echo": "true",
		"Object.keys(store)":        "[]",
		"'echo' in store":           "false",
		"JSON.stringify({store})":   `"{\"store\":{}}"`,
		"try { store.x = 1; return 'set' } catch { return 'frozen' }":                              `"frozen"`,
		"try { await store.constructor({}) } catch (e) { return [e instanceof Error, e.message] }": `[true,"Tool \"constructor\" not found on store"]`,
		"try { await codemode.nope() } catch (e) { return e.message }":                             `"Tool \"nope\" not found"`,
		"try { store = 1 } catch (e) { return e.name }":                                            `"TypeError"`,
		"const o = {n: 1}; const p = store.echo(o); o.n = 2; return (await p).n":                   "1",
		"try { return eval('1+1') } catch (e) { return e.name }":                                   `"EvalError"`,
		"try { return new Function('return 1')() } catch (e) { return e.name }":                    `"EvalError"`,
		"try { return (async () => {}).constructor('return 1')() } catch (e) { return e.name }":    `"EvalError"`,
		"(() => {}) instanceof Function":                                                           "true",
		"typeof require + typeof process":                                                          `"undefinedundefined"`,
		"try { await fetch('https://example.com') } catch (e) { return e.message }":                `"fetch is not available: programs reach the outside through connectors (store, codemode)"`,
		"structuredClone({a: new Date(0), b: [1n], c: new Map([[1, 2]])}).c.get(1)":                "2",
	} {
		t.Run(code, func(t *testing.T) { sandboxtest.RequireValue(t, want, runProgram(t, code)) })
	}
}

func TestConsole(t *testing.T) {
	r := runProgram(t, `
console.log('a', 1, [1, 2], {b: 'x', c: [undefined]});
console.warn('w'); console.error(new TypeError('bad')); console.info(null, undefined, 1n); console.debug(new Map([['k', {}]]));
console.log('%s has %d items: %j', 'list', 3, [1]); console.log(store, store.echo, new Uint8Array([1]));
const o = {}; o.self = o; console.log(o); console.log({get x() { throw 1 }}); console.log(new Date(0), /x/g, Symbol('s'));
console.group('g'); console.log('in'); console.groupEnd(); console.table([{a: 1}]); console.assert(false, 'no');`)
	require.Equal(t, []string{
		`a 1 [1,2] {"b":"x","c":[undefined]}`, "[warn] w", "[error] TypeError: bad", "null undefined 1n",
		`Map(1) {"k" => {}}`,
		"list has 3 items: [1]", "[connector store] [function anonymous] Uint8Array(1) [1]", `{"self":[circular]}`,
		"[unprintable]",
		"1970-01-01T00:00:00.000Z /x/g Symbol(s)", "g", "  in", `0: {"a":1}`, "[error] Assertion failed: no",
	}, r.Logs)
}

func TestConsoleIsBoundedAndReportedOnce(t *testing.T) {
	d := newDriver(t, `console.log('one'); await store.w_a(1); console.log('two'); await store.w_b(1);
for (let i = 0; i < 30000; i++) console.log('line ' + i)`)
	require.Equal(t, []string{"one"}, d.Once().Logs)
	d.SettleOpen(0)
	require.Equal(t, []string{"two"}, d.Once().Logs)
	d.SettleOpen(0)
	logs := d.Once().Logs
	require.LessOrEqual(t, len(logs), 10_001)
	require.Equal(t, linesDropped, logs[0])
	require.Equal(t, "line 29999", logs[len(logs)-1])
}

func TestCallsAreNumberedAtIssueAndReplayInSettleOrder(t *testing.T) {
	d := newDriver(t, `
const order = [];
const chain = async (name, ms) => { order.push(await store.read({name, ms})); order.push(await store.read({name: name + '2', ms})); };
await Promise.all([chain('slow', 40), chain('fast', 5)]);
const first = await Promise.race([store.read({name: 'r1', ms: 30}), store.read({name: 'r2', ms: 1})]);
await store.w_gate({order, first, now: Date.now(), r: Math.random(), id: crypto.randomUUID()});
return [order, first];`)
	d.Host.Methods["read"] = func(args json.RawMessage) (string, error) {
		var in struct {
			Name string
			Ms   int
		}
		_ = json.Unmarshal(args, &in)
		time.Sleep(time.Duration(in.Ms) * time.Millisecond)
		b, _ := json.Marshal(in.Name)
		return string(b), nil
	}
	r := d.Once()
	require.Equal(t, sandbox.Blocked, r.End)
	before := len(d.Host.Calls)
	var seen struct{ Order, First json.RawMessage }
	require.NoError(t, json.Unmarshal(r.Blocked[0].Args, &seen))
	d.SettleOpen(0)
	sandboxtest.RequireValue(t, fmt.Sprintf("[%s,%s]", seen.Order, seen.First), d.Finish())
	require.Equal(t, before, len(d.Host.Calls), "replayed reads are not made again")
}

func TestStepsRunOnceAndShiftNothing(t *testing.T) {
	d := newDriver(t, `
let ran = 0;
const a = await codemode.step('a', async () => { ran++; await null; return Math.random() });
const b = Math.random();
let failed;
try { await codemode.step('f', () => { ran++; throw new RangeError('in step') }) } catch (e) { failed = [e.name, e.message] }
const nested = await codemode.step('n', async () => { const x = await store.echo(5); await new Promise(r => setTimeout(r, 2)); return x + Math.random() });
await store.w_gate({a, b, nested});
return [ran, failed, a !== b];`)
	r := d.Once()
	require.Equal(t, sandbox.Blocked, r.End)
	d.SettleOpen(0)
	sandboxtest.RequireValue(t, `[0,["RangeError","in step"],true]`, d.Once())
}

func TestDivergence(t *testing.T) {
	d := newDriver(t, `const n = await store.fresh({}); if (n === 1) await store.echo(1); else await store.w_x(1); await store.a_gate({})`)
	require.Equal(t, sandbox.Blocked, d.Once().End)
	d.Pass.Refresh = true
	r := d.Once()
	require.Equal(t, sandbox.Diverged, r.Failure.Kind)
	require.Contains(t, r.Failure.Message, "divergence at step 1: expected store.echo, got store.w_x")

	d = newDriver(t, `const n = await store.fresh({}); await store.a_gate({n})`)
	require.Equal(t, sandbox.Blocked, d.Once().End)
	d.Pass.Refresh = true
	r = d.Once()
	require.Contains(t, r.Failure.Message, "divergence at step 1: store.a_gate was called with different arguments")

	d = newDriver(t, `const n = await store.fresh({}); if (n === 1) await store.a_gate({n})`)
	require.Equal(t, sandbox.Blocked, d.Once().End)
	d.Pass.Refresh = true
	require.Contains(t, d.Once().Failure.Message, "expected store.a_gate, which the program did not call this time")
}

func TestReexecutedReadsKeepTheirPlace(t *testing.T) {
	d := newDriver(t, `const n = await store.fresh({}); await store.a_gate({}); return [n, await store.fresh({})]`)
	require.Equal(t, sandbox.Blocked, d.Once().End)
	d.Pass.Refresh = true
	require.Equal(t, sandbox.Blocked, d.Once().End)
	d.Pass.Refresh = false
	d.SettleOpen(0)
	sandboxtest.RequireValue(t, "[2,3]", d.Once())
}

func TestNoGateStarves(t *testing.T) {
	for name, code := range map[string]string{
		"reads":     `let done = false; store.w_write(1).then(() => done = true); while (!done) await store.echo(1); return 'ok'`,
		"steps":     `let done = false; store.w_write(1).then(() => done = true); while (!done) await codemode.step('s', () => 1); return 'ok'`,
		"refused":   `let done = false; store.w_write(1).then(() => done = true); while (!done) await store.nope(1).catch(() => {}); return 'ok'`,
		"interval":  `let n = 0; const id = setInterval(() => n++, 5); await store.w_write(1); clearInterval(id); return 'ok'`,
		"queue":     `const all = Promise.all(Array.from({length: 500}, () => store.echo(1))); await store.w_write(1); await all; return 'ok'`,
		"microtask": `await Promise.all([store.w_write(1), store.w_write(2)]); return 'ok'`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, code)
			started := time.Now()
			r := d.Once()
			require.Equal(t, sandbox.Blocked, r.End)
			require.Less(t, time.Since(started), 5*time.Second)
			require.LessOrEqual(t, len(r.Entries), gateDelivery+40)
			for len(d.Open) > 0 {
				d.SettleOpen(0)
			}
			sandboxtest.RequireValue(t, `"ok"`, d.Finish())
		})
	}
}

func TestTimers(t *testing.T) {
	sandboxtest.RequireValue(t, "true",
		runProgram(t, `const a = Date.now(); await new Promise(r => setTimeout(r, 30)); return Date.now() - a >= 30`))
	sandboxtest.RequireValue(t, "[1,2,3]", runProgram(t, `const r = []; await new Promise(done => { setTimeout(() => r.push(2), 10); setTimeout(() => r.push(1), 5);
		setTimeout(() => { r.push(3); done() }, 15); const x = setTimeout(() => r.push(9), 8); clearTimeout(x) }); return r`))
	sandboxtest.RequireValue(t, "3",
		runProgram(t, `let n = 0; await new Promise(r => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r() } }, 2) }); return n`))
	sandboxtest.RequireValue(t, "1", runProgram(t, `setTimeout(() => {}, 1e9); return 1`))
	started := time.Now()
	sandboxtest.RequireValue(t, "true",
		runProgram(t, `const a = Date.now(); await new Promise(r => setTimeout(r, 86400000)); return Date.now() - a >= 86400000`))
	require.Less(t, time.Since(started), 5*time.Second, "a long sleep ends the pass")
}

func TestLongSleepOfALatePassIsDurable(t *testing.T) {
	d := newDriver(t, `await new Promise(r => setTimeout(r, 1500)); return 1`)
	d.Pass.Start = time.Now().UnixMilli() - 700
	d.Pass.Limits.Timeout = 200 * time.Millisecond
	require.Equal(t, sandbox.Blocked, d.Once().End)
}

func TestPassTimeout(t *testing.T) {
	const timedOut = "Execution timed out: it took more than 100ms (limits.passTimeout)"
	for code, want := range map[string]struct {
		message string
		line    int
	}{
		`for (;;) await new Promise(r => setTimeout(r, 20))`: {timedOut, 0},
		"const a = []\nfor (;;) a.pop()":                     {timedOut, 2},
		"1\nawait store.slow({})":                            {timedOut + ", and waited for store.slow", 2},
	} {
		d := newDriver(t, code)
		d.Pass.Limits.Timeout = 100 * time.Millisecond
		release := make(chan struct{})
		d.Host.Methods["slow"] = func(json.RawMessage) (string, error) { <-release; return "1", nil }
		r := d.Once()
		close(release)
		require.Equal(t, sandbox.TimedOut, r.Failure.Kind)
		require.Equal(t, want.message, r.Failure.Message)
		if want.line > 0 {
			require.Equal(t, want.line, r.Failure.Position.Line)
		}
		require.True(t, r.Stopped)
		if strings.Contains(code, "slow") {
			require.True(t, r.Entries[0].Dropped)
			require.Empty(t, r.Entries[0].Value)
		}
	}
}

func TestUnawaitedCalls(t *testing.T) {
	d := newDriver(t, `store.echo(1); store.w_write(2); (async () => { await store.echo(3); await store.w_write(4) })(); return 'done'`)
	sandboxtest.RequireValue(t, `"done"`, d.Finish())
	require.Len(t, d.Pass.Log, 4)

	d = newDriver(t, `store.w_write(1); store.a_ask(2); throw new Error('x')`)
	r := d.Once()
	require.Equal(t, sandbox.Blocked, r.End, "the write is made, although the program threw")
	d.Settle = func(sandbox.BlockedCall) sandbox.Settlement { return sandbox.Settlement{} }
	d.SettleOpen(0)
	d.Pass.Open = nil
	open := d.Open
	d.Open = nil
	d.Pass.Open = []sandbox.OpenCall{{Seq: open[0].Seq, Connector: "store", Method: "a_ask", Args: open[0].Args,
		Pending: true}}
	r, err := d.Exec.Run(context.Background(), d.Pass, d.Host)
	require.NoError(t, err)
	require.Equal(t, sandbox.Failed, r.End)
	require.Equal(t, "x", r.Failure.Message)
}

func TestSizes(t *testing.T) {
	d := newDriver(t, `try { await store.echo('y'.repeat(1000000)) } catch { return 'swallowed' }`)
	r := d.Once()
	require.Equal(t, sandbox.TooLarge, r.Failure.Kind)
	require.Equal(t, "Arguments to store.echo", r.Failure.Subject)
	require.Empty(t, d.Host.Calls)

	d = newDriver(t, `try { await store.echo(() => 1) } catch { return 'swallowed' }`)
	require.Equal(t, sandbox.NotSerializable, d.Once().Failure.Kind)
	d = newDriver(t, `const o = {}; o.o = o; return o`)
	require.Equal(t, sandbox.NotSerializable, d.Once().Failure.Kind)

	d = newDriver(t, `return (await store.big({})).length`)
	d.Host.Methods["big"] = func(json.RawMessage) (string, error) {
		return `"` + strings.Repeat("x", 1_100_000) + `"`,
			nil
	}
	r = d.Once()
	require.Equal(t, "The result of store.big", r.Failure.Subject)
	require.Len(t, r.Entries, 1)
	require.NotNil(t, r.Entries[0].Error)

	d = newDriver(t, `const l = []; for (let i = 0; i < 5; i++) l.push((await store.big({})).length); return 'z'.repeat(1200000)`)
	d.Host.Methods["big"] = func(json.RawMessage) (string, error) {
		return `"` + strings.Repeat("x", 600_000) + `"`,
			nil
	}
	passes := 0
	for {
		r = d.Once()
		passes++
		size := len(r.Value)
		for _, e := range r.Entries {
			size += len(e.Value)
		}
		require.LessOrEqual(t, size, 1_500_000)
		if r.End != sandbox.More {
			break
		}
	}
	require.Equal(t, sandbox.Completed, r.End)
	require.Len(t, r.Value, 1_200_002)
	require.Equal(t, 4, passes)

	d = newDriver(t, `for (let i = 0; i < 30; i++) store.w_x('q'.repeat(100000))`)
	require.True(t, d.Once().Partial)
	sandboxtest.RequireValue(t, "", d.Finish())
	require.Len(t, d.Pass.Log, 30)

	d = newDriver(t, `return 'é'.repeat(1000000)`)
	require.Equal(t, 2_000_002, d.Once().Oversize)
}

func TestBudget(t *testing.T) {
	d := newDriver(t, `for (;;) await store.echo(1)`)
	d.Pass.Limits.InlineCalls = 50
	r := d.Once()
	require.Equal(t, sandbox.BudgetExceeded, r.Failure.Kind)
	require.Len(t, d.Host.Calls, 50)
}

func TestCancelledPass(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	d := newDriver(t, `for (;;) {}`)
	_, err := d.Exec.Run(ctx, d.Pass, d.Host)
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkReplay1000(b *testing.B) {
	x := InProcess{}
	pass := sandbox.Pass{Code: `let t = 0; for (let i = 0; i < 1000; i++) t += (await store.echo({i})).i; return t`,
		Seed: "s", Connectors: []string{"store"}}
	for i := range 1000 {
		raw := json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))
		pass.Log = append(pass.Log, signals.Entry{ID: i, Connector: "store", Method: "echo", Args: raw, Value: raw})
	}
	for b.Loop() {
		r, err := x.Run(context.Background(), pass, &sandboxtest.Host{})
		if err != nil || r.End != sandbox.Completed {
			b.Fatal(err, r.Failure)
		}
	}
}

func BenchmarkTinyPass(b *testing.B) {
	x := InProcess{}
	for b.Loop() {
		if r, err := x.Run(context.Background(), sandbox.Pass{Code: "return 1", Connectors: []string{"store"}},
			&sandboxtest.Host{}); err != nil || r.End != sandbox.Completed {
			b.Fatal(err, r.Failure)
		}
	}
}

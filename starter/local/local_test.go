package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/local"
)

type amount struct {
	N int `json:"n"`
}

// bank is a connector with a method of each kind.
func bank(flaky *int) connectors.Connector {
	put := connectors.Func("put", "Puts.", connectors.Write,
		func(_ connectors.Context, a amount) (amount, error) { return amount{a.N + 1}, nil })
	ask := connectors.Func("ask", "Asks.", connectors.Write,
		func(connectors.Context, amount) (int, error) { return 1, nil })
	ask.RequiresApproval = true
	much := connectors.Func("much", "Pays.", connectors.Write,
		func(_ connectors.Context, a amount) (int, error) { return a.N, nil })
	much.ApprovalFor = func(caller connectors.Asked, args json.RawMessage) (bool, error) {
		return string(args) == `{"n":100}` && caller.StartedBy != "treasurer", nil
	}
	again := connectors.Func("again", "Works the third time.", connectors.Read,
		func(c connectors.Context, _ amount) (int, error) {
			if *flaky++; *flaky < 3 {
				return 0, &connectors.RetryableError{Message: "later", RetryAfter: time.Millisecond}
			}
			return c.Attempt, nil
		})
	return connectors.New("bank", "Money.", put, ask, much, again)
}

func once(t *testing.T, code string, o local.Options) signals.Outcome {
	t.Helper()
	o.Connectors, o.Executor = append(o.Connectors, bank(new(int))), &engine.InProcess{}
	out, err := local.Run(t.Context(), code, o)
	require.NoError(t, err)
	return out
}

func TestCallersOfLocalRuns(t *testing.T) {
	var seen signals.Caller
	tell := connectors.Func("tell", "Tells.", connectors.Read, func(c connectors.Context, _ amount) (int, error) {
		seen = c.Caller
		return 1, nil
	})
	r, err := local.New(t.Context(), local.Options{Executor: &engine.InProcess{},
		Connectors: []connectors.Connector{bank(new(int)), connectors.New("who", "", tell)}})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	caller := signals.Caller{StartedBy: "treasurer", Labels: map[string]string{"team": "x"}}
	out, err := r.Execute(t.Context(), `await who.tell({n: 1}); return bank.much({n: 100})`,
		codemode.ExecuteOptions{Caller: caller})
	require.NoError(t, err)
	require.Equal(t, "100", string(out.Result), out.Error)
	require.Equal(t, caller, seen)
}

func TestRunOnce(t *testing.T) {
	out := once(t, `console.log('hi'); const a = await bank.put({n: 1}); await codemode.sleep(1200); return [a.n, await bank.again({n: 0}), Date.now() > 0]`, local.Options{})
	require.Equal(t, signals.Completed, out.Status, out.Error)
	require.JSONEq(t, `[2,3,true]`, string(out.Result))
	require.Equal(t, []string{"hi"}, out.Logs)
	require.Len(t, out.Calls, 2)
	require.Equal(t, signals.Applied, out.Calls[0].State)

	out = once(t, `return bank.put({n: bank.put({n: 1}).n}).n`, local.Options{Synchronous: true})
	require.Equal(t, "3", string(out.Result), out.Error)
}

func TestRunOnceFailures(t *testing.T) {
	for code, message := range map[string]string{
		`throw new Error('boom')`:         "Code execution failed: boom",
		`await bank.ask({n: 1})`:          `Tool "ask" not found on bank`,
		`await bank.much({n: 100})`:       "bank.much needs a person's approval",
		`await bank.put({n: 'x'})`:        "n: expected",
		`return await codemode.run('x')`:  "",
		`await codemode.sleep(100000)`:    "Execution timed out: it took more than 1s (limits.passTimeout)",
		`const x = ;`:                     "SyntaxError",
		`await new Promise(() => {})`:     "never finish",
		`for (;;) await bank.put({n: 1})`: "",
	} {
		out := once(t, code, local.Options{Timeout: time.Second})
		if message != "" {
			require.Equal(t, signals.Failed, out.Status, code)
			require.Contains(t, out.Error, message)
		}
	}
	require.Equal(t, "100", string(once(t, `return await bank.much({n: 99}) + 1`, local.Options{}).Result))
}

// Nothing is kept here that could be continued, so what took effect must not be asked for again.
func TestRunOnceTellsWhatItDid(t *testing.T) {
	out := once(t, "await bank.put({n: 1})\n\tawait bank.put({n: 'x'})", local.Options{Preflight: signals.PreflightOff})
	require.Equal(t, signals.Failed, out.Status)
	require.Equal(t, "await bank.put({n: 'x'})\n               ^", out.Excerpt)
	require.Equal(t, "bank.put took effect. Leave it out of the corrected code, which would do it again.",
		out.HowToGoOn())
	out = once(t, `bank.put({n: 'x'}); return new Set([1])`, local.Options{Preflight: signals.PreflightOff})
	require.Equal(t, "{}", string(out.Result), out.Error)
	require.Equal(t, []string{"result is a Set, which JSON writes as {}: return [...set].",
		"bank.put at 1:10 failed, and nothing awaited it: " +
			"Invalid arguments for bank.put: n: expected int, but got string"},
		out.Warnings)
}

func TestOnceInAChild(t *testing.T) {
	out, err := local.Run(t.Context(), `return await bank.put({n: 1})`,
		local.Options{Connectors: []connectors.Connector{bank(new(int))}})
	require.NoError(t, err)
	require.JSONEq(t, `{"n":2}`, string(out.Result), out.Error)
}

func TestOnceTool(t *testing.T) {
	o, err := local.New(t.Context(),
		local.Options{Connectors: []connectors.Connector{bank(new(int))}, Executor: &engine.InProcess{}})
	require.NoError(t, err)
	tool, err := o.Tool(t.Context(), codemode.ToolOptions{})
	require.NoError(t, err)
	require.Contains(t, tool.Description, "declare const bank")
	require.Contains(t, tool.Description, "type PutInput")
	require.NotContains(t, tool.Description, "Asks.", "what needs a person is left out")
	methods, err := o.Methods(t.Context())
	require.NoError(t, err)
	require.Len(t, methods, 3)
	require.NoError(t, o.Close())
}

func TestNormalizeCodeKeepsTheMeaning(t *testing.T) {
	for code, want := range map[string]string{
		"1 + 2":                     "async () => {\nreturn (1 + 2)\n}",
		"```js\nconst x = 42\n```":  "async () => {\nconst x = 42\n}",
		"":                          "async () => {}",
		"async () => 1;":            "async () => 1",
		"(() => 1)":                 "(() => 1)",
		"function f() { return 1 }": "async () => {\nfunction f() { return 1 }\nreturn f();\n}",
		"export default function () { return 1 }": "async () => {\nreturn (function () { return 1 })();\n}",
		"export default 5":                        "async () => {\nreturn (5)\n}",
		"const a = 1; (a + 1) // sum":             "async () => {\nconst a = 1; return ((a + 1))\n}",
		"let a = 1\n// then\na + 1;;":             "async () => {\nlet a = 1\n// then\nreturn (a + 1)\n}",
		"a(); b(`;`)":                             "async () => {\na(); return (b(`;`))\n}",
		"return 1":                                "async () => {\nreturn 1\n}",
		"const x: number = 1; x":                  "async () => {\nconst x = 1;\n  return (x)\n}",
		"syntax error(":                           "async () => {\nsyntax error(\n}",
	} {
		got := compile.NormalizeCode(code)
		require.Equal(t, want, got, code)
		if code != "syntax error(" {
			require.Equal(t, got, compile.NormalizeCode(got), "it is the same when done again")
		}
	}
}

func FuzzNormalizeCode(f *testing.F) {
	for _, code := range []string{"1+2", "const a = {b: [1]}; (a.b)", "if (1) 2; `x${1}`", "/* a */ (((1)))  /* b */",
		"'use strict'; 4", "async () => 5", "[1].map(x => x * 2)", "a: 1"} {
		f.Add(code)
	}
	o, err := local.New(context.Background(), local.Options{Executor: &engine.InProcess{}, Timeout: 2 * time.Second})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, code string) {
		plain, err := o.Execute(context.Background(), code, codemode.ExecuteOptions{})
		// esbuild drops statements like !0
		if err != nil || plain.Status != signals.Completed || len(plain.Result) == 0 {
			t.Skip()
		}
		normal, err := o.Execute(context.Background(), compile.NormalizeCode(code), codemode.ExecuteOptions{})
		if strings.Contains(normal.Error, "SyntaxError") {
			t.Skip() // the sandbox puts up with more than the language does
		}
		if err != nil || normal.Status != signals.Completed || len(normal.Result) > 0 &&
			string(normal.Result) != string(plain.Result) {
			t.Fatalf("%q gives %s, normalized %s gives %s %s", code, plain.Result, compile.NormalizeCode(code),
				normal.Result, normal.Error)
		}
	})
}

func ExampleRun() {
	type order struct {
		Item string `json:"item"`
	}
	price := connectors.Func("price", "What an item costs.", connectors.Read,
		func(_ connectors.Context, o order) (int, error) { return len(o.Item), nil })
	out, err := local.Run(context.Background(), `return await shop.price({item: "tea"}) + 1`, local.Options{
		Connectors: []connectors.Connector{connectors.New("shop", "", price)},
		Executor:   &engine.InProcess{}, // without it, programs run in hardened child processes
	})
	fmt.Println(out.Status, string(out.Result), err)
	// Output: completed 4 <nil>
}

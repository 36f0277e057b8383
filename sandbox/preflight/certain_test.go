package preflight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
	"github.com/temporal-codemode/codemode/signals"
)

// A program is stopped only for what it would certainly have failed of.
func TestOnlyCertainMistakesStop(t *testing.T) {
	for _, c := range []struct {
		stops bool
		code  string
	}{
		{true, `await mail.send(); await mail.sned()`},
		{true, `await mail.send(); return mail.sned()`},
		{true, `await mail.send(); await Promise.all([mail.sned(), mail.send()])`},
		{true, `async () => { await mail.send(); await mail.sned() }`},
		{true, `async function main() { await mail.send(); await mail.sned() }`},
		{true, `export default async () => { await mail.send(); await mail.sned() }`},
		{true, `const f = async () => { await mail.sned() }; await mail.send(); await f()`},
		{true, `await mail.send(); await (async () => { await mail.sned() })()`},
		{true, `const { sned } = mail; await mail.send(); await sned()`},
		{true, `const m = mail; await m.send(); await m.sned()`},
		{true, `await mail.send(); await mail["sned"]()`},
		{true, `await mail.send(); nosuch.thing()`},
		{true, `{ await mail.send(); { await mail.sned() } }`},
		{true, `if (1) { await mail.send() } await mail.sned()`},
		{true, `for (const x of [1]) { await mail.send() } await mail.sned()`},
		{true, `await mail.send(); await tracker.get_issue({ id: "x" })`},
		{true, `await mail.send(); await tracker.get_issue()`},
		{true, `await mail.send(); const a = await mail.sned(); try { return a } catch { }`},
		{true, `await mail.send(); mail.sned()`}, // the last expression is the value
		{false, `await mail.send(); mail.sned(); return 1`},
		{false, `await mail.send(); const p = mail.sned(); return 1`},
		{false, `await mail.send(); try { await mail.sned() } catch { }`},
		{false, `await mail.send(); try { await mail.sned() } finally { return 1 }`},
		{false, `await mail.send(); await mail.sned().catch(() => 0)`},
		{false, `await mail.send(); await mail.sned().then(() => 1, () => 0)`},
		{false, `await mail.send(); await Promise.allSettled([mail.sned()])`},
		{false, `await mail.send(); await Promise.race([mail.sned(), mail.send()])`},
		{false, `await mail.send(); await Promise.any([mail.sned(), mail.send()])`},
		{false, `await mail.send(); if (Date.now() > 1) await mail.sned()`},
		{false, `await mail.send(); Date.now() > 1 && await mail.sned()`},
		{false, `await mail.send(); Date.now() > 1 ? await mail.sned() : 0`},
		{false, `await mail.send(); if (Math.random() > 1) return 1; await mail.sned()`},
		{false, `await mail.send(); if (Math.random() > 1) throw new Error("x"); await mail.sned()`},
		{false, `await mail.send(); for (const x of []) await mail.sned()`},
		{false, `await mail.send(); while (Math.random() > 2) await mail.sned()`},
		{false, `await mail.send(); switch (Date.now()) { case 1: await mail.sned() }`},
		{false, `await mail.send(); a: { if (Date.now()) break a; await mail.sned() }`},
		{false, `await mail.send(); return 1; await mail.sned()`},
		{false, `await mail.send(); [].map(async () => { await mail.sned() })`},
		{false, `await mail.send(); const f = async () => { await mail.sned() }; return 1`},
		{false, `await mail.send(); const f = async () => { await mail.sned() }; f(); return 1`},
		{false, `await mail.send(); const f = async () => { await mail.sned() }; try { await f() } catch { }`},
		{false, `const f = () => { if (Date.now()) throw new Error("x") }; await mail.send(); f(); await mail.sned()`},
		{false, `await mail.send(); typeof nosuch === "undefined" || nosuch.thing()`},
		{false, `await mail.send(); const nosuch = { thing() { } }; nosuch.thing()`},
		{false, `await mail.send(); globalThis.nosuch = { thing() { } }; nosuch.thing()`},
		{false, `await mail.send(); { const mail = { sned() { } }; await mail.sned() }`},
		{false, `await mail.send(); await ((mail) => mail.sned())({ sned() { } })`},
		{false, `await mail.send(); await mail?.sned?.()`},
		{false, `await mail.send(); if (mail.sned) { await mail.sned() }`},
		{false, `await mail.send(); await tracker.get_issue({ id: Number("1") })`},
		{false, `await mail.send(); const a = { id: "1" }; a.id = 1; await tracker.get_issue(a)`},
		{false, `await mail.send(); await tracker.get_issue({ id: "x", ...{ id: 1 } })`},
		{false, `await mail.sned()`}, // it fails by itself, with nothing made
	} {
		r := check(t, c.code)
		require.Equal(t, c.stops, r.Stop != nil, "%s\n%s", c.code, said(r))
	}
}

// What stops a program is what it would have failed with.
func TestAStoppedProgramFailsInTheSameWords(t *testing.T) {
	r := check(t, "await mail.send();\nawait nosuch.thing()")
	pass := sandbox.Pass{Code: "await nosuch.thing()", Connectors: shop.Names()}
	run, err := (&engine.InProcess{}).Run(t.Context(), pass, nil)
	require.NoError(t, err)
	words := func(s string) string { s, _, _ = strings.Cut(s, "sandbox are:"); return s } // Names has no order here
	require.Equal(t, words(run.Failure.Message), words(r.Stop.Message))
	require.Equal(t, &signals.Position{Line: 2, Column: 7}, r.Stop.Position)
	r = check(t, `await mail.send(); await codemode.nope()`)
	run, err = (&engine.InProcess{}).Run(t.Context(), sandbox.Pass{Code: `await codemode.nope()`}, nil)
	require.NoError(t, err)
	require.Equal(t, run.Failure.Message, r.Stop.Message)
}

func TestModes(t *testing.T) {
	survey := func(code string) *preflight.Survey {
		s, err := (&engine.InProcess{}).Survey(t.Context(), sandbox.Pass{Code: code})
		require.NoError(t, err)
		return s
	}
	certain, hint := survey(`await mail.send(); await mail.sned()`), survey(`mail.send(); return 1`)
	for mode, want := range map[signals.PreflightMode][]bool{
		signals.PreflightStop: {true, false}, signals.PreflightDeny: {true, true},
		signals.PreflightHint: {false, false}, signals.PreflightOff: {false, false},
	} {
		a, b := certain.Judge(shop, mode), hint.Judge(shop, mode)
		require.Equal(t, want, []bool{a.Stop != nil, b.Stop != nil}, mode)
		require.Equal(t, mode != signals.PreflightOff, len(a.Hints) == 1 && len(b.Hints) == 1, mode)
	}
}

func TestFacts(t *testing.T) {
	r := check(t, `const { issues } = await tracker.list_issues();
		for (const i of issues) await tracker.close_issue({ id: i.id });
		await tracker.create_issue({ title: "a" }); await tracker.create_issue({ title: "b" });
		if (issues.length > 3) await mail.send();`)
	require.Empty(t, said(r))
	require.Equal(t, &signals.Program{Writes: 4, WritesInLoops: 1, Approvals: 2, Methods: []signals.ProgramMethod{
		{Connector: "tracker", Method: "list_issues", Class: signals.Read, Places: 1, AtLeast: 1},
		{Connector: "tracker", Method: "close_issue", Class: signals.Idempotent, Places: 1, Loops: true},
		{Connector: "tracker", Method: "create_issue", Class: signals.Write, Approval: true, Places: 2, AtLeast: 2},
		{Connector: "mail", Method: "send", Class: signals.Write, Places: 1},
	}}, r.Program)
	for _, code := range []string{`tracker[String("get_issue")]()`, `work(mail); function work(m) { m.send() }`,
		`await codemode.run("x")`, `const { m } = { m: mail }; await m.send()`} {
		require.True(t, check(t, code).Program.Partial, code)
	}
}

// Whatever a program is, reading it ends soon, and it is passed over if it is too much.
func TestHostileProgramsArePassedOver(t *testing.T) {
	for name, code := range map[string]string{
		"brackets": strings.Repeat("(", 20_000) + "1" + strings.Repeat(")", 20_000),
		"lists":    strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000),
		"unary":    strings.Repeat("!", 30_000) + "1",
		"blocks":   strings.Repeat("{", 1_000) + strings.Repeat("}", 1_000),
		"arrows":   strings.Repeat("a=>", 12) + "1",
		"ifs":      strings.Repeat("if(1)", 5_000) + ";",
		"sums":     strings.Repeat("1+", 30_000) + "1",
		"members":  "mail" + strings.Repeat(".a", 20_000),
		"calls":    strings.Repeat("mail.send();", 5_000),
		"large":    "//" + strings.Repeat("x", 1_000_000),
	} {
		began := time.Now()
		s, err := (&engine.InProcess{}).Survey(t.Context(), sandbox.Pass{Code: code})
		require.NoError(t, err, name)
		if s != nil {
			require.Empty(t, s.Uses, name)
			require.Nil(t, s.Judge(shop, "").Stop)
		}
		t.Logf("%s: %v", name, time.Since(began))
	}
}

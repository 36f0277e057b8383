package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

// TestProgramsSeeUTC: in a host that is in another zone, programs in its own process see what they see in a child, and
// the host keeps its zone. The corpus runs there too.
func TestProgramsSeeUTC(t *testing.T) {
	const zone = "America/New_York"
	if os.Getenv("TZ") != zone {
		cmd := exec.Command(os.Args[0], "-test.run", "^(TestProgramsSeeUTC|TestPrograms)$", "-test.skip", "/isolated")
		cmd.Env = append(os.Environ(), "TZ="+zone)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	require.NotEqual(t, "UTC", time.Local.String(), "this process is in another zone")
	for name, code := range datePrograms() {
		t.Run(name, func(t *testing.T) {
			pass := sandbox.Pass{Code: code, Start: 1_710_055_800_000, Connectors: []string{"store"}}
			want, err := children().Run(t.Context(), pass, &sandboxtest.Host{})
			require.NoError(t, err)
			require.Nil(t, want.Failure)
			got, err := (&engine.InProcess{}).Run(t.Context(), pass, &sandboxtest.Host{})
			require.NoError(t, err)
			require.Nil(t, got.Failure)
			requireSame(t, string(want.Value), string(got.Value))
		})
	}
	require.NotEqual(t, "UTC", time.Local.String(), "the host's zone is its own")
}

func datePrograms() map[string]string {
	return map[string]string{
		"instants": fmt.Sprintf("const given = %s;", dateValues) + describeDates,
		"texts":    fmt.Sprintf("return %s.map((v) => [+new Date(v), Date.parse(v)])", texts()),
		"components": "const given = [[2024, 2, 10, 2, 30], [99, 0], [2024, 12, 1, -1], [2024, NaN], ['2024', " +
			"'1'], [-1, 0, 1], [275760, 8, 13, 1]]; " +
			"return given.map((args) => +new Date(...args))",
		"setters": setters,
		"shape": `const of = (o) => Object.getOwnPropertyNames(o).sort().map((name) => {
	const d = Object.getOwnPropertyDescriptor(o, name), f = d.value;
	return [name, d.writable, d.enumerable, d.configurable, typeof f, f?.name, f?.length, typeof f === 'function' && 'prototype' in f];
});
const error = (f) => { try { return f() } catch (e) { return e.constructor.name } };
return [of(Date), of(Date.prototype), Date.prototype.constructor === Date, new (class Mine extends Date {})(0) instanceof Date,
	error(() => Date.prototype.getHours.call({})), error(() => new Date(Symbol())), error(() => new Date(1n)), error(() => Date.prototype.setHours.call(1, 1))];`,
	}
}

const dateValues = `[undefined, null, true, 0, -1, 1710055800000, 1720000000123, 8.64e15, 8.64e15 + 1, NaN, -62198755200000, new Date(5), new String('2024-03-10T02:30:00'),
	['2024-07-01T00:00'], {valueOf: () => 7}, {valueOf: () => ({}), toString: () => '2024-07-01T12:00'}, {[Symbol.toPrimitive]: (hint) => hint === 'default' ? 8 : 9}]`

const describeDates = `
const described = given.map((v) => {
	const d = new Date(v), all = [+d];
	for (const name of Object.getOwnPropertyNames(Date.prototype).sort()) {
		if (!/^(get|to(?!ISO|JSON))/.test(name)) continue;
		const got = d[name]();
		all.push([name, Object.is(got, -0) ? '-0' : String(got)]);
	}
	return all;
});
return described;`

const setters = `
const all = [];
for (const at of [0, 1710055800000, 1730615400000, NaN]) {
	for (const name of Object.getOwnPropertyNames(Date.prototype).sort()) {
		if (!name.startsWith('set')) continue;
		for (const args of [[], [5], [99], [-1], [1.9], [NaN], ['7'], [2, 3], [2, 3, 4], [1, 2, 3, 4], [1, undefined]]) {
			const d = new Date(at);
			all.push([name, at, args, d[name](...args), +d]);
		}
	}
}
return all;`

// texts are the forms of dates, with and without a zone, some of them in the hour that New York skips or repeats.
func texts() string {
	var all []string
	days := []string{"2024-03-10", "2024-11-03", "2024", "2024-07", "+002024-07-01", "-000001-01-01", "-000000-01-01",
		"2024-00-10", "2024-1-5", "Mar 10 2024", "10 March 2024", "3/10/2024",
		"Sun, 10 Mar 2024", "Sunday March 10, 2024", "2024/03/10", "", "x", "2024-03-10 (a note)", "10", "2024-02-30"}
	times := []string{"", "T02:30", "T02:30:00", "T01:30:00.123", "T01:30:00.1234567890", "T01:30:00.", " 02:30",
		" 02:30:15.5", " 2:30 pm", "T24:00", "T25:00", "t02:30"}
	zones := []string{"", "Z", "z", "+02:00", "-0500", "+05", " GMT", " UTC", " EST", " GMT+0200", " +0200",
		" (somewhere)", " PDT", "-25:00", "+02:0"}
	for _, day := range days {
		for _, hour := range times {
			for _, zone := range zones {
				all = append(all, day+hour+zone)
			}
		}
	}
	text, _ := json.Marshal(all)
	return strings.ReplaceAll(string(text), "\u2028", "")
}

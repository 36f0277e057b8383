package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

func TestSleep(t *testing.T) {
	cases := map[string]string{
		`const a = Date.now(); await codemode.sleep(20); return Date.now() - a >= 20`: "true",
		`return await codemode.sleep('5')`:                                            "",
		`const r = []; await Promise.all([codemode.sleep(15).then(() => r.push(2)), codemode.sleep(5).then(() => r.push(1))]); return r`:                       "[1,2]",
		`try { await codemode.sleep('soon') } catch (e) { return [e.name, e.message] }`:                                                                        `["TypeError","codemode.sleep takes a number of milliseconds, not soon"]`,
		`try { await codemode.sleep(-1) } catch (e) { return e.name }`:                                                                                         `"TypeError"`,
		`const c = new AbortController(); setTimeout(() => c.abort(), 5); try { await codemode.sleep(1e9, { signal: c.signal }) } catch (e) { return e.name }`: `"AbortError"`,
		`try { await codemode.sleep(1e9, { signal: AbortSignal.abort('no') }) } catch (e) { return e }`:                                                        `"no"`,
		`codemode.sleep(1e9); return 1`: "1",
	}
	for code, want := range cases {
		t.Run(code, func(t *testing.T) { sandboxtest.RequireValue(t, want, runProgram(t, code)) })
	}
}

// A sleep beyond a second ends the pass; the next one replays it. One that the program gave up is not waited for.
func TestSleepIsDurable(t *testing.T) {
	d := newDriver(t, `const a = Date.now(); await codemode.sleep(86400000); return Date.now() - a >= 86400000`)
	r := d.Once()
	require.Equal(t, sandbox.Blocked, r.End)
	require.Len(t, r.Timers, 1)
	d.FireTimers(r)
	sandboxtest.RequireValue(t, "true", d.Once())

	d = newDriver(t, `const c = new AbortController(), long = codemode.sleep(86400000, { signal: c.signal }).catch((e) => e.name);
await store.w_one({}); c.abort(); return await long`)
	sandboxtest.RequireValue(t, `"AbortError"`, d.Finish())
}

package engine

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
)

// What a program loses without an error is told, in words that a model can act on. Each program runs to its end with
// replays between, and once more in a runtime that starts with the whole log.
func TestWarnings(t *testing.T) {
	const (
		promise = " is a promise that nothing awaited, which JSON writes as {}: " +
			"await it, a list of them with await Promise.all(list)."
		aMap    = " is a Map, which JSON writes as {}: return Object.fromEntries(map)."
		aSet    = " is a Set, which JSON writes as {}: return [...set]."
		anError = " is an Error, which JSON writes without its message: return error.message."
		plain   = ": return what it holds in a plain object."
	)
	for code, want := range map[string][]string{
		`return [1,2,3].map(async n => store.get({n}))`: {
			"result[0] (and 2 more)" + promise,
		},
		`return {a: {b: store.get({})}}`: {
			"result.a.b" + promise,
		},
		`const p = store.get({}); await p; return {"x y": p}`: {
			`result["x y"]` + promise,
		},
		`return new Map([[1, 2]])`: {"result" + aMap},
		`return {m: new Map(), s: [new Set([1]), new Set()]}`: {
			"result.m" + aMap, "result.s[0] (and 1 more)" + aSet,
		},
		`return new Map().keys()`: {
			"result is an iterator, which JSON writes as {}: return [...iterator].",
		},
		`class Money { #n = 1; get n() { throw 1 } }; return [new Money()]`: {
			"result[0] is an object of class Money, which JSON writes as {}" + plain,
		},
		`return /x/`: {"result is an object of class RegExp, which JSON writes as {}" + plain},
		`return [{}, await Promise.allSettled([store.fails({})])]`: {
			"result[1][0].reason" + anError,
		},
		// Nothing is lost, or it is the program's own affair.
		`class Point { constructor() { this.x = 1 } }; return [{}, new Point(), null]`:                  nil,
		`class Money { toJSON() { return {} } }; return new Money()`:                                    nil,
		`return {a: {}, b: [], get c() { return {} }}`:                                                  nil,
		`return [{}, Object.create(null), new Proxy({}, {}), new Date(0)]`:                              nil,
		`Object.prototype.get = () => { throw 1 }; Object.getOwnPropertyDescriptor = null; return [{}]`: nil,
		`return "{}"`: nil,
		// Rejections.
		`store.fails({}); return 1`: {
			"store.fails at 1:13 failed, and nothing awaited it: no stock",
		},
		`store.w_fails({}); return 1`: {
			"store.w_fails at 1:15 failed, and nothing awaited it: no stock",
		},
		`store.w_fails({}).then(x => x); await store.w_put({}); return 1`: {
			"store.w_fails at 1:15 failed, and nothing awaited it: no stock",
		},
		`(async () => { await store.get({}); throw new TypeError("oh") })(); await store.w_put({}); return 1`: {
			"A promise was rejected, and nothing awaited it: oh",
		},
		`Promise.reject("text"); Promise.reject({}); return 1`: {"A promise was rejected, and nothing awaited it: text",
			"A promise was rejected, and nothing awaited it: a value that is no error"},
		`codemode.step("s", () => { throw new Error("no") }); await store.w_put({}); return 1`: {
			`step "s" at 1:15 failed, and nothing awaited it: no`,
		},
		`await codemode.step("s", () => { Promise.reject(1) }); await store.w_put({}); return 1`: nil,
		`const p = store.fails({}); await store.w_put({}); try { await p } catch {} return 1`:    nil,
		`await Promise.allSettled([store.fails({}), store.w_fails({})]); return 1`:               nil,
		`store.fails({}).catch(() => {}); return 1`:                                              nil,
		`await store.fails({})`: nil,
		`store.w_fails({}); await store.w_put({}); await store.get({}); throw new Error("x")`: {
			"store.w_fails at 1:15 failed, and nothing awaited it: no stock",
		},
		`for (let n = 0; n < 9; n++) store.fails({n}); return 1`: {
			"store.fails at 1:41 failed, and nothing awaited it: no stock (9 times)",
		},
	} {
		t.Run(code, func(t *testing.T) {
			d := newDriver(t, code)
			no := func(json.RawMessage) (string, error) { return "", errors.New("no stock") }
			yes := func(json.RawMessage) (string, error) { return "1", nil }
			d.Host.Methods["fails"], d.Host.Methods["get"] = no, yes
			d.Settle = func(c sandbox.BlockedCall) sandbox.Settlement {
				if c.Method == "w_fails" {
					return sandbox.Fail(errors.New("no stock"))
				}
				return sandbox.Settlement{Value: c.Args}
			}
			r := d.Finish()
			require.Equal(t, want, r.Warnings)
			require.Equal(t, want, d.Once().Warnings, "a replay tells the same")
		})
	}
}

package engine

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

// fetching is a driver whose connector "outbound" answers with the request it got.
func fetching(t *testing.T, code string) *sandboxtest.Driver {
	d := newDriver(t, code)
	d.Pass.Connectors = []string{"store", "outbound"}
	answer := func(method string) func(json.RawMessage) (string, error) {
		return func(args json.RawMessage) (string, error) {
			got, err := json.Marshal(string(args))
			if string(args) == `{"url":"https://a/fail"}` {
				return "", fmt.Errorf("https://a is not an allowed host")
			}
			return fmt.Sprintf(`{"status":201,"statusText":"Created","url":"https://a/moved","headers":[["x-method",%q],["set-cookie","a=1"],["set-cookie","b=2"]],"body":%s}`, method, got), err
		}
	}
	for _, m := range []string{"get", "post", "delete"} {
		d.Host.Methods[m] = answer(m)
	}
	d.Host.Methods["head"] = func(json.RawMessage) (string, error) {
		return `{"status":204,"statusText":"No Content","url":"https://a/","headers":[]}`, nil
	}
	return d
}

func TestFetch(t *testing.T) {
	for code, want := range map[string]string{
		`const r = await fetch('https://a/b?c=1'); return [r.status, r.statusText, r.ok, r.url, r instanceof Response, r.headers.get('X-Method'), r.headers.getSetCookie(), await r.json()]`: `[201,"Created",true,"https://a/moved",true,"get",["a=1","b=2"],{"url":"https://a/b?c=1"}]`,
		`return await (await fetch(new URL('https://a'), {method: 'post', headers: {A: 'b'}, body: JSON.stringify({x: 1})})).json()`:                                                         `{"url":"https://a/","headers":{"a":"b","content-type":"text/plain;charset=UTF-8"},"body":"{\"x\":1}"}`,
		`return await (await fetch('https://a', {method: 'POST', body: new Uint8Array([255])})).json()`:                                                                                      `{"url":"https://a/","body":{"~__codemode_binary_v1__":"Uint8Array","data":"/w=="}}`,
		`return await (await fetch(new Request('https://a', {method: 'POST', body: new Blob(['x'])}))).json()`:                                                                               `{"url":"https://a/","body":"x"}`,
		`return await (await fetch('https://a', {method: 'DELETE', body: new URLSearchParams({a: 'b c'})})).json()`:                                                                          `{"url":"https://a/","headers":{"content-type":"application/x-www-form-urlencoded;charset=UTF-8"},"body":"a=b+c"}`,
		`const r = await fetch('https://a', {method: 'HEAD'}); return [r.status, await r.text(), (await (await fetch('https://a')).arrayBuffer()).byteLength]`:                               `[204,"",20]`,
		`try { await fetch('https://a/fail') } catch (e) { return e.message }`:                                                                                                               `"https://a is not an allowed host"`,
		`try { await fetch('/relative') } catch (e) { return e.name }`:                                                                                                                       `"TypeError"`,
		`try { await fetch('https://a', {method: 'TRACE'}) } catch (e) { return e.message }`:                                                                                                 `"fetch cannot send TRACE requests"`,
		`const c = new AbortController(); c.abort(); try { await fetch('https://a', {signal: c.signal}) } catch (e) { return e.name }`:                                                       `"AbortError"`,
		`const c = new AbortController(); const p = fetch('https://a', {signal: c.signal}); c.abort(); try { await p } catch (e) { return e.name }`:                                          `"AbortError"`,
	} {
		t.Run(code, func(t *testing.T) {
			r := fetching(t, code).Once()
			require.Nil(t, r.Failure)
			require.JSONEq(t, want, string(r.Value))
		})
	}
}

// Even a request that nobody waits for is issued.
func TestFetchIssuesAtOnce(t *testing.T) {
	d := fetching(t, `fetch('https://a'); return 1`)
	d.Once()
	require.Equal(t, []string{"get"}, d.Host.Calls)
}

func TestNoFetchWithoutOutbound(t *testing.T) {
	d := newDriver(t, `try { await fetch('https://a') } catch (e) { return e.message }`)
	require.JSONEq(t, `"fetch is not available: programs reach the outside through connectors (store, codemode)"`,
		string(d.Once().Value))
}

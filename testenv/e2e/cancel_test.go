package e2e

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/starter/mcpserver"
)

// payTwice pays, takes its time, and pays again.
const payTwice = "await bank.pay({amount: 1}); await codemode.sleep(2000); return await bank.pay({amount: 2})"

// freeBank is a runtime whose payments need nobody.
func freeBank(t *testing.T) (*bench, *bank) {
	t.Helper()
	b, k := setUp(t), &bank{}
	b.options.Connectors, b.options.Executor = []connectors.Connector{k.connector()}, &engine.InProcess{}
	b.worker()
	return b, k
}

// paying has a client pay twice, does something to the client once it has paid, and gives the execution's end.
func (b *bench) paying(k *bank, u *user, args map[string]any, then func(cancel func())) signals.Outcome {
	b.t.Helper()
	k.payments()
	ctx, cancel := context.WithCancel(b.context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = u.call(ctx, args)
	}()
	b.eventually("it has paid", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.paid) == 1 && len(u.progress()) > 0
	})
	id := strings.Fields(u.progress()[0])[1]
	then(cancel)
	out, err := b.client.Wait(b.context(), id, 1<<20)
	require.NoError(b.t, err)
	<-ended
	return out
}

// TestCancellingStopsTheProgram: the next write is not made, whatever the client and its transport.
func TestCancellingStopsTheProgram(t *testing.T) {
	b, k := freeBank(t)
	eachClient(t, mcpserver.Options{Runtime: b.client}, func(t *testing.T, join func(*person) *user) {
		for _, mute := range []string{"mcp-go,_today's/sse", "mcp-go,_2025-11-25/http"} {
			if strings.HasSuffix(t.Name(), mute) {
				t.Skip("this client tells nobody here that it cancels")
			}
		}
		u := join(&person{})
		out := b.paying(k, u, map[string]any{"code": payTwice}, func(cancel func()) { cancel() })
		require.Equal(t, signals.ExecutionCancelled, out.Error, "%+v", out)
		require.Equal(t, []int{1}, k.payments())
	})
}

// TestWhoMerelyGoesLeavesItRunning: but for clients of today's revision over HTTP, whose way to cancel is to hang up.
func TestWhoMerelyGoesLeavesItRunning(t *testing.T) {
	b, k := freeBank(t)
	eachClient(t, mcpserver.Options{Runtime: b.client}, func(t *testing.T, join func(*person) *user) {
		if strings.HasSuffix(t.Name(), "/http") && !strings.Contains(t.Name(), "2025-11-25") {
			t.Skip("hanging up is cancelling here")
		}
		u := join(&person{})
		out := b.paying(k, u, map[string]any{"code": payTwice}, func(func()) { u.close() })
		require.Equal(t, signals.Completed, out.Status, "%+v", out)
		require.Equal(t, []int{1, 2}, k.payments())
	})
}

// TestDetachedProgramsGoOn: a client may say with the call that cancelling ends the waiting alone.
func TestDetachedProgramsGoOn(t *testing.T) {
	b, k := freeBank(t)
	for _, how := range []string{"stdio", "http"} {
		t.Run(how, func(t *testing.T) {
			u := official(t, reach(t, how, mcpserver.Options{Runtime: b.client}), &person{})
			out := b.paying(k, u, map[string]any{"code": payTwice, detach: true}, func(cancel func()) { cancel() })
			require.Equal(t, signals.Completed, out.Status, "%+v", out)
			require.Equal(t, []int{1, 2}, k.payments())
		})
	}
}

// A door that is told to stop cancels nothing.
func TestClosingTheDoorCancelsNothing(t *testing.T) {
	b, k := freeBank(t)
	for name, open := range goClients {
		t.Run(name, func(t *testing.T) {
			at := reach(t, "http", mcpserver.Options{Runtime: b.client})
			u := open(t, at, &person{})
			out := b.paying(k, u, map[string]any{"code": payTwice}, func(func()) { at.closeDoor() })
			require.Equal(t, signals.Completed, out.Status, "%+v", out)
			require.Equal(t, []int{1, 2}, k.payments())
		})
	}
}

// TestCancelledAfterHangingUp: an older client over HTTP closes its stream first, and says then that it cancels.
func TestCancelledAfterHangingUp(t *testing.T) {
	b, k := freeBank(t)
	url := reach(t, "http", mcpserver.Options{Runtime: b.client}).http
	session := ""
	send := func(ctx context.Context, body string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		return answer
	}
	hello := send(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	session = hello.Header.Get("Mcp-Session-Id")
	_ = hello.Body.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	stream := send(ctx, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"codemode",
		"_meta":{"progressToken":"p"},"arguments":{"code":"`+payTwice+`"}}}`)
	defer func() { _ = stream.Body.Close() }()
	first := bufio.NewScanner(stream.Body)
	id := ""
	for id == "" && first.Scan() {
		_, after, _ := strings.Cut(first.Text(), "execution ")
		id, _, _ = strings.Cut(after, " ")
	}
	b.eventually("it has paid", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return len(k.paid) == 1 })
	hangUp()
	_ = send(t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`).Body.Close()
	out, err := b.client.Wait(b.context(), id, 1<<20)
	require.NoError(t, err)
	require.Equal(t, signals.ExecutionCancelled, out.Error)
	require.Equal(t, []int{1}, k.payments())
}

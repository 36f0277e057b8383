package child

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// TestSlowCallsHoldUpNobody: the goroutine that answers a child makes its calls too, but not for long. Here calls wait
// for others that the program issued with them, or for ever.
func TestSlowCallsHoldUpNobody(t *testing.T) {
	t.Run("side by side", func(t *testing.T) {
		const calls = 8
		arrived := make(chan struct{})
		host := &sandboxtest.Host{Methods: map[string]func(json.RawMessage) (string, error){
			"meet": func(json.RawMessage) (string, error) {
				select {
				case arrived <- struct{}{}:
				case <-arrived:
				}
				return "1", nil
			},
		}}
		code := fmt.Sprintf(`return (await Promise.all(Array.from({length: %d}, () => store.meet({})))).length`, calls)
		pass := sandbox.Pass{Code: code, Connectors: []string{"store"}, Limits: sandbox.Limits{Parallel: calls}}
		r, err := pool().Run(t.Context(), pass, host)
		require.NoError(t, err)
		sandboxtest.RequireValue(t, strconv.Itoa(calls), r)
	})
	t.Run("after the pass", func(t *testing.T) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		host := &sandboxtest.Host{Methods: map[string]func(json.RawMessage) (string, error){
			"hang": func(json.RawMessage) (string, error) { <-release; return "1", nil },
		}}
		pass := sandbox.Pass{Code: `store.hang({})`, Connectors: []string{"store"},
			Limits: sandbox.Limits{Timeout: 200 * time.Millisecond}}
		r, err := pool().Run(t.Context(), pass, host)
		require.NoError(t, err)
		require.Equal(t, sandbox.TimedOut, r.Failure.Kind)
		require.True(t, r.Entries[0].Dropped)
	})
}

// hanging makes no call before it is told to.
type hanging struct{ release chan struct{} }

func (hanging) Admit(sandbox.Call) sandbox.Admission { return sandbox.Admission{Class: "read"} }

func (h hanging) Call(context.Context, sandbox.Call) sandbox.Settlement {
	<-h.release
	return sandbox.Settlement{Value: json.RawMessage("1")}
}

// TestResultDuringACall: a child that its program has taken over reports a call as ended while it is made.
func TestResultDuringACall(t *testing.T) {
	h := hanging{make(chan struct{})}
	t.Cleanup(func() { close(h.release) })
	from, w := io.Pipe()
	s := newSession(t.Context(), sandbox.Pass{}, h).enter(&process{link: newLink(from, io.Discard, maxFrameToWorker)})
	go func() {
		child := newLink(nil, w, 0)
		_ = child.send(frameCall, read)
		_ = child.send(frameResult,
			sandbox.Result{End: sandbox.Completed,
				Entries: []signals.Entry{{ID: read.Seq, Connector: read.Connector, Method: read.Method,
					Value: json.RawMessage("2")}}})
	}()
	_, err := s.serve()
	require.ErrorContains(t, err, "has not ended so")
}

// panicking is a host with a bug.
type panicking struct{ admit bool }

func (h *panicking) Admit(sandbox.Call) sandbox.Admission {
	if h.admit {
		panic("no such thing")
	}
	return sandbox.Admission{Class: "read"}
}

func (*panicking) Call(context.Context, sandbox.Call) sandbox.Settlement { panic("no such thing") }

// TestHostPanics: the panic reaches whoever runs the pass, who can recover it.
func TestHostPanics(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	pass := sandbox.Pass{Code: `return await store.echo(1)`, Connectors: []string{"store"}}
	for _, admit := range []bool{true, false} {
		func() {
			defer func() {
				p, ok := recover().(*Panic)
				require.True(t, ok)
				require.Equal(t, "no such thing", p.Value)
				require.Contains(t, p.String(), "(*panicking)")
			}()
			_, _ = x.Run(t.Context(), pass, &panicking{admit: admit})
		}()
	}
	r, err := x.Run(t.Context(), pass, &sandboxtest.Host{})
	require.NoError(t, err)
	sandboxtest.RequireValue(t, `1`, r)
}

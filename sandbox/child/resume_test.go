package child

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// TestChildGoesOnWithItsRuntime: the child that is blocked on a write is given only what settled, and does the rest.
func TestChildGoesOnWithItsRuntime(t *testing.T) {
	x, err := New(Options{Children: 2})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	d := sandboxtest.NewDriver(t, &engine.InProcess{}, `
let sum = 0;
for (let i = 0; i < 5; i++) { sum += (await store.echo({ n: i })).n; console.log(i); sum += (await store.w_put({ n: 10 })).n }
return [sum, Math.random()]`)
	runs, resumed := 0, 0
	for state := ""; ; runs++ {
		if p := x.idle[len(x.idle)-1]; state != "" && p.parked == state {
			resumed++
		}
		d.Pass.After, d.Pass.As = state, fmt.Sprint("state ", runs)
		state = d.Pass.As
		d.Pass.Open = nil
		r, err := x.Run(t.Context(), d.Pass, d.Host)
		require.NoError(t, err)
		require.Nil(t, r.Failure)
		d.Pass.Log, d.Pass.Lines = append(d.Pass.Log, r.Entries...), r.Lines
		if r.End == sandbox.Completed {
			require.Len(t, d.Pass.Log, 10)
			require.Equal(t, 5, r.Lines)
			replayed, err := (&engine.InProcess{}).Run(t.Context(),
				sandbox.Pass{Code: d.Pass.Code, Seed: d.Pass.Seed, Start: d.Pass.Start, Connectors: d.Pass.Connectors,
					Log: d.Pass.Log}, d.Host)
			require.NoError(t, err)
			require.Equal(t, string(replayed.Value), string(r.Value))
			break
		}
		require.Len(t, r.Blocked, 1)
		b := r.Blocked[0]
		d.Pass.Log = append(d.Pass.Log,
			signals.Entry{ID: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, Value: b.Args,
				At: time.Now().UnixMilli()})
	}
	require.Equal(t, 5, resumed)
}

func TestParkedRuntimes(t *testing.T) {
	x, err := New(Options{Children: 2})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	host := sandboxtest.NewDriver(t, &engine.InProcess{}, "").Host
	run := func(p sandbox.Pass) sandbox.Result {
		p.Connectors, p.Seed = []string{"store"}, "s"
		r, err := x.Run(t.Context(), p, host)
		require.NoError(t, err)
		return r
	}
	const code = "await store.w_put({}); return 1"
	settled := []signals.Entry{{ID: 0, Connector: "store", Method: "w_put", Args: json.RawMessage("{}"),
		Value: json.RawMessage("{}")}}
	require.True(t, run(sandbox.Pass{Code: code, As: "1"}).Parked)
	require.False(t, run(sandbox.Pass{Code: code}).Parked, "nobody asked")
	require.True(t, run(sandbox.Pass{Code: "await store.a_ask({})", As: "2"}).Parked, "a person may decide at once")
	require.True(t, run(sandbox.Pass{Code: "await store.a_ask({})", After: "2", As: "2b",
		Open: []sandbox.OpenCall{{Connector: "store", Method: "a_ask"}}}).Parked, "it was approved")

	const stepping = "await codemode.step('s', () => 1); await store.w_put({})"
	step := []signals.Entry{{ID: 0, Connector: sandbox.StepConnector, Method: "s", Value: json.RawMessage("1")}}
	require.False(t, run(sandbox.Pass{Code: stepping, As: "2c"}).Parked, "what the step left behind is in no log")
	require.True(t, run(sandbox.Pass{Code: stepping, As: "2d", Log: step}).Parked, "it has not run here")

	require.Equal(t, sandbox.Completed, run(sandbox.Pass{Code: code, After: "other", Log: settled}).End,
		"another state is replayed")
	require.True(t, run(sandbox.Pass{Code: code, As: "3"}).Parked)
	require.Equal(t, sandbox.Completed, run(sandbox.Pass{Code: code, After: "3", Refresh: true, Log: settled}).End,
		"what is read anew is replayed")

	require.True(t, run(sandbox.Pass{Code: code, As: "4"}).Parked)
	p := x.idle[len(x.idle)-1]
	x.forget(p, "3")
	require.Equal(t, "4", p.parked)
	x.forget(p, "4")
	require.Empty(t, p.parked)
	require.Equal(t, sandbox.Completed, run(sandbox.Pass{Code: code, After: "4", Log: settled}).End,
		"a forgotten state is replayed")
}

package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSlowCallsHoldUpNobody: the goroutine that answers a child makes its calls too, but not for long. Here calls wait for
// others that the program issued with them, or for ever.
func TestSlowCallsHoldUpNobody(t *testing.T) {
	t.Run("side by side", func(t *testing.T) {
		const calls = 8
		arrived := make(chan struct{})
		host := &testHost{methods: map[string]func(json.RawMessage) (string, error){
			"meet": func(json.RawMessage) (string, error) {
				select {
				case arrived <- struct{}{}:
				case <-arrived:
				}
				return "1", nil
			},
		}}
		pass := Pass{Code: `
			for (let i = 0; i < 100; i++) await store.echo(i); // the session takes calls to be quick
			return (await Promise.all(Array.from({length: 8}, () => store.meet({})))).length`, Connectors: []string{"store"}, Limits: Limits{Parallel: calls}}
		r, err := pool().Run(t.Context(), pass, host)
		require.NoError(t, err)
		requireValue(t, `8`, r)
	})
	t.Run("after the pass", func(t *testing.T) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		host := &testHost{methods: map[string]func(json.RawMessage) (string, error){
			"hang": func(json.RawMessage) (string, error) { <-release; return "1", nil },
		}}
		pass := Pass{Code: `store.hang({})`, Connectors: []string{"store"}, Limits: Limits{Timeout: 200 * time.Millisecond}}
		r, err := pool().Run(t.Context(), pass, host)
		require.NoError(t, err)
		require.Equal(t, TimedOut, r.Failure.Kind)
		require.True(t, r.Entries[0].Dropped)
	})
}

package child

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
)

func TestUsageTellsOfPassesThatWaitForAChild(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	require.Equal(t, Usage{Children: 1}, x.Usage())
	busy := busyHost{make(chan struct{})}
	done := make(chan error, 2)
	for range 2 {
		go func() {
			pass := sandbox.Pass{Code: "return await store.read({})", Connectors: []string{"store"},
				Limits: sandbox.Limits{Timeout: time.Minute}}
			_, err := x.Run(t.Context(), pass, busy)
			done <- err
		}()
	}
	require.Eventually(t, func() bool { return x.Usage() == Usage{Children: 1, Busy: 1, Awaited: 1} }, 20*time.Second,
		time.Millisecond)
	close(busy.release)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Eventually(t, func() bool { return x.Usage() == Usage{Children: 1} }, 20*time.Second, time.Millisecond)
}

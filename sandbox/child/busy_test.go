package child

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
)

// busyHost never finishes its look at a call.
type busyHost struct{ release chan struct{} }

func (h busyHost) Admit(sandbox.Call) sandbox.Admission {
	<-h.release
	return sandbox.Admission{Class: "read"}
}

func (h busyHost) Call(context.Context, sandbox.Call) sandbox.Settlement { return sandbox.Settlement{} }

// A host that is busy does not keep a pass beyond its time, nor the place of its child.
func TestBusyHostKeepsNoPlace(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	busy := busyHost{make(chan struct{})}
	defer close(busy.release)
	stuck := sandbox.Pass{Code: "return await store.read({})", Connectors: []string{"store"},
		Limits: sandbox.Limits{Timeout: 100 * time.Millisecond}}
	ended := make(chan sandbox.Result, 1)
	go func() {
		r, _ := x.Run(t.Context(), stuck, busy)
		ended <- r
	}()
	select {
	case r := <-ended:
		require.Equal(t, sandbox.TimedOut, r.Failure.Kind, "%+v", r.Failure)
	case <-time.After(20 * time.Second):
		t.Fatal("the pass has not ended")
	}
	r, err := x.Run(t.Context(), sandbox.Pass{Code: "return 1", Connectors: []string{"store"}}, busy)
	require.NoError(t, err)
	require.Equal(t, sandbox.Completed, r.End)

	ctx, cancel := context.WithCancel(t.Context())
	stuck.Limits.Timeout = time.Hour
	cancelled := make(chan error, 1)
	go func() {
		_, err := x.Run(ctx, stuck, busy)
		cancelled <- err
	}()
	cancel()
	select {
	case err := <-cancelled:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(20 * time.Second):
		t.Fatal("the cancelled pass has not ended")
	}
}

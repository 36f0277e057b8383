package child

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A child that uses the processor while it has nothing to do is ended; the others stay.
func TestRestlessChildIsEnded(t *testing.T) {
	x, err := New(Options{Children: 2})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	spinning := &process{cmd: cmd, stdin: in, exited: make(chan struct{})}
	x.keep(spinning)
	require.Len(t, x.idle, 2)
	require.Eventually(t, func() bool {
		x.endRestless()
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.idle) == 1
	}, time.Minute, 50*time.Millisecond)
	<-spinning.exited
	require.NotSame(t, spinning, x.idle[0])
}

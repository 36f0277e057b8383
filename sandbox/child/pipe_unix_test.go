//go:build unix

package child

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPipeReader(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	conn, err := out.SyscallConn()
	require.NoError(t, err)
	r := &pipeReader{file: out, conn: conn}
	r.setBusyPoll(true)
	buffer := make([]byte, 8)
	wait := func(late time.Duration) {
		if late > 0 {
			time.AfterFunc(late, func() { _, _ = in.WriteString("a") })
		} else {
			_, err := in.WriteString("a")
			require.NoError(t, err)
		}
		n, err := r.Read(buffer)
		require.NoError(t, err)
		require.Equal(t, "a", string(buffer[:n]))
	}
	// On a busy machine an answer may come sooner or later than it was sent.
	for r.quick < pollAfter {
		wait(0)
	}
	for r.quick > 0 {
		wait(8 * pollFor)
	}
	require.NoError(t, in.Close())
	_, err = r.Read(buffer)
	require.ErrorIs(t, err, io.EOF)
}

package sandbox

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPipeReader(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	r, err := newPipeReader(out)
	require.NoError(t, err)
	got := make(chan string)
	go func() {
		for buffer := make([]byte, 8); ; {
			n, err := r.Read(buffer)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(buffer[:n])
		}
	}()
	for range 3 { // while it looks, and when it has given that up
		for range maxMisses + 1 {
			_, err = in.WriteString("a")
			require.NoError(t, err)
			require.Equal(t, "a", <-got)
		}
	}
	require.NoError(t, in.Close())
	require.Equal(t, io.EOF.Error(), <-got)
}

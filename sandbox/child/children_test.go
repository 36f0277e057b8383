package child

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultChildren(t *testing.T) {
	require.GreaterOrEqual(t, defaultChildren(1), 4)
	if machineMemory() > 0 {
		require.Equal(t, 2, defaultChildren(1<<60), "memory bounds them too")
	}
	require.EqualValues(t, 16<<20, memTotal("MemTotal:       16384 kB\nMemFree: 1 kB\n"))
	require.Zero(t, memTotal("something else"))
}

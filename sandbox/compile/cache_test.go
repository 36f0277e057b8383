package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Compiled programs take memory from the passes that follow.
func TestCacheKeepsFewBytes(t *testing.T) {
	var c Cache
	large := strings.Repeat("// a line that says little\n", 20_000)
	for n := range 6 {
		_, failure := c.Get(fmt.Sprintf("%sreturn %d", large, n), nil, ProgramSource)
		require.Nil(t, failure)
	}
	require.LessOrEqual(t, c.size, programBytesKept)
	require.Len(t, c.order, 3)
	require.Len(t, c.byKey, 3)
	newest, _ := c.Get(large+"return 5", nil, ProgramSource)
	again, _ := c.Get(large+"return 5", nil, ProgramSource)
	require.Same(t, newest, again)

	huge := strings.Repeat(large, 5)
	_, failure := c.Get(huge+"return 1", nil, ProgramSource)
	require.Nil(t, failure)
	require.Len(t, c.order, 1, "the newest stays: its execution goes on")

	for n := range 200 {
		_, failure := c.Get(fmt.Sprintf("return %d", n), nil, ProgramSource)
		require.Nil(t, failure)
	}
	require.Len(t, c.order, programsKept)
	c.Clear()
	require.Empty(t, c.byKey)
}

package child

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

// What the programs of others leave in a child is not taken from the memory of a pass.
func TestProgramsOfOthersTakeNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes more memory than the pass may")
	}
	x, err := New(Options{Children: 1, Memory: 128 << 20})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	for n := range 14 {
		code := fmt.Sprintf("if (false) {%s} return %d", strings.Repeat("a+a+a+a+a+a+a+a;\n", 24_000), n)
		r, err := x.Run(t.Context(), sandbox.Pass{Code: code, Connectors: []string{"store"}}, &sandboxtest.Host{})
		require.NoError(t, err)
		sandboxtest.RequireValue(t, fmt.Sprint(n), r)
	}
	r, err := x.Run(t.Context(), sandbox.Pass{Code: "return new Array(2e6).fill(0).length",
		Connectors: []string{"store"}}, &sandboxtest.Host{})
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "2000000", r)
}

package child

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
)

// A program is read where programs run: one that is too much for the parser ends a child at most.
func TestSurveysAreMadeInChildren(t *testing.T) {
	pool, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()
	s, err := pool.Survey(t.Context(), sandbox.Pass{Code: "await shop.pay({ n: 1 })"})
	require.NoError(t, err)
	require.Len(t, s.Uses, 1)
	require.Equal(t, "pay", s.Uses[0].Method)
	s, err = pool.Survey(t.Context(), sandbox.Pass{Code: strings.Repeat("a=>", 5_000) + "1"})
	require.NoError(t, err)
	require.NotNil(t, s.Failure, "it takes too long")
	s, err = pool.Survey(t.Context(), sandbox.Pass{Code: "return ("})
	require.NoError(t, err)
	require.Contains(t, s.Failure.Message, "SyntaxError")
	r, err := pool.Run(t.Context(), sandbox.Pass{Code: "1 + 1"}, nil)
	require.NoError(t, err)
	require.Equal(t, "2", string(r.Value))
}

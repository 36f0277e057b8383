package child

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
)

// TestRuntimeBuiltAhead: a child builds the next pass's runtime before it knows that pass; no program can tell.
func TestRuntimeBuiltAhead(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	const code = `
		const deep = (n) => n > 0 ? 1 + deep(n - 1) : 0;
		return [Object.getOwnPropertyNames(globalThis).join(), performance.timeOrigin, Date.now(), Math.random(),
			[...crypto.getRandomValues(new Uint8Array(4))], typeof store, typeof bank, new Event('x').timeStamp, deep(300)]`
	store, bank := []string{"store"}, []string{"bank", "store"}
	for i, p := range []sandbox.Pass{
		{Connectors: store, Start: 1000, Seed: "a"},
		{Connectors: store, Start: 2000, Seed: "b"},
		{Connectors: store, Start: 3000, Seed: "c", Limits: sandbox.Limits{Stack: 100}},
		{Connectors: bank, Start: 4000, Seed: "d"},
		{Connectors: bank, Start: 5000, Seed: "e", Synchronous: true},
		{Connectors: bank, Start: 6000, Seed: "f", Synchronous: true},
		{Connectors: bank, Start: 7000, Seed: "g"},
		{Start: 8000, Seed: "h"},
	} {
		p.Code = fmt.Sprintf("// %d\n%s", i, code)
		want, err := (&engine.InProcess{}).Run(t.Context(), p, &sandboxtest.Host{})
		require.NoError(t, err)
		e := engine.Ahead(p, &sandboxtest.Host{})
		require.True(t, e.Suits(p))
		e.Take(t.Context(), p)
		program, failure := (&compile.Cache{}).Get(p.Code, nil, compile.ProgramSource)
		require.Nil(t, failure)
		built, err := e.Run(program)
		require.NoError(t, err)
		require.Equal(t, want, built)
		require.Equal(t, want.End == sandbox.Completed,
			strings.Contains(string(want.Value), fmt.Sprintf(",%d,%[1]d,", p.Start)), "its clock")

		got, err := x.Run(t.Context(), p, &sandboxtest.Host{})
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, p.Limits.Stack == 0, got.End == sandbox.Completed, "%+v", got.Failure)
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary play the parts, as the command itself does.
func TestMain(m *testing.M) {
	child.Main()
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(context.Background(), role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestChaos is the short mode. The long one is the command.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about a minute")
	}
	o := options{Executions: 60, Concurrency: 20, Workers: 2, Every: 3 * time.Second,
		Seed: 1, Patience: 3 * time.Minute, Progress: testLog{t}}
	requirePassed(t, o, func(c *cluster) (result, error) { return o.run(t.Context(), c) })
}

// TestSweep kills the caller of each of the fixed program's calls, before its effect and after it.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about a minute")
	}
	o := options{Seed: 1, Patience: 3 * time.Minute, Progress: testLog{t}}
	requirePassed(t, o, func(c *cluster) (result, error) { return o.sweep(t.Context(), c, 1, 3, victims[4:]) })
}

func requirePassed(t *testing.T, o options, do func(*cluster) (result, error)) {
	t.Helper()
	var r result
	require.NoError(t, o.inDirectory(t.Context(), func(c *cluster) (err error) {
		r, err = do(c)
		return err
	}))
	var text strings.Builder
	require.NoError(t, r.print(&text, false))
	require.True(t, r.Passed, text.String())
	t.Log(text.String())
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

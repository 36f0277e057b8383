package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary play the worker and the tracker, as the command itself does.
func TestMain(m *testing.M) {
	child.Main()
	if os.Getenv(roleVariable) != "" {
		if err := run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestDemo(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = w
	done := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		done <- string(text)
	}()
	o, err := parse([]string{"--yes", "--ui-port", "0", "--address", "127.0.0.1:0"})
	require.NoError(t, err)
	err = serve(ctx, o)
	os.Stdout = stdout
	require.NoError(t, w.Close())
	transcript := <-done
	require.NoError(t, err, transcript)
	for _, want := range []string{"ready temporal=127.0.0.1:", " console=http://127.0.0.1:", "is paused",
		"Killed the worker (kill -9", "is completed after 3 passes", "tracker: 2 issues created",
		"Cannot read property 'trim'", "tracker: 3 issues created", "#1 tracker.create_issue: carried from exec_",
		"#2 tracker.create_issue: made now", "tracker: 4 issues created"} {
		require.Contains(t, transcript, want)
	}
}

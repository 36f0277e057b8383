package conformance_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/temporal-codemode/codemode/sandbox/child"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/testenv/conformance"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

const (
	scenariosEnv = "CODEMODE_SCENARIOS"
	defaultFile  = "testdata/scenarios.json"
)

// onPurpose are scenarios that the design answers differently, each with the reason. There are none.
var onPurpose = map[string]string{}

func TestMain(m *testing.M) {
	child.Main()
	if address := os.Getenv(conformance.WorkerEnv); address != "" {
		if err := conformance.ServeWorker(address, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	file := os.Getenv(scenariosEnv)
	byDefault := file == ""
	if byDefault {
		file = defaultFile
	}
	scenarios, err := conformance.Load(file)
	require.NoError(t, err)
	runner := startRunner(t)
	for _, s := range scenarios {
		t.Run(s.ID, func(t *testing.T) {
			if reason := skipped(s.ID); byDefault && reason != "" {
				t.Skip(reason)
			}
			t.Parallel()
			if err := runner.Run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func skipped(id string) string {
	if reason := onPurpose[id]; reason != "" {
		return "answered differently on purpose: " + reason
	}
	return ""
}

func startRunner(t *testing.T) *conformance.Runner {
	ctx := context.Background()
	s, err := server.Start(ctx, server.Options{})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	c, err := conformance.Dial(s.Address())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_ = codemodeworker.EnsureSearchAttributes(ctx, c) // here, so that workers do not race for it
	return conformance.NewRunner(c, s.Address())
}

package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
)

// A global that the preflight does not know would be taken for a connector that is not there.
func TestPreflightKnowsAllGlobals(t *testing.T) {
	r, err := (&InProcess{}).Run(t.Context(), sandbox.Pass{Code: `Object.getOwnPropertyNames(globalThis)`}, nil)
	require.NoError(t, err)
	require.Nil(t, r.Failure)
	var names []string
	require.NoError(t, json.Unmarshal(r.Value, &names))
	require.Greater(t, len(names), 50)
	for _, part := range lazyModules {
		names = append(names, part.globals...)
	}
	for _, name := range names {
		if name != sandbox.PlatformConnector {
			require.True(t, preflight.IsGlobal(name), name)
		}
	}
}

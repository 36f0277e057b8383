package engine

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEngineVersionIsThatOfGoMod(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	for module, version := range map[string]string{"github.com/dop251/goja": gojaVersion,
		"github.com/evanw/esbuild": esbuildVersion} {
		require.True(t, strings.Contains(string(mod), module+" "+version), "%s is not at %s in go.mod", module, version)
	}
}

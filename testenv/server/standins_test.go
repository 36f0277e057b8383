package server_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoCloudClientsAreLinked: without the stand-ins the server brings in the clients of three clouds, a third of the
// first compilation.
func TestNoCloudClientsAreLinked(t *testing.T) {
	packages, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, name := range strings.Fields(string(packages)) {
		for _, cloud := range []string{"k8s.io/", "github.com/aws/aws-sdk-go-v2/service/ecs", "github.com/envoyproxy/"} {
			require.False(t, strings.HasPrefix(name, cloud), "%s is linked: see standins/README.md", name)
		}
	}
}

package invocation

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRemediesFitHowTheBinaryWasStarted(t *testing.T) {
	before := os.Args[0]
	t.Cleanup(func() { os.Args[0] = before })

	os.Args[0] = "/tmp/go-build123/b001/exe/starter"
	require.Equal(t, "go run ./starter", Self("starter"))
	require.Equal(t, "go run ./worker --config codemode.yaml", Worker())
	require.Equal(t, "go run ./testenv/dev --headless", Server())

	os.Args[0] = "./codemode"
	require.Equal(t, "./codemode", Self("starter"))
	require.Equal(t, "codemode-worker --config codemode.yaml", Worker())
	require.Equal(t, "temporal server start-dev", Server())
}

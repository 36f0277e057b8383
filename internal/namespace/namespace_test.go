package namespace

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"
)

type wrapped struct {
	name string
	client.Client
}

type telling struct{ client.Client }

func (telling) Namespace() string { return "told" }

// Of reads a field of go.temporal.io/sdk v1.50.0. If this fails after an update of the SDK, look for what its
// WorkflowClient calls the field now, or whether it offers a method at last.
func TestOf(t *testing.T) {
	lazy, err := client.NewLazyClient(client.Options{Namespace: "billing"})
	require.NoError(t, err)
	defer lazy.Close()
	unnamed, err := client.NewLazyClient(client.Options{})
	require.NoError(t, err)
	defer unnamed.Close()
	for name, c := range map[string]client.Client{
		"billing": lazy, "default": unnamed, "told": telling{lazy},
	} {
		got, err := Of(c)
		require.NoError(t, err)
		require.Equal(t, name, got)
	}
	got, err := Of(wrapped{"mine", lazy})
	require.NoError(t, err)
	require.Equal(t, "billing", got)
	_, err = Of(&mocks.Client{})
	require.ErrorContains(t, err, "give the type a method Namespace() string")
}

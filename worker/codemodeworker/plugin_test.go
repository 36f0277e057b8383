package codemodeworker

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

var (
	_ client.Plugin = (*Plugin)(nil)
	_ worker.Plugin = (*Plugin)(nil)
)

func TestPluginServesItsTaskQueueOnly(t *testing.T) {
	p, err := NewPlugin(Options{Runtime: "billing"})
	require.NoError(t, err)
	require.Equal(t, "codemode/billing", p.Name())
	configure := func(queue string, o *worker.Options) error {
		return p.ConfigureWorker(t.Context(),
			worker.PluginConfigureWorkerOptions{WorkerInstanceKey: queue, TaskQueue: queue, WorkerOptions: o})
	}
	var own worker.Options
	require.NoError(t, configure(TaskQueue("billing"), &own))
	require.NotZero(t, own.StickyScheduleToStartTimeout)
	require.NoError(t, configure("orders", &worker.Options{}), "a worker of the same client that does something else")
	err = configure("orders", &worker.Options{Plugins: []worker.Plugin{p}})
	require.ErrorContains(t, err, `serves task queue "codemode-billing", and this worker polls "orders"`)
	require.NoError(t, p.start(t.Context(), temporal.SimplePluginRunContextBeforeOptions{InstanceKey: "orders"}),
		"and registers nothing there")
}

func TestPluginTakesTheClientsConverter(t *testing.T) {
	p, err := NewPlugin(Options{})
	require.NoError(t, err)
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter())
	require.NoError(t, p.ConfigureClient(t.Context(),
		client.PluginConfigureClientOptions{ClientOptions: &client.Options{DataConverter: dc}}))
	require.Same(t, dc, p.options.DataConverter)
	_, err = NewPlugin(Options{Runtime: "no/slash"})
	require.Error(t, err)
}

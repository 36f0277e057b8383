package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// A team's own worker serves programs beside its own workflows, by a plugin of the client or of the worker.
func TestPluginOnATeamsWorker(t *testing.T) {
	for _, where := range []string{"client", "worker"} {
		t.Run(where, func(t *testing.T) {
			b := setUp(t)
			plugin, err := codemodeworker.NewPlugin(b.options)
			require.NoError(t, err)
			clientOptions, workerOptions := client.Options{HostPort: b.address, Logger: quiet}, worker.Options{}
			if where == "client" {
				clientOptions.Plugins = []client.Plugin{plugin}
			} else {
				workerOptions.Plugins = []worker.Plugin{plugin}
			}
			c, err := client.Dial(clientOptions)
			require.NoError(t, err)
			t.Cleanup(c.Close)
			w := worker.New(c, codemodeworker.TaskQueue(b.runtime), workerOptions)
			w.RegisterWorkflowWithOptions(func(workflow.Context) (string, error) { return "own", nil },
				workflow.RegisterOptions{Name: "own"})
			require.NoError(t, w.Start())
			t.Cleanup(w.Stop)

			o := b.run(`const a = await lab.read({name: 'a'}); await lab.write({name: 'w'}); return [a, await lab.ask({name: 'x'})]`)
			require.Equal(t, signals.Paused, o.Status, o.Error)
			b.completed(`["a", "x"]`, b.approve(o.ExecutionID, signals.Approve{}))
			run, err := c.ExecuteWorkflow(b.context(),
				client.StartWorkflowOptions{TaskQueue: codemodeworker.TaskQueue(b.runtime)}, "own")
			require.NoError(t, err)
			var answer string
			require.NoError(t, run.Get(b.context(), &answer))
			require.Equal(t, "own", answer)
			b.replaysWith(plugin, o.ExecutionID)
		})
	}
}

func (b *bench) replaysWith(plugin worker.Plugin, id string) {
	b.t.Helper()
	var history historypb.History
	events := shared.client.GetWorkflowHistory(context.Background(), signals.WorkflowID(b.runtime, id), "", false,
		enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(b.t, err)
		history.Events = append(history.Events, e)
	}
	replayer, err := worker.NewWorkflowReplayerWithOptions(
		worker.WorkflowReplayerOptions{Plugins: []worker.Plugin{plugin}})
	require.NoError(b.t, err)
	require.NoError(b.t, replayer.ReplayWorkflowHistory(quiet, &history))
}

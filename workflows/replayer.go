package workflows

import (
	"context"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

// NewReplayer makes a replayer that has the package's workflows, for ReplayWorkflowHistory as for
// ReplayWorkflowExecution. Give it the worker's data converter.
func NewReplayer(o worker.WorkflowReplayerOptions) (worker.WorkflowReplayer, error) {
	simple, err := temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name: "codemode/replay", WorkerInterceptors: []interceptor.WorkerInterceptor{Interceptor()},
	})
	if err != nil {
		return nil, err
	}
	o.Plugins = append(o.Plugins, &replayPlugin{simple})
	replayer, err := worker.NewWorkflowReplayerWithOptions(o)
	if err == nil {
		Register(replayer)
	}
	return replayer, err
}

type replayPlugin struct{ *temporal.SimplePlugin }

// ReplayWorkflow is what the SDK asks before each replay.
func (p *replayPlugin) ReplayWorkflow(ctx context.Context, o worker.PluginReplayWorkflowOptions,
	next func(context.Context, worker.PluginReplayWorkflowOptions) error) error {
	o.Namespace = ReplayNamespace
	return p.SimplePlugin.ReplayWorkflow(ctx, o, next)
}

// ReplayNamespace is the SDK's own name for a namespace that is only replayed in: elsewhere it asks for the local
// activities of a workflow, which a replayer cannot have.
const ReplayNamespace = "ReplayNamespace"

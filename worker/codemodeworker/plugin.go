package codemodeworker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/activities"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/workflows"
)

// NewPlugin adds a runtime to a team's own worker: give it to worker.Options.Plugins of a worker on TaskQueue(runtime),
// which may have workflows and activities of its own beside it, but no dynamic activity. Given to
// client.Options.Plugins it also serves every worker on that task queue made from the client, and knows the client's
// data converter.
//
// The main function of the program begins with child.Main() of package sandbox/child, or the worker does not start:
// programs run in child processes, which are the same binary. Connectors are loaded when the worker starts. Unlike
// NewWorker the plugin registers no search attributes, but uses those that are there; call EnsureSearchAttributes once
// where that is allowed.
// Replayers with the plugin replay executions.
func NewPlugin(o Options) (*Plugin, error) {
	if err := o.name(); err != nil {
		return nil, err
	}
	if len(o.Serve) > 0 {
		return nil, errors.New("a plugin runs programs: make a worker that serves connectors alone with " +
			"codemode.NewWorker")
	}
	p := &Plugin{options: o, served: map[string]*closer{}}
	var err error
	p.SimplePlugin, err = temporal.NewSimplePlugin(temporal.SimplePluginOptions{
		Name:             "codemode/" + o.Runtime,
		ConfigureClient:  p.configureClient,
		ConfigureWorker:  p.configureWorker,
		RunContextBefore: p.start,
		ConfigureWorkflowReplayer: func(_ context.Context, o worker.PluginConfigureWorkflowReplayerOptions) error {
			o.WorkflowReplayerOptions.Interceptors = append(o.WorkflowReplayerOptions.Interceptors,
				workflows.Interceptor())
			return nil
		},
	})
	return p, err
}

// Plugin is a client.Plugin and a worker.Plugin of Temporal's SDK.
type Plugin struct {
	*temporal.SimplePlugin
	options Options
	mu      sync.Mutex
	served  map[string]*closer // by worker instance
}

// TaskQueue is the task queue of a runtime's workers; an empty name is the runtime "default".
func TaskQueue(runtime string) string {
	if runtime == "" {
		runtime = signals.DefaultRuntime
	}
	return signals.TaskQueue(runtime)
}

// closer is what a started worker has to give back.
type closer struct {
	set *connectors.Set
	// activities learn, and tell what they learnt last.
	activities *activities.Activities
	own        *child.Pool // the executor, unless it came with the options
}

func (c *closer) close() error {
	if c.set == nil {
		return nil
	}
	c.activities.Close()
	err := c.set.Close()
	if c.own != nil {
		err = errors.Join(err, c.own.Close())
	}
	return err
}

func (p *Plugin) configureClient(_ context.Context, o client.PluginConfigureClientOptions) error {
	if p.options.DataConverter == nil {
		p.options.DataConverter = o.ClientOptions.DataConverter
	}
	p.options.watchAttempts(o.ClientOptions)
	return nil
}

// configureWorker leaves workers of other task queues alone, which the client makes too. One that was given the plugin
// itself is a mistake: no execution would ever reach it.
func (p *Plugin) configureWorker(_ context.Context, o worker.PluginConfigureWorkerOptions) error {
	queue := signals.TaskQueue(p.options.Runtime)
	if o.TaskQueue != queue {
		for _, given := range o.WorkerOptions.Plugins {
			if given.Name() == p.Name() {
				return fmt.Errorf("the codemode plugin of runtime %q serves task queue %q, and this worker polls "+
					"%q: make it with codemode.TaskQueue(%q)",
					p.options.Runtime, queue, o.TaskQueue, p.options.Runtime)
			}
		}
		return nil
	}
	p.options.tune(o.WorkerOptions)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.served[o.WorkerInstanceKey] = &closer{}
	return nil
}

func (p *Plugin) start(ctx context.Context, o temporal.SimplePluginRunContextBeforeOptions) error {
	if o.WorkflowReplayer {
		workflows.Register(registry{o.Registry})
		return nil
	}
	p.mu.Lock()
	at, ours := p.served[o.InstanceKey]
	p.mu.Unlock()
	if !ours {
		return nil
	}
	options := p.options // each worker has connectors and a sandbox of its own
	set, err := options.load(ctx)
	if err != nil {
		return fmt.Errorf("start runtime %q: %w", options.Runtime, err)
	}
	at.set, at.activities = set, options.activities(set, (&asked{labels: options.IndexLabels}).attributes)
	if p.options.Executor == nil {
		at.own, _ = options.Executor.(*child.Pool)
	}
	workflows.Register(registry{o.Registry})
	at.activities.Register(registry{o.Registry})
	return nil
}

// ReplayWorkflow is what the SDK asks before each replay.
func (p *Plugin) ReplayWorkflow(ctx context.Context, o worker.PluginReplayWorkflowOptions,
	next func(context.Context, worker.PluginReplayWorkflowOptions) error) error {
	o.Namespace = workflows.ReplayNamespace
	return p.SimplePlugin.ReplayWorkflow(ctx, o, next)
}

// StopWorker closes the connectors once the calls that run have finished.
func (p *Plugin) StopWorker(ctx context.Context, o worker.PluginStopWorkerOptions,
	next func(context.Context, worker.PluginStopWorkerOptions)) {
	p.SimplePlugin.StopWorker(ctx, o, next)
	p.mu.Lock()
	at := p.served[o.WorkerInstanceKey]
	delete(p.served, o.WorkerInstanceKey)
	p.mu.Unlock()
	if at != nil {
		_ = at.close()
	}
}

// pluginRegistry is what the SDK gives plugins to register with.
type pluginRegistry interface {
	RegisterWorkflowWithOptions(any, workflow.RegisterOptions)
	RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions)
	RegisterActivityWithOptions(any, activity.RegisterOptions)
	RegisterDynamicActivity(any, activity.DynamicRegisterOptions)
}

// registry makes of it what a worker has.
type registry struct{ pluginRegistry }

func (r registry) RegisterWorkflow(w any) {
	r.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{})
}

func (r registry) RegisterActivity(a any) {
	r.RegisterActivityWithOptions(a, activity.RegisterOptions{})
}

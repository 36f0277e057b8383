package codemodeworker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
)

// RunOptions say how to run the worker of a configuration.
type RunOptions struct {
	// Client says where Temporal is.
	Client client.Options
	// Log is for warnings and for the SDK; nil is slog's default.
	Log *slog.Logger
	// Build makes a versioned worker: executions stay with the build they started on. Zero is an unversioned one.
	Build worker.WorkerDeploymentVersion
	// Started is called once with the worker that serves, before Ready.
	Started func(*Worker)
	// Ready is called once with a line that says what the worker serves.
	Ready func(line string)
}

// drain bounds how long a worker that is told to stop waits for the calls that run. A write that is cut off is an
// outcome that nobody knows, so it is given time.
const drain = 30 * time.Second

// cachedExecutions bounds how many open executions, paused ones above all, the stock worker keeps in memory: about
// 100 kB each. Any other is read from history when something happens to it.
const cachedExecutions = 2000

// Run connects, serves until ctx ends, and then lets what runs finish.
func Run(ctx context.Context, options Options, o RunOptions) error {
	options.DataConverter = o.Client.DataConverter
	if err := options.checkEncryption(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Client.Logger = sdklog.NewStructuredLogger(o.Log)
	options.watchAttempts(&o.Client)
	c, err := codemode.Dial(ctx, o.Client)
	if err != nil {
		return err
	}
	defer c.Close()
	worker.SetStickyWorkflowCacheSize(cachedExecutions)
	failed := make(chan error, 1)
	options.Worker.WorkerStopTimeout = drain
	if o.Build != (worker.WorkerDeploymentVersion{}) {
		options.Worker.DeploymentOptions = worker.DeploymentOptions{
			UseVersioning: true, Version: o.Build, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		}
	}
	options.Worker.OnFatalError = func(err error) { failed <- err }
	w, err := New(ctx, c, options)
	if err != nil {
		return err
	}
	return w.serve(ctx, options, o, failed)
}

func (w *Worker) serve(ctx context.Context, options Options, o RunOptions, failed <-chan error) error {
	for _, warning := range w.Connectors.Warnings() {
		o.Log.Warn(warning)
	}
	if !w.SearchAttributes {
		o.Log.Warn(fmt.Sprintf("the server has no search attributes %s and %s, and this worker may not add them: "+
			"lists will be slower",
			signals.AttributeRuntime, signals.AttributeStatus))
	}
	if w.LabelsError != nil {
		o.Log.Warn("lists by label will read records", "error", w.LabelsError)
	}
	if x, ok := w.Executor.(*child.Pool); ok {
		for _, layer := range x.Layers() {
			if !layer.Active {
				o.Log.Warn(fmt.Sprintf("the sandbox runs without %s: %s", layer.Name, layer.Detail))
			}
		}
	}
	if err := w.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the worker: %w", err), w.Connectors.Close())
	}
	if o.Started != nil {
		o.Started(w)
	}
	if o.Ready != nil {
		o.Ready(readyLine(options, w.Connectors))
	}
	select {
	case <-ctx.Done():
		o.Log.Info("stopping: calls that run are given " + drain.String() + " to finish")
		w.Stop()
		return nil
	case err := <-failed:
		w.Stop()
		return fmt.Errorf("the worker cannot go on: %w", err)
	}
}

// readyLine tells what a worker serves, as in "worker ready: runtime default, task queue codemode-default, connectors
// tracker (6 methods)".
func readyLine(o Options, set *connectors.Set) string {
	var list, queues []string
	names := set.Names()
	if len(o.Serve) > 0 {
		names = o.Serve
		for _, name := range names {
			queues = append(queues, signals.ConnectorTaskQueue(o.Runtime, name))
		}
	} else {
		queues = []string{signals.TaskQueue(o.Runtime)}
	}
	for _, name := range names {
		what := fmt.Sprintf("%s (%d methods)", name, len(set.Methods(name)))
		if set.Err(name) != nil {
			what = name + " (not available)"
		}
		list = append(list, what)
	}
	what := "no connectors"
	if len(list) > 0 {
		what = "connectors " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("worker ready: runtime %s, task queue %s, %s", o.Runtime, strings.Join(queues, ", "), what)
}

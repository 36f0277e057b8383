package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// NoServerError says that Temporal cannot be used at an address.
type NoServerError struct {
	Address string
	// Namespace is set when the server answers but does not have it.
	Namespace string
	Err       error
}

func (e *NoServerError) Error() string {
	if e.Namespace != "" {
		return fmt.Sprintf("the Temporal server at %s has no namespace %q: create it (temporal operator namespace create --namespace %s) "+
			"or choose another with TEMPORAL_NAMESPACE", e.Address, e.Namespace, e.Namespace)
	}
	return fmt.Sprintf("no Temporal server can be reached at %s: start one (go run ./testenv/dev --headless) "+
		"or say where it is with TEMPORAL_ADDRESS: %v", e.Address, e.Err)
}

func (e *NoServerError) Unwrap() error { return e.Err }

// dialPatience is how long a server may take to answer before it counts as missing.
const dialPatience = 3 * time.Second

// Dial connects to Temporal. Within a few seconds it tells, as a *NoServerError, that there is no server or that it
// lacks the namespace. What goes to a server on the same machine is not compressed, unless the options ask for it: that
// would cost time and save nothing.
func Dial(ctx context.Context, o client.Options) (client.Client, error) {
	o.HostPort, o.Namespace = cmp.Or(o.HostPort, client.DefaultHostPort), cmp.Or(o.Namespace, client.DefaultNamespace)
	if o.ConnectionOptions.GrpcCompression == nil && loopback(o.HostPort) {
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	patient, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	c, err := client.DialContext(patient, o)
	if err != nil {
		return nil, &NoServerError{Address: o.HostPort, Err: err}
	}
	_, err = c.WorkflowService().DescribeNamespace(patient, &workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) {
		c.Close()
		return nil, &NoServerError{Address: o.HostPort, Namespace: o.Namespace, Err: err}
	}
	return c, nil // who may not describe a namespace may still use it
}

// loopback reports whether an address is of this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// RunOptions say how to run the worker of a configuration.
type RunOptions struct {
	// Client says where Temporal is.
	Client client.Options
	// Log is for warnings and for the SDK; nil is slog's default.
	Log *slog.Logger
	// Build makes a versioned worker: executions stay with the build they started on. Zero is an unversioned one.
	Build worker.WorkerDeploymentVersion
	// Ready is called once with a line that says what the worker serves.
	Ready func(line string)
}

// drain bounds how long a worker that is told to stop waits for the calls that run. A write that is cut off is an
// outcome that nobody knows, so it is given time.
const drain = 30 * time.Second

// cachedExecutions bounds how many open executions, paused ones above all, the stock worker keeps in memory: about
// 100 kB each. Any other is read from history when something happens to it.
const cachedExecutions = 2000

// RunWorker serves a configuration until ctx ends, and then lets what runs finish.
func RunWorker(ctx context.Context, cfg *Config, o RunOptions) error {
	options, err := cfg.Options()
	if err != nil {
		return err
	}
	if err := cfg.checkEncryption(o.Client); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Client.Logger = sdklog.NewStructuredLogger(o.Log)
	c, err := Dial(ctx, o.Client)
	if err != nil {
		return err
	}
	defer c.Close()
	worker.SetStickyWorkflowCacheSize(cachedExecutions)
	failed := make(chan error, 1)
	options.Namespace, options.DataConverter = o.Client.Namespace, o.Client.DataConverter
	options.Worker.WorkerStopTimeout = drain
	if o.Build != (worker.WorkerDeploymentVersion{}) {
		options.Worker.DeploymentOptions = worker.DeploymentOptions{UseVersioning: true, Version: o.Build, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned}
	}
	options.Worker.OnFatalError = func(err error) { failed <- err }
	w, err := NewWorker(ctx, c, options)
	if err != nil {
		return err
	}
	return w.serve(ctx, cfg, o, failed)
}

func (w *Worker) serve(ctx context.Context, cfg *Config, o RunOptions, failed <-chan error) error {
	for _, warning := range w.Connectors.Warnings() {
		o.Log.Warn(warning)
	}
	if !w.SearchAttributes {
		o.Log.Warn(fmt.Sprintf("the server has no search attributes %s and %s, and this worker may not add them: lists will be slower",
			signals.AttributeRuntime, signals.AttributeStatus))
	}
	if x, ok := w.Executor.(*sandbox.Isolated); ok {
		for _, layer := range x.Layers() {
			if !layer.Active {
				o.Log.Warn(fmt.Sprintf("the sandbox runs without %s: %s", layer.Name, layer.Detail))
			}
		}
	}
	if err := w.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the worker: %w", err), w.Connectors.Close())
	}
	if o.Ready != nil {
		o.Ready(readyLine(cfg, w.Connectors))
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
func readyLine(cfg *Config, set *connectors.Set) string {
	var list, queues []string
	names := set.Names()
	if len(cfg.Serve) > 0 {
		names = cfg.Serve
		for _, name := range names {
			queues = append(queues, signals.ConnectorTaskQueue(cfg.Runtime, name))
		}
	} else {
		queues = []string{signals.TaskQueue(cfg.Runtime)}
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
	return fmt.Sprintf("worker ready: runtime %s, task queue %s, %s", cfg.Runtime, strings.Join(queues, ", "), what)
}

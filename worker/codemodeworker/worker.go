// Package codemodeworker serves the programs of one runtime: as a worker of its own ([New], [Run]), or as a plugin of a
// worker that a team runs already ([NewPlugin]).
//
// Its rule: the zero value of [Options] serves the runtime "default" without connectors, and every default is
// production's.
//
// Programs run in child processes, which are the worker's own binary started again. So the main function of a worker,
// and TestMain of tests that run one, begin with
//
//	child.Main()
//
// of package sandbox/child. Without it no worker starts.
package codemodeworker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode/activities"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/sandbox/harden"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
	"github.com/temporal-codemode/codemode/workflows"
)

// Options configure the worker of one runtime. The zero value serves the runtime "default" without connectors.
type Options struct {
	// Runtime is the runtime's name; empty is "default".
	Runtime string
	// Connectors are the namespaces that programs see, in this order.
	Connectors []connectors.Connector
	// Rules change methods by connector name: class, approval, name and more.
	Rules map[string][]connectors.Rule
	// OwnQueues names connectors whose calls, reads too, are made by workers that Serve them, on a task queue for each.
	// All workers list their methods all the same.
	OwnQueues []string
	// Serve makes a worker that makes the calls of these connectors, which are among OwnQueues, and does nothing else.
	Serve []string
	// Executor runs the passes; nil runs each in a hardened child process, as Sandbox says, for which main begins with
	// child.Main(). &engine.InProcess{} runs them in this process, for tests and for programs that are trusted.
	Executor sandbox.Executor
	// Sandbox configures the child processes.
	Sandbox child.Options
	// Modules are what programs may import: JavaScript or TypeScript source by name. A paused execution goes on only on
	// a worker with the same modules.
	Modules map[string]string
	// RetryPolicy decides what follows failed attempts of calls that the workflow makes; nil repeats what asks for it
	// with a connectors.RetryableError, as often as the method allows.
	RetryPolicy connectors.RetryPolicy
	// AuthenticatedApprovers lets only those count whom a door authenticated, where several people have to approve.
	AuthenticatedApprovers bool
	// NoLearning keeps the worker from learning what results look like, for models to see where a method declares no
	// type; connectors.Policy has the same for some methods.
	NoLearning bool
	// Hints say in a few words what connectors are for, by name; models read them in the tool's description.
	Hints map[string]string
	// Preflight is what follows from mistakes that are found in a program before it runs; empty stops what would
	// certainly fail.
	Preflight signals.PreflightMode
	// PassTimeout bounds the wall clock of one pass; 0 is 60 s.
	PassTimeout time.Duration
	// LocalPass is how long a pass may run inside its workflow task, which is what makes short programs fast; 0 is 500
	// ms, and 3 s while more than 32 run so, which saves the server work; negative runs every pass as an activity of
	// its own. Only the default executor's passes run so.
	LocalPass time.Duration
	// Limits bound an execution; zero fields have defaults.
	Limits signals.Limits
	// IndexLabels registers the search attribute CodemodeLabels, by which clients that have IndexLabels list.
	IndexLabels bool
	// DataConverter must be the client's, if that has one of its own.
	DataConverter converter.DataConverter
	// EncryptionRequired refuses to start without a data converter that encrypts, and has that converter refuse what
	// comes in clear.
	EncryptionRequired bool
	// Worker are further options of the SDK's worker.
	Worker worker.Options

	attempts *activities.Attempts
}

// Worker serves the executions of one runtime.
type Worker struct {
	worker.Worker
	others []worker.Worker // those of further task queues
	// Connectors are the loaded namespaces.
	Connectors *connectors.Set
	// SearchAttributes says that lists can be filtered by CodemodeRuntime and CodemodeStatus.
	SearchAttributes bool
	// LabelsError says why IndexLabels could not be done.
	LabelsError error
	// Executor runs the passes.
	Executor   sandbox.Executor
	activities *activities.Activities
}

// New loads the connectors and makes a worker that is ready to start. A mistake in names or rules is an error; a
// connector that cannot be loaded is not: its methods answer with the reason. Main begins with child.Main(), or it is
// child.ErrNoMain, unless there is another Executor.
func New(ctx context.Context, c client.Client, o Options) (*Worker, error) {
	set, err := o.load(ctx)
	if err != nil {
		return nil, err
	}
	o.tune(&o.Worker)
	if len(o.Serve) > 0 {
		return connectorWorker(c, set, o), nil
	}
	registered := ensure(ctx, c, o.IndexLabels)
	w := &Worker{
		Worker: worker.New(c, signals.TaskQueue(o.Runtime), o.Worker), Connectors: set, Executor: o.Executor,
		SearchAttributes: registered.known.Status, LabelsError: registered.labelsError,
	}
	workflows.Register(w)
	w.activities = o.activities(set, registered.attributes)
	w.activities.Register(w)
	return w, nil
}

// name fills in the runtime's name.
func (o *Options) name() error {
	if o.Runtime == "" {
		o.Runtime = signals.DefaultRuntime
	}
	return signals.CheckRuntime(o.Runtime)
}

// load fills in defaults and loads the connectors.
func (o *Options) load(ctx context.Context) (*connectors.Set, error) {
	if err := errors.Join(o.name(), o.checkEncryption()); err != nil {
		return nil, err
	}
	set, err := connectors.NewSet(ctx, o.Connectors, o.Rules)
	if err != nil {
		return nil, err
	}
	if err := checkQueues(set, *o); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	if o.Executor == nil && len(o.Serve) == 0 {
		if o.Executor, err = child.New(o.Sandbox); err != nil {
			return nil, errors.Join(err, set.Close())
		}
	}
	return set, nil
}

// checkEncryption refuses to write in clear what has to be secret.
func (o *Options) checkEncryption() error {
	if !o.EncryptionRequired {
		return nil
	}
	if dc, ok := o.DataConverter.(*payload.Converter); ok && dc.Secret() {
		dc.Require()
		return nil
	}
	return &connectors.ConfigError{Message: fmt.Sprintf("encryption is required, and there are no keys: "+
		"set %s=ID:BASE64, made with  openssl rand -base64 32", payload.KeysEnv)}
}

// tune sets what the SDK's worker does better for us than by default.
func (o *Options) tune(w *worker.Options) {
	if w.StickyScheduleToStartTimeout == 0 {
		w.StickyScheduleToStartTimeout = stickyPatience
	}
	if w.MaxHeartbeatThrottleInterval == 0 {
		w.MaxHeartbeatThrottleInterval = heartbeatEvery
	}
	w.Interceptors = append(slices.Clip(w.Interceptors), workflows.Interceptor())
	if w.MaxConcurrentActivityExecutionSize == 0 && w.Tuner == nil {
		w.MaxConcurrentActivityExecutionSize = activitySlots
	}
}

func (o *Options) activities(set *connectors.Set,
	attributes func(context.Context) activities.Attributes) *activities.Activities {
	return activities.New(activities.Options{
		Connectors: set, Executor: o.Executor, Modules: o.Modules, DataConverter: o.DataConverter,
		PassTimeout: o.PassTimeout, Limits: o.Limits,
		SearchAttributes: attributes, Hints: o.Hints, RetryPolicy: o.RetryPolicy, OwnQueues: o.OwnQueues,
		Runtime: o.Runtime, NoLearning: o.NoLearning,
		LocalPass: localPass(*o), AuthenticatedApprovers: o.AuthenticatedApprovers, Attempts: o.attempts,
		Preflight: o.Preflight,
	})
}

// localPass lets passes run inside workflow tasks only where no program can end the worker.
func localPass(o Options) time.Duration {
	if _, isolated := o.Executor.(*child.Pool); !isolated {
		return -1
	}
	return o.LocalPass
}

// activitySlots is how many passes and calls run at once: most of them only wait, which takes half a megabyte at most.
const activitySlots = 10_000

// heartbeatEvery is how often a long call or pass asks the server whether it is still wanted: cancelling takes as long.
const heartbeatEvery = 3 * time.Second

// stickyPatience is how long the server keeps work for the worker that did the last of an execution. After a crash that
// is what the first person to come waits for.
const stickyPatience = 2 * time.Second

// Stop stops the worker, its connectors and its sandbox.
func (w *Worker) Stop() {
	for _, each := range w.all() {
		each.Stop()
	}
	w.activities.Close()
	_ = w.Connectors.Close()
	if x, ok := w.Executor.(*child.Pool); ok {
		_ = x.Close()
	}
}

// SandboxLayers tells which protections sandbox children have on this host, and why not the others.
func SandboxLayers(o child.Options) ([]harden.Layer, error) {
	x, err := child.New(o)
	if err != nil {
		return nil, err
	}
	return x.Layers(), x.Close()
}

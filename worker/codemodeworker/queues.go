package codemodeworker

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/temporal-codemode/codemode/activities"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

func checkQueues(set *connectors.Set, o Options) error {
	for _, name := range o.OwnQueues {
		if !set.Has(name) {
			return fmt.Errorf("the connector %q cannot have a task queue of its own: it is not configured", name)
		}
	}
	for _, name := range o.Serve {
		if !slices.Contains(o.OwnQueues, name) {
			return fmt.Errorf("the connector %q cannot be served alone: it has no task queue of its own", name)
		}
	}
	return nil
}

// connectorWorker makes calls of connectors that have a task queue of their own, and runs no programs.
func connectorWorker(c client.Client, set *connectors.Set, o Options) *Worker {
	o.Worker.DisableWorkflowWorker = true
	w := &Worker{Connectors: set, SearchAttributes: true}
	calls := activities.New(activities.Options{Connectors: set, DataConverter: o.DataConverter,
		RetryPolicy: o.RetryPolicy, Runtime: o.Runtime, NoLearning: o.NoLearning})
	w.activities = calls
	for _, name := range o.Serve {
		each := worker.New(c, signals.ConnectorTaskQueue(o.Runtime, name), o.Worker)
		calls.RegisterCalls(each)
		w.others = append(w.others, each)
	}
	w.Worker, w.others = w.others[0], w.others[1:]
	return w
}

// Start starts the worker on all its task queues.
func (w *Worker) Start() error {
	for _, each := range w.all() {
		if err := each.Start(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) all() []worker.Worker { return append([]worker.Worker{w.Worker}, w.others...) }

// Run starts the worker, and stops it when interrupt says so or the worker cannot go on.
func (w *Worker) Run(interrupt <-chan any) error {
	defer w.Stop()
	for _, each := range w.others {
		if err := each.Start(); err != nil {
			return err
		}
	}
	return w.Worker.Run(interrupt)
}

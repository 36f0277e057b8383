package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const baselineQueue = "bench-baseline"

// item is what the store keeps; ref asks for one.
type (
	item struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	ref struct {
		ID int `json:"id"`
	}
)

// look is the work of every call, here and in our connector.
func look(r ref) item { return item{ID: r.ID, Name: fmt.Sprintf("item %d", r.ID)} }

// work is how many calls of each kind are made, one after the other.
type work struct{ Reads, Writes int }

func (w work) String() string {
	if w.Writes > 0 {
		return fmt.Sprintf("%d writes", w.Writes)
	}
	return fmt.Sprintf("%d reads", w.Reads)
}

func (w work) calls() int { return w.Reads + w.Writes }

// sum is what both sides must answer with: that of the ids.
func (w work) sum() int { return w.Reads*(w.Reads-1)/2 + w.Writes*(w.Writes-1)/2 }

func read(_ context.Context, r ref) (item, error)  { return look(r), nil }
func write(_ context.Context, r ref) (item, error) { return look(r), nil }

func registerBaseline(w worker.Registry) {
	w.RegisterWorkflow(baseline)
	w.RegisterActivity(read)
	w.RegisterActivity(write)
	w.RegisterWorkflow(waitingBaseline)
	w.RegisterActivity(wait)
}

// baseline is the same program as a workflow written by hand.
func baseline(ctx workflow.Context, w work) (int, error) {
	reads := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	writes := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	sum := 0
	for i := range w.Reads {
		var got item
		if err := workflow.ExecuteActivity(reads, read, ref{ID: i}).Get(ctx, &got); err != nil {
			return 0, err
		}
		sum += got.ID
	}
	for i := range w.Writes {
		var got item
		if err := workflow.ExecuteActivity(writes, write, ref{ID: i}).Get(ctx, &got); err != nil {
			return 0, err
		}
		sum += got.ID
	}
	return sum, nil
}

// runBaseline runs the workflow to its result and returns its id.
func (s *site) runBaseline(ctx context.Context, w work) (string, error) {
	o := client.StartWorkflowOptions{ID: "bench/" + uuid.NewString(), TaskQueue: baselineQueue}
	started, err := s.temporal.ExecuteWorkflow(ctx, o, baseline, w)
	if err != nil {
		return "", err
	}
	var sum int
	if err := started.Get(ctx, &sum); err != nil {
		return "", err
	}
	if sum != w.sum() {
		return "", fmt.Errorf("the baseline of %s answered %d, not %d", w, sum, w.sum())
	}
	return o.ID, nil
}

package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// results are the activities that passes and calls wait for. The SDK runs updates before the rest of the workflow, so
// that an update may find a result that history has before it and that nobody has taken up: its sender may have seen
// what comes of it, if a worker showed that in a query and was lost before its workflow task was answered.
type results struct{ awaited []workflow.Future }

// await takes up the result of an activity.
func (r *results) await(ctx workflow.Context, f workflow.Future, into any) error {
	r.awaited = append(r.awaited, f)
	err := f.Get(ctx, into)
	r.awaited = slices.DeleteFunc(r.awaited, func(other workflow.Future) bool { return other == f })
	return err
}

// lie reports whether a result has come that nobody has taken up.
func (r *results) lie() bool {
	return slices.ContainsFunc(r.awaited, func(f workflow.Future) bool { return f.IsReady() })
}

// rounds is how many times everybody else has to run until what comes of a result shows: the call's coroutine, the main
// loop, and one to spare.
const rounds = 3

// takeUpResults lets the results that have come be taken up before an update counts.
func (e *execution) takeUpResults(ctx workflow.Context) {
	if !e.results.lie() || workflow.GetVersion(ctx, "results before updates", workflow.DefaultVersion, 1) < 1 {
		return
	}
	ctx, _ = workflow.NewDisconnectedContext(ctx) // a cancelled one waits for nothing
	for range rounds {
		others := false
		workflow.Go(ctx, func(workflow.Context) { others = true })
		_ = workflow.Await(ctx, func() bool { return others })
	}
}

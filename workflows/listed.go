package workflows

import (
	"bytes"

	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// What lists hold of the calls that wait, in bytes: their arguments, and all of them together. The server stores it
// with each step that follows, so executions with more are asked by query.
const (
	listedArguments = 4096
	listedState     = 8192
)

// list lets lists tell what waits, without asking this workflow. It does nothing where they tell it already.
func (e *execution) list(ctx workflow.Context) {
	e.unlisted = false
	if !e.since(listed) {
		return
	}
	state := e.listedState(ctx)
	if state.Pending = e.actions(listedArguments, listedArguments); e.writeState(ctx, state) {
		return
	}
	state.Pending, state.Omitted = nil, true
	e.writeState(ctx, state)
}

// listRun lets lists tell, of the runs that follow, when the execution began.
func (e *execution) listRun(ctx workflow.Context) {
	if e.since(listed) {
		state := e.listedState(ctx)
		state.StartedAt, state.Omitted = e.startedAt, true // until it pauses
		e.writeState(ctx, state)
	}
}

func (e *execution) listedState(ctx workflow.Context) signals.ListedState {
	s := signals.ListedState{At: workflow.Now(ctx).UnixMilli(), Passes: e.passes}
	if e.runs > 1 {
		s.StartedAt = e.startedAt
	}
	if e.pinned != nil {
		s.Connectors = e.pinned.Connectors
	}
	return s
}

// writeState reports whether the state is small enough to be listed.
func (e *execution) writeState(ctx workflow.Context, s signals.ListedState) bool {
	at := s.At
	s.At = 0 // when does not make it another state
	text, err := signals.Marshal(s)
	if err != nil || len(text) > listedState {
		return false
	}
	if bytes.Equal(text, e.listedText) {
		return true
	}
	e.listedText, s.At = text, at
	e.newTask(ctx)
	e.taskBytes += len(text)
	_ = workflow.UpsertMemo(ctx, map[string]any{signals.MemoState: payload.MustRaw(s)})
	return true
}

// awaitListing waits for something, and lists what changes meanwhile: once for all that comes together.
func (e *execution) awaitListing(ctx workflow.Context, done func() bool) {
	for {
		_ = workflow.Await(ctx, func() bool { return e.unlisted || done() })
		if !e.unlisted {
			return
		}
		if e.unlisted = false; e.status == signals.Paused && e.end == nil {
			e.list(ctx)
		}
		if done() {
			return
		}
	}
}

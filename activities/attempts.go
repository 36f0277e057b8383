package activities

import (
	"context"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// Attempts knows which workflow tasks are tried again, which the SDK does not tell. A task may be for a pass that ended
// the worker before, inside the task: nothing counts these, and the server would try for ever. Then the pass is left to
// an activity of its own, whose attempts count.
type Attempts struct {
	mu    sync.Mutex
	again map[string]bool // by run
}

// mostAgain bounds how many runs are remembered: to forget some costs a local pass.
const mostAgain = 10_000

// Interceptor goes into the options of the connection over which workers ask for tasks.
func (t *Attempts) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
		invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := invoke(ctx, method, request, reply, connection, options...)
		if task, ok := reply.(*workflowservice.PollWorkflowTaskQueueResponse); ok && err == nil {
			t.note(task.GetWorkflowExecution().GetRunId(), task.GetAttempt() > 1)
		}
		return err
	}
}

func (t *Attempts) note(runID string, again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !again:
		delete(t.again, runID)
		return
	case t.again == nil || len(t.again) >= mostAgain:
		t.again = map[string]bool{}
	}
	t.again[runID] = true
}

// is reports whether the task of a run is tried again; nil knows of none.
func (t *Attempts) is(runID string) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.again[runID]
}

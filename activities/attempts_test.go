package activities

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode/signals"
)

func (t *Attempts) polled(runID string, attempt int32) {
	_ = t.Interceptor()(context.Background(), "", nil, &workflowservice.PollWorkflowTaskQueueResponse{
		WorkflowExecution: &common.WorkflowExecution{RunId: runID}, Attempt: attempt,
	}, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
}

// A pass whose workflow task is tried again may have ended the worker: it does not run inside the task once more.
func TestNoLocalPassInATaskThatIsTriedAgain(t *testing.T) {
	reads, open := 0, make(chan struct{})
	close(open)
	a := reading(t, &reads, 7, open)
	a.LocalPass, a.Attempts = time.Hour, &Attempts{}
	a.Attempts.polled("default-test-run-id", 2)
	local, regular := tryBoth(t, a, func() {})
	require.Equal(t, signals.PassElsewhere, local.End)
	require.Equal(t, signals.PassCompleted, regular.End)

	a.Attempts.polled("default-test-run-id", 1)
	local, _ = tryBoth(t, a, func() {})
	require.Equal(t, signals.PassCompleted, local.End)
}

func TestAttemptsAreForgotten(t *testing.T) {
	var attempts Attempts
	for n := range 3 * mostAgain {
		attempts.polled(fmt.Sprint(n), 2)
	}
	require.LessOrEqual(t, len(attempts.again), mostAgain)
	require.True(t, attempts.is(fmt.Sprint(3*mostAgain-1)))
	var none *Attempts
	require.False(t, none.is("x"))
}

package codemode

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// silentServer does not answer the first updates.
type silentServer struct {
	client.Client
	silent int
	early  bool // it says itself that the time is over, before the client does
	closed bool
	ids    []string
}

func (s *silentServer) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle,
	error) {
	if s.ids = append(s.ids, o.UpdateID); len(s.ids) <= s.silent {
		if s.early {
			return nil, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return answered{}, nil
}

func (s *silentServer) DescribeWorkflowExecution(context.Context, string,
	string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	info := &workflow.WorkflowExecutionInfo{}
	if s.closed {
		info.CloseTime = timestamppb.Now()
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

type answered struct{ client.WorkflowUpdateHandle }

func (answered) Get(context.Context, any) error { return nil }

func silently(t *testing.T, s *silentServer) *Client {
	c, err := NewClient(s, ClientOptions{})
	require.NoError(t, err)
	require.Equal(t, answerWithin, c.patience)
	c.patience = 10 * time.Millisecond
	return c
}

// TestServerThatLostSightOfAnExecution: it never answers an update of one that has closed.
func TestServerThatLostSightOfAnExecution(t *testing.T) {
	c := silently(t, &silentServer{silent: 1000, closed: true})
	require.True(t, rpcerr.NotFound(c.update(t.Context(), "e", signals.UpdateWait, signals.Wait{}, nil)))
}

func TestAnUpdateIsSentAgainAsTheSame(t *testing.T) {
	for _, early := range []bool{false, true} {
		s := &silentServer{silent: 2, early: early}
		require.NoError(t, silently(t, s).update(t.Context(), "e", signals.SignalApprove, signals.Approve{}, nil))
		require.Len(t, s.ids, 3)
		require.NotEmpty(t, s.ids[0])
		require.Equal(t, []string{s.ids[0], s.ids[0], s.ids[0]}, s.ids)
	}
}

func TestACallerThatGivesUpIsNotKept(t *testing.T) {
	c := silently(t, &silentServer{silent: 1000})
	c.patience = answerWithin
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.update(ctx, "e", signals.UpdateWait, signals.Wait{}, nil), context.DeadlineExceeded)
}

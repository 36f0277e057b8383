package codemode

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/temporal-codemode/codemode/signals"
)

// pastServer lists executions by the times at which they started; their histories cannot be read.
type pastServer struct {
	client.Client
	started []time.Time
	queries []string
	failure error // of reading a history
}

var startTime = regexp.MustCompile(`StartTime (>=|<) "([^"]+)"`)

func (s *pastServer) ListWorkflow(_ context.Context,
	in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.queries = append(s.queries, in.Query)
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for i, at := range s.started {
		if within(in.Query, at) {
			out.Executions = append(out.Executions, &workflow.WorkflowExecutionInfo{
				Execution: &commonpb.WorkflowExecution{WorkflowId: signals.WorkflowID(signals.DefaultRuntime,
					fmt.Sprint("e", i))},
				StartTime: timestamppb.New(at), Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
			})
		}
	}
	return out, nil
}

func within(query string, at time.Time) bool {
	for _, bound := range startTime.FindAllStringSubmatch(query, -1) {
		limit, err := time.Parse(time.RFC3339Nano, bound[2])
		if err != nil || at.Before(limit) != (bound[1] == "<") {
			return false
		}
	}
	return true
}

func (s *pastServer) GetWorkflowHistory(context.Context, string, string,
	bool, enums.HistoryEventFilterType) client.HistoryEventIterator {
	return unread{s.failure}
}

type unread struct{ err error }

func (unread) HasNext() bool                            { return true }
func (u unread) Next() (*historypb.HistoryEvent, error) { return nil, u.err }

func TestListsLookNoFurtherBackThanTheyMust(t *testing.T) {
	now := time.Now()
	s := &pastServer{failure: fmt.Errorf("no key"), started: []time.Time{
		now.Add(-365 * 24 * time.Hour), now.Add(-time.Second), now.Add(-time.Hour), now.Add(time.Hour),
		now.Add(-5 * time.Minute),
	}}
	c, err := NewClient(s, ClientOptions{})
	require.NoError(t, err)
	for limit, want := range map[int]struct {
		queries int
		ids     []string
	}{
		1: {1, []string{"e3"}},
		2: {1, []string{"e3", "e1"}},
		3: {2, []string{"e3", "e1", "e4"}},
		9: {6, []string{"e3", "e1", "e4", "e2", "e0"}},
	} {
		s.queries = nil
		records, err := c.Executions(t.Context(), ListOptions{Limit: limit})
		require.NoError(t, err)
		var ids []string
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		require.Equal(t, want.ids, ids)
		require.Len(t, s.queries, want.queries)
	}
}

func TestListsShowWhatCannotBeRead(t *testing.T) {
	s := &pastServer{failure: fmt.Errorf("no key"), started: []time.Time{time.UnixMilli(5000)}}
	c, err := NewClient(s, ClientOptions{})
	require.NoError(t, err)
	records, err := c.Executions(t.Context(), ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []signals.Record{{
		ID: "e0", Runtime: signals.DefaultRuntime, Status: signals.Running, Connectors: []string{}, CreatedAt: 5000,
		UpdatedAt: 5000,
		Error:     "This execution cannot be read: no key",
	}}, records)

	s.failure = serviceerror.NewUnavailable("down")
	_, err = c.Executions(t.Context(), ListOptions{})
	require.ErrorIs(t, err, s.failure, "nothing can be read")
}

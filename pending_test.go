package codemode

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
)

// open is what a list says of executions of which it knows nothing else.
func open(ids ...string) []*workflow.WorkflowExecutionInfo {
	var found []*workflow.WorkflowExecutionInfo
	for _, id := range ids {
		found = append(found, &workflow.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: signals.WorkflowID("r", id)},
			Status:    enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		})
	}
	return found
}

func TestInboxLooksAtWhatMayHaveChanged(t *testing.T) {
	i := (&Client{runtime: "r"}).NewInbox()
	var ids []string
	for n := range 120 {
		ids = append(ids, fmt.Sprintf("exec_%03d", n))
	}
	due := func(ids ...string) map[string]waiting { return i.due(i.take(open(ids...))) }
	require.Len(t, due(ids...), 120, "all are new")
	for n, id := range ids {
		i.learn(id, &waiting{events: 9, seen: time.UnixMilli(int64(n)),
			actions: []signals.PendingAction{{ExecutionID: id}}})
	}
	looked := due(ids...)
	require.Len(t, looked, recheck)
	require.Contains(t, looked, "exec_000", "the longest not looked at comes first")
	require.EqualValues(t, 9, looked["exec_000"].events)
	i.Changed("exec_119")
	looked = due(ids...)
	require.Len(t, looked, recheck+1)
	require.Zero(t, looked["exec_119"].events, "it is asked whatever its history")
	i.learn("exec_119", &waiting{events: 9, seen: time.Now(), actions: []signals.PendingAction{
		{ExecutionID: "exec_119"}}})
	require.Len(t, due(ids...), recheck, "once")
	looked = due(ids[1:]...)
	require.Contains(t, looked, "exec_000", "a call of it may be made while others wait")
	require.Zero(t, looked["exec_000"].events)
	i.learn("exec_000", &waiting{events: 12, actions: []signals.PendingAction{{ExecutionID: "exec_000"}}})
	due(ids[1:]...)
	require.Contains(t, i.listed(open(ids[1:]...)), "exec_000", "it stays while something waits")
	i.learn("exec_000", &waiting{events: 20})
	require.NotContains(t, due(ids[1:]...), "exec_000")
	items := i.items([]string{"exec_002", "exec_000", "exec_001"})
	require.Equal(t, []string{"exec_002", "exec_001"}, []string{items[0].ExecutionID, items[1].ExecutionID},
		"in the order listed, without what is gone")
	require.Len(t, items, 2)
	require.Equal(t, "exec_119", i.items(nil)[0].ExecutionID, "newest first")
}

// told is what a list says of an execution that tells what waits.
func told(t *testing.T, id string, state signals.ListedState) *workflow.WorkflowExecutionInfo {
	t.Helper()
	payload := func(v any) *commonpb.Payload {
		p, err := converter.GetDefaultDataConverter().ToPayload(v)
		require.NoError(t, err)
		return p
	}
	w := open(id)[0]
	w.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{
		signals.MemoStart: payload(signals.ExecutionInput{Code: "// why\nawait it()", Caller: somebody}.Listed()),
		signals.MemoState: payload(state),
	}}
	w.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
		signals.AttributeRuntime: payload("r"), signals.AttributeStatus: payload("paused"),
	}}
	return w
}

func TestInboxesBelieveListsThatTellAll(t *testing.T) {
	i := (&Client{runtime: "r", dc: converter.GetDefaultDataConverter()}).NewInbox()
	waits := signals.ListedState{Pending: []signals.PendingAction{{ExecutionID: "exec_1", Seq: 3}}}
	cut := signals.ListedState{Pending: []signals.PendingAction{{ExecutionID: "exec_2", Omitted: true}}}
	found := []*workflow.WorkflowExecutionInfo{told(t, "exec_1", waits), told(t, "exec_2", cut),
		told(t, "exec_3", signals.ListedState{Omitted: true})}
	running := told(t, "exec_4", waits) // what waited when it last paused
	running.SearchAttributes.IndexedFields[signals.AttributeStatus] = nil
	require.Equal(t, []string{"exec_2", "exec_3", "exec_4"}, i.take(append(found, running)))
	require.Equal(t, []InboxItem{{PendingAction: waits.Pending[0], Runtime: "r", Purpose: "why", Caller: somebody}},
		i.items([]string{"exec_1"}))
	i.Changed("exec_1")
	require.Contains(t, i.take(found), "exec_1", "lists may lag behind who has just decided")
}

package history

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/temporal-codemode/codemode/signals"
)

// tape is a history that a test writes.
type tape struct {
	*testing.T
	*History
	events int64
}

func newTape(t *testing.T) *tape {
	return &tape{t, &History{dc: converter.GetDefaultDataConverter(), activities: map[int64]*activity{},
		byID: map[string]*activity{}}, 0}
}

func (t *tape) payloads(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	require.NoError(t, err)
	return p
}

func (t *tape) event(kind enumspb.EventType, e *historypb.HistoryEvent) {
	t.events++
	e.EventId, e.EventType, e.EventTime = t.events, kind, timestamppb.New(time.UnixMilli(t.events))
	require.NoError(t, t.take(e))
}

func (t *tape) scheduled(id, kind string, input any) int64 {
	t.event(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: id, ActivityType: &commonpb.ActivityType{Name: kind}, Input: t.payloads(input),
			},
		}})
	return t.events
}

func (t *tape) activity(id, kind string, result any) {
	t.completed(t.scheduled(id, kind, nil), result)
}

func (t *tape) completed(scheduled int64, result any) {
	t.event(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
		&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled, Result: t.payloads(result)},
		}})
}

func (t *tape) closed(r signals.ExecutionResult) {
	t.event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: t.payloads(r)},
		}})
}

// wrote is a first pass that issued a write, and the write's activity, which went on with the second pass.
func wrote(t *testing.T) *tape {
	h := newTape(t)
	h.activity("pass-1", signals.PassActivity, signals.PassResult{
		Pass: 1, Nonce: "n1", End: signals.PassBlocked,
		Blocked: []signals.Blocked{{Connector: "store", Method: "write"}},
	})
	given := []signals.Given{{At: 7, Source: "call-0.1", Attempts: 1}}
	h.activity("call-0.1", "store.write",
		signals.CallOutput{Value: []byte("1"),
			Next: &signals.PassResult{Pass: 2, Nonce: "n2", Given: given, End: signals.PassCompleted}})
	return h
}

func TestPassThatACallWentOnWith(t *testing.T) {
	h := wrote(t)
	h.closed(signals.ExecutionResult{Status: signals.Completed, Passes: 2})
	log, err := h.Log()
	require.NoError(t, err)
	require.Equal(t, "n2", log.Nonce)
	require.Equal(t, "1", string(log.Order[0].Value), "the value stands in the call's own event")
	require.EqualValues(t, 7, log.Order[0].At)
}

func TestPassThatDidNotCount(t *testing.T) {
	h := wrote(t)
	h.activity("pass-2", signals.PassActivity, signals.PassResult{Pass: 2, Nonce: "other", End: signals.PassBlocked})
	log, err := h.Log()
	require.NoError(t, err)
	require.Equal(t, "other", log.Nonce)
	require.Equal(t, 2, log.Passes)

	h = wrote(t)
	h.Cut(1)
	log, err = h.Log()
	require.NoError(t, err)
	require.Equal(t, "n1", log.Nonce, "what the workflow asks for instead follows the first")

	h = wrote(t)
	h.closed(signals.ExecutionResult{Status: signals.Failed, Passes: 1, Final: []signals.Given{{Source: "call-0.1"}}})
	log, err = h.Log()
	require.NoError(t, err)
	require.Equal(t, "n1", log.Nonce, "the execution ended first")
}

// TestLongErrorsAreCutAlike: the workflow gave the program no more of it.
func TestLongErrorsAreCutAlike(t *testing.T) {
	h := newTape(t)
	h.event(enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED,
		&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
			ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
				ScheduledEventId: h.scheduled("call-0.1", "store.write", nil),
				Failure:          &failurepb.Failure{Message: strings.Repeat("é", 4000)},
			},
		}})
	s, err := h.Source("call-0.1")
	require.NoError(t, err)
	require.Equal(t, signals.Cut(strings.Repeat("é", 4000), signals.MaxErrorBytes), s.Error.Message)
}

// TestWhatAResolvedCallWasMadeWith: its undoing and the record need the arguments of the attempt before.
func TestWhatAResolvedCallWasMadeWith(t *testing.T) {
	h := newTape(t)
	h.scheduled("call-0.1", "store.write", signals.CallInput{Args: []byte(`"refused"`), Edited: true})
	h.scheduled("call-0.2", "store.write", signals.CallInput{Args: []byte(`"made"`), Edited: true})
	h.completed(h.scheduled("call-0.3", "store.write",
		signals.CallInput{Resolution: &signals.Resolution{}, Edited: true}), signals.CallOutput{Value: []byte(`7`)})
	for range 50 { // whatever the order of maps
		require.JSONEq(t, `"made"`, string(h.Edited(0)))
		args, result, err := h.Effect(signals.NewLog(), signals.RevertTarget{Seq: 0, Source: "call-0.3"})
		require.NoError(t, err)
		require.Equal(t, []string{`"made"`, `7`}, []string{string(args), string(result)})
	}
	require.Nil(t, h.Edited(1))
}

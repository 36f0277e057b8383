// Package history reads the recorded passes of an execution out of its run's history and folds them into its log.
// Passes use it when their worker's memory is cold, clients and codemode.Outcome to tell of executions; there is no
// other reader.
package history

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
)

// History is what one run's events say of an execution.
type History struct {
	Input     signals.ExecutionInput
	StartedAt int64 // epoch milliseconds
	UpdatedAt int64
	// Clock is where the program's clock began: the time of the first workflow task.
	Clock int64
	// Result is that of the closed workflow; nil while it is open, or if it did not close by itself.
	Result *signals.ExecutionResult
	// Closed is how the workflow closed where it did not by itself, as in "terminated".
	Closed string
	// Cancelled is the request to cancel, if there was one.
	Cancelled *signals.Decision
	Passes    []signals.PassResult

	earlier    []signals.EarlierPart // parts of what it was offered by the execution that it continues
	carried    []signals.CarriedLog  // parts of the log of the runs before
	before     *signals.Log          // the same where the parts are not all there yet
	dc         converter.DataConverter
	began      bool                 // a workflow task has completed
	ahead      int                  // the newest pass that a call went on with
	activities map[int64]*activity  // by scheduled event
	byID       map[string]*activity // gated calls by activity id
}

type activity struct {
	id, kind string
	input    *commonpb.Payloads
	result   *commonpb.Payloads
	failure  *failurepb.Failure
	out      signals.CallOutput // of a gated call
	noWait   bool               // of a workflow that a call only starts
	ended    int64              // epoch milliseconds; 0 while it has not completed
}

// Read reads the events of a run; an empty run id means the newest.
func Read(ctx context.Context, c client.Client, dc converter.DataConverter, workflowID, runID string) (*History,
	error) {
	h := &History{dc: dc, activities: map[int64]*activity{}, byID: map[string]*activity{}}
	events := c.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, err
		}
		if err := h.take(event); err != nil {
			return nil, fmt.Errorf("event %d of %s: %w", event.EventId, workflowID, err)
		}
	}
	return h, h.goBack(ctx, c, workflowID)
}

// goBack reads the run before where this one does not hold all of its log yet.
func (h *History) goBack(ctx context.Context, c client.Client, workflowID string) error {
	state := h.Input.Continued
	if state == nil {
		return nil
	}
	h.StartedAt, h.Clock = state.StartedAt, state.StartedAt
	if n := len(h.carried); n > 0 && n == h.carried[0].Parts {
		return nil
	}
	earlier, err := Read(ctx, c, h.dc, workflowID, state.From)
	if err != nil {
		return fmt.Errorf("read the run before: %w", err)
	}
	earlier.Cut(state.Passes)
	log, err := earlier.Log()
	if err != nil {
		return err
	}
	if err := log.Give(state.Given, earlier.Source); err != nil {
		return err
	}
	log.Edit(earlier.Edited)
	log.HookErrors = append(log.HookErrors, earlier.HookErrors()...)
	h.before = log
	return nil
}

func (h *History) take(e *historypb.HistoryEvent) error {
	h.UpdatedAt = e.EventTime.AsTime().UnixMilli()
	switch e.EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		h.StartedAt = h.UpdatedAt
		return h.decode(e.GetWorkflowExecutionStartedEventAttributes().Input, &h.Input)
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
		if !h.began { // it is tried again until one completes
			h.Clock = h.UpdatedAt
		}
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		h.began = true
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := e.GetActivityTaskScheduledEventAttributes()
		h.activities[e.EventId] = &activity{id: a.ActivityId, kind: a.ActivityType.Name, input: a.Input}
		h.byID[a.ActivityId] = h.activities[e.EventId]
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		a := e.GetActivityTaskCompletedEventAttributes()
		return h.completed(h.activities[a.ScheduledEventId], a.Result)
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		a := e.GetActivityTaskFailedEventAttributes()
		h.failed(h.activities[a.ScheduledEventId], a.Failure)
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		return h.marked(e.GetMarkerRecordedEventAttributes())
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
		a := e.GetWorkflowExecutionCancelRequestedEventAttributes()
		h.Cancelled = &signals.Decision{Kind: "cancel", By: a.Identity, Note: a.Cause, At: h.UpdatedAt}
	default:
		if known, err := h.takeChild(e); known {
			return err
		}
		if result := ResultOf(e); result != nil {
			return h.ended(result)
		}
		h.Closed = closedBy(e.EventType)
	}
	return nil
}

func (h *History) failed(a *activity, failure *failurepb.Failure) {
	if a != nil {
		converter.DecodeCommonFailureAttributes(h.dc, failure)
		a.failure = failure
	}
}

// ResultOf is the result in the last event of a workflow that ended by itself, also of one that was asked to fail.
func ResultOf(e *historypb.HistoryEvent) *commonpb.Payloads {
	info := e.GetWorkflowExecutionFailedEventAttributes().GetFailure().GetApplicationFailureInfo()
	if signals.IsEndError(info.GetType()) {
		return info.GetDetails()
	}
	return e.GetWorkflowExecutionCompletedEventAttributes().GetResult()
}

// ended takes the workflow's result.
func (h *History) ended(result *commonpb.Payloads) error {
	h.Result = &signals.ExecutionResult{}
	err := h.decode(result, h.Result)
	h.Cut(h.Result.Passes)
	return err
}

func closedBy(t enumspb.EventType) string {
	switch t {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		return "terminated"
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
		return "timed out"
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		return "failed"
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		return "canceled"
	}
	return ""
}

func (h *History) completed(a *activity, result *commonpb.Payloads) error {
	if a == nil {
		return nil
	}
	switch a.kind {
	case signals.PassActivity:
		return h.passed(result)
	case signals.ContinueActivity:
		var part signals.EarlierPart
		err := h.decode(result, &part)
		h.earlier = append(h.earlier, part)
		return err
	case signals.CarryActivity:
		var part signals.CarriedLog
		err := h.decode(result, &part)
		h.carried = append(h.carried, part)
		return err
	}
	a.result, a.ended = result, h.UpdatedAt
	if signals.IsTargetID(a.id) {
		return h.targetEnded(a)
	}
	_, call := signals.ParseCallActivityID(a.id)
	if _, undoing := signals.ParseRevertActivityID(a.id); !call && !undoing {
		return nil
	}
	if err := h.decode(result, &a.out); err != nil || a.out.Next == nil {
		return err
	}
	h.add(*a.out.Next)
	h.ahead = a.out.Next.Pass
	return nil
}

// marked takes the result of a local activity, which stands in a marker: the SDK writes there what no event tells.
func (h *History) marked(m *historypb.MarkerRecordedEventAttributes) error {
	if m.MarkerName != "LocalActivity" || m.Details["result"] == nil {
		return nil
	}
	var local struct{ ActivityType string }
	if err := h.decode(m.Details["data"], &local); err != nil {
		return err
	}
	if local.ActivityType != signals.PassActivity {
		return nil
	}
	return h.passed(m.Details["result"])
}

func (h *History) passed(result *commonpb.Payloads) error {
	var r signals.PassResult
	if err := h.decode(result, &r); err != nil {
		return err
	}
	if r.End != signals.PassElsewhere {
		h.add(r)
	}
	return nil
}

// add adds a pass. One of that number which is there already did not count.
func (h *History) add(r signals.PassResult) {
	h.Cut(r.Pass - 1)
	h.Passes = append(h.Passes, r)
}

// Cut leaves a pass out that a call went on with but the workflow, which took up so many, did not.
func (h *History) Cut(passes int) {
	if n := len(h.Passes); n > 0 && h.ahead > passes && h.Passes[n-1].Pass == h.ahead {
		h.Passes, h.ahead = h.Passes[:n-1], 0
	}
}

func (h *History) decode(payloads *commonpb.Payloads, into any) error {
	return h.dc.FromPayloads(payloads, into)
}

// Log folds the recorded passes.
func (h *History) Log() (*signals.Log, error) {
	log, parts := signals.NewLog(), h.carried
	for _, part := range h.earlier {
		log.Offer(part)
	}
	if h.before != nil {
		parts = h.before.Carry()
	}
	for _, part := range parts {
		log.Restore(part)
	}
	for _, r := range h.Passes {
		if err := log.Fold(r, h.Source); err != nil {
			return nil, err
		}
	}
	return log, nil
}

// Source finds what the event of a gated call's activity holds.
func (h *History) Source(activityID string) (signals.Settlement, error) {
	a := h.byID[activityID]
	switch {
	case a == nil:
		return signals.Settlement{}, fmt.Errorf("no activity %q in history", activityID)
	case signals.IsTargetID(activityID) && (a.failure != nil || a.result != nil):
		return h.targetSettled(a)
	case a.failure != nil:
		return signals.Settlement{Error: &signals.CallError{Message: signals.Cut(a.failure.Message,
			signals.MaxErrorBytes)}}, nil
	case a.result == nil:
		return signals.Settlement{}, fmt.Errorf("activity %q has not settled in history", activityID)
	}
	return signals.Settlement{Value: a.out.Value}, nil
}

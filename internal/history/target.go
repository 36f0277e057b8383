package history

import (
	"cmp"
	"encoding/json"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// takeChild takes what the events tell of a workflow that a call started; known is false for every other event.
func (h *History) takeChild(e *historypb.HistoryEvent) (known bool, err error) {
	switch e.EventType {
	case enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
		a := e.GetStartChildWorkflowExecutionInitiatedEventAttributes()
		child := &activity{kind: a.WorkflowType.GetName(), input: a.Input,
			noWait: a.ParentClosePolicy == enumspb.PARENT_CLOSE_POLICY_ABANDON}
		if link := a.GetMemo().GetFields()[signals.LinkMemo]; link != nil {
			err = h.dc.FromPayload(link, &child.id)
		}
		h.activities[e.EventId], h.byID[child.id] = child, child
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
		a := e.GetChildWorkflowExecutionStartedEventAttributes()
		if child := h.activities[a.InitiatedEventId]; child != nil && child.noWait {
			run := signals.StartedWorkflow{WorkflowID: a.WorkflowExecution.GetWorkflowId(),
				RunID: a.WorkflowExecution.GetRunId()}
			value := payload.MustRaw(run)
			err = h.completed(child, &commonpb.Payloads{Payloads: []*commonpb.Payload{value.Payload()}})
		}
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED:
		a := e.GetChildWorkflowExecutionCompletedEventAttributes()
		if child := h.activities[a.InitiatedEventId]; child != nil && !child.noWait {
			err = h.completed(child, a.Result)
		}
	case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED:
		a := e.GetChildWorkflowExecutionFailedEventAttributes()
		if child := h.activities[a.InitiatedEventId]; child != nil && !child.noWait {
			h.failed(child, a.Failure)
		}
	default:
		return false, nil
	}
	return true, err
}

// targetEnded takes what a team's own activity or workflow answered.
func (h *History) targetEnded(a *activity) error {
	if a.result == nil { // it answered nothing
		a.result = &commonpb.Payloads{}
	}
	raw, err := h.first(a.result)
	if err == nil {
		a.out.Value, _ = payload.TargetValue(a.kind, raw)
	}
	return err
}

// first is the first of the payloads, whose payload is nil if there is none.
func (h *History) first(payloads *commonpb.Payloads) (raw converter.RawValue, err error) {
	if len(payloads.GetPayloads()) > 0 {
		err = h.dc.FromPayload(payloads.Payloads[0], &raw)
	}
	return raw, err
}

// targetSettled is what a team's own activity or workflow answered, or failed with.
func (h *History) targetSettled(a *activity) (signals.Settlement, error) {
	if a.failure != nil {
		return signals.Settlement{Error: payload.TargetError(a.failure, h.dc.FromPayloads)}, nil
	}
	raw, err := h.first(a.result)
	if err != nil {
		return signals.Settlement{}, err
	}
	value, unreadable := payload.TargetValue(a.kind, raw)
	return signals.Settlement{Value: value, Error: unreadable}, nil
}

// attempt is what made a call, or was to, for the nth time.
func (h *History) attempt(seq, n int) *activity {
	id := signals.CallActivityID(seq, n)
	return cmp.Or(h.byID[id], h.byID[signals.TargetID(id)])
}

// answeredByTarget reports whether a team's own activity or workflow made a call, whatever could be recorded of that.
func (h *History) answeredByTarget(seq int) bool {
	a := h.newest(seq)
	return a != nil && signals.IsTargetID(a.id) && a.result != nil
}

// preparedArgs are the arguments that an activity of ours prepared for the newest attempt of a call: a person had
// edited them. Otherwise they are the program's, and nil here.
func (h *History) preparedArgs(seq int) (args json.RawMessage) {
	for try := 1; ; try++ {
		a := h.attempt(seq, try)
		if a == nil {
			return args
		}
		if args = nil; try > 1 && h.attempt(seq, try-1).out.Prepared != nil {
			args = h.attempt(seq, try-1).out.Prepared.Args
		}
	}
}

// madeByTarget is what a team's own activity or workflow was called with, as an activity of ours would have been:
// before holds what such a one has prepared.
func (h *History) madeByTarget(seq, try int, before signals.CallInput) signals.CallInput {
	if a := h.attempt(seq, try-1); a != nil && a.out.Prepared != nil {
		before.Args, before.Key = a.out.Prepared.Args, a.out.Prepared.Key
		return before
	}
	in := signals.CallInput{Seq: seq}
	if a := h.attempt(seq, try); a.input != nil {
		if raw, err := h.first(a.input); err == nil {
			in.Args, _ = payload.TargetValue(a.kind, raw)
		}
	}
	return in
}

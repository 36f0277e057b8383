package codemodetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/temporal-codemode/codemode/signals"
)

// recorder is the part of a Temporal client that passes and records use. It keeps the history that a server would.
type recorder struct {
	client.Client
	mu       sync.Mutex
	id       string // of the workflow that runs
	events   []*historypb.HistoryEvent
	earlier  histories
	runtime  string
	snippets map[string]signals.SnippetVersion
	inputs   sync.Map // of activities that run, by id
}

// activityStarted keeps what an activity was given, for the event that says that it was scheduled.
func (r *recorder) activityStarted(info *activity.Info, _ context.Context, args converter.EncodedValues) {
	var raw converter.RawValue
	if args.HasValues() && args.Get(&raw) == nil {
		r.inputs.Store(info.ActivityID, &commonpb.Payloads{Payloads: []*commonpb.Payload{raw.Payload()}})
	}
}

// histories are the events of workflows that have ended, by id.
type histories map[string][]*historypb.HistoryEvent

// all are the histories of the run and of those before it.
func (r *recorder) all() histories {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.earlier)
	all[r.id] = r.events
	return all
}

func (r *recorder) add(at time.Time, e *historypb.HistoryEvent) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.EventId, e.EventTime = int64(len(r.events)+1), timestamppb.New(at)
	r.events = append(r.events, e)
	return e.EventId
}

func payloads(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	if err != nil {
		panic(err) // the contract's own types always encode
	}
	return p
}

func (r *recorder) started(at time.Time, in signals.ExecutionInput) {
	r.add(at, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads(
				in)},
		},
	})
}

func (r *recorder) completed(at time.Time, result signals.ExecutionResult) {
	r.add(at, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: payloads(result)},
		},
	})
}

func (r *recorder) activityCompleted(info *activity.Info, result converter.EncodedValue, err error) {
	input, _ := r.inputs.LoadAndDelete(info.ActivityID)
	given, _ := input.(*commonpb.Payloads)
	scheduled := r.add(info.ScheduledTime, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: info.ActivityID, ActivityType: &commonpb.ActivityType{Name: info.ActivityType.Name},
				Input: given,
			},
		},
	})
	var raw converter.RawValue
	if err == nil && result != nil && result.HasValue() {
		err = result.Get(&raw)
	}
	if err != nil {
		r.activityFailed(scheduled, err)
		return
	}
	r.add(info.ScheduledTime, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
		Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{
				ScheduledEventId: scheduled, Result: &commonpb.Payloads{Payloads: []*commonpb.Payload{raw.Payload()}},
			},
		},
	})
}

func (r *recorder) activityFailed(scheduled int64, err error) {
	message := err.Error()
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		message = app.Message()
	}
	r.add(time.Now(), &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED,
		Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
			ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
				ScheduledEventId: scheduled, Failure: &failurepb.Failure{Message: message},
			},
		},
	})
}

// GetWorkflowHistory gives the events so far, or those of an earlier run. There is no other workflow.
func (r *recorder) GetWorkflowHistory(_ context.Context, id, _ string, _ bool,
	_ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	if events := r.all()[id]; events != nil {
		return &iterator{events: slices.Clip(events)}
	}
	return unknown{}
}

// ExecuteWorkflow takes what says that an execution is continued: here each is by one, and nobody asks.
func (r *recorder) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, workflow any,
	_ ...any) (client.WorkflowRun, error) {
	if workflow != signals.ContinuedWorkflow {
		return nil, serviceerror.NewUnimplemented("codemodetest starts no workflow " + o.ID)
	}
	return nil, nil
}

type unknown struct{}

func (unknown) HasNext() bool { return true }

func (unknown) Next() (*historypb.HistoryEvent, error) {
	return nil, serviceerror.NewNotFound("no such workflow")
}

type iterator struct{ events []*historypb.HistoryEvent }

func (i *iterator) HasNext() bool { return len(i.events) > 0 }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	event := i.events[0]
	i.events = i.events[1:]
	return event, nil
}

// UpdateWorkflow answers as for a closed execution, which is when clients read the history.
func (r *recorder) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return nil, serviceerror.NewNotFound("workflow execution already completed")
}

// DescribeTaskQueue tells nothing: there are no pollers.
func (r *recorder) DescribeTaskQueue(context.Context, string,
	enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	return nil, serviceerror.NewUnimplemented("codemodetest has no task queues")
}

// ListWorkflow lists the snippets; the test environment has no other workflows.
func (r *recorder) ListWorkflow(context.Context,
	*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	list := &workflowservice.ListWorkflowExecutionsResponse{}
	for name, version := range r.snippets { // readers sort them
		memo := payloads(version.Listed()).Payloads[0]
		list.Executions = append(list.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: signals.SnippetWorkflowID(r.runtime, name)},
			Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{signals.MemoSnippet: memo}},
		})
	}
	return list, nil
}

// QueryWorkflowWithOptions reads a snippet.
func (r *recorder) QueryWorkflowWithOptions(_ context.Context,
	q *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	_, name, _ := strings.Cut(q.WorkflowID, "/snippet/")
	version, ok := r.snippets[name]
	if !ok {
		return nil, serviceerror.NewNotFound("no such snippet")
	}
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: client.NewValue(payloads(version))}, nil
}

// lendClient gives activities the recorder as their client.
type lendClient struct {
	interceptor.WorkerInterceptorBase
	client client.Client
}

func (l *lendClient) InterceptActivity(_ context.Context,
	next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &lendInbound{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next},
		client: l.client}
}

type lendInbound struct {
	interceptor.ActivityInboundInterceptorBase
	client client.Client
}

func (l *lendInbound) Init(outbound interceptor.ActivityOutboundInterceptor) error {
	return l.Next.Init(lend(outbound.GetClient, outbound, l.client))
}

// lendOutbound is generic because the SDK exports no name for the type that GetClient answers with.
type lendOutbound[C any] struct {
	interceptor.ActivityOutboundInterceptorBase
	client C
}

func lend[C any](_ func(context.Context) C, next interceptor.ActivityOutboundInterceptor,
	c client.Client) *lendOutbound[C] {
	return &lendOutbound[C]{interceptor.ActivityOutboundInterceptorBase{Next: next}, c.(C)}
}

func (l *lendOutbound[C]) GetClient(context.Context) C { return l.client }

// DescribeWorkflowExecution tells that the execution has ended: its outcome is asked for no earlier.
func (r *recorder) DescribeWorkflowExecution(_ context.Context, id,
	_ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	events := r.all()[id]
	if events == nil {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: id},
		CloseTime: events[len(events)-1].EventTime,
	}}, nil
}

// OperatorService knows no search attributes.
func (r *recorder) OperatorService() operatorservice.OperatorServiceClient { return noAttributes{} }

type noAttributes struct {
	operatorservice.OperatorServiceClient
}

func (noAttributes) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest,
	...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{}, nil
}

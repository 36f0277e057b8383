package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// Interceptor lets an execution take signals of all names in the order in which history has them: a "no" before a "yes"
// is a "no". The SDK keeps signals apart by name, so a worker or replayer of executions needs it; those of package
// codemodeworker have it, and NewReplayer's.
func Interceptor() interceptor.WorkerInterceptor { return &ordered{} }

type ordered struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow is called once for each run that a worker holds.
func (*ordered) InterceptWorkflow(ctx workflow.Context,
	next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	if workflow.GetInfo(ctx).WorkflowType.Name != signals.ExecutionWorkflow {
		return next
	}
	i := &inbound{}
	i.Next = next
	return i
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	arrived arrivals
}

// arrivals are the names of the signals that nobody has taken up yet, in the order of history.
type arrivals struct{ names []string }

type arrivalsKey struct{}

func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, arrivalsKey{}, &i.arrived), in)
}

// HandleSignal runs as the event is read, before any workflow code that the same workflow task runs.
func (i *inbound) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	i.arrived.names = append(i.arrived.names, in.SignalName)
	return i.Next.HandleSignal(ctx, in)
}

// arrivalsOf panics, which fails the workflow task and is tried again: on a worker without the interceptor an execution
// would go another way than its history.
func arrivalsOf(ctx workflow.Context) *arrivals {
	a, ok := ctx.Value(arrivalsKey{}).(*arrivals)
	if !ok {
		panic("this worker or replayer runs codemode executions without workflows.Interceptor: add it to its " +
			"interceptors, or make it with package codemodeworker, or workflows.NewReplayer")
	}
	return a
}

// mailbox is where the signals of one name come in.
type mailbox struct {
	name    string
	channel workflow.ReceiveChannel
	open    func(workflow.Context, converter.RawValue)
}

// takeOne takes up the oldest signal of the name, if there is one.
func (m mailbox) takeOne(ctx workflow.Context) bool {
	var raw converter.RawValue
	if !m.channel.ReceiveAsync(&raw) {
		return false
	}
	m.open(ctx, raw)
	return true
}

// drain takes up every signal that has arrived. Executions of an older version take them name by name.
func (e *execution) drain(ctx workflow.Context) {
	if !e.since(inOrder) {
		e.arrivals.names = nil
		for _, m := range e.mailboxes {
			for m.takeOne(ctx) {
			}
		}
		return
	}
	for len(e.arrivals.names) > 0 {
		name := e.arrivals.names[0]
		e.arrivals.names = e.arrivals.names[1:]
		for _, m := range e.mailboxes {
			if m.name == name {
				m.takeOne(ctx)
			}
		}
	}
}

// signalled reports whether a signal waits to be taken up.
func (e *execution) signalled() bool {
	for _, m := range e.mailboxes {
		if m.channel.Len() > 0 {
			return true
		}
	}
	return false
}

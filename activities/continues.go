package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// carry settles a call as the execution that is continued saw an equal one settle. What that one read is subject to
// today's rules, which err tells; what it did is done.
func (h *host) carry(c sandbox.Call, method *connectors.Bound, err error) (a sandbox.Admission, ok bool) {
	if !h.shelf.Has(c.Connector, c.Method) {
		return a, false
	}
	readable := err == nil && !method.Reexecute
	o, ok := h.shelf.Take(c.Seq, c.Connector, c.Method, c.Args, readable)
	switch {
	case !ok:
		return a, false
	case o.Unknown() && err == nil && method.AskWhenUnknown:
		return sandbox.Admission{Gated: true, Approval: true, Class: o.Class, Timeout: method.Timeout}, true
	}
	return sandbox.Admission{Class: o.Class, Approval: o.Approval,
		Carried: &sandbox.Carried{Value: o.Value, Err: o.Error, At: o.At, Order: o.Order}}, true
}

// tookOver adds to an entry what is known of the call that it was carried from.
func tookOver(e *signals.Entry, shelf *signals.Shelf) bool {
	o := shelf.Taken(e.ID)
	if o == nil || e.Timer || e.Dropped {
		return false
	}
	e.CarriedFrom, e.Approval, e.Attempts = &o.From, o.Approval, o.Attempts
	e.Revertable = o.Revertable && o.Error == nil
	return true
}

// offered is what the activities of one execution are just reading from the one that it continues.
type offered struct {
	mu    sync.Mutex
	runID string
	parts []signals.EarlierPart
}

func (o *offered) take(runID string) []signals.EarlierPart {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.runID != runID {
		return nil
	}
	return o.parts
}

func (o *offered) keep(runID string, parts []signals.EarlierPart) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runID, o.parts = runID, parts
}

// Continue answers with a part of what the execution is offered by the one that it continues. The first part claims
// that one, so that of several executions each goes on from the one before it.
func (a *Activities) Continue(ctx context.Context, in signals.ContinueInput) (converter.RawValue, error) {
	pulse := beat(ctx)
	defer pulse.stop()
	run := activity.GetInfo(ctx).WorkflowExecution
	parts := a.offered.take(run.RunID)
	if in.Part == 0 || parts == nil {
		var err error
		if parts, err = a.offers(ctx, in); err != nil {
			return converter.RawValue{}, err
		}
	}
	if in.Part >= len(parts) {
		return converter.RawValue{}, fmt.Errorf("what %s offers has %d parts, not %d", in.Tip, len(parts), in.Part+1)
	}
	a.offered.keep(run.RunID, parts)
	if in.Part == len(parts)-1 {
		a.offered.keep("", nil)
	}
	return payload.Raw(parts[in.Part])
}

func (a *Activities) offers(ctx context.Context, in signals.ContinueInput) ([]signals.EarlierPart, error) {
	runtime, _, _ := signals.ParseWorkflowID(activity.GetInfo(ctx).WorkflowExecution.ID)
	c := &chain{Activities: a, ctx: ctx, client: activity.GetClient(ctx), runtime: runtime, in: in}
	var h *history.History
	var err error
	tip, run := in.Tip, in.TipRun
	if in.Part == 0 {
		if tip, h, err = c.claimTip(); err != nil {
			return nil, err
		}
		if run, err = c.run(tip); err != nil {
			return nil, err
		}
	} else if h, err = c.read(tip, run); err != nil {
		return nil, err
	}
	log, offers, err := h.Offers(tip)
	if err != nil {
		return nil, err
	}
	first := signals.EarlierPart{Tip: tip, TipRun: run, Seed: tip, StartedAt: cmp.Or(h.Clock, h.StartedAt),
		Fresh: in.Continues.Fresh}
	if log.Earlier != nil {
		first.Seed, first.StartedAt = log.Earlier.Seed, log.Earlier.StartedAt
	}
	if in.Part == 0 {
		if first.Undone, err = c.undone(tip, offers); err != nil {
			return nil, err
		}
	}
	parts := signals.OfferParts(first, offers)
	for _, part := range parts {
		parts[0].Bytes += a.encodedBytes(part)
	}
	if most := a.Limits.WithDefaults().LogBytes; parts[0].Bytes > most {
		return nil, refusal("Execution %q cannot be continued: its log takes %d bytes, more than the limit of %d "+
			"(limits.logBytes).", tip, parts[0].Bytes, most)
	}
	return parts, nil
}

// chain finds the newest of the executions that continue each other.
type chain struct {
	*Activities
	ctx     context.Context
	client  client.Client
	runtime string
	in      signals.ContinueInput
}

// maxChain bounds how many executions may have continued each other.
const maxChain = 1000

func refusal(format string, args ...any) error {
	return applicationError(signals.ErrorRefused, fmt.Sprintf(format, args...), false, 0)
}

// claimTip claims the execution that was asked for. Where another has continued that one, the newest is claimed: it has
// what the ones before it did, and what was done since. One that was to continue another and did not come to that has
// done nothing: what came before it counts, although the claim goes on from it.
func (c *chain) claimTip() (tip string, h *history.History, err error) {
	id, found := c.in.Continues.ExecutionID, false
	for range maxChain {
		next, err := c.closed(id)
		switch {
		case err != nil:
			return "", nil, err
		case !next.NeverBegan():
			tip, h = id, next
		case !found:
			id = next.Input.Continues.ExecutionID
			continue
		}
		found = true
		by, err := c.claim(id)
		switch {
		case err != nil:
			return "", nil, err
		case by == c.in.ExecutionID:
			return tip, h, c.notRolledBack(tip, h) // a rollback that began before the claim knows nothing of it
		}
		id = by
	}
	return "", nil, refusal("Execution %q was continued by more than %d others.", c.in.Continues.ExecutionID, maxChain)
}

func (c *chain) read(id, run string) (*history.History, error) {
	h, err := history.Read(c.ctx, c.client, c.DataConverter, signals.WorkflowID(c.runtime, id), run)
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", id, err)
	}
	return h, nil
}

// run is the id of an execution's newest run.
func (c *chain) run(id string) (string, error) {
	d, err := c.client.DescribeWorkflowExecution(c.ctx, signals.WorkflowID(c.runtime, id), "")
	if err != nil {
		return "", fmt.Errorf("describe %s: %w", id, err)
	}
	return d.WorkflowExecutionInfo.Execution.RunId, nil
}

// closed reads an execution that may be continued, or says why it may not.
func (c *chain) closed(id string) (*history.History, error) {
	h, err := c.read(id, "")
	asked := c.in.Continues.ExecutionID
	switch {
	case rpcerr.NotFound(err) && id == asked:
		return nil, refusal("There is no execution %q to continue.", id)
	case rpcerr.NotFound(err):
		return nil, refusal("Execution %q was continued by %q, of which nothing is known any more: run the program "+
			"without continues, once you have found out what is done.", asked, id)
	case err != nil:
		return nil, err
	case !c.mayContinue(h):
		return nil, refusal("Execution %q was started by somebody else: only they, or an approver, may continue it.",
			asked)
	case h.Open() && id == asked:
		return nil, refusal("Execution %q has not ended: wait for its outcome, or cancel it, before you continue it.",
			id)
	case h.Open():
		return nil, refusal("Execution %q is continued by %q already, which has not ended: wait for the outcome of "+
			"that one.", asked, id)
	}
	return h, c.notRolledBack(id, h)
}

// mayContinue reports whether whoever continues may see what the execution did. Where no door authenticates, everybody
// may who can reach the runtime.
func (c *chain) mayContinue(h *history.History) bool {
	who := c.in.Caller.StartedAs
	return who == "" || c.in.Continues.Approver || h.Input.Caller.StartedAs == who
}

// notRolledBack refuses an execution of which anything was undone, or is about to be.
func (c *chain) notRolledBack(id string, h *history.History) error {
	const again = "Execution %q was rolled back: run the program without continues."
	if len(h.Undone()) > 0 || h.Result != nil && h.Result.Status == signals.RolledBack {
		return refusal(again, id)
	}
	for n := 1; ; n++ {
		rollback, err := history.Read(c.ctx, c.client, c.DataConverter,
			signals.RollbackID(signals.WorkflowID(c.runtime, id), n), "")
		switch {
		case rpcerr.NotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("read rollback %d of %s: %w", n, id, err)
		case rollback.Open():
			return refusal("Execution %q is being rolled back: run the program without continues, once that has ended.",
				id)
		case len(rollback.Undone()) > 0:
			return refusal(again, id)
		}
	}
}

// claim says by which execution another is continued: by this one, if it is the first to ask.
func (c *chain) claim(id string) (by string, err error) {
	claim := signals.ContinuedID(signals.WorkflowID(c.runtime, id))
	_, err = c.client.ExecuteWorkflow(c.ctx, client.StartWorkflowOptions{
		ID: claim, TaskQueue: signals.TaskQueue(c.runtime),
		WorkflowIDConflictPolicy:                 enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{signals.MemoContinued: c.in.ExecutionID},
		StaticSummary:                            "continued by " + c.in.ExecutionID,
	}, signals.ContinuedWorkflow)
	if err == nil {
		return c.in.ExecutionID, nil
	}
	if !rpcerr.AlreadyStarted(err) {
		return "", fmt.Errorf("claim %s: %w", id, err)
	}
	return continuedBy(c.ctx, c.client, c.DataConverter, signals.WorkflowID(c.runtime, id))
}

// continuedBy is the execution that continues the one of a workflow id, empty if none does.
func continuedBy(ctx context.Context, c client.Client, dc converter.DataConverter, workflowID string) (string, error) {
	d, err := c.DescribeWorkflowExecution(ctx, signals.ContinuedID(workflowID), "")
	if rpcerr.NotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find out what continues %s: %w", workflowID, err)
	}
	var by string
	if err := dc.FromPayload(d.WorkflowExecutionInfo.GetMemo().GetFields()[signals.MemoContinued], &by); err != nil {
		return "", fmt.Errorf("read what continues %s: %w", workflowID, err)
	}
	return by, nil
}

// undone are the offers that another execution's rollback has undone, or is undoing. Those of the tip's own calls are
// not among them: it was not rolled back.
func (c *chain) undone(tip string, offers []signals.Offer) ([]signals.CarriedFrom, error) {
	var list []signals.CarriedFrom
	for _, o := range offers {
		if o.From.ExecutionID == tip || !o.Revertable {
			continue
		}
		d, err := c.client.DescribeWorkflowExecution(c.ctx, signals.UndoID(c.runtime, o.From), "")
		if rpcerr.NotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find out whether call %d of %s was undone: %w", o.From.Seq, o.From.ExecutionID, err)
		}
		switch d.WorkflowExecutionInfo.Status {
		case enums.WORKFLOW_EXECUTION_STATUS_RUNNING, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
			list = append(list, o.From)
		}
	}
	return list, nil
}

// share marks the calls whose effect other executions may undo, too: those that this one took over and, once it is
// itself continued, all.
func (a *Activities) share(ctx context.Context, workflowID string, h *history.History,
	targets []signals.RevertTarget) error {
	by := ""
	if !h.Open() {
		var err error
		if by, err = continuedBy(ctx, activity.GetClient(ctx), a.DataConverter, workflowID); err != nil {
			return err
		}
	}
	for i := range targets {
		targets[i].Once = by != "" || targets[i].Origin != nil
	}
	return nil
}

// UndoOnce lets codemode.Undo undo an effect that several executions share, unless that has happened, and waits for
// it.
func (a *Activities) UndoOnce(ctx context.Context, in signals.UndoInput) (converter.RawValue, error) {
	pulse := beat(ctx)
	defer pulse.stop()
	made := in.Revert.Made(in.ExecutionID)
	run, err := activity.GetClient(ctx).ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: signals.UndoID(in.Runtime, made), TaskQueue: signals.TaskQueue(in.Runtime),
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		StaticSummary:            fmt.Sprintf("undo call %d of %s", made.Seq, made.ExecutionID),
	}, signals.UndoWorkflow, payload.MustRaw(in))
	if err == nil {
		err = run.Get(ctx, nil)
	}
	if err == nil || rpcerr.AlreadyStarted(err) {
		return payload.Raw(signals.CallOutput{})
	}
	if ctx.Err() != nil || rpcerr.Service(err) {
		return converter.RawValue{}, fmt.Errorf("undo call %d of %s: %w", made.Seq, made.ExecutionID, err)
	}
	kind, message := whyNotUndone(err)
	return converter.RawValue{}, applicationError(kind, message, false, 0)
}

// whyNotUndone is how codemode.Undo failed. One that was ended from outside may have undone the call, or not.
func whyNotUndone(err error) (kind, message string) {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type(), app.Message()
	}
	return signals.OutcomeUnknown, err.Error()
}

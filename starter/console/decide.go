package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// Actions that can be asked for.
const (
	actionApprove  = "approve"
	actionReject   = "reject"
	actionRetry    = "retry"
	actionResolve  = "resolve"
	actionCancel   = "cancel"
	actionRollback = "rollback"
)

var actions = []string{actionApprove, actionReject, actionRetry, actionResolve, actionCancel, actionRollback}

// decision is what somebody asks to be done about an execution, or about one of its calls.
type decision struct {
	Action string
	key
	Args     json.RawMessage // to approve with instead of the issued ones
	Always   bool            // approves the method for the rest of the execution
	Result   json.RawMessage // to resolve with
	Note     string
	Continue bool // after a rejection the program goes on
	By       string
	Whole    bool // all arguments were to be seen where it was taken
}

// result tells what became of a decision.
type result struct {
	Action      string `json:"action"`
	Runtime     string `json:"runtime"`
	ExecutionID string `json:"executionId"`
	Seq         *int   `json:"seq,omitempty"`
	Accepted    bool   `json:"accepted"`
	Error       string `json:"error,omitempty"`
}

// decideWithin bounds what one decision may take; what it does goes on all the same.
const decideWithin = 15 * time.Second

// decisionsAtOnce is how many executions are decided about in parallel.
const decisionsAtOnce = 8

// decideAll does what is asked for. Decisions about one execution are taken in their order.
func (c *Console) decideAll(ctx context.Context, who Identity, list []decision) []result {
	results := make([]result, len(list))
	groups := map[string][]int{}
	var order []string
	for n, d := range list {
		group := d.Runtime + "/" + d.Execution
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], n)
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, decisionsAtOnce)
	for _, group := range order {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			c.decideInOrder(ctx, who, list, results, groups[group])
		})
	}
	running.Wait()
	return results
}

func (c *Console) decideInOrder(ctx context.Context, who Identity, list []decision, results []result, numbers []int) {
	ended := false
	for _, n := range numbers {
		d := list[n]
		if ended && d.Action == actionReject { // it ended with the rejection before
			results[n] = d.result(nil)
			c.inbox.drop(d.key)
			continue
		}
		err := c.decide(ctx, who, d)
		results[n] = d.result(err)
		ended = ended || err == nil && d.Action == actionReject && !d.Continue
	}
}

func (d decision) result(err error) result {
	r := result{Action: d.Action, Runtime: d.Runtime, ExecutionID: d.Execution, Accepted: err == nil}
	if d.ofCall() {
		r.Seq = &d.Seq
	}
	if err != nil {
		_, r.Error = statusOf(err)
	}
	return r
}

// ofCall says that the decision is about one call.
func (d decision) ofCall() bool { return d.Action != actionCancel && d.Action != actionRollback }

// decide does one thing and has the inbox look again.
func (c *Console) decide(ctx context.Context, who Identity, d decision) error {
	r, err := c.runtime(d.Runtime)
	if err != nil {
		return err
	}
	if signals.CheckExecutionID(d.Execution) != nil {
		return badRequest("%q is no id of an execution", signals.Cut(d.Execution, 100))
	}
	ctx, cancel := context.WithTimeout(ctx, decideWithin)
	defer cancel()
	err = c.send(ctx, r, who, d)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
		err = failed(http.StatusAccepted, "It was sent and goes on, but was not done within %v: look at the execution.",
			decideWithin)
	}
	if err == nil && d.ofCall() {
		c.inbox.drop(d.key)
	}
	r.Inbox.Changed(d.Execution)
	c.inbox.nudge(r.Name)
	c.Log.Info("decision", "action", d.Action, "runtime", r.Name, "execution", d.Execution, "seq", d.Seq, "by",
		who.Name,
		"asserted", who.Asserted, "refused", err != nil)
	return err
}

// send sends a decision with the name of who is authenticated; by is what they say of themselves.
func (c *Console) send(ctx context.Context, r Runtime, who Identity, d decision) error {
	by, asserted := d.By, ""
	if by == "" {
		by = who.Name
	}
	if who.Asserted {
		asserted = who.Name
	}
	switch d.Action {
	case actionCancel:
		done, err := r.Client.Cancel(ctx, d.Execution,
			signals.Cancellation{By: by, AssertedBy: asserted, Reason: d.Note})
		return refusal(done, "The execution has ended already.", err)
	case actionRollback:
		undone, err := r.Client.Rollback(ctx, d.Execution, signals.Rollback{By: by, AssertedBy: asserted, Note: d.Note})
		if err == nil {
			err = undone.Err()
		}
		return refusal(len(undone.Reverted) > 0, "There is nothing to undo.", err)
	}
	message, err := c.message(ctx, r, d, by, asserted)
	if err != nil {
		return err
	}
	if a, is := message.(signals.Approve); is && asserted != "" {
		if message, err = c.sign(ctx, r, who, d, a); err != nil {
			return err
		}
	}
	if err := message.Check(); err != nil {
		return badRequest("%v", err)
	}
	verdict, err := r.Client.Decide(ctx, d.Execution, message)
	return refusal(verdict.Accepted, verdict.Error, err)
}

// message words a decision about a call. Approvals carry the digest of what was shown; for the others it is compared
// here.
func (c *Console) message(ctx context.Context, r Runtime, d decision, by, asserted string) (signals.Message, error) {
	if d.Action == actionApprove {
		if err := c.seenWhole(ctx, r, d); err != nil {
			return nil, err
		}
		args, err := c.unmask(ctx, r, d)
		return signals.Approve{
			Seqs: []int{d.Seq}, ArgsDigest: d.Digest, Args: args, Always: d.Always, By: by, AssertedBy: asserted,
			Note: d.Note,
		}, err
	}
	if err := c.stillPending(ctx, r, d.key); err != nil {
		return nil, err
	}
	switch d.Action {
	case actionReject:
		return signals.Reject{Seq: &d.Seq, Reason: d.Note, Continue: d.Continue, By: by, AssertedBy: asserted}, nil
	case actionRetry:
		return signals.Retry{Seq: d.Seq, By: by, AssertedBy: asserted, Note: d.Note}, nil
	case actionResolve:
		return signals.Resolve{Seq: d.Seq, Result: d.Result, By: by, AssertedBy: asserted, Note: d.Note}, nil
	}
	return nil, badRequest("%q is no action: use one of %v", d.Action, actions)
}

// sign says on an approval who gives it, where the call's rule asks for that.
func (c *Console) sign(ctx context.Context, r Runtime, who Identity, d decision, a signals.Approve) (signals.Message,
	error) {
	item, ok := c.inbox.find(d.key)
	if !ok {
		var err error
		if item.PendingAction, err = c.pendingCall(ctx, r, d.key); err != nil {
			return nil, err
		}
	}
	if rule := item.ApproverRule; rule != nil {
		a.AssertedSubject, a.AssertedGroups = who.Subject, rule.Of(who.Groups)
	}
	return a, nil
}

// seenWhole refuses an approval from a page that did not show all that it would approve.
func (c *Console) seenWhole(ctx context.Context, r Runtime, d decision) error {
	if d.Whole {
		return nil
	}
	item, ok := c.inbox.find(d.key)
	if !ok {
		a, err := c.pendingCall(ctx, r, d.key)
		if err != nil {
			return err
		}
		item.PendingAction = a
	}
	if newCard(item).Partial() {
		return failed(http.StatusConflict, "Not all of its arguments were shown: open the call and approve it there.")
	}
	return nil
}

func refusal(accepted bool, message string, err error) error {
	if err != nil || accepted {
		return err
	}
	return failed(http.StatusConflict, "%s", message)
}

// stillPending checks that a call waits with the arguments that were shown. Approvals carry the digest instead.
func (c *Console) stillPending(ctx context.Context, r Runtime, k key) error {
	if k.Digest == "" {
		return nil
	}
	_, err := c.pendingCall(ctx, r, k)
	return err
}

// pendingCall finds a call that waits, as it is now.
func (c *Console) pendingCall(ctx context.Context, r Runtime, k key) (signals.PendingAction, error) {
	actions, err := r.Client.Pending(ctx, k.Execution)
	if err != nil {
		return signals.PendingAction{}, err
	}
	for _, a := range actions {
		if a.Seq == k.Seq && (k.Digest == "" || a.ArgsDigest == k.Digest) {
			return a, nil
		}
	}
	return signals.PendingAction{},
		failed(http.StatusConflict, "Call %d of execution %q is not pending any more, or with other arguments.",
			k.Seq, k.Execution)
}

// unmask puts the values back that were masked where edited arguments left them as they were shown.
func (c *Console) unmask(ctx context.Context, r Runtime, d decision) (json.RawMessage, error) {
	if len(d.Args) == 0 || !strings.Contains(string(d.Args), signals.Masked) {
		return d.Args, nil
	}
	a, err := c.pendingCall(ctx, r, d.key)
	if err != nil {
		return nil, err
	}
	return restore(d.Args, a.Current()), nil
}

// restore replaces masks in edited by what stands at the same place in issued.
func restore(edited, issued json.RawMessage) json.RawMessage {
	shown, err1 := decode(edited)
	original, err2 := decode(issued)
	if err1 != nil || err2 != nil {
		return edited
	}
	masked, _ := decode(signals.Mask(issued))
	text, err := signals.Marshal(restored(shown, masked, original))
	if err != nil {
		return edited
	}
	return text
}

func restored(shown, masked, original any) any {
	if shown == signals.Masked && masked == signals.Masked {
		return original
	}
	switch s := shown.(type) {
	case map[string]any:
		m, _ := masked.(map[string]any)
		o, _ := original.(map[string]any)
		for name, member := range s {
			s[name] = restored(member, m[name], o[name])
		}
	case []any:
		m, _ := masked.([]any)
		o, _ := original.([]any)
		for n := range min(len(s), len(m), len(o)) {
			s[n] = restored(s[n], m[n], o[n])
		}
	}
	return shown
}

package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	missing  int  // people who have to approve after this one
}

// result tells what became of a decision.
type result struct {
	Action      string `json:"action"`
	Runtime     string `json:"runtime"`
	ExecutionID string `json:"executionId"`
	Seq         *int   `json:"seq,omitempty"`
	Accepted    bool   `json:"accepted"`
	Error       string `json:"error,omitempty"`
	// Missing is how many more people have to approve before the call is made.
	Missing int `json:"missing,omitempty"`
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
	for _, stretch := range stretches(list, numbers) {
		d := list[stretch[0]]
		if ended && d.Action == actionReject { // it ended with the rejection before
			results[stretch[0]] = d.result(nil)
			c.inbox.drop(d.key)
			continue
		}
		var some []decision
		for _, n := range stretch {
			list[n].missing = c.missing(list[n])
			some = append(some, list[n])
		}
		errs := c.decide(ctx, who, some)
		for at, n := range stretch {
			results[n] = list[n].result(errs[at])
		}
		ended = ended || errs[0] == nil && d.Action == actionReject && !d.Continue
	}
}

func (d decision) result(err error) result {
	r := result{Action: d.Action, Runtime: d.Runtime, ExecutionID: d.Execution, Accepted: err == nil}
	if d.ofCall() {
		r.Seq = &d.Seq
	}
	if err != nil {
		_, r.Error = statusOf(err)
	} else {
		r.Missing = d.missing
	}
	return r
}

// ofCall says that the decision is about one call.
func (d decision) ofCall() bool { return d.Action != actionCancel && d.Action != actionRollback }

// decide does what is asked about one execution, in one message where that can be, and has the inbox look again.
func (c *Console) decide(ctx context.Context, who Identity, some []decision) []error {
	r, err := c.runtime(some[0].Runtime)
	if err == nil && signals.CheckExecutionID(some[0].Execution) != nil {
		err = badRequest("%q is no id of an execution", signals.Cut(some[0].Execution, 100))
	}
	if err != nil {
		return slices.Repeat([]error{err}, len(some))
	}
	ctx, cancel := context.WithTimeout(ctx, decideWithin)
	defer cancel()
	var errs []error
	if len(some) == 1 {
		errs = []error{c.send(ctx, r, who, some[0])}
	} else {
		errs = c.decideTogether(ctx, who, some)
	}
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	for n, d := range some {
		if late && errs[n] != nil {
			errs[n] = unanswered()
		}
		c.decided(r, who, d, errs[n])
	}
	r.Inbox.Changed(some[0].Execution)
	c.inbox.nudge(r.Name)
	return errs
}

// unanswered is what is known of a decision that nobody answered in time: nothing. It may have reached Temporal or not,
// and a worker may take it up later.
func unanswered() error {
	return failed(http.StatusGatewayTimeout, "Temporal or its worker gave no answer within %v, so it is not known "+
		"whether this applies. Look at the execution before you decide again.", decideWithin)
}

// decided takes note of a decision.
func (c *Console) decided(r Runtime, who Identity, d decision, err error) {
	if err == nil && d.ofCall() && d.missing == 0 {
		c.inbox.drop(d.key)
	}
	c.Log.Info("decision", "action", d.Action, "runtime", r.Name, "execution", d.Execution, "seq", d.Seq,
		"by", who.Name, "asserted", who.Asserted, "refused", err != nil)
}

// missing is how many people still have to approve after an approval, if it is taken.
func (c *Console) missing(d decision) int {
	item, known := c.inbox.find(d.key)
	if d.Action != actionApprove || !known || item.ApprovalsNeeded <= 1 {
		return 0
	}
	approved := len(item.ApprovedBy)
	if len(d.Args) > 0 { // whoever approved before approved other arguments
		approved = 0
	}
	return max(0, item.ApprovalsNeeded-approved-1)
}

// names are who says to decide, and who is authenticated.
func (d decision) names(who Identity) (by, asserted string) {
	if who.Asserted {
		asserted = who.Name
	}
	return cmp.Or(d.By, who.Name), asserted
}

// send sends a decision with the name of who is authenticated; by is what they say of themselves.
func (c *Console) send(ctx context.Context, r Runtime, who Identity, d decision) error {
	by, asserted := d.names(who)
	switch d.Action {
	case actionCancel:
		done, err := r.Client.Cancel(ctx, d.Execution,
			signals.Cancellation{By: by, AssertedBy: asserted, Reason: d.Note})
		return refusal(done, "The execution has ended already.", err)
	case actionRollback:
		undone, err := r.Client.Rollback(ctx, d.Execution, signals.Rollback{By: by, AssertedBy: asserted, Note: d.Note})
		if err == nil {
			err = notUndone(undone)
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

// notUndone says which calls a rollback left standing.
func notUndone(r signals.RollbackResult) error {
	if len(r.Failed) == 0 {
		return nil
	}
	var list []string
	for _, f := range r.Failed {
		list = append(list, fmt.Sprintf("%s.%s (call %d): %s", f.Connector, f.Method, f.Seq, f.Error))
	}
	return failed(http.StatusConflict, "%s undone, %s not: %s. Another rollback tries these again.",
		wereOrWas(len(r.Reverted)), wereOrWas(len(r.Failed)), strings.Join(list, "; "))
}

func wereOrWas(calls int) string {
	if calls == 1 {
		return "1 call was"
	}
	return fmt.Sprintf("%d calls were", calls)
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

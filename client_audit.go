package codemode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/temporal-codemode/codemode/internal/rpcerr"
	"github.com/temporal-codemode/codemode/signals"
)

// AuditOptions select decisions. The zero value selects all that the namespace still keeps.
type AuditOptions struct {
	// Since and Until bound when decisions were taken, Until not included; a zero time is no bound.
	Since, Until time.Time
	// By keeps what one person decided: as the sender claimed, or as a front door authenticated.
	By string
	// Method keeps what is about calls of one method, a connector.method in which * may stand.
	Method string
	// Kind keeps decisions of one kind: approve, reject, retry, resolve, rollback, expire or cancel.
	Kind string
}

// auditKinds are what decisions there are.
var auditKinds = []string{signals.SignalApprove, signals.SignalReject, signals.SignalRetry, signals.SignalResolve,
	signals.SignalRollback, signals.SignalExpire, "cancel"}

// Check says what is wrong with the options.
func (o AuditOptions) Check() error {
	if o.Kind != "" && !slices.Contains(auditKinds, o.Kind) {
		return fmt.Errorf("kind %q: one of %s", o.Kind, strings.Join(auditKinds, ", "))
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && !o.Since.Before(o.Until) {
		return errors.New("the time from which decisions count is not before that until which they do")
	}
	return Selection{Method: o.Method}.Check()
}

// AuditEntry is a decision, with what it was about and what came of it.
type AuditEntry struct {
	signals.Decision
	ExecutionID string `json:"executionId"`
	Purpose     string `json:"purpose,omitempty"`
	// Caller is who started the execution.
	Caller signals.Caller `json:"caller,omitzero"`
	// Seq, Method, Args and Call are missing where the decision is about the whole execution.
	Seq    *int   `json:"seq,omitempty"`
	Method string `json:"method,omitempty"`
	// Args are what the program called with; what was approved with other arguments has EditedArgs.
	Args json.RawMessage `json:"args,omitempty"`
	// Call is what became of the call: its state, or how it ended without an effect.
	Call string `json:"call,omitempty"`
	// Execution is what became of the execution, so far.
	Execution signals.Status `json:"execution"`
}

// Audit is what was decided, the oldest first.
type Audit struct {
	Entries []AuditEntry `json:"entries"`
	// Unreadable are executions that may have decisions and cannot be read, such as for want of a key, with the reason.
	Unreadable map[string]string `json:"unreadable,omitempty"`
}

// Audit reads the decisions of all executions from their histories: about ten milliseconds each. What the namespace's
// retention has removed is not there any more: who needs it longer stores what an earlier audit gave.
func (c *Client) Audit(ctx context.Context, o AuditOptions) (Audit, error) {
	audit := Audit{Entries: []AuditEntry{}}
	if err := o.Check(); err != nil {
		return audit, err
	}
	ids, err := c.audited(ctx, o)
	if err != nil {
		return audit, err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, id := range ids {
		group.Go(func() error {
			r, err := c.Show(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, ErrNotFound): // deleted meanwhile
			case err != nil && (ctx.Err() != nil || rpcerr.Service(err)):
				return err
			case err != nil:
				audit.leaveOut(id, err)
			default:
				audit.Entries = append(audit.Entries, o.entries(r)...)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Audit{Entries: []AuditEntry{}}, err
	}
	slices.SortStableFunc(audit.Entries, func(a, b AuditEntry) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.ExecutionID, b.ExecutionID))
	})
	return audit, nil
}

func (a *Audit) leaveOut(id string, err error) {
	if a.Unreadable == nil {
		a.Unreadable = map[string]string{}
	}
	a.Unreadable[id] = err.Error()
}

// audited are the executions that may have decisions of the time that is asked for: those open in it, and those that
// were rolled back after their end.
func (c *Client) audited(ctx context.Context, o AuditOptions) ([]string, error) {
	open := "" // of runs, whose start tells nothing: earlier ones may be of the time
	if !o.Since.IsZero() {
		open = fmt.Sprintf(` AND (ExecutionStatus = "Running" OR CloseTime >= "%s")`,
			o.Since.UTC().Format(time.RFC3339Nano))
	}
	found, err := c.visible(ctx, withRollbacks("")+open)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, w := range found {
		workflowID, _, _ := strings.Cut(w.Execution.WorkflowId, "/rollback/")
		if _, id, ok := signals.ParseWorkflowID(workflowID); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// entries are the decisions of an execution that are asked for.
func (o AuditOptions) entries(r *signals.Record) []AuditEntry {
	var list []AuditEntry
	add := func(d signals.Decision, call *signals.Call) {
		e := AuditEntry{Decision: d, ExecutionID: r.ID, Purpose: r.Purpose, Caller: r.Caller, Execution: r.Status}
		if call != nil {
			e.Seq, e.Method, e.Args, e.Call = &call.Seq, call.Connector+"."+call.Method, call.Args, whatBecame(*call)
		}
		if o.keeps(e) {
			list = append(list, e)
		}
	}
	told := func(d signals.Decision) bool { // the end of an execution stands with the calls that it was about, too
		return slices.ContainsFunc(r.Log, func(call signals.Call) bool {
			return slices.ContainsFunc(call.Decisions, func(other signals.Decision) bool {
				return other.Kind == d.Kind && other.At == d.At && other.By == d.By
			})
		})
	}
	for i := range r.Log {
		for _, d := range r.Log[i].Decisions {
			add(d, &r.Log[i])
		}
	}
	if r.EndedBy != nil && r.EndedBy.Kind != signals.SignalRollback && !told(*r.EndedBy) {
		add(*r.EndedBy, nil)
	}
	for _, undone := range r.Rollbacks {
		add(signals.Decision{Kind: signals.SignalRollback, By: undone.By, AssertedBy: undone.AssertedBy, At: undone.At,
			Note: undone.Note}, nil)
	}
	return list
}

// whatBecame is how a call ended without an effect, or its state.
func whatBecame(call signals.Call) string {
	if call.Ended != "" {
		return string(call.Ended)
	}
	return string(call.State)
}

func (o AuditOptions) keeps(e AuditEntry) bool {
	at := time.UnixMilli(e.At)
	return (o.Since.IsZero() || !at.Before(o.Since)) && (o.Until.IsZero() || at.Before(o.Until)) &&
		(o.By == "" || e.By == o.By || e.AssertedBy == o.By) && (o.Kind == "" || e.Kind == o.Kind) &&
		methodMatches(o.Method, e.Method)
}

package signals

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Rollback undoes what an execution did: every call that took effect and has a revert, the last one first. All fields
// are for the record.
type Rollback struct {
	// By is a claim, AssertedBy is who the front door authenticated.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	Note       string `json:"note,omitempty"`
	// RequestID is as in Approve.
	RequestID string `json:"requestId,omitempty"`
}

// Check refuses what could never apply.
func (r Rollback) Check() error { return checkTexts(r.By, r.AssertedBy, r.Note) }

// Undoable says that a call took effect and can be undone, and has not been yet. Plans, answers and pages ask here.
func (c Call) Undoable() bool { return c.Revertable && c.State == Applied && c.RevertedAt == 0 }

// UndoOrder puts calls in the order in which a rollback undoes them: the one that settled last comes first.
func UndoOrder(calls []Call) []Call {
	var plan []Call
	for _, call := range calls {
		if call.Undoable() {
			plan = append(plan, call)
		}
	}
	slices.SortStableFunc(plan, func(a, b Call) int { return cmp.Compare(b.SettleOrder, a.SettleOrder) })
	return plan
}

// RollbackInput starts codemode.Rollback for a closed execution. Its workflow id is RollbackID(WorkflowID, N); it
// should be started only once the rollback before it, N-1, has closed.
type RollbackInput struct {
	Runtime     string `json:"runtime"`
	ExecutionID string `json:"executionId"`
	WorkflowID  string `json:"workflowId"`
	RunID       string `json:"runId"`
	N           int    `json:"n"`
	Rollback
	// Caller is the execution's.
	Caller Caller `json:"caller,omitzero"`
}

// RollbackPlanInput says whose calls are to be undone.
type RollbackPlanInput struct {
	ExecutionID string `json:"executionId"`
	WorkflowID  string `json:"workflowId"`
	RunID       string `json:"runId"`
	// Settled is what an open execution has not given to a pass yet, as references.
	Settled []Given `json:"settled,omitempty"`
	// Passes is the number of pass results that the workflow took up. The history of an open execution may hold one
	// more, made early and then not used. 0, for a closed execution, counts all.
	Passes int `json:"passes,omitempty"`
	// Before counts the rollbacks of a closed execution that came before this one.
	Before int `json:"before,omitempty"`
	// Caller is the execution's.
	Caller Caller `json:"caller,omitzero"`
}

// RollbackPlan lists the calls to undo, in the order in which that is done.
type RollbackPlan struct {
	Targets []RevertTarget `json:"targets"`
	// Left counts targets beyond MaxReverts: another rollback undoes them.
	Left  int   `json:"left,omitempty"`
	Hooks Hooks `json:"hooks,omitzero"`
	// Unknown are the calls whose outcome is unknown: they may have taken effect, and nothing undoes them.
	Unknown []int `json:"unknown,omitempty"`
}

// MaxReverts bounds one rollback, so that its record fits one event.
const MaxReverts = 2_000

// RevertTarget is a call that took effect and can be undone.
type RevertTarget struct {
	Seq       int    `json:"seq"`
	Connector string `json:"connector"`
	Method    string `json:"method"`
	TimeoutMs int64  `json:"timeoutMs,omitempty"`
	// Queue is the task queue of the connector's own worker; empty is the runtime's.
	Queue string `json:"queue,omitempty"`
	// Source is the activity whose events hold what the call was dispatched with and what it answered; empty for calls
	// that a pass made itself.
	Source string `json:"source,omitempty"`
	// Args and Result are here, if Carried, to save reading them from history.
	Args    json.RawMessage `json:"args,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Carried bool            `json:"carried,omitempty"`
	// Origin is the call of an earlier execution that this one took over. Once says that other executions may undo the
	// same effect, so that it is done by codemode.Undo, whose id is the call's.
	Origin *CarriedFrom `json:"origin,omitempty"`
	Once   bool         `json:"once,omitempty"`
}

// Made names the effect that is undone: the call that was made, of whichever execution.
func (t RevertTarget) Made(executionID string) CarriedFrom {
	if t.Origin != nil {
		return *t.Origin
	}
	return CarriedFrom{ExecutionID: executionID, Seq: t.Seq}
}

// UndoInput starts codemode.Undo, or asks for it: it undoes one effect that several executions share, once.
type UndoInput struct {
	Runtime     string `json:"runtime"`
	ExecutionID string `json:"executionId"` // whose rollback it is
	Revert      Revert `json:"revert"`
	Caller      Caller `json:"caller,omitzero"`
}

// Revert is the part of an undoing activity's input that says what to undo: a call of another run, or of the same one.
type Revert struct {
	WorkflowID string `json:"workflowId"`
	RunID      string `json:"runId"`
	RevertTarget
}

// RollbackRecord is what history keeps of one rollback.
type RollbackRecord struct {
	Rollback
	At      int64          `json:"at"`
	EndedAt int64          `json:"endedAt"`
	Reverts []RevertedCall `json:"reverts"`
	// Unknown is as in RollbackResult.
	Unknown []int `json:"unknown,omitempty"`
	// Error is why the rollback could not be done as a whole.
	Error string `json:"error,omitempty"`
}

// RevertedCall is how undoing one call went.
type RevertedCall struct {
	Seq       int    `json:"seq"`
	Connector string `json:"connector"`
	Method    string `json:"method"`
	At        int64  `json:"at"`
	Attempts  int    `json:"attempts,omitempty"`
	// Error is why the call still stands, as far as is known.
	Error string `json:"error,omitempty"`
}

// RollbackResult answers a rollback.
type RollbackResult struct {
	// Reverted are the seqs of the calls that were undone, in the order in which that was done.
	Reverted []int `json:"reverted"`
	// Failed are the calls that could not be undone; another rollback tries them again.
	Failed []FailedRevert `json:"failed"`
	// Unknown are the calls whose outcome is unknown, up to MaxReverts of them: they may have taken effect, and no
	// rollback undoes them. A person has to look.
	Unknown []int `json:"unknown,omitempty"`
}

// UnknownOutcomes are those of the calls whose outcome is unknown.
func UnknownOutcomes(calls []Call) []int {
	var seqs []int
	for _, c := range calls {
		if c.ErrorName == OutcomeUnknown && len(seqs) < MaxReverts {
			seqs = append(seqs, c.Seq)
		}
	}
	return seqs
}

// FailedRevert is a call that could not be undone.
type FailedRevert struct {
	Seq       int    `json:"seq"`
	Connector string `json:"connector,omitempty"`
	Method    string `json:"method,omitempty"`
	Error     string `json:"error"`
}

// Result tells a record as an answer.
func (r RollbackRecord) Result() RollbackResult {
	result := RollbackResult{Reverted: []int{}, Failed: []FailedRevert{}, Unknown: r.Unknown}
	for _, c := range r.Reverts {
		if c.Error == "" {
			result.Reverted = append(result.Reverted, c.Seq)
		} else {
			result.Failed = append(result.Failed,
				FailedRevert{Seq: c.Seq, Connector: c.Connector, Method: c.Method, Error: c.Error})
		}
	}
	return result
}

// Err says which calls could not be undone; nil when none failed.
func (r RollbackResult) Err() error {
	if len(r.Failed) == 0 {
		return nil
	}
	var list []string
	for _, f := range r.Failed {
		list = append(list, fmt.Sprintf("%s.%s: %s", f.Connector, f.Method, f.Error))
	}
	return RollbackFailed(len(r.Reverted), len(r.Failed), strings.Join(list, "; "))
}

// RevertKey is the idempotency key of undoing a call: the same in every attempt and every rollback.
func RevertKey(executionID string, seq int, connector, method string, args json.RawMessage) string {
	return IdempotencyKey(executionID, seq, connector, method+".revert", args)
}

// NothingToUndo is the answer to the rollback of a paused execution that did nothing that can be undone: it stays as it
// is.
func NothingToUndo(executionID string) string {
	return fmt.Sprintf("Nothing that execution %q did can be undone.", executionID)
}

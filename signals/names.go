package signals

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Workflow and activity types as they stand in history.
const (
	ExecutionWorkflow = "codemode.Execution"
	RollbackWorkflow  = "codemode.Rollback"
	// UndoWorkflow undoes one effect that several executions share; UndoActivity sees to it that it does.
	UndoWorkflow = "codemode.Undo"
	UndoActivity = "codemode.UndoOnce"
	// ContinuedWorkflow does nothing: that it exists says which execution continues another.
	ContinuedWorkflow    = "codemode.Continued"
	PassActivity         = "codemode.Pass"
	RollbackPlanActivity = "codemode.RollbackPlan"
	PassEndActivity      = "codemode.PassEnd"
	DisposeActivity      = "codemode.Dispose"
)

// Signals and the updates of the same names; both carry the same payloads.
const (
	SignalApprove  = "approve"
	SignalReject   = "reject"
	SignalRetry    = "retry"
	SignalResolve  = "resolve"
	SignalRollback = "rollback"
	SignalExpire   = "expire"
)

// UpdateWait answers with the next outcome after a given pass.
const UpdateWait = "wait"

// Queries on an open execution.
const (
	QueryState   = "state"
	QueryPending = "pending"
	// QueryOutcome answers a Wait at once, with status running where there is no outcome yet.
	QueryOutcome = "outcome"
	// QueryVerdict tells what became of a decision that was sent as a signal.
	QueryVerdict = "verdict"
)

// Search attributes, both of type Keyword. Executions work without them; lists are slower then.
const (
	AttributeRuntime = "CodemodeRuntime"
	AttributeStatus  = "CodemodeStatus"
	// AttributeLabels is of type KeywordList, and only there where labels are to be searched.
	AttributeLabels = "CodemodeLabels"
)

// DefaultRuntime is the name of the runtime where none is given.
const DefaultRuntime = "default"

// PlatformConnector is the connector name under which look-ups are logged: codemode.search, describe and run. They are
// numbered from -1 down and are not among the calls of an execution.
const PlatformConnector = "codemode"

// StepConnector is the connector name under which codemode.step calls are logged.
const StepConnector = "__step"

var runtimeName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// CheckRuntime refuses names that cannot be part of workflow ids and task queues.
func CheckRuntime(name string) error {
	if runtimeName.MatchString(name) {
		return nil
	}
	return InvalidRuntime(name)
}

// TaskQueue is the queue that the workers of a runtime poll.
func TaskQueue(runtime string) string { return "codemode-" + runtime }

// ConnectorTaskQueue is the queue of the calls of a connector that has one of its own.
func ConnectorTaskQueue(runtime, connector string) string {
	return TaskQueue(runtime) + "-" + connector
}

// WorkflowID is the workflow id of an execution.
func WorkflowID(runtime, executionID string) string {
	return "codemode/" + runtime + "/" + executionID
}

// RollbackID is the workflow id of the nth rollback (from 1) of a closed execution.
func RollbackID(workflowID string, n int) string { return fmt.Sprintf("%s/rollback/%d", workflowID, n) }

// ContinuedID is the workflow id that the execution claims which continues another.
func ContinuedID(workflowID string) string { return workflowID + "/continued" }

// MemoContinued is the memo of that workflow that names the execution which continues.
const MemoContinued = "codemodeContinuedBy"

// UndoID is the workflow id of the undoing of one effect that several executions share: of the call that was made.
func UndoID(runtime string, made CarriedFrom) string {
	return fmt.Sprintf("%s/undo/%d", WorkflowID(runtime, made.ExecutionID), made.Seq)
}

// ParseWorkflowID splits the workflow id of an execution; ok is false for any other id.
func ParseWorkflowID(id string) (runtime, executionID string, ok bool) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 || parts[0] != "codemode" {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// NewExecutionID makes an id that sorts by its time: exec_, 16 digits of epoch milliseconds, and random text.
func NewExecutionID(now time.Time) string {
	return fmt.Sprintf("exec_%016d_%s", now.UnixMilli(), strings.ToLower(rand.Text()))
}

var executionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$`)

// CheckExecutionID refuses ids that cannot be part of a workflow id.
func CheckExecutionID(id string) error {
	if executionID.MatchString(id) {
		return nil
	}
	return fmt.Errorf(`invalid execution id %q: use 1 to 200 letters, digits, "_", "-", "." or ":", beginning with a letter or digit`, id)
}

// CallActivityID names the activity that makes attempt n (from 1) of a gated call. It is unique in a run, so a later
// pass can find the call's result in history by it.
func CallActivityID(seq, attempt int) string { return fmt.Sprintf("call-%d.%d", seq, attempt) }

// RevertActivityID names the activity that makes attempt n (from 1) of undoing a call. What completed under it is
// undone.
func RevertActivityID(seq, attempt int) string { return fmt.Sprintf("revert-%d.%d", seq, attempt) }

// ParseRevertActivityID finds the seq in the id of an undoing activity; ok is false for any other id.
func ParseRevertActivityID(id string) (seq int, ok bool) { return parseActivityID("revert-", id) }

// ParseCallActivityID finds the seq in the id of a gated call's activity; ok is false for any other id.
func ParseCallActivityID(id string) (seq int, ok bool) { return parseActivityID("call-", id) }

func parseActivityID(prefix, id string) (seq int, ok bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	text, _, dotted := strings.Cut(rest, ".")
	seq, err := strconv.Atoi(text)
	return seq, ok && dotted && err == nil
}

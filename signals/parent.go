package signals

// What an execution tells a workflow that runs it as a child, and how anybody gets an outcome whole.

// SignalPaused is the signal that an execution whose input has TellParent sends to its parent workflow each time that
// it waits for people, and again when one of several approvers has decided. Its payload is a PausedNotice.
const SignalPaused = "codemode.paused"

// PausedNotice is what the parent is told: the outcome, with what is pending, and which child to send decisions to. A
// decision that does not apply changes nothing, and nobody answers a signal: what is pending is told anew with the next
// pause. A notice may come again, such as from the next run of an execution that continued as new.
type PausedNotice struct {
	WorkflowID string `json:"workflowId"`
	Outcome
}

// Types of the application error with which an execution fails whose input has FailOnError, and whose program did not
// complete. Its details hold the ExecutionResult.
const (
	ErrorExecution  = "ExecutionError"      // status error
	ErrorRejected   = "ExecutionRejected"   // status rejected
	ErrorRolledBack = "ExecutionRolledBack" // status rolled_back
)

// EndError is the type of the error of an execution that ended so; empty for one that completed.
func EndError(s Status) string {
	switch s {
	case Failed:
		return ErrorExecution
	case Rejected:
		return ErrorRejected
	case RolledBack:
		return ErrorRolledBack
	}
	return ""
}

// IsEndError reports whether an error type is that of an execution which ended by itself.
func IsEndError(kind string) bool {
	return kind == ErrorExecution || kind == ErrorRejected || kind == ErrorRolledBack
}

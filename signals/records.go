package signals

import "encoding/json"

// Status of an execution.
type Status string

// The statuses; the last four are terminal.
const (
	Running    Status = "running"
	Paused     Status = "paused"
	Completed  Status = "completed"
	Failed     Status = "error"
	Rejected   Status = "rejected"
	RolledBack Status = "rolled_back"
)

// Terminal reports whether nothing but a rollback can change the status.
func (s Status) Terminal() bool { return s != Running && s != Paused }

// CallState is where a call stands.
type CallState string

// The states of a call.
const (
	Executing CallState = "executing"
	Applied   CallState = "applied"
	Pending   CallState = "pending"
	Reverted  CallState = "reverted"
	Errored   CallState = "error"
)

// CallEnd tells apart what CallState calls reverted alike, and why a call that never settled was not made. The state
// keeps the reference's word.
type CallEnd string

// How a call ended that has not, or no more, taken effect.
const (
	CallRejected  CallEnd = "rejected"  // a person refused it
	CallExpired   CallEnd = "expired"   // nobody decided in time
	CallCancelled CallEnd = "cancelled" // it was handed out, and withdrawn before it began
	CallNotMade   CallEnd = "notMade"   // the execution ended first
	CallUndone    CallEnd = "undone"    // a rollback undid it
)

// Class says what may be done with a call after a crash: reads run inside a pass and may be repeated, idempotent calls
// are repeated with the same key, writes never.
type Class string

// The classes.
const (
	Read       Class = "read"
	Idempotent Class = "idempotent"
	Write      Class = "write"
)

// Position is a place in the model's source, both from 1.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Call is one call of an execution as records show it. A missing args or result is undefined, which differs from null.
// Times are epoch milliseconds.
type Call struct {
	Seq              int             `json:"seq"`
	Connector        string          `json:"connector"`
	Method           string          `json:"method"`
	Args             json.RawMessage `json:"args,omitempty"`
	Result           json.RawMessage `json:"result,omitempty"`
	State            CallState       `json:"state"`
	RequiresApproval bool            `json:"requiresApproval"`
	Ephemeral        bool            `json:"ephemeral,omitempty"`
	Class            Class           `json:"class,omitempty"`
	Error            string          `json:"error,omitempty"`
	ErrorName        string          `json:"errorName,omitempty"`
	ArgsDigest       string          `json:"argsDigest,omitempty"`
	Attempts         int             `json:"attempts,omitempty"`
	Position         *Position       `json:"position,omitempty"`
	// DecidedBy is who said to decide, AssertedBy who a front door authenticated as the sender.
	DecidedBy  string          `json:"decidedBy,omitempty"`
	AssertedBy string          `json:"assertedBy,omitempty"`
	DecidedAt  int64           `json:"decidedAt,omitempty"`
	Note       string          `json:"note,omitempty"`
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	SettledAt  int64           `json:"settledAt,omitempty"`
	// Decisions are all that were taken about the call, the oldest first; DecidedBy and so on repeat the newest.
	Decisions []Decision `json:"decisions,omitempty"`
	// Revertable says that a rollback can undo the call once it has taken effect.
	Revertable bool `json:"revertable,omitempty"`
	// SettleOrder is the place of the call in the log, from 1: a later place settled later. 0 has not settled.
	SettleOrder int `json:"settleOrder,omitempty"`
	// Ended says how a call ended whose state is reverted.
	Ended CallEnd `json:"ended,omitempty"`
	// RevertedAt is when a rollback undid the call.
	RevertedAt int64 `json:"revertedAt,omitempty"`
	// RevertError is why the newest rollback could not undo the call.
	RevertError string `json:"revertError,omitempty"`
	// Omitted says that args and result are left out here for their size; the full record has them.
	Omitted bool `json:"omitted,omitempty"`
	// CarriedFrom is the call of an earlier execution that this one took over: it was not made here.
	CarriedFrom *CarriedFrom `json:"carriedFrom,omitempty"`
}

// Current are the arguments that the call would be made with: the issued ones, or those of an earlier approver where
// more than one has to approve.
func (a PendingAction) Current() json.RawMessage {
	if len(a.EditedArgs) > 0 {
		return a.EditedArgs
	}
	return a.Args
}

// PendingAction is a call that waits for a person.
type PendingAction struct {
	ExecutionID string          `json:"executionId"`
	Seq         int             `json:"seq"`
	Connector   string          `json:"connector"`
	Method      string          `json:"method"`
	Args        json.RawMessage `json:"args,omitempty"`
	ArgsDigest  string          `json:"argsDigest"`
	// Revertable says that a rollback can undo the call once it has taken effect.
	Revertable  bool      `json:"revertable,omitempty"`
	Position    *Position `json:"position,omitempty"`
	Class       Class     `json:"class,omitempty"`
	RequestedAt int64     `json:"requestedAt,omitempty"`
	ExpiresAt   int64     `json:"expiresAt,omitempty"`
	// Resolution is "client" for a call that is never made here: send resolve with its result.
	Resolution string `json:"resolution,omitempty"`
	// Reason is "outcome unknown" for a call that was interrupted while it ran: send retry, resolve or reject. Error
	// says more.
	Reason string     `json:"reason,omitempty"`
	Error  *CallError `json:"error,omitempty"`
	// EditedArgs are what earlier approvers want the call to run with; ArgsDigest names them then.
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	// ApprovalsNeeded is how many different people have to approve, where that is more than one; ApprovedBy are those
	// who have.
	ApprovalsNeeded int      `json:"approvalsNeeded,omitempty"`
	ApprovedBy      []string `json:"approvedBy,omitempty"`
	// ApproverRule says who may approve, where the method's rule does.
	ApproverRule *ApproverRule `json:"approverRule,omitempty"`
	// Refused is why the last approval of this call could not be used, such as edited arguments against the schema.
	Refused string `json:"refused,omitempty"`
	// Omitted says that args are left out here for their size; the full record has them.
	Omitted bool `json:"omitted,omitempty"`
}

// Outcome is what running, approving and waiting answer with.
type Outcome struct {
	Status      Status          `json:"status"`
	ExecutionID string          `json:"executionId"`
	Result      json.RawMessage `json:"result,omitempty"`
	Pending     []PendingAction `json:"pending,omitempty"`
	Error       string          `json:"error,omitempty"`
	Position    *Position       `json:"position,omitempty"`
	// Excerpt is the line of the program at Position, and below it a caret.
	Excerpt string `json:"excerpt,omitempty"`
	// Hints are mistakes that the text of the program shows.
	Hints []Hint `json:"hints,omitempty"`
	// Warnings are what the program lost without an error: promises and rejections that nothing awaited, values without
	// JSON of their own.
	Warnings []string `json:"warnings,omitempty"`
	Logs     []string `json:"logs,omitempty"`
	Calls    []Call   `json:"calls"`
	// LeftOver are the effects of the execution which this one continues that its program did not ask for.
	LeftOver []LeftOver `json:"leftOver,omitempty"`
	// Pass counts the passes behind this outcome; pass it to wait to learn of the next one.
	Pass int `json:"pass"`
	// Partial says that result, logs, calls or pending arguments are left out for their size: read the record.
	Partial bool `json:"partial,omitempty"`
	// CallsOmitted says that it is the calls alone.
	CallsOmitted bool `json:"callsOmitted,omitempty"`
}

// ErrorOutcome is an answer that changed nothing, such as an approval of what is not pending.
func ErrorOutcome(executionID, message string) Outcome {
	return Outcome{Status: Failed, ExecutionID: executionID, Error: message, Calls: []Call{}}
}

// Record is the audit record of an execution. Times are epoch milliseconds.
type Record struct {
	ID      string `json:"id"`
	Runtime string `json:"runtime"`
	Purpose string `json:"purpose,omitempty"`
	Code    string `json:"code,omitempty"`
	Caller
	Status Status `json:"status"`
	// Continues is the execution that this one goes on from, LeftOver what its program did not ask for of that one's
	// effects, once it has ended.
	Continues string     `json:"continues,omitempty"`
	LeftOver  []LeftOver `json:"leftOver,omitempty"`
	// EndedBy is who or what ended the execution before its program did: a rejection, an expiry, a rollback or a
	// request to cancel, of whose sender DecidedBy is what it claimed.
	EndedBy  *Decision       `json:"endedBy,omitempty"`
	Log      []Call          `json:"log,omitzero"` // nil in lists, which leave it out
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Position *Position       `json:"position,omitempty"`
	// Excerpt and Warnings are those of the outcome.
	Excerpt  string   `json:"excerpt,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Hints are mistakes that the text of the program shows, Program what it shows of the calls to come.
	Hints      []Hint   `json:"hints,omitempty"`
	Program    *Program `json:"program,omitempty"`
	Logs       []string `json:"logs,omitempty"`
	Connectors []string `json:"connectors"`
	Passes     int      `json:"passes"`
	Engine     string   `json:"engine,omitempty"`
	CreatedAt  int64    `json:"createdAt"`
	UpdatedAt  int64    `json:"updatedAt"`
	ExpiresAt  int64    `json:"expiresAt,omitempty"`
	// Rollbacks are those that were tried, the oldest first.
	Rollbacks []RollbackRecord `json:"rollbacks,omitempty"`
	// HookErrors are what lifecycle hooks of connectors failed with.
	HookErrors []string `json:"hookErrors,omitempty"`
	// Total is the number of calls where the log is one page of them.
	Total int `json:"total,omitempty"`
}

// OmittedResult stands in the record for a final result that was too large to keep.
func OmittedResult(reason string) json.RawMessage {
	text, _ := Marshal("[codemode: result omitted from the audit trail — " + reason + "]")
	return text
}

package signals

import (
	"encoding/json"
	"fmt"
	"time"
)

// ExecutionInput starts codemode.Execution. The workflow id should be WorkflowID(runtime, executionID).
type ExecutionInput struct {
	Code    string `json:"code"`
	Runtime string `json:"runtime,omitempty"`
	Purpose string `json:"purpose,omitempty"`
	// Synchronous says that calls of connectors return their values, or throw, instead of giving promises.
	Synchronous bool `json:"synchronous,omitempty"`
	// TellParent says that the parent workflow gets a SignalPaused whenever the execution waits for people.
	TellParent bool `json:"tellParent,omitempty"`
	// FailOnError says that the workflow fails where its program does not complete: see ErrorExecution. Otherwise every
	// outcome is a result.
	FailOnError bool `json:"failOnError,omitempty"`
	// Caller is who started the execution, for whom and in which conversation.
	Caller
	// Continues is the execution that this one goes on from, if it does.
	Continues *Continues `json:"continues,omitempty"`
	// Continued is the state of the run before, where that continued as new.
	Continued *Carried `json:"continued,omitempty"`
}

// ExecutionResult is the workflow's result: how the execution ended, and what no pass result holds.
type ExecutionResult struct {
	Status      Status `json:"status"`
	ExecutionID string `json:"executionId"`
	// Result is the program's value if it takes at most ClosingResultBytes; else Omitted is true, and the last pass's
	// result has it.
	Result   json.RawMessage `json:"result,omitempty"`
	Omitted  bool            `json:"omitted,omitempty"`
	Error    string          `json:"error,omitempty"`
	Position *Position       `json:"position,omitempty"`
	Passes   int             `json:"passes"`
	// Final settled after the last pass was started.
	Final []Given `json:"final,omitempty"`
	// Ended are calls that never settled, with the state that the end gave them.
	Ended   []EndedCall `json:"ended,omitempty"`
	EndedAt int64       `json:"endedAt"`
	// Connectors are those that the execution could use. StartedAt is when it began, where that was in an earlier run.
	StartedAt  int64    `json:"startedAt,omitempty"`
	Connectors []string `json:"connectors,omitempty"`
	// EndedBy is who or what ended the execution before its program did.
	EndedBy *Decision `json:"endedBy,omitempty"`
	// Rollback is set where a rollback ended the execution, and in the result of codemode.Rollback.
	Rollback *RollbackRecord `json:"rollback,omitempty"`
}

// ClosingResultBytes is the size up to which the workflow's own result repeats the program's value.
const ClosingResultBytes = 256 * 1024

// EndedCall is a call that the end of its execution overtook.
type EndedCall struct {
	Seq      int       `json:"seq"`
	State    CallState `json:"state"`
	Ended    CallEnd   `json:"ended,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	// Error is set for a call whose outcome is unknown.
	Error *CallError `json:"error,omitempty"`
}

// Pinned is what the first pass fixes for the whole execution.
type Pinned struct {
	// Version is that of the workflow code which started the pass, as its input said: what came later leaves the
	// execution as it was.
	Version    int      `json:"version,omitempty"`
	Engine     string   `json:"engine"`
	Connectors []string `json:"connectors"`
	Limits     Limits   `json:"limits"`
	// SearchAttributes says that the server knows CodemodeRuntime and CodemodeStatus.
	SearchAttributes bool `json:"searchAttributes"`
	// LabelAttribute says that it knows CodemodeLabels, and that labels are to be searched.
	LabelAttribute bool `json:"labelAttribute,omitempty"`
	// LocalPasses says that passes are first tried inside the workflow task, as local activities.
	LocalPasses bool  `json:"localPasses,omitempty"`
	Hooks       Hooks `json:"hooks,omitzero"`
	// Preflight is what was found before the program ran.
	Preflight Preflight `json:"preflight,omitzero"`
}

// ForPass is what passes are told of it: hints are for people and models.
func (p *Pinned) ForPass() *Pinned {
	if p == nil || p.Preflight.Hints == nil {
		return p
	}
	told := *p
	told.Preflight.Hints = nil
	return &told
}

// Limits bound an execution; a zero field means its default.
type Limits struct {
	PausedTTLMs int64 `json:"pausedTTLMs,omitempty"` // 24 h
	InlineCalls int   `json:"inlineCalls,omitempty"` // 100,000
	GatedCalls  int   `json:"gatedCalls,omitempty"`  // 100,000
	Passes      int   `json:"passes,omitempty"`      // 1,000,000
	RunTimeMs   int64 `json:"runTimeMs,omitempty"`   // 30 days
	// CarriedReadsMs is how old a read may be that is taken over from the execution which is continued: 1 h.
	CarriedReadsMs int64 `json:"carriedReadsMs,omitempty"`
	// LogBytes is what the log of an execution may take that outlives a run, as history holds it: 28 MiB.
	LogBytes int `json:"logBytes,omitempty"`
	// A run that has recorded so many bytes beyond what it was given, or so many events, continues as new.
	HistoryBytes  int `json:"historyBytes,omitempty"`  // 16 MiB
	HistoryEvents int `json:"historyEvents,omitempty"` // 10,000
}

// WithDefaults fills the zero fields.
func (l Limits) WithDefaults() Limits {
	const hour = int64(3_600_000)
	l.PausedTTLMs = orElse(l.PausedTTLMs, 24*hour)
	l.InlineCalls = orElse(l.InlineCalls, 100_000)
	l.GatedCalls = orElse(l.GatedCalls, 100_000)
	l.Passes = orElse(l.Passes, 1_000_000)
	l.RunTimeMs = orElse(l.RunTimeMs, 30*24*hour)
	l.CarriedReadsMs = orElse(l.CarriedReadsMs, hour)
	l.LogBytes = orElse(l.LogBytes, 28<<20)
	l.HistoryBytes = orElse(l.HistoryBytes, 16<<20)
	l.HistoryEvents = orElse(l.HistoryEvents, 10_000)
	return l
}

// WithFirstDefaults fills the zero fields as before the limits of an execution were pinned, when nothing continued as
// new.
func (l Limits) WithFirstDefaults() Limits {
	l.InlineCalls = orElse(l.InlineCalls, 10_000)
	l.GatedCalls = orElse(l.GatedCalls, 1_000)
	l.Passes = orElse(l.Passes, 5_000)
	l.HistoryBytes = orElse(l.HistoryBytes, 40<<20)
	l.HistoryEvents = orElse(l.HistoryEvents, 45_000)
	return l.WithDefaults()
}

func orElse[T int | int64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// PassInput is what a pass is given beside the log, which it takes from its worker's memory or the run's history.
type PassInput struct {
	ExecutionID string `json:"executionId"`
	Runtime     string `json:"runtime"`
	Pass        int    `json:"pass"`
	// After is the nonce of the previous pass's recorded result: memory that carries another is stale.
	After     string     `json:"after,omitempty"`
	StartedAt int64      `json:"startedAt"`
	Given     []Given    `json:"given,omitempty"`
	Open      []OpenCall `json:"open,omitempty"`
	// Code is the program, for a local pass, whose input no event holds; other passes read it from the first event.
	Code string `json:"code,omitempty"`
	// Continues says that the first pass finds what it is offered in history.
	Continues bool `json:"continues,omitempty"`
	// Decided says that the pass follows a decision. On a worker without the pinned connectors it runs nothing and says
	// so; results kept of reexecute reads are read anew.
	Decided bool `json:"decided,omitempty"`
	// Synchronous is the execution's.
	Synchronous bool    `json:"synchronous,omitempty"`
	Pinned      *Pinned `json:"pinned,omitempty"`
	// Version is that of the workflow's code, for the first pass to pin.
	Version int `json:"version,omitempty"`
	// Caller is the execution's.
	Caller Caller `json:"caller,omitzero"`
}

// OpenCall is a gated call that has not settled.
type OpenCall struct {
	Seq int `json:"seq"`
	// Pending says that the call waits for a person. Otherwise it runs, or will be dispatched once the pass has issued
	// it again.
	Pending bool `json:"pending,omitempty"`
}

// Given kinds; the zero value is a settled call.
const (
	GivenTimer    = "timer"
	GivenDecision = "decision"
)

// Given is one thing that settled between two passes.
type Given struct {
	Kind string `json:"kind,omitempty"`
	// ID is the call's seq or the timer's number.
	ID int   `json:"id"`
	At int64 `json:"at"`
	// Source is the id of the activity whose event holds the value; empty where none does.
	Source   string          `json:"source,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Error    *CallError      `json:"error,omitempty"`
	Decision *Decision       `json:"decision,omitempty"`
	// Carried says that Value or Error is here although an event holds it too.
	Carried bool `json:"carried,omitempty"`
}

// Reference drops what the source event holds.
func (g Given) Reference() Given {
	if g.Source != "" {
		g.Value, g.Error, g.Carried = nil, nil, false
	}
	return g
}

// Same reports whether both tell of the same event: what an interrupted call is given has no source.
func (g Given) Same(other Given) bool {
	return g.Kind == other.Kind && g.ID == other.ID && g.At == other.At && g.Source == other.Source
}

// CallError is how a call failed, as the program sees it.
type CallError struct {
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	// Key is the idempotency key of a call whose outcome is unknown.
	Key string `json:"key,omitempty"`
	// Details are those of a team's own activity or workflow, as wire JSON; NonRetryable says that it asked not to be
	// tried again.
	Details      json.RawMessage `json:"details,omitempty"`
	NonRetryable bool            `json:"nonRetryable,omitempty"`
}

// UnknownOutcome is the error of a call that was interrupted while it ran.
func UnknownOutcome(name, key string) *CallError {
	return &CallError{Name: OutcomeUnknown, Key: key, Message: fmt.Sprintf(
		"The outcome of %s is unknown: it was interrupted while it ran and may or may not have taken effect. Check "+
			"before you repeat it.", name)}
}

// Names of errors that programs may tell apart by error.name.
const (
	OutcomeUnknown = "OutcomeUnknown"
	RejectedError  = "RejectedError"
)

// Entry is one settled thing that a pass delivered to its program: an inline call, a step, a look-up, or a timer.
type Entry struct {
	// A log may have thousands of entries, each with the same names: between worker and sandbox they go without.
	_     struct{} `cbor:",toarray"`
	Timer bool     `json:"timer,omitempty"`
	// ID is a call's seq, a timer's number, or below zero, that of a look-up.
	ID        int             `json:"id"`
	Connector string          `json:"connector,omitempty"`
	Method    string          `json:"method,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Error     *CallError      `json:"error,omitempty"`
	At        int64           `json:"at"`
	Class     Class           `json:"class,omitempty"`
	Approval  bool            `json:"approval,omitempty"`
	Ephemeral bool            `json:"ephemeral,omitempty"`
	// Nested says that the step issued calls or timers, so a replay runs it again to issue them.
	Nested   bool      `json:"nested,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Position *Position `json:"position,omitempty"`
	// Dropped says that the pass was stopped before the call settled.
	Dropped bool `json:"dropped,omitempty"`
	// Revertable says that the method has a revert.
	Revertable bool `json:"revertable,omitempty"`
	// Source is the activity that made a gated call. The fold sets it; no pass result has it.
	Source string `json:"source,omitempty"`
	// CarriedFrom is the call of an earlier execution that this one took over: it was not made here.
	CarriedFrom *CarriedFrom `json:"carriedFrom,omitempty"`
}

// Internal says that the entry is replayed but is no call: a timer or a look-up.
func (e Entry) Internal() bool { return e.Timer || e.ID < 0 }

// Blocked is a gated call that a pass issued for the workflow to make.
type Blocked struct {
	Seq       int             `json:"seq"`
	Connector string          `json:"connector"`
	Method    string          `json:"method"`
	Args      json.RawMessage `json:"args,omitempty"`
	Class     Class           `json:"class"`
	Approval  bool            `json:"approval,omitempty"`
	Position  *Position       `json:"position,omitempty"`
	TimeoutMs int64           `json:"timeoutMs,omitempty"`
	// Queue is the connector's own task queue; empty is the runtime's.
	Queue string `json:"queue,omitempty"`
	// Revertable says that the method has a revert.
	Revertable bool `json:"revertable,omitempty"`
	// Approvals is how many different people have to approve; 0 is one.
	Approvals int `json:"approvals,omitempty"`
	// Approvers says how several people are told apart: ApproversNamed or ApproversAuthenticated; empty in histories of
	// before, where names are compared letter by letter.
	Approvers string `json:"approvers,omitempty"`
	// ApproverRule says who may approve; nil is everybody.
	ApproverRule *ApproverRule `json:"approverRule,omitempty"`
	// Client says that the call is never made here, a client gives its result.
	Client bool `json:"client,omitempty"`
	// AskUnknown leaves a call whose outcome is unknown to a person.
	AskUnknown bool `json:"askUnknown,omitempty"`
	// Retry bounds the attempts of a call that asks to be retried.
	Retry *RetryLimits `json:"retry,omitempty"`
	// Earlier is set of a call whose outcome an earlier execution left unknown, and about which a person is asked.
	Earlier *EarlierCall `json:"earlier,omitempty"`
	// Target makes the call, where that is a team's own activity or workflow.
	Target *Target `json:"target,omitempty"`
}

// EarlierCall is what is known of a call that an earlier execution made and whose outcome it left unknown.
type EarlierCall struct {
	From    CarriedFrom `json:"from"`
	Unknown CallError   `json:"unknown"`
	// Edited are the arguments that it was made with, where a person replaced the program's.
	Edited json.RawMessage `json:"edited,omitempty"`
}

// How people are told apart where several have to approve: by the name that a door authenticated, else by the one that
// is claimed; or by the authenticated one alone. Case and space around names do not make other people.
const (
	ApproversNamed         = "named"
	ApproversAuthenticated = "authenticated"
)

// RetryLimits bound the attempts of a call that asks to be retried; a zero field means its default.
type RetryLimits struct {
	Attempts  int   `json:"attempts,omitempty"`  // in all: 3
	InitialMs int64 `json:"initialMs,omitempty"` // first pause, doubled each time: 1 s
	MaxMs     int64 `json:"maxMs,omitempty"`     // longest pause: 30 s
}

// WithDefaults fills the zero fields.
func (l RetryLimits) WithDefaults() RetryLimits {
	l.Attempts = orElse(l.Attempts, 3)
	l.InitialMs = orElse(l.InitialMs, 1_000)
	l.MaxMs = orElse(l.MaxMs, 30_000)
	return l
}

// Backoff is the pause after an attempt, counted from 1; what the connector asked for counts more.
func (l RetryLimits) Backoff(asked time.Duration, attempt int) time.Duration {
	if asked > 0 {
		return asked
	}
	l = l.WithDefaults()
	pause := min(l.MaxMs, l.InitialMs<<min(attempt-1, 20))
	return time.Duration(pause) * time.Millisecond
}

// Timer is a program's timer that outlives the pass.
type Timer struct {
	ID  int   `json:"id"`
	Due int64 `json:"due"`
}

// PassEnd is why a pass ended.
type PassEnd string

// The ends of a pass.
const (
	PassCompleted PassEnd = "completed"
	PassFailed    PassEnd = "failed"
	PassBlocked   PassEnd = "blocked" // waits for gated calls or timers
	PassMore      PassEnd = "more"    // the next pass goes on at once
	PassMissing   PassEnd = "missing" // ran nothing: connectors are missing here
	// PassElsewhere is the answer of a local pass that goes on as an activity of its own. It is no part of the log.
	PassElsewhere PassEnd = "elsewhere"
)

// PassResult is what a pass hands back; with the results of gated calls it is all there is of an execution's log.
type PassResult struct {
	Nonce   string    `json:"nonce"`
	Pass    int       `json:"pass"`
	End     PassEnd   `json:"end"`
	Given   []Given   `json:"given,omitempty"`
	Entries []Entry   `json:"entries,omitempty"`
	Blocked []Blocked `json:"blocked,omitempty"`
	// Partial says that more blocked calls did not fit; nothing is dispatched before the next pass has listed them.
	Partial bool            `json:"partial,omitempty"`
	Timers  []Timer         `json:"timers,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	// Omitted is why the program's value is not recorded: a result of that kind still completes.
	Omitted string       `json:"omitted,omitempty"`
	Failure *PassFailure `json:"failure,omitempty"`
	// Logs are the console lines that no earlier pass reported; Lines counts all since the program's start.
	Logs  []string `json:"logs,omitempty"`
	Lines int      `json:"lines,omitempty"`
	// Warnings are of the pass in which the program ended: what it lost without an error.
	Warnings []string `json:"warnings,omitempty"`
	Pinned   *Pinned  `json:"pinned,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	// Why is the reason where nothing ran, and no connectors are missing.
	Why string `json:"why,omitempty"`
}

// PassFailure is why a program ended as an error.
type PassFailure struct {
	// Message is the whole text but for the console output, which Outcome and Record put after it.
	Message  string    `json:"message"`
	Position *Position `json:"position,omitempty"`
	// Excerpt is the line of the program at Position, and below it a caret.
	Excerpt string `json:"excerpt,omitempty"`
	// Diverged is the seq at which the replay differed from the log, if it did.
	Diverged *int `json:"diverged,omitempty"`
	// Stopped says that the pass was cut off, so calls it blocked on are not made.
	Stopped bool `json:"stopped,omitempty"`
}

// CallInput is the one argument of a gated call's activity, whose type is <connector>.<method>.
type CallInput struct {
	ExecutionID string          `json:"executionId"`
	Seq         int             `json:"seq"`
	Connector   string          `json:"connector"`
	Method      string          `json:"method"`
	Args        json.RawMessage `json:"args,omitempty"`
	Key         string          `json:"key"`
	Class       Class           `json:"class"`
	// Edited says that a person replaced the arguments, so they are validated before use.
	Edited bool `json:"edited,omitempty"`
	// Attempt counts those that the workflow makes, from 1; Temporal's own repetitions come on top.
	Attempt int `json:"attempt,omitempty"`
	// Resolution is the result that a client gave: the activity checks it and makes no call.
	Resolution *Resolution `json:"given,omitempty"`
	// Revert makes the activity undo the call instead; Args and Key are not looked at then.
	Revert *Revert `json:"revert,omitempty"`
	// Next is the pass that follows if the call succeeds: nothing else is waited for. The activity may go on with it.
	Next *NextPass `json:"next,omitempty"`
	// Caller is the execution's.
	Caller Caller `json:"caller,omitzero"`
}

// NextPass is what tells the pass that follows a call from the one before; the rest its worker remembers, or does not
// go on with it.
type NextPass struct {
	Pass  int    `json:"pass"`
	After string `json:"after"`
	// Attempts is how often the call was made; 0 is once.
	Attempts int `json:"attempts,omitempty"`
}

// Resolution is a result that a client gave; a missing value is undefined.
type Resolution struct {
	Value json.RawMessage `json:"value,omitempty"`
}

// RetryAdvice is the detail of an error that asks for another attempt; a zero field leaves it to the method's limits.
type RetryAdvice struct {
	MaxAttempts int   `json:"maxAttempts,omitempty"`
	AfterMs     int64 `json:"afterMs,omitempty"`
}

// CallOutput is the result of a gated call's activity; a missing value is undefined.
type CallOutput struct {
	Value json.RawMessage `json:"value,omitempty"`
	// At is when the call settled, in epoch milliseconds, if the activity began the pass that follows; else the
	// workflow says.
	At int64 `json:"at,omitempty"`
	// Next is that pass, if it ended in time. It counts unless the execution has ended, or started another instead.
	Next *PassResult `json:"next,omitempty"`
	// Prepared says that nothing was made yet: the workflow has this make it.
	Prepared *Prepared `json:"prepared,omitempty"`
}

// Types of the application errors that call activities and update validators fail with.
const (
	// ErrorConnector is the connector's own final answer.
	ErrorConnector = "ConnectorError"
	// ErrorRetryable asks for another attempt.
	ErrorRetryable = "RetryableError"
	// ErrorInvalid says that edited arguments or a given result were refused; the call is pending again.
	ErrorInvalid = "InvalidArguments"
	// ErrorUnavailable says that this worker cannot make the call and did not; another may.
	ErrorUnavailable = "ConnectorUnavailable"
	// ErrorTooLarge says that the call took effect, its result cannot be recorded.
	ErrorTooLarge = "ResultTooLarge"
	// ErrorBusy refuses one more waiter for an execution, or a decision that comes with too many others.
	ErrorBusy = "Busy"
	// ErrorRefused is a decision that does not apply, sent as an update; its details hold the Verdict.
	ErrorRefused = "Refused"
)

package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// Executor runs passes. The error is for passes that could not be run at all; how a program ends is data in Result.
type Executor interface {
	Run(ctx context.Context, pass Pass, host Host) (Result, error)
	// Version names everything that may change how a log replays: engine, transformer, prelude.
	Version() string
}

type waitingKey struct{}

// WithWaiting makes Run tell report when a pass begins and ends to wait for a free child.
func WithWaiting(ctx context.Context, report func(waiting bool)) context.Context {
	return context.WithValue(ctx, waitingKey{}, report)
}

// ReportWaiting is for executors: it tells whoever asked by WithWaiting that the pass of ctx begins or ends to wait.
func ReportWaiting(ctx context.Context, waiting bool) {
	if report, ok := ctx.Value(waitingKey{}).(func(bool)); ok {
		report(waiting)
	}
}

// Host answers the calls of a running pass.
type Host interface {
	// Admit says how a call will be made. It is asked when a live call is issued or, of a method with EveryCall, when
	// it is made. It does no I/O.
	Admit(Call) Admission
	// Call makes a call admitted as inline. At most Limits.Parallel run at once, and beside Admit.
	Call(context.Context, Call) Settlement
}

// StepConnector is the connector name of codemode.step entries.
const StepConnector = "__step"

// PlatformConnector is the connector name of internal calls: what a program asks codemode itself, by search, describe
// and run. They are numbered apart, from -1 down, and are logged and replayed like any other. Their arguments are
// {query, connector?, limit?}, {target} and {name, input?}; the last is answered with {source} or {error}.
const PlatformConnector = "codemode"

// Pass is what one pass is given.
type Pass struct {
	Code string
	// Survey asks for what package preflight reads in the code, as the result's value: nothing runs.
	Survey bool
	// Seed seeds the random numbers; the same for every pass of an execution.
	Seed string
	// Start is the virtual clock before the first delivery, in epoch milliseconds.
	Start int64
	// Began is when the execution began, where its clock starts earlier: with that of the execution that it continues.
	// Until the clock has caught up, what the program does itself takes no time.
	Began int64
	// Modules are what the program may import: source by name. A change of them is a change of the engine: see
	// compile.ModulesVersion.
	Modules map[string]string
	// Connectors are the namespaces that the program sees.
	Connectors []string
	// Log is what settled, in settle order; replayed first.
	Log []signals.Entry
	// Open are the gated calls that an earlier pass issued and that have not settled.
	Open []OpenCall
	// Refresh makes ephemeral entries of the log anew instead of replaying their kept value, in a new runtime.
	Refresh bool
	// Synchronous says that a call of a connector returns its value, or throws, instead of giving a promise. It is the
	// same for every pass of an execution.
	Synchronous bool
	// Lines is the number of console lines that earlier passes reported.
	Lines  int
	Limits Limits
	// Left says where the pass stood when it left another sandbox: Log holds what it had delivered by then. It is for
	// executors: whoever drives the passes leaves it empty.
	Left *LeftState
	// After names the state in which the pass before ended, As the one in which this one will: an executor may keep the
	// runtime of a blocked pass under that name, and go on with it where Log begins with what it has seen. Names are
	// never used again. Without them each pass replays Log in a new runtime; the results are the same.
	After, As string
}

// LeftState is what is known of a pass that left its sandbox, beside the entries that it had delivered.
type LeftState struct {
	// Size is the bytes of these entries, Inline how many of them count as inline calls.
	Size, Inline int
	// Stands says that the sandbox keeps the runtime where it stands, as long as it has room for it.
	Stands bool
	// Running is how many calls the program waits for.
	Running int
	// Wake is when the program's next timer is due, in epoch milliseconds; 0 if it waits for none.
	Wake int64
	// GateOpen is how long a gated call has been open, Deliveries how many since, Timers how many were set before.
	GateOpen           time.Duration
	Deliveries, Timers int
	// Spent is the time that the pass has taken, Remaining what is left of it.
	Spent, Remaining time.Duration
	// Calls were begun, and the program has not had their results.
	Calls []LeftCall
}

// LeftCall is a call that goes on while its pass is in no sandbox.
type LeftCall struct {
	Seq       int
	Admission Admission
	Age       time.Duration // since it was begun
	// Settlement is how it ended, at At in epoch milliseconds; nil while it goes on.
	Settlement *Settlement
	At         int64
}

// TimeoutGrace is what a pass has beyond the timeout of a call of its own, so that the program learns of that.
const TimeoutGrace = time.Second

// Limits bound one pass; a zero field means its default.
type Limits struct {
	Timeout      time.Duration // of the pass, while it is in a sandbox or waits for calls: 60 s
	Told         time.Duration // what is told of Timeout where that is the rest of it
	CPU          time.Duration // processor time of the pass, in a child: 30 s
	Rollover     time.Duration // a pass ends at a call boundary after this: 20 s
	Parallel     int           // inline calls at once: 16
	InlineCalls  int           // new inline calls and steps in this pass: 10,000
	GatedCalls   int           // new gated calls in this pass: 1,000
	ValueUnits   int           // UTF-16 units of one durable value: 1,000,000
	ValueBytes   int           // UTF-8 bytes of one durable value: 1,900,000
	BufferBytes  int           // a pass ends at a call boundary past this: 1,000,000
	ResultBytes  int           // a result holds this, or a single value: 1,500,000
	ConsoleBytes int           // console output of one pass: 256,000; the oldest is dropped
	ConsoleLines int           // 10,000
	Stack        int           // depth of JavaScript calls: 2,000
}

// OpenCall is a gated call that an earlier pass issued.
type OpenCall struct {
	Seq       int
	Connector string
	Method    string
	Args      json.RawMessage
	// Pending says that the call waits for a person, so that it lapses if the program throws.
	Pending bool
}

// Call is one use of a connector method by the program. Missing Args are JavaScript's undefined.
type Call struct {
	_         struct{} `cbor:",toarray"`
	Seq       int      // from 0; from -1 down of internal calls
	Connector string
	Method    string
	Args      json.RawMessage
	Position  *signals.Position
}

// Admission is how a call will be made.
type Admission struct {
	// Refused settles the call at once with this error.
	Refused *signals.CallError
	// Carried settles the call at once, as an equal call settled before this execution.
	Carried *Carried
	// Gated leaves the call to whoever drives the passes; else it is made inline.
	Gated     bool
	Approval  bool
	Class     signals.Class
	Ephemeral bool
	Timeout   time.Duration
	// EveryCall of the method is admitted like this one, unless its arguments are refused: a child need not ask again
	// in the same pass. Only inline calls have it.
	EveryCall bool
}

// Carried is how a call ended that an earlier execution made.
type Carried struct {
	Value json.RawMessage // missing: undefined
	Err   *signals.CallError
	// At is when, in epoch milliseconds. The program has the results of several in the order of their Order, as the
	// earlier one had.
	At    int64
	Order int
}

// Settlement is how an inline call ended.
type Settlement struct {
	Value json.RawMessage // missing: undefined
	Err   *signals.CallError
	// Escalate says that the call is to be made as a gated one after all; As says how, if not as it was admitted.
	Escalate bool
	As       *Admission
}

// BlockedCall is a gated call that this pass issued for the first time.
type BlockedCall struct {
	Call
	Class    signals.Class
	Approval bool
	Timeout  time.Duration
}

// End is why a pass ended.
type End string

// The ends of a pass.
const (
	Completed End = "completed"
	Failed    End = "failed"
	Blocked   End = "blocked"
	More      End = "more"
	// Left is for executors: the program can only wait, and others want the sandbox.
	Left End = "left"
)

// Result is what a pass hands back.
type Result struct {
	End     End
	Entries []signals.Entry // delivered live, in order
	Blocked []BlockedCall
	Partial bool // more blocked calls did not fit
	Timers  []signals.Timer
	Value   json.RawMessage
	// Oversize is the size in bytes of a final value too large to hand back.
	Oversize int
	Failure  *Failure
	// Stopped says that the pass was cut off, so what it is blocked on must not be made.
	Stopped bool
	Logs    []string // lines that no earlier pass reported
	Lines   int      // lines printed since the program's start
	// Warnings are what the program lost without an error, told when it has ended.
	Warnings []string
	// Left says where the pass stood when it ended as Left.
	Left *LeftState
	// Parked says that the child keeps the runtime, to go on with it.
	Parked bool
}

// FailureKind tells the ends of a failed program apart.
type FailureKind string

// The kinds of failure.
const (
	Thrown          FailureKind = "thrown"
	SyntaxError     FailureKind = "syntax"
	TimedOut        FailureKind = "timeout"
	Deadlock        FailureKind = "deadlock"
	Diverged        FailureKind = "diverged"
	TooLarge        FailureKind = "too large"
	NotSerializable FailureKind = "not serializable"
	BudgetExceeded  FailureKind = "budget"
	StackOverflow   FailureKind = "stack"
	OutOfMemory     FailureKind = "memory"
	Crashed         FailureKind = "crashed"
)

// Failure is why a program ended as an error.
type Failure struct {
	Kind    FailureKind
	Message string
	// Subject, Size and Limit belong to TooLarge and NotSerializable: what it was, in the words of the error.
	Subject  string
	Size     int
	Limit    int
	Seq      int // of Diverged
	Position *signals.Position
}

// WithDefaults has a number for every limit.
func (l Limits) WithDefaults() Limits {
	l.Timeout = cmp.Or(l.Timeout, 60*time.Second)
	l.Told = cmp.Or(l.Told, l.Timeout)
	l.CPU = cmp.Or(l.CPU, 30*time.Second)
	l.Rollover = cmp.Or(l.Rollover, 20*time.Second)
	l.Parallel = cmp.Or(l.Parallel, 16)
	l.InlineCalls = cmp.Or(l.InlineCalls, 10_000)
	l.GatedCalls = cmp.Or(l.GatedCalls, 1_000)
	l.ValueUnits = cmp.Or(l.ValueUnits, 1_000_000)
	l.ValueBytes = cmp.Or(l.ValueBytes, 1_900_000)
	l.BufferBytes = cmp.Or(l.BufferBytes, 1_000_000)
	l.ResultBytes = cmp.Or(l.ResultBytes, 1_500_000)
	l.ConsoleBytes = cmp.Or(l.ConsoleBytes, 256_000)
	l.ConsoleLines = cmp.Or(l.ConsoleLines, 10_000)
	l.Stack = cmp.Or(l.Stack, 2_000)
	return l
}

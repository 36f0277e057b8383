package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// Whatever decides which commands a workflow makes is replayed from history, for as long as an execution is open. So a
// change of it counts for executions that begin after it, and leaves the others as they were.
//
// An execution's version is pinned by its first pass, which echoes what the workflow code said (PassInput.Version): it
// costs no event of its own, where GetVersion costs two of every execution. GetVersion is for what happens before the
// first pass has answered, and for changes that open executions must get; it is called only where the change shows.
//
// The numbers in this file steer workflow code, as do the limits that the first pass pins: who changes one of them adds
// a version.
const (
	// inOrder is the first version. Decisions apply in the order of their arrival across all names, also before the
	// result of a pass; calls are dispatched in waves, and those nobody has begun are withdrawn when a person ends the
	// execution; waiters need no timer; a call that is pending again has all the time to be decided.
	inOrder = 1
	// besideLog: what a run takes over counts for nothing of what makes it continue as new, so that each run makes
	// progress, however small it is to be.
	besideLog = 2
	// listed tells lists, in the memo, what waits for a person, and in the result what connectors there were.
	listed = 3
	// attributed: an execution that was started without search attributes sets them itself.
	attributed = 4

	currentVersion = attributed
)

// since reports whether the execution is of a version, or newer. Before the first pass it is of the newest.
func (e *execution) since(version int) bool { return e.pinned == nil || e.pinned.Version >= version }

// waitsWithoutTimer is since(inOrder) for a waiter, whose timer may stand in history before the first pass has
// answered.
func (e *execution) waitsWithoutTimer(ctx workflow.Context) bool {
	if e.pinned != nil {
		return e.since(inOrder)
	}
	return workflow.GetVersion(ctx, "waits without a timer", workflow.DefaultVersion, 1) >= 1
}

// What the commands of one workflow task may hold in bytes. The server takes 4 MB in one transaction: beside our
// commands up to 2 MiB of events that it had buffered, the marker of a local pass, and the text of every update that
// the task accepted.
const (
	maxTaskBytes     = 1_200_000
	maxTaskBytesOnce = 3 << 20 // before version inOrder
	// maxAccepted is what the updates accepted in one task may take together; one alone may take more.
	maxAccepted = 1_500_000
)

const (
	// maxUpdates of the 2,000 that a run takes: then it continues as new.
	maxUpdates = 1_000
	// maxState is what the next run's input may take: the program, and what the workflow knows.
	maxState = 1_900_000
)

// limitsOf are the limits of an execution: pinned as they were resolved, or before that, as they were then.
func limitsOf(p *signals.Pinned) signals.Limits {
	if p.Version < inOrder {
		return p.Limits.WithFirstDefaults()
	}
	return p.Limits.WithDefaults()
}

// What calls in flight may add to a history of 50 MiB before it is full: no result may be what ends the run.
const (
	// fullHistory leaves 4 MiB for closing.
	fullHistory = 46 << 20
	fullEvents  = 45_000
	// largestResult is what a call may answer with whose method has not answered yet.
	largestResult = 2 << 20
	// smallestResult is what the least of all results is taken for, with all the events around it.
	smallestResult = 64 << 10
	// resultGrowth is how many times larger than any before it a method's result may be, without harm.
	resultGrowth = 4
	// maxRunning stays below the 2,000 activities that the server lets a run have pending.
	maxRunning = 1_500
)

package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/learnt"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// Register adds the package's workflows to a worker. On a versioned worker an execution stays with the build it started
// on, which alone replays its program; snippets and what is learnt, which are kept for years, go on with the newest.
func Register(w worker.WorkflowRegistry) {
	const pinned, newest = workflow.VersioningBehaviorPinned, workflow.VersioningBehaviorAutoUpgrade
	register := func(f any, name string, behavior workflow.VersioningBehavior) {
		w.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name, VersioningBehavior: behavior})
	}
	register(Execution, signals.ExecutionWorkflow, pinned)
	register(Rollback, signals.RollbackWorkflow, pinned)
	register(Snippet, signals.SnippetWorkflow, newest)
	register(Catalogue, signals.CatalogueWorkflow, pinned)
	register(Outcome, signals.OutcomeActivity, pinned)
	register(Undo, signals.UndoWorkflow, newest)
	register(Continued, signals.ContinuedWorkflow, newest)
	register(Learnt, learnt.Workflow, newest)
}

// Execution runs one program to its end. Outcomes are data: a program that throws completes the workflow with status
// "error", unless its input asks for an error.
func Execution(ctx workflow.Context, in signals.ExecutionInput) (signals.ExecutionResult, error) {
	e := newExecution(ctx, in)
	e.arrivals = arrivalsOf(ctx)
	if err := e.handle(ctx); err != nil {
		return signals.ExecutionResult{}, err
	}
	e.listen(ctx)
	// Everything else runs detached: a cancelled execution still awaits and logs the calls that run.
	main, _ := workflow.NewDisconnectedContext(ctx)
	e.takeLog(main)
	e.takeOffers(main)
	e.run(main)
	if e.handsOver {
		return signals.ExecutionResult{},
			workflow.NewContinueAsNewError(ctx, signals.ExecutionWorkflow, payload.MustRaw(e.nextInput()))
	}
	return e.ended(e.close(main))
}

// execution is the state of one run. The main loop (run) starts passes and makes calls; signal and update handlers, and
// a coroutine for each call that runs, change the state between its steps. Whatever they do is seen by the loop the
// next time it waits, in waitForProgress.
//
// The protocol between the parts, once around the loop:
//
//	pass             collects what settled and was decided since the pass before (passInput) and runs the next one
//	applyResult      takes up what the pass recorded: new calls, timers, or the end of the program
//	dispatch         starts the gated calls that the newest pass issued and that nobody has to decide about
//	waitForProgress  waits until every call that runs has settled, a timer fired or a decision came; it pauses the
//	                 execution while all that is left waits for a person
type execution struct {
	in        signals.ExecutionInput
	id        string
	startedAt int64
	updatedAt int64
	pinned    *signals.Pinned
	limits    signals.Limits

	passes int    // whose results were taken up
	nonce  string // of the newest of them
	// nextPassNow says that the newest pass ended only because its result was full, so that the next one starts at
	// once; continuing, that the running pass is such a next one.
	nextPassNow bool
	continuing  bool
	// lastLocalPass names the workflow task in which a local pass ended last, by the length of history at its start.
	lastLocalPass int
	// inLocalPass says that a local pass runs, or is about to: this workflow task will not end yet.
	inLocalPass bool
	// partial says that the newest pass could not list all the calls it is blocked on.
	partial bool

	// taskBytes is how many bytes the commands of a workflow task hold, and the updates that it accepted.
	taskBytes int
	task      task

	// What the answers of the calls that run may add to history, and the largest that each method has answered with.
	reservedBytes int
	largest       map[string]int

	// calling is the context of calls; withdraw cancels it, which ends those that nobody has begun.
	calling  workflow.Context
	withdraw workflow.CancelFunc

	// earlyPass is the result of the pass after the newest, if the activity of the call before it went on with that
	// pass.
	earlyPass *signals.PassResult

	calls   map[int]*call
	order   []*call // by seq
	running int     // gated calls dispatched and not settled
	inline  int     // calls that passes made
	gated   int     // calls that were left to the workflow
	effects int     // of these, those that took effect and were no reads

	// The effects of the execution that is continued, and which of them the program has not asked for.
	offered  []signals.LeftOver
	leftOver map[signals.CarriedFrom]bool

	// Of the runs before, see carry.go.
	runs           int // counting this one
	carriedBytes   int // of history that hold the log so far
	carriedEvents  int // the same in events
	undoableBefore bool
	settledBefore  bool // something has settled since the newest pass
	atRest         bool // no pass is due: the run goes on where the one before waited
	updates        int  // that this run took
	handsOver      bool // this run continues as new
	stayedAt       int  // the pass after which its state was too large for that
	next           *signals.Carried

	results       results
	mailboxes     []mailbox
	arrivals      *arrivals
	verdicts      verdicts
	decisions     []signals.Given             // taken since the newest pass started
	decisionWaits bool                        // one of them needs a pass
	always        map[string]signals.Decision // approvals for the rest of the execution, by method
	settled       []signals.Given             // settled since the newest pass started
	timers        []signals.Timer
	logs          preview[string]

	heldBytes        int // bytes of call values held for queries
	decisionBytes    int // bytes of all decisions
	undeliveredBytes int // bytes of the decisions that no pass was told of

	status       signals.Status
	shown        signals.Status   // in the search attributes
	outcome      *signals.Outcome // newest, nil while running
	answer       *signals.Outcome // to the decision that led to the newest pass, where it differs from outcome
	shownPending map[int]bool     // calls that the newest paused outcome listed as pending
	attributes   bool             // the server knows our search attributes
	cancelPass   workflow.CancelFunc
	waiters      int
	pausedAt     int64
	passEndTold  int    // newest pass of which connectors were told that it left the execution at rest
	unlisted     bool   // what waits has changed while the execution is paused, and lists do not tell it yet
	listedText   []byte // the newest state that lists were told
	end          *ending
	metrics      client.MetricsHandler
}

// ending is why and how the execution ends.
type ending struct {
	status   signals.Status
	message  string
	position *signals.Position
	excerpt  string
	warnings []string
	value    []byte
	omitted  bool
	diverged *int
	byItself bool // the program ended: what it has issued is still made
	// seq is the rejected call, pending how the calls end that waited for a person.
	seq      *int
	pending  signals.CallEnd
	decision *signals.Decision // about the calls that waited for a person
	by       *signals.Decision // who ended it, where that is no decision about calls
	rollback *signals.Rollback
}

func newExecution(ctx workflow.Context, in signals.ExecutionInput) *execution {
	info := workflow.GetInfo(ctx)
	e := &execution{
		in:        in,
		id:        info.WorkflowExecution.ID,
		startedAt: workflow.Now(ctx).UnixMilli(),
		calls:     map[int]*call{},
		always:    map[string]signals.Decision{},
		status:    signals.Running,
		limits:    signals.Limits{}.WithDefaults(), largest: map[string]int{},
		shownPending:  map[int]bool{},
		lastLocalPass: -1,
		inLocalPass:   true,
	}
	if runtime, id, ok := signals.ParseWorkflowID(e.id); ok {
		e.id = id
		if e.in.Runtime == "" {
			e.in.Runtime = runtime
		}
	}
	if e.in.Runtime == "" {
		e.in.Runtime = signals.DefaultRuntime
	}
	e.updatedAt = e.startedAt
	e.metrics = workflow.GetMetricsHandler(ctx)
	_, e.attributes = workflow.GetTypedSearchAttributes(ctx).GetKeyword(runtimeKey)
	if e.runs = 1; in.Continued != nil {
		e.restore(in.Continued)
	}
	return e
}

// run alternates passes and what they are blocked on until something ends the execution.
func (e *execution) run(ctx workflow.Context) {
	if message := signals.CheckSize("The execution code", e.in.Code); message != "" {
		e.stop(&ending{status: signals.Failed, message: message})
	}
	for e.end == nil && !e.handOver(ctx) {
		if !e.atRest || e.decisionWaits {
			e.setStatus(ctx, signals.Running)
			if e.checkBudgets(ctx); e.end != nil {
				return
			}
			e.pass(ctx)
		}
		e.atRest = false
		if e.end == nil {
			e.dispatch(ctx)
		}
		if e.end == nil && !e.nextPassNow {
			e.waitForProgress(ctx)
		}
	}
}

// maxEndMessage bounds what the end of an execution says, in bytes: it stands in history and in every outcome.
const maxEndMessage = 64 * 1024

// stop ends the execution, once: nothing more is dispatched, a running pass is cancelled.
func (e *execution) stop(end *ending) {
	if e.end != nil {
		return
	}
	end.message = signals.Cut(end.message, maxEndMessage)
	e.end = end
	if e.cancelPass != nil {
		e.cancelPass()
	}
	if e.withdraws() && e.withdraw != nil {
		e.withdraw()
	}
}

// withdraws reports whether the execution ends so that calls which nobody has begun are not made.
func (e *execution) withdraws() bool { return e.since(inOrder) && e.end != nil && !e.end.byItself }

func (e *execution) fail(format string, args ...any) {
	e.stop(&ending{status: signals.Failed, message: fmt.Sprintf(format, args...)})
}

// checkBudgets ends an execution before Temporal's own limits would.
func (e *execution) checkBudgets(ctx workflow.Context) {
	info, l := workflow.GetInfo(ctx), e.limits
	age := workflow.Now(ctx).UnixMilli() - e.startedAt
	switch {
	case e.passes >= l.Passes:
		e.exceed("This execution reached its limit of %d passes (limits.passes).", l.Passes)
	case age > l.RunTimeMs:
		e.exceed("This execution reached its time limit of %s (limits.runTime).",
			time.Duration(l.RunTimeMs)*time.Millisecond)
	case info.GetCurrentHistorySize() > e.mostBytes():
		e.exceed("This execution recorded more than the %d bytes that one run can hold.", e.mostBytes())
	case info.GetCurrentHistoryLength() > e.mostEvents():
		e.exceed("This execution recorded more than the %d events that one run can hold.", e.mostEvents())
	}
}

// mostBytes and mostEvents are where a run ends that could not continue as new.
func (e *execution) mostBytes() int {
	if e.since(inOrder) {
		return fullHistory
	}
	return e.limits.HistoryBytes
}

func (e *execution) mostEvents() int {
	if e.since(inOrder) {
		return fullEvents
	}
	return e.limits.HistoryEvents
}

// exceed ends the execution at a limit, and says what took effect by then.
func (e *execution) exceed(format string, args ...any) {
	took := "Nothing that it did has taken effect."
	switch {
	case e.effects == 1:
		took = "1 write took effect and stands."
	case e.effects > 1:
		took = fmt.Sprintf("%d writes took effect and stand.", e.effects)
	}
	e.fail("%s %s Do less in one execution: read less, or split the work over several executions.",
		fmt.Sprintf(format, args...), took)
}

// waitForProgress waits until the next pass is due: all dispatched calls settled, a timer of the program fired, or a
// decision was taken. With nothing running and something pending the execution is paused meanwhile. Calls that had to
// wait for room are made as others settle.
func (e *execution) waitForProgress(ctx workflow.Context) {
	timers, cancel := workflow.WithCancel(ctx)
	defer cancel()
	fired := e.startTimer(timers)
	for e.end == nil && !e.hasProgress(*fired) {
		if e.running == 0 && e.isFull(ctx) {
			return
		}
		if e.anyReady() && !e.partial {
			e.dispatchMore(ctx, fired)
			continue
		}
		paused := e.running == 0 && e.anyPending()
		if paused && e.listening() {
			e.passEnd(ctx, signals.Paused)
			continue // a decision may have come meanwhile
		}
		if paused {
			e.pause(ctx, timers)
		} else if e.running == 0 && len(e.timers) == 0 {
			return
		}
		e.awaitListing(ctx, func() bool {
			return e.end != nil || e.hasProgress(*fired) || !paused && e.running == 0 && e.anyPending() ||
				paused && (e.status != signals.Paused || e.isFull(ctx))
		})
	}
}

func (e *execution) hasProgress(timerFired bool) bool {
	return e.decisionWaits || timerFired || e.running == 0 && (len(e.settled) > 0 || e.settledBefore) &&
		(e.partial || !e.anyReady())
}

// dispatchMore makes calls that had no room, and waits for the next to settle.
func (e *execution) dispatchMore(ctx workflow.Context, fired *bool) {
	if e.running == 0 {
		e.checkBudgets(ctx)
	}
	e.dispatch(ctx)
	before := e.running
	_ = workflow.Await(ctx, func() bool { return e.end != nil || e.decisionWaits || *fired || e.running < before })
}

// startTimer arms a durable timer for the earliest of the program's timers.
func (e *execution) startTimer(ctx workflow.Context) *bool {
	fired := new(bool)
	if len(e.timers) == 0 {
		return fired
	}
	due := time.UnixMilli(e.timers[0].Due)
	wait := max(time.Millisecond, due.Sub(workflow.Now(ctx)))
	timer := workflow.NewTimerWithOptions(ctx, wait,
		workflow.TimerOptions{Summary: "timer of the program: " + wait.Round(time.Millisecond).String()})
	workflow.Go(ctx, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) != nil {
			return
		}
		now := workflow.Now(ctx).UnixMilli()
		e.timers = slices.DeleteFunc(slices.Clone(e.timers), func(t signals.Timer) bool {
			if t.Due > now {
				return false
			}
			e.settled = append(e.settled, signals.Given{Kind: signals.GivenTimer, ID: t.ID, At: now})
			return true
		})
		*fired = true
	})
	return fired
}

// pause publishes the pending calls and arms the expiry. ctx of the timer ends with the rest.
func (e *execution) pause(ctx, timers workflow.Context) {
	e.setStatus(ctx, signals.Paused)
	e.pausedAt = workflow.Now(ctx).UnixMilli()
	e.shownPending = map[int]bool{}
	oldest := int64(0)
	for _, c := range e.pending() {
		e.shownPending[c.rec.Seq] = true
		if oldest == 0 || c.requestedAt < oldest {
			oldest = c.requestedAt
		}
	}
	e.publish(ctx)
	e.tellParent(ctx)
	e.list(ctx)
	expires := time.UnixMilli(oldest + e.limits.PausedTTLMs)
	timer := workflow.NewTimerWithOptions(timers, max(time.Millisecond, expires.Sub(workflow.Now(ctx))),
		workflow.TimerOptions{Summary: "approval of " + e.pendingNames() + " expires"})
	workflow.Go(timers, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) == nil {
			e.expire(ctx, signals.Expire{})
		}
	})
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
)

// job is a pass that runs on this worker, apart from the activity that answers with its result. A pass that begins as a
// local activity and takes longer than a workflow task may stay open goes on by itself; the regular activity that the
// workflow starts then takes it over, so that nothing is repeated. On another worker that activity begins anew: what a
// pass does may be repeated, and only the result that history takes counts.
type job struct {
	in     signals.PassInput
	cancel context.CancelCauseFunc
	calls  chan struct{} // closed when the pass makes its first call
	done   chan struct{} // closed when result and err are there
	result signals.PassResult
	err    error

	mu      sync.Mutex
	pulse   *pulse // of the activity that answers, once that is a regular one
	waiting bool   // for a free sandbox
	reads   reads
	calling sync.Once
	expiry  *time.Timer // of a job that is left, guarded by jobs
}

func newJob(in signals.PassInput, cancel context.CancelCauseFunc) *job {
	in.Given = slices.Clone(in.Given) // the pass fills its own in
	return &job{in: in, cancel: cancel, calls: make(chan struct{}), done: make(chan struct{})}
}

// begin starts a pass. It ends when it is done, or cancelled; not with ctx, whose values it uses.
func (a *Activities) begin(ctx context.Context, in signals.PassInput) *job {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j := newJob(in, cancel)
	go func() {
		defer close(j.done)
		defer cancel(nil)
		defer func() {
			if r := recover(); r != nil { // as the SDK does for an activity's own goroutine
				stack := debug.Stack()
				if p, ok := r.(*child.Panic); ok {
					r, stack = p.Value, p.Stack
				}
				activity.GetLogger(ctx).Error("A pass panicked", "panic", r, "stack", string(stack))
				j.err = fmt.Errorf("%w: %v", errPanicked, r)
			}
		}()
		j.result, j.err = a.run(ctx, in, j)
	}()
	return j
}

// report notes whether the pass waits for a free sandbox, for the heartbeat to tell.
func (j *job) report(waiting bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting = waiting; j.pulse != nil {
		j.pulse.waiting(waiting)
	}
}

// call notes that the pass makes a call.
func (j *job) call() { j.calling.Do(func() { close(j.calls) }) }

// follow waits for the job as the regular activity that answers with its result.
func (j *job) follow(ctx context.Context, p *pulse) (signals.PassResult, error) {
	j.mu.Lock()
	p.reads.Store(&j.reads)
	if j.pulse = p; j.waiting {
		p.waiting(true)
	}
	j.mu.Unlock()
	select {
	case <-j.done:
	case <-ctx.Done():
		j.cancel(context.Cause(ctx))
		<-j.done
	}
	return j.result, j.err
}

// jobs are the passes that go on after the activity that began them, and wait to be taken over, by run.
type jobs struct {
	mu    sync.Mutex
	byRun map[string]*job
}

// takeOverWithin is how long a pass that nobody takes over goes on: the activity began on another worker. A worker with
// much to do may take a while until it begins its own.
const takeOverWithin = 30 * time.Second

var (
	errNotTakenOver = errors.New("the pass goes on at another worker")
	errPanicked     = errors.New("the pass panicked")
)

// leave lets a job go on until somebody takes it over.
func (s *jobs) leave(runID string, j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byRun == nil {
		s.byRun = map[string]*job{}
	}
	if old := s.byRun[runID]; old != nil {
		old.expiry.Stop()
		old.cancel(errNotTakenOver)
	}
	s.byRun[runID] = j
	var expiry *time.Timer
	expiry = time.AfterFunc(takeOverWithin, func() {
		if s.remove(runID, func(at *job) bool { return at.expiry == expiry }) != nil {
			j.cancel(errNotTakenOver)
		}
	})
	j.expiry = expiry
}

// remove takes a run's job away if it is the right one.
func (s *jobs) remove(runID string, right func(*job) bool) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.byRun[runID]
	if j == nil || !right(j) {
		return nil
	}
	delete(s.byRun, runID)
	j.expiry.Stop() // it holds the job
	return j
}

// drop ends the job that is left of a run's pass, so that it makes no more calls.
func (s *jobs) drop(ctx context.Context, runID string) {
	j := s.remove(runID, func(*job) bool { return true })
	if j == nil {
		return
	}
	j.cancel(errNotTakenOver)
	select {
	case <-j.done:
	case <-ctx.Done():
	}
}

// takeOver returns the job of a run's pass that is left here, if it is the one that in asks for.
func (s *jobs) takeOver(runID string, in signals.PassInput) *job {
	j := s.remove(runID, func(*job) bool { return true })
	if j == nil {
		return nil
	}
	if !j.isFor(in) {
		j.cancel(errNotTakenOver)
		return nil
	}
	return j
}

// isFor says that the job is the pass that in asks for.
func (j *job) isFor(in signals.PassInput) bool {
	return j.in.After == in.After && j.in.Decided == in.Decided && slices.Equal(j.in.Open, in.Open) &&
		slices.EqualFunc(j.in.Given, in.Given, signals.Given.Same)
}

// inTasks counts the passes that run inside workflow tasks.
//
// A pass that leaves its workflow task costs the server about as much as all else of a short execution. So where many
// run at once they may stay longer, while workflow tasks have slots for others. The price is that queries and decisions
// wait for a program that runs, as they would for a server that is busy with its events.
type inTasks struct {
	running atomic.Int64
	stretch time.Duration
}

const (
	manyInTasks = 32
	mostInTasks = 600 // the SDK's default is 1,000 at once
	// localPassAmongMany stays below the eight seconds after which the SDK renews a workflow task.
	localPassAmongMany = 3 * time.Second
)

// more is how much longer passes may stay in their workflow tasks than they may where few do.
func (t *inTasks) more() time.Duration {
	if n := t.running.Load(); n > manyInTasks && n < mostInTasks {
		return t.stretch
	}
	return 0
}

// within runs a pass for as long as a workflow task may stay open for it. A pass that is not done by then is left to
// the regular activity that follows, and what cannot run here now is that activity's to tell, with retries and
// heartbeats: both are nil.
func (a *Activities) within(ctx context.Context, in signals.PassInput) *job {
	runID := activity.GetInfo(ctx).WorkflowExecution.RunID
	if a.LocalPass < 0 || a.Attempts.is(runID) || a.checkWorker(in, a.missing(in)) != nil {
		return nil
	}
	j := a.jobs.takeOver(runID, in)
	if j == nil {
		j = a.begin(ctx, in)
	}
	a.inTasks.running.Add(1)
	defer a.inTasks.running.Add(-1)
	if j.doneWithin(ctx, a.LocalPass) || j.doneWithin(ctx, a.inTasks.more()) {
		return j
	}
	if ctx.Err() != nil {
		j.cancel(context.Cause(ctx))
	} else {
		a.jobs.leave(runID, j)
	}
	return nil
}

func (j *job) doneWithin(ctx context.Context, budget time.Duration) bool {
	if budget <= 0 {
		return false
	}
	timer := time.NewTimer(budget)
	defer timer.Stop()
	select {
	case <-j.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

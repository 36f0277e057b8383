package e2e

import (
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

func (b *bench) rollback(id string) signals.RollbackResult {
	b.t.Helper()
	r, err := b.client.Rollback(b.context(), id, signals.Rollback{By: "ada"})
	require.NoError(b.t, err)
	return r
}

func (b *bench) states(id string) []signals.CallState {
	var list []signals.CallState
	for _, call := range b.show(id).Log {
		list = append(list, call.State)
	}
	return list
}

// undone is the ledger of the reverts, in order, without their keys.
func (b *bench) undone() []string {
	var names []string
	for _, line := range b.lab.effects("undo") {
		names = append(names, strings.Fields(line)[1])
	}
	return names
}

// threeEffects did two writes and a large one between them, all of which can be undone.
const threeEffects = `await lab.make({name: 'a'}); await lab.read({name: 'r'}); await lab.make({name: 'b'.repeat(10000)}); await lab.make({name: 'c'}); `

func TestRollbackOfAClosedExecution(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(threeEffects + `return 1`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Equal(t, []bool{true, false, true, true}, revertable(b.show(o.ExecutionID).Log))
	w.Worker.Stop()
	b.worker() // another one, which remembers nothing
	r := b.rollback(o.ExecutionID)
	require.Equal(t, signals.RollbackResult{Reverted: []int{3, 2, 0}, Failed: []signals.FailedRevert{}}, r)
	b.healthyWorkflow(signals.RollbackID(signals.WorkflowID(b.runtime, o.ExecutionID), 1), "-rollback")
	require.Equal(t, []string{"c", strings.Repeat("b", 10000), "a"}, b.undone())
	record := b.show(o.ExecutionID)
	require.Equal(t, signals.RolledBack, record.Status)
	require.Equal(t, []signals.CallState{signals.Reverted, signals.Applied, signals.Reverted, signals.Reverted},
		b.states(o.ExecutionID))
	require.Equal(t, "ada", record.Rollbacks[0].By)
	require.Equal(t, signals.RolledBack, b.wait(o.ExecutionID).Status)
	b.eventually("lists show it", func() bool {
		list, err := b.client.Executions(b.context(), codemode.ListOptions{Status: signals.RolledBack})
		return err == nil && len(list) == 1
	})
	require.Empty(t, b.rollback(o.ExecutionID).Reverted, "what is undone stays so")
	require.Len(t, b.undone(), 3)
}

func revertable(calls []signals.Call) []bool {
	var list []bool
	for _, call := range calls {
		list = append(list, call.Revertable)
	}
	return list
}

func TestRollbackWhilePaused(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(threeEffects + `await lab.ask({name: 'x'})`)
	require.Equal(t, []int{3, 2, 0}, b.rollback(o.ExecutionID).Reverted)
	require.Equal(t, signals.RolledBack, b.show(o.ExecutionID).Status)
	require.Equal(t, []signals.CallState{signals.Reverted, signals.Applied, signals.Reverted, signals.Reverted,
		signals.Reverted}, b.states(o.ExecutionID))
	require.Contains(t, b.approve(o.ExecutionID, signals.Approve{}).Error, "not paused (status: rolled_back)")
	b.healthy(o.ExecutionID)

	o = b.run(`await lab.read({}); await lab.ask({name: 'x'})`)
	require.Empty(t, b.rollback(o.ExecutionID).Reverted)
	require.Equal(t, signals.Paused, b.show(o.ExecutionID).Status, "where nothing can be undone nothing changes")
}

func TestRollbackOfARunningExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	b.rolledBackWhileItRuns(
		`await lab.make({name: 'a'}); await Promise.all([lab.make({name: 'b', gate: 'go'}), lab.ask({name: 'x'})]); await lab.make({name: 'never'})`)
}

// TestRollbackOfALoneWrite: the write that runs is all that the program waits for, so that it goes on with a pass that
// does not count.
func TestRollbackOfALoneWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	b.rolledBackWhileItRuns(
		`await lab.make({name: 'a'}); await lab.make({name: 'b', gate: 'go'}); await lab.make({name: 'never'})`)
}

// rolledBackWhileItRuns rolls a program back while its second call runs: both calls are undone, each once.
func (b *bench) rolledBackWhileItRuns(code string) {
	t := b.t
	id := b.start(code)
	b.eventually("both were made", func() bool { return len(b.lab.effects("make")) == 2 })
	results := make(chan signals.RollbackResult)
	go func() {
		r, err := b.client.Rollback(b.context(), id, signals.Rollback{})
		if err != nil {
			t.Error(err)
		}
		results <- r
	}()
	b.eventually("the rollback is taken", func() bool {
		v, err := b.client.Decide(b.context(), id, signals.Approve{Seqs: []int{99}})
		return err == nil && strings.Contains(v.Error, "(status: rolled_back)")
	})
	b.lab.open("go")
	require.Equal(t, []int{1, 0}, (<-results).Reverted, "what ran is awaited, then undone")
	require.Equal(t, []string{"b", "a"}, b.undone())
	require.Len(t, b.lab.effects("make"), 2)
	b.healthy(id)
}

func TestRollbackOfEditedArguments(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`return await lab.make_asking({name: 'a'})`)
	o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, Args: []byte(`{"name":"b"}`)})
	b.completed(`"b"`, o)
	b.rollback(o.ExecutionID)
	require.Equal(t, []string{"b"}, b.undone(), "what ran is undone, not what the program had asked for")
}

// TestKilledBetweenTwoReverts: the worker dies in the undoing of the second of three calls.
func TestKilledBetweenTwoReverts(t *testing.T) {
	for _, closed := range []bool{true, false} {
		t.Run(map[bool]string{true: "closed", false: "open"}[closed], func(t *testing.T) {
			b := setUp(t)
			first := b.process("first")
			o := b.run(`await lab.make({name: 'a'}); await lab.make({name: 'b', undo: 'go'}); await lab.make({name: 'c'});` +
				map[bool]string{true: "", false: "await lab.ask({name: 'x'})"}[closed])
			results := make(chan signals.RollbackResult)
			go func() {
				r, err := b.client.Rollback(b.context(), o.ExecutionID, signals.Rollback{})
				if err != nil {
					t.Error(err)
				}
				results <- r
			}()
			b.eventually("the second is being undone", func() bool { return len(b.undone()) == 2 })
			b.signal(first, syscall.SIGKILL)
			b.process("second")
			r := <-results
			require.Equal(t, []int{2, 0}, r.Reverted)
			require.Len(t, r.Failed, 1)
			require.Contains(t, r.Failed[0].Error, "The outcome of undoing lab.make is unknown")
			require.Equal(t, []string{"c", "b", "a"}, b.undone(), "each once")
			call := b.show(o.ExecutionID).Log[1]
			require.Equal(t, signals.Applied, call.State)
			require.Contains(t, call.RevertError, "unknown")

			b.lab.open("go")
			require.Equal(t, []int{1}, b.rollback(o.ExecutionID).Reverted, "only the next rollback tries it again")
			undos := b.lab.effects("undo")
			require.Equal(t, undos[1], undos[3], "with the same key")
			require.Equal(t, signals.Reverted, b.show(o.ExecutionID).Log[1].State)
			require.Empty(t, b.show(o.ExecutionID).Log[1].RevertError)
			b.healthy(o.ExecutionID)
		})
	}
}

func TestRevertsThatFailOrAskForAnotherAttempt(t *testing.T) {
	b := setUp(t)
	flaky, broken := 0, errors.New("cannot be undone")
	b.options.Connectors = append(b.options.Connectors, connectors.New("shop", "",
		connectors.Method{
			Name: "flaky", Execute: nothing, Revert: func(connectors.Context, json.RawMessage, json.RawMessage) error {
				if flaky++; flaky < 3 {
					return &connectors.RetryableError{Message: "later", RetryAfter: time.Millisecond}
				}
				return nil
			},
		},
		connectors.Method{Name: "broken", Execute: nothing,
			Revert: func(connectors.Context, json.RawMessage, json.RawMessage) error { return broken }},
	))
	b.worker()
	o := b.run(`await shop.flaky(); await shop.broken(); await lab.make({name: 'a'}); throw new Error('no')`)
	require.Equal(t, signals.Failed, o.Status)
	r := b.rollback(o.ExecutionID)
	require.Equal(t, []int{2, 0}, r.Reverted)
	require.EqualError(t, r.Err(), "Rollback reverted 2 action(s) but 1 failed: shop.broken: cannot be undone")
	require.Equal(t, 3, flaky)
	require.Equal(t, []signals.CallState{signals.Reverted, signals.Applied, signals.Reverted}, b.states(o.ExecutionID))
	broken = nil
	require.Equal(t, []int{1}, b.rollback(o.ExecutionID).Reverted)
	require.Len(t, b.show(o.ExecutionID).Rollbacks, 2)

	broken = errors.New("still not")
	o = b.run(`await shop.broken(); await lab.ask({name: 'x'})`)
	r = b.rollback(o.ExecutionID)
	require.Empty(t, r.Reverted)
	record := b.show(o.ExecutionID)
	require.Equal(t, signals.Failed, record.Status,
		"an open execution that could not be undone is stopped all the same")
	require.Contains(t, record.Error, "Rollback reverted 0 action(s) but 1 failed: shop.broken: still not")
}

func nothing(connectors.Context, json.RawMessage) (any, error) { return nil, nil }

func TestTwoRollbacksAtOnce(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.make({name: 'a', undo: 'go'})`)
	results := make(chan error)
	for range 2 {
		go func() {
			_, err := b.client.Rollback(b.context(), o.ExecutionID, signals.Rollback{})
			results <- err
		}()
	}
	b.eventually("it is being undone", func() bool { return len(b.undone()) == 1 })
	b.lab.open("go")
	require.NoError(t, <-results)
	require.NoError(t, <-results)
	require.Len(t, b.undone(), 1)
}

func TestRollbackOfATerminatedExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.make({name: 'a'}); await lab.ask({name: 'x'})`)
	require.NoError(t, shared.client.TerminateWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID),
		"", "test"))
	require.Equal(t, []int{0}, b.rollback(o.ExecutionID).Reverted)
	require.Equal(t, []string{"a"}, b.undone())
}

func TestRollbackOfNoExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	_, err := b.client.Rollback(b.context(), "none", signals.Rollback{})
	require.ErrorIs(t, err, codemode.ErrNotFound)
}

// TestRollbackThenCancelWhileNoWorkerRuns: both arrive in one workflow task, and what was asked first is done.
func TestRollbackThenCancelWhileNoWorkerRuns(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(threeEffects + `await lab.ask({name: 'x'})`)
	w.Worker.Stop()
	id := signals.WorkflowID(b.runtime, o.ExecutionID)
	require.NoError(t, shared.client.SignalWorkflow(b.context(), id, "", signals.SignalRollback,
		signals.Rollback{By: "ada"}))
	require.NoError(t, shared.client.CancelWorkflow(b.context(), id, ""))
	b.worker()
	require.NoError(t, shared.client.GetWorkflow(b.context(), id, "").Get(b.context(), nil))
	require.Equal(t, signals.RolledBack, b.show(o.ExecutionID).Status)
	require.Len(t, b.undone(), 3)
	b.healthy(o.ExecutionID)
}

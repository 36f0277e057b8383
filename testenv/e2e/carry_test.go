package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// runs counts the runs of an execution, once visibility has them all.
func (b *bench) runs(id string) int {
	b.t.Helper()
	n := 0
	b.eventually("visibility knows the runs", func() bool {
		page, err := shared.client.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf(`WorkflowId = "%s"`, signals.WorkflowID(b.runtime, id))})
		require.NoError(b.t, err)
		n = len(page.Executions)
		return n > 1
	})
	return n
}

const manyWrites = `const all = [];
for (let i = 0; i < 24; i++) {
	all.push(await lab.read({name: 'r' + i}), await lab.make({name: 'w' + i}), Math.random() < 2);
	console.log('round', i);
}
`

// An execution goes on past any limit of a run, with its log, its calls and its console; all of it can be undone.
func TestExecutionsContinueAsNew(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		b.options.Limits.HistoryEvents = 40
		b.worker()
		o := b.run(manyWrites + `return all.length`)
		b.completed(`72`, o)
		require.Len(t, o.Calls, 48)
		require.Len(t, o.Logs, 24)
		require.GreaterOrEqual(t, b.runs(o.ExecutionID), 3)
		r := b.show(o.ExecutionID)
		require.Equal(t, `"w7"`, string(r.Log[15].Result))
		require.Len(t, b.lab.effects("make"), 24)
		require.Len(t, b.rollback(o.ExecutionID).Reverted, 24)
		require.Len(t, b.undone(), 24)
		require.Empty(t, b.rollback(o.ExecutionID).Reverted, "each once")
	})
}

// Pauses, decisions and waiters work over the chain of runs, and so do workers that know nothing of it.
func TestApprovalAfterManyRuns(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 30
	w := b.worker()
	id := b.start(manyWrites + `const later = await Promise.all([lab.ask({name: 'a'}), lab.ask({name: 'b'})]);
return [all.length, ...later]`)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { require.Equal(t, signals.Paused, b.wait(id).Status) })
	}
	all.Wait()
	w.Worker.Stop()
	b.worker()
	o := b.approve(id, signals.Approve{Seqs: []int{48}, By: "ada"})
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Len(t, o.Pending, 1)
	require.JSONEq(t, `{"name":"b"}`, string(o.Pending[0].Args))
	b.completed(`[72,"a","b"]`, b.approve(id, signals.Approve{Seqs: []int{49}, By: "ada"}))
	call := b.show(id).Log[48]
	require.Equal(t, []any{"ada", signals.Applied}, []any{call.DecidedBy, call.State})
	records, err := b.client.Executions(b.context(), codemode.ListOptions{})
	require.NoError(t, err)
	require.Len(t, records, 1, "the runs are one execution")
}

// What was edited is undone as it was made, runs later.
func TestEditedArgumentsAreCarried(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 30
	b.worker()
	o := b.run(`const first = await lab.make_asking({name: 'a'}); ` + manyWrites + `return first`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	edited := signals.Approve{Seqs: []int{0}, Args: []byte(`{"name":"edited"}`)}
	b.completed(`"edited"`, b.approve(o.ExecutionID, edited))
	require.JSONEq(t, `{"name":"edited"}`, string(b.show(o.ExecutionID).Log[0].EditedArgs))
	b.rollback(o.ExecutionID)
	require.Contains(t, b.undone(), "edited")
}

// A call waits for its approval while the run is replaced, again and again.
func TestPausedRunsContinueToo(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 60
	b.worker()
	o := b.run(`return await lab.ask({name: 'x'})`)
	for range 120 { // signals that do not apply leave events all the same
		require.NoError(t, shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "",
			signals.SignalApprove, signals.Approve{Seqs: []int{9}}))
	}
	b.eventually("the run is replaced", func() bool { return b.runs(o.ExecutionID) > 1 })
	b.completed(`"x"`, b.approve(o.ExecutionID, signals.Approve{}))
}

// Each run makes progress, even if taking over the log makes as many events as it may have; what settled, and timers
// that fired, count once over any number of runs.
func TestRunsAsSmallAsTheirLog(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 8
	b.worker()
	o := b.run(`const made = await Promise.all(['a', 'b'].map((name) => lab.make({name})));
const asked = await lab.ask({name: 'c'});
await new Promise((done) => setTimeout(done, 1100));
return [...made, asked, await lab.make({name: 'd'})]`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	b.completed(`["a","b","c","d"]`, b.approve(o.ExecutionID, signals.Approve{}))
	require.Less(t, b.runs(o.ExecutionID), 8)
	require.Len(t, b.lab.effects("make"), 3)
}

// What people wrote may be too large for the next run's input. The run stays until it is not.
func TestRunsWithALargeStateContinueLater(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 30
	b.options.Rules = map[string][]connectors.Rule{"lab": {{Pattern: "ask", Policy: connectors.Policy{Approvals: 2}}}}
	b.worker()
	o := b.run(`const first = await Promise.all([0, 1, 2].map(() => lab.ask({name: 'a'}))); ` + manyWrites + `
return first.map((name) => name.length)`)
	for seq := range 3 {
		edited := fmt.Sprintf(`{"name":"%s"}`, strings.Repeat("x", 800_000+seq))
		require.Equal(t, signals.Paused, b.approve(o.ExecutionID,
			signals.Approve{Seqs: []int{seq}, Args: []byte(edited), By: "ada"}).Status)
	}
	b.eventually("it is full", func() bool {
		require.NoError(t, shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "",
			signals.SignalApprove, signals.Approve{Seqs: []int{9}}))
		return len(b.events(o.ExecutionID)) > 60
	})
	b.completed(`[800000,800001,800002]`, b.approve(o.ExecutionID, signals.Approve{By: "bob"}))
	require.Greater(t, b.runs(o.ExecutionID), 1)
}

// More than a history can hold, at once.
func TestSixtyLargeResults(t *testing.T) {
	b := setUp(t)
	b.options.Limits.LogBytes = 100 << 20
	b.withConverter()
	b.options.Connectors = append(b.options.Connectors, large())
	b.worker()
	o := b.runLong(`const all = await Promise.all(Array.from({length: 60}, () => large.make({size: 999_000})));
return all.reduce((n, text) => n + text.length, 0)`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.JSONEq(t, `59940000`, string(o.Result))
}

// A worker that is killed again and again while runs are replaced repeats no write.
func TestKilledWhileContinuing(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 25
	p := b.process("first")
	id := b.start(`for (let i = 0; i < 24; i++) await lab.make({name: 'w' + i}).catch((e) => console.log(e.name))`)
	for n := range 4 {
		b.eventually("some writes are made", func() bool { return len(b.lab.effects("make")) > 4*n })
		b.signal(p, syscall.SIGKILL)
		p = b.process(fmt.Sprint("worker ", n))
	}
	o := b.wait(id)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Len(t, o.Calls, 24)
	made := b.lab.effects("make")
	slices.Sort(made)
	require.Len(t, slices.Compact(slices.Clone(made)), len(made), "none twice")
	require.GreaterOrEqual(t, len(made), 24-len(o.Logs), "those of unknown outcome may be missing")
}

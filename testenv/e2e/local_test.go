package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/temporal-codemode/codemode/signals"
)

func (b *bench) events(id string) []*historypb.HistoryEvent {
	var list []*historypb.HistoryEvent
	events := shared.client.GetWorkflowHistory(b.context(), signals.WorkflowID(b.runtime, id), "",
		false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(b.t, err)
		list = append(list, e)
	}
	return list
}

// passes counts the local passes of an execution and those that were activities of their own.
func (b *bench) passes(id string) (local, activities int) {
	for _, e := range b.events(id) {
		if e.GetMarkerRecordedEventAttributes().GetMarkerName() == "LocalActivity" {
			local++
		}
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == signals.PassActivity {
			activities++
		}
	}
	return local, activities
}

func TestEventsOfAShortProgram(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`for (let i = 0; i < 100; i++) await lab.read({name: String(i)}); return 1`)
	require.Len(t, o.Calls, 100)
	local, activities := b.passes(o.ExecutionID)
	if events := len(b.events(o.ExecutionID)); activities == 0 { // else this machine is too busy to run it in time
		require.Equal(t, 1, local)
		require.LessOrEqual(t, events, 8)
	} else {
		require.LessOrEqual(t, events, 15)
	}
}

// TestLongPassLeavesItsWorkflowTask: while a pass takes long, its execution answers queries and takes decisions; the
// pass goes on where it was, without a repetition.
func TestLongPassLeavesItsWorkflowTask(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`return [await lab.read({name: 'a', gate: 'go'}), await lab.read({name: 'b', gate: 'go'})]`)
	b.eventually("the pass is in its read", func() bool { return len(b.lab.effects("read")) == 1 })
	require.Equal(t, signals.Running, b.show(id).Status, "a query answers")
	v, err := b.client.Decide(b.context(), id, signals.Approve{})
	require.NoError(t, err)
	require.Contains(t, v.Error, "is not paused", "an update answers")
	b.lab.open("go")
	b.completed(`["a","b"]`, b.wait(id))
	require.Equal(t, 2, len(b.lab.effects("read")), "no read is repeated")
	local, activities := b.passes(id)
	require.Equal(t, []int{1, 1}, []int{local, activities})
}

func TestResultTooLargeForAWorkflowTask(t *testing.T) {
	b := setUp(t)
	b.worker()
	b.lab.open("open")
	o := b.run(`const r = await lab.read({name: 'a', gate: 'open'}); return r + (await lab.big({size: 200_000})).length`)
	b.completed(`"a200000"`, o)
	require.Len(t, b.lab.effects("read"), 1, "the activity takes the result of the local pass")
	_, activities := b.passes(o.ExecutionID)
	require.Equal(t, 1, activities)
}

// TestWorkersWithAndWithoutLocalPasses: each kind of worker goes on with what the other began.
func TestWorkersWithAndWithoutLocalPasses(t *testing.T) {
	for name, way := range map[string][2]time.Duration{"with to without": {5 * time.Second, -1},
		"without to with": {-1, 5 * time.Second}} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			b := setUp(t)
			b.options.LocalPass = way[0]
			first := b.process("first")
			o := b.run(`await lab.read({name: 'r'}); await lab.write({name: 'w'}); return [await lab.read_name({}), await lab.ask({name: 'x'}), await lab.read_name({})]`)
			require.Equal(t, signals.Paused, o.Status, o.Error)
			b.signal(first, syscall.SIGKILL)
			b.options.LocalPass = way[1]
			b.process("second")
			b.completed(`["first","x","second"]`, b.approve(o.ExecutionID, signals.Approve{}))
			require.Len(t, b.lab.effects("write"), 1)
		})
	}
}

// TestOneLocalPassInAWorkflowTask: a decision that arrives with the task of another pass does not add a second result.
func TestOneLocalPassInAWorkflowTask(t *testing.T) {
	b := setUp(t)
	w := b.process("first")
	o := b.run(`const all = await Promise.all([lab.ask({name: 'x'}), lab.ask({name: 'y'})]); return all`)
	b.signal(w, syscall.SIGKILL)
	for _, seq := range []int{0, 1} {
		err := shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID),
			"", signals.SignalApprove, signals.Approve{Seqs: []int{seq}})
		require.NoError(t, err)
	}
	b.process("second")
	for !o.Status.Terminal() {
		var err error
		o, err = b.client.Wait(b.context(), o.ExecutionID, o.Pass)
		require.NoError(t, err)
	}
	b.completed(`["x","y"]`, o)
	results := 0
	for _, e := range b.events(o.ExecutionID) {
		switch {
		case e.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			results = 0
		case e.GetMarkerRecordedEventAttributes() != nil:
			results++
		}
		require.LessOrEqual(t, results, 1)
	}
}

// TestSequentialWrites: a write goes on with the pass that follows, which is one of the execution's like any other.
func TestSequentialWrites(t *testing.T) {
	b := setUp(t)
	b.worker()
	const writes = 10
	o := b.run(`let s = ''; for (let i = 0; i < 10; i++) s += await lab.write({name: String(i)}); return s`)
	b.completed(`"0123456789"`, o)
	require.Len(t, b.lab.effects("write"), writes)
	local, activities := b.passes(o.ExecutionID)
	require.LessOrEqual(t, local, writes+1)
	passes, err := b.client.Timeline(b.context(), o.ExecutionID)
	require.NoError(t, err)
	require.Len(t, passes, writes+1)
	for i, p := range passes[1:] {
		require.Equal(t, []int{i}, p.Settled)
	}
	require.Equal(t, writes+1, b.show(o.ExecutionID).Passes)
	b.healthy(o.ExecutionID)
	t.Logf("%d local passes, %d activities, the others with their calls", local, activities)
}

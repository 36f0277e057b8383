package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/workflows"
)

type sent struct {
	name    string
	payload any
}

// signalled pauses an execution, sends it signals while no worker runs, and lets a worker decide.
func signalled(t *testing.T, code string, list ...sent) (*bench, signals.Record) {
	b := setUp(t)
	b.options.Connectors = append(b.options.Connectors, connectors.New("client", "", connectors.Method{
		Name: "pick", Policy: connectors.Policy{ResolvedByClient: true},
	}))
	w := b.worker()
	o := b.run(code)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	w.Worker.Stop()
	id := signals.WorkflowID(b.runtime, o.ExecutionID)
	for _, s := range list {
		require.NoError(t, shared.client.SignalWorkflow(b.context(), id, "", s.name, s.payload))
	}
	b.worker()
	b.wait(o.ExecutionID)
	b.healthy(o.ExecutionID)
	return b, b.show(o.ExecutionID)
}

// What was asked first is done, whatever its name.
func TestDecisionsApplyInTheOrderOfHistory(t *testing.T) {
	zero := 0
	reject := sent{signals.SignalReject, signals.Reject{Seq: &zero, By: "ada", Reason: "no"}}
	approve := sent{signals.SignalApprove, signals.Approve{Seqs: []int{0}, By: "bob"}}
	resolve := sent{signals.SignalResolve, signals.Resolve{Seq: 0, Result: json.RawMessage(`7`), By: "bob"}}
	expire := sent{signals.SignalExpire, signals.Expire{}}
	const asks, picks = `return await lab.ask({name: 'x'})`, `return await client.pick({})`
	for _, c := range []struct {
		name, code string
		list       []sent
		want       signals.Status
		ended      signals.CallEnd
	}{
		{"no then yes", asks, []sent{reject, approve}, signals.Rejected, signals.CallRejected},
		{"yes then no", asks, []sent{approve, reject}, signals.Completed, ""},
		{"no then a result", picks, []sent{reject, resolve}, signals.Rejected, signals.CallRejected},
		{"a result then no", picks, []sent{resolve, reject}, signals.Completed, ""},
		{"expired then yes", asks, []sent{expire, approve}, signals.Rejected, signals.CallExpired},
		{"yes then expired", asks, []sent{approve, expire}, signals.Completed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, r := signalled(t, c.code, c.list...)
			require.Equal(t, c.want, r.Status, r.Error)
			require.Equal(t, c.ended, r.Log[0].Ended)
			if c.want == signals.Rejected {
				require.Empty(t, b.lab.effects("ask"))
				require.Equal(t, r.Log[0].Decisions[0].Kind, r.EndedBy.Kind)
			}
		})
	}
}

// A signal that says more or less than it may changes nothing.
func TestSignalsAreReadStrictly(t *testing.T) {
	zero := 0
	_, r := signalled(t, `return await Promise.all([lab.ask({name: 'x'}), lab.ask({name: 'y'})])`,
		sent{signals.SignalApprove, map[string]any{"seq": 0}},
		sent{signals.SignalApprove, map[string]any{"seqs": []int{}}},
		sent{signals.SignalApprove, map[string]any{"seqs": []int{0}, "args": nil}},
		sent{signals.SignalReject, signals.Reject{Seq: &zero, By: "ada"}})
	require.Equal(t, signals.Rejected, r.Status)
}

// A server that takes few updates: looks need none, and the last decision still arrives.
func TestUpdatesThatRunOut(t *testing.T) {
	s, err := server.Start(t.Context(), server.Options{MaxUpdates: 20})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	b := setUp(t)
	b.temporal = dial(s.Address())
	t.Cleanup(b.temporal.Close)
	b.client = b.clientFor(b.temporal)
	b.worker()
	o := b.run(`const all = [];
for (let i = 0; i < 30; i++) all.push(await lab.ask({name: String(i)}));
return all.length`)
	for range 200 {
		again := b.wait(o.ExecutionID)
		require.Equal(t, signals.Paused, again.Status, again.Error)
	}
	for range 30 {
		o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{o.Pending[0].Seq}, By: "ada"})
		if o.Status != signals.Paused {
			break
		}
	}
	require.Equal(t, signals.Completed, o.Status, o.Error)
	refused := b.approve(o.ExecutionID, signals.Approve{})
	require.Contains(t, refused.Error, "is not paused (status: completed)")
}

// Many waiters cost a run one update.
func TestManyWaitersShareAnUpdate(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`return await lab.write({name: 'w', gate: 'go'})`)
	b.eventually("the write runs", func() bool { return len(b.lab.effects("write")) == 1 })
	var all sync.WaitGroup
	var outcomes [20]signals.Outcome
	for i := range outcomes {
		all.Go(func() { outcomes[i] = b.wait(id) })
	}
	b.eventually("one waits", func() bool { return b.accepted(id) == 1 })
	b.lab.open("go")
	all.Wait()
	for _, o := range outcomes {
		require.Equal(t, signals.Completed, o.Status, o.Error)
	}
	require.LessOrEqual(t, b.accepted(id), 1)
}

// accepted counts the updates that stand in an execution's history.
func (b *bench) accepted(id string) int {
	n := 0
	events := shared.client.GetWorkflowHistory(b.context(), signals.WorkflowID(b.runtime, id), "", false, 1)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(b.t, err)
		if e.GetWorkflowExecutionUpdateAcceptedEventAttributes() != nil {
			n++
		}
	}
	return n
}

// large is a connector whose writes answer with much.
func large() connectors.Connector {
	return connectors.New("large", "", connectors.Method{
		Name: "make", Class: connectors.Write,
		Execute: func(_ connectors.Context, args json.RawMessage) (any, error) {
			var a labArgs
			err := json.Unmarshal(args, &a)
			return strings.Repeat("x", a.Size), err
		},
	})
}

// No run is ended by the server for what its calls answer.
func TestLargeResultsOfManyCalls(t *testing.T) {
	for name, c := range map[string]struct{ calls, size int }{
		"20 of 1 MB": {20, 1_000_000}, "300 of 100 KB": {300, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.options.Connectors = append(b.options.Connectors, large())
			b.worker()
			o := b.runLong(fmt.Sprintf(`const all = await Promise.all(Array.from({length: %d},
	() => large.make({size: %d - 20})));
return all.length`, c.calls, c.size))
			// The server itself closes a workflow task while it waits with many events.
			require.Equal(t, signals.Completed, o.Status, o.Error)
			require.JSONEq(t, fmt.Sprint(c.calls), string(o.Result))
		})
	}
}

// Three approvers send as much as an update may hold, while no worker runs: their updates come in one workflow task.
func TestLargeApprovalsAtOnce(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(`return (await Promise.all([1, 2, 3].map((i) => lab.ask({name: String(i)})))).map((r) => r.length)`)
	w.Worker.Stop()
	var all sync.WaitGroup
	args := json.RawMessage(`{"name":"` + strings.Repeat("x", 900_000) + `"}`)
	for seq := range 3 {
		all.Go(func() {
			v, err := b.client.Decide(b.context(), o.ExecutionID,
				signals.Approve{Seqs: []int{seq}, Args: args, By: "ada"})
			require.NoError(t, err)
			require.True(t, v.Accepted, v.Error)
		})
	}
	b.worker()
	all.Wait()
	b.completed(`[900000,900000,900000]`, b.wait(o.ExecutionID))
}

// A decision that does not apply is not in history, however large and however often it comes.
func TestRefusedDecisionsLeaveNoTrace(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`return await lab.ask({name: 'x'})`)
	before, err := b.client.HistoryLength(b.context(), o.ExecutionID)
	require.NoError(t, err)
	args := json.RawMessage(`{"name":"` + strings.Repeat("x", 900_000) + `"}`)
	for range 60 {
		refused := b.approve(o.ExecutionID, signals.Approve{Seqs: []int{9}, Args: args})
		require.Contains(t, refused.Error, "Call 9 of execution")
	}
	after, err := b.client.HistoryLength(b.context(), o.ExecutionID)
	require.NoError(t, err)
	require.Equal(t, before, after)
	b.completed(`"x"`, b.approve(o.ExecutionID, signals.Approve{}))
}

// More calls at once than the server lets a run have pending.
func TestThousandsOfCallsAtOnce(t *testing.T) {
	b := setUp(t)
	b.options.Limits.GatedCalls = 3_000
	b.worker()
	o := b.runLong(`return (await Promise.all(Array.from({length: 2500}, (_, i) => lab.write({name: 'w'})))).length`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.JSONEq(t, `2500`, string(o.Result))
}

// Calls that nobody has begun are not made once a person ends the execution, and nothing waits for them.
func TestEndsWithdrawCallsThatNobodyHasBegun(t *testing.T) {
	for name, end := range map[string]func(b *bench, id string){
		"cancel": func(b *bench, id string) {
			_, err := b.client.Cancel(b.context(), id, signals.Cancellation{By: "ada", Reason: "wrong account"})
			require.NoError(b.t, err)
		},
		"rollback": func(b *bench, id string) {
			_, err := b.client.Rollback(b.context(), id, signals.Rollback{By: "ada", Note: "wrong account"})
			require.NoError(b.t, err)
		},
		"reject": func(b *bench, id string) {
			_, err := b.client.Reject(b.context(), id, signals.Reject{All: true, By: "ada", Reason: "wrong account"})
			require.NoError(b.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.options.Connectors = append(b.options.Connectors, large())
			b.options.OwnQueues = []string{"large"} // nobody serves it
			b.worker()
			id := b.start(`await Promise.all([1, 2, 3].map(() => large.make({size: 1})))`)
			b.eventually("the calls are scheduled", func() bool {
				d, err := shared.client.DescribeWorkflowExecution(b.context(), signals.WorkflowID(b.runtime, id), "")
				return err == nil && len(d.PendingActivities) == 3
			})
			end(b, id)
			r := b.show(id)
			require.True(t, r.Status.Terminal(), r.Status)
			for _, call := range r.Log {
				require.Equal(t, []any{signals.Reverted, signals.CallCancelled}, []any{call.State, call.Ended})
			}
			require.Equal(t, []any{"ada", "wrong account"}, []any{r.EndedBy.By, r.EndedBy.Note})
			b.healthy(id)
		})
	}
}

// A write that runs is awaited however long it takes, though its activity was asked to end.
func TestARunningWriteOutlivesTheCancellation(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := runningWrite(b)
	require.NoError(t, shared.client.CancelWorkflow(b.context(), signals.WorkflowID(b.runtime, id), ""))
	time.AfterFunc(workflows.HeartbeatTimeout+3*time.Second, func() { b.lab.open("go") })
	require.Equal(t, "Execution cancelled", b.wait(id).Error)
	requireClosedAfterWrite(b, id, signals.Failed)
}

// Whoever started an execution, and for whom, is in its record, and the connectors know.
func TestCallerIsInTheRecord(t *testing.T) {
	b := setUp(t)
	b.worker()
	caller := signals.Caller{StartedBy: "agent", StartedAs: "svc@example.com", OnBehalfOf: "ada@example.com",
		Conversation: "c-1", Labels: map[string]string{"team": "billing"}}
	o, err := b.client.Execute(b.context(), `return 1`, codemode.ExecuteOptions{Caller: caller})
	require.NoError(t, err)
	require.Equal(t, caller, b.show(o.ExecutionID).Caller)
	_, err = b.client.Execute(b.context(), `return 1`, codemode.ExecuteOptions{Caller: signals.Caller{
		Labels: map[string]string{"no good": "x"}}})
	require.ErrorContains(t, err, `label "no good"`)
}

// The SDK's own replayer takes an execution from the server.
func TestExecutionsReplayFromTheServer(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.write({name: 'w'}); return 1`)
	replayer, err := workflows.NewReplayer(worker.WorkflowReplayerOptions{})
	require.NoError(t, err)
	require.NoError(t, replayer.ReplayWorkflowExecution(b.context(), shared.client.WorkflowService(), quiet,
		client.DefaultNamespace, workflow.Execution{ID: signals.WorkflowID(b.runtime, o.ExecutionID)}))
}

package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// rig runs the workflow with time skipping; each test says what the passes and the calls answer.
type rig struct {
	t      *testing.T
	env    *testsuite.TestWorkflowEnvironment
	passes []func(signals.PassInput) signals.PassResult
	inputs []signals.PassInput
	mu     sync.Mutex // of calls, whose activities run at once
	calls  []signals.CallInput
	call   func(signals.CallInput, int) (json.RawMessage, error)
	limits signals.Limits
	// pin changes what the first pass pins.
	pin func(*signals.Pinned)
	// input is what the execution is started with.
	input signals.ExecutionInput
	// first runs the execution as one that began before versions were counted.
	first bool
}

const testID = "codemode/default/exec_1"

func newRig(t *testing.T) *rig {
	r := rigWithoutPass(t)
	r.env.RegisterActivityWithOptions(r.pass, activity.RegisterOptions{Name: signals.PassActivity})
	return r
}

// environment runs executions as workers do.
func environment() *testsuite.TestWorkflowEnvironment {
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: testID, TaskQueue: "codemode-default"})
	env.SetWorkerOptions(worker.Options{
		Interceptors:             []interceptor.WorkerInterceptor{Interceptor()},
		DeadlockDetectionTimeout: time.Minute, // reading megabytes takes long under the race detector
	})
	env.RegisterWorkflowWithOptions(Execution, workflow.RegisterOptions{Name: signals.ExecutionWorkflow})
	return env
}

func rigWithoutPass(t *testing.T) *rig {
	r := &rig{t: t, env: environment()}
	r.env.RegisterDynamicActivity(r.dynamic, activity.DynamicRegisterOptions{})
	r.call = func(in signals.CallInput, _ int) (json.RawMessage, error) { return in.Args, nil }
	return r
}

// encoded is the pass as workers register it.
func (r *rig) encoded(ctx context.Context, in signals.PassInput) (converter.RawValue, error) {
	result, err := r.pass(ctx, in)
	if err != nil {
		return converter.RawValue{}, err
	}
	return payload.Raw(result)
}

func (r *rig) pass(_ context.Context, in signals.PassInput) (signals.PassResult, error) {
	r.inputs = append(r.inputs, in)
	if in.Pass > len(r.passes) {
		return signals.PassResult{}, temporal.NewNonRetryableApplicationError("no such pass in the test", "", nil)
	}
	result := r.passes[in.Pass-1](in)
	result.Pass, result.Nonce = in.Pass, fmt.Sprint("n", in.Pass)
	if in.Pass == 1 {
		result.Pinned = &signals.Pinned{Engine: "test", Connectors: []string{"store"}, Version: in.Version}
		if r.first {
			result.Pinned.Version = 0
		}
		result.Pinned.Limits = r.limits
		if r.pin != nil {
			r.pin(result.Pinned)
		}
	}
	return result, nil
}

func (r *rig) dynamic(ctx context.Context, args converter.EncodedValues) (signals.CallOutput, error) {
	var in signals.CallInput
	if err := args.Get(&in); err != nil {
		return signals.CallOutput{}, err
	}
	r.mu.Lock()
	r.calls = append(r.calls, in)
	n := len(r.calls)
	r.mu.Unlock()
	value, err := r.call(in, n)
	return signals.CallOutput{Value: value}, err
}

func (r *rig) run() signals.ExecutionResult {
	r.t.Helper()
	r.input.Code = "…"
	r.env.ExecuteWorkflow(signals.ExecutionWorkflow, r.input)
	require.True(r.t, r.env.IsWorkflowCompleted())
	require.NoError(r.t, r.env.GetWorkflowError())
	var result signals.ExecutionResult
	require.NoError(r.t, r.env.GetWorkflowResult(&result))
	return result
}

func blocked(calls ...signals.Blocked) func(signals.PassInput) signals.PassResult {
	return func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassBlocked, Blocked: calls}
	}
}

func ends(text string) func(signals.PassInput) signals.PassResult {
	return func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassCompleted, Value: json.RawMessage(text)}
	}
}

func write(seq int) signals.Blocked {
	return signals.Blocked{Seq: seq, Connector: "store", Method: "write",
		Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, seq)), Class: signals.Write}
}

func ask(seq int) signals.Blocked {
	b := write(seq)
	b.Method, b.Approval = "ask", true
	return b
}

// update sends a decision after a while and keeps the verdict.
func (r *rig) update(after time.Duration, name string, arg any) *signals.Verdict {
	v := &signals.Verdict{}
	r.env.RegisterDelayedCallback(func() {
		r.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {},
			OnReject: func(err error) {
				var refused *temporal.ApplicationError
				require.ErrorAs(r.t, err, &refused)
				require.NoError(r.t, refused.Details(v), "%s refused: %v", name, err)
			},
			OnComplete: func(result any, err error) {
				require.NoError(r.t, err)
				*v = result.(signals.Verdict)
			},
		}, arg)
	}, after)
	return v
}

func TestCompletes(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, ends(`42`))
	result := r.run()
	require.Equal(t, signals.Completed, result.Status)
	require.Equal(t, "42", string(result.Result))
	require.Equal(t, "exec_1", result.ExecutionID)
}

func TestWritesSettleBeforeTheNextPass(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(write(0), write(1)), ends(`1`))
	r.run()
	require.Len(t, r.calls, 2)
	require.Len(t, r.inputs[1].Given, 2)
	require.Equal(t, "n1", r.inputs[1].After)
	// they settle in any order
	first := slices.IndexFunc(r.inputs[1].Given, func(g signals.Given) bool { return g.ID == 0 })
	require.Equal(t, "call-0.1", r.inputs[1].Given[first].Source)
	require.Equal(t, `{"n":0}`, string(r.inputs[1].Given[first].Value), "small values travel beside the reference")
	require.False(t, r.inputs[1].Decided)
}

func TestExpiresAfterADay(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(ask(0)))
	started := r.env.Now()
	result := r.run()
	require.Equal(t, signals.Rejected, result.Status)
	require.Equal(t, "Expired awaiting approval", result.Error)
	require.InDelta(t, 24*time.Hour, r.env.Now().Sub(started), float64(time.Minute))
	require.Equal(t, "expired", result.Ended[0].Decision.Note)
	require.Empty(t, r.calls)
}

func TestApprovedCallIsMadeOnceThePassIssuesItAgain(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(ask(0)), blocked(), ends(`1`))
	v := r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada", AssertedBy: "ada@example.com"})
	require.Equal(t, signals.Completed, r.run().Status)
	require.True(t, v.Accepted)
	require.True(t, r.inputs[1].Decided)
	require.Equal(t, []signals.OpenCall{{Seq: 0}}, r.inputs[1].Open)
	d := r.inputs[1].Given[0].Decision
	require.Equal(t, []string{"ada", "ada@example.com"}, []string{d.By, d.AssertedBy},
		"the claim, and who was authenticated")
	require.Len(t, r.calls, 1)
}

func TestDivergenceRunsNothing(t *testing.T) {
	r := newRig(t)
	seq := 0
	r.passes = append(r.passes, blocked(ask(0)), func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassFailed,
			Failure: &signals.PassFailure{Message: "divergence", Diverged: &seq, Stopped: true}}
	})
	r.update(time.Hour, signals.SignalApprove, signals.Approve{})
	result := r.run()
	require.Equal(t, signals.Failed, result.Status)
	require.Equal(t, signals.Errored, result.Ended[0].State)
	require.Empty(t, r.calls)
}

func TestDecisionsThatDoNotApplyChangeNothing(t *testing.T) {
	nine := 9
	for name, c := range map[string]struct {
		update string
		arg    any
		want   string
	}{
		"unknown seq": {signals.SignalApprove, signals.Approve{Seqs: []int{9}},
			`Call 9 of execution "exec_1" is not pending.`},
		"stale digest":   {signals.SignalApprove, signals.Approve{Seqs: []int{0}, ArgsDigest: "beef"}, "is stale"},
		"stale outcome":  {signals.SignalApprove, signals.Approve{AsOf: 7}, "look again"},
		"several edited": {signals.SignalApprove, signals.Approve{Args: json.RawMessage(`{}`)}, "several are pending"},
		"several digest": {signals.SignalApprove, signals.Approve{ArgsDigest: "x"}, "several are pending"},
		"reject unknown": {signals.SignalReject, signals.Reject{Seq: &nine}, "is not pending"},
		"reject which":   {signals.SignalReject, signals.Reject{}, "several calls are pending"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.passes = append(r.passes, blocked(ask(0), ask(1)))
			v := r.update(time.Hour, c.update, c.arg)
			require.Equal(t, "Expired awaiting approval", r.run().Error, "still paused until it expires")
			require.False(t, v.Accepted)
			require.Contains(t, v.Error, c.want)
		})
	}
}

func TestSecondApprovalIsRefused(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(ask(0)), blocked(), ends(`1`))
	first := r.update(time.Hour, signals.SignalApprove, signals.Approve{})
	second := r.update(time.Hour, signals.SignalApprove, signals.Approve{})
	r.run()
	require.True(t, first.Accepted)
	require.Contains(t, second.Error, `Execution "exec_1" is not paused (status: running)`)
}

func TestLongTimerIsDurable(t *testing.T) {
	r := newRig(t)
	due := r.env.Now().Add(36 * time.Hour).UnixMilli()
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassBlocked,
			Timers: []signals.Timer{{ID: 3, Due: due}, {ID: 4, Due: due + 1e9}}}
	}, ends(`1`))
	require.Equal(t, signals.Completed, r.run().Status)
	require.GreaterOrEqual(t, r.env.Now().UnixMilli(), due)
	require.Equal(t, []signals.Given{{Kind: signals.GivenTimer, ID: 3, At: r.inputs[1].Given[0].At}}, r.inputs[1].Given)
}

func TestWritesAreRepeatedOnlyWhenAsked(t *testing.T) {
	for kind, want := range map[string]int{signals.ErrorRetryable: 3, signals.ErrorConnector: 1,
		"lost": 1, signals.ErrorInvalid: 1, signals.ErrorUnavailable: 5} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t)
			r.passes = append(r.passes, blocked(write(0)), ends(`1`))
			r.call = func(_ signals.CallInput, n int) (json.RawMessage, error) {
				if kind == signals.ErrorUnavailable && n == 5 {
					return nil, nil
				}
				if kind == "lost" {
					return nil, errors.New("worker lost")
				}
				return nil, temporal.NewApplicationErrorWithOptions("asked", kind, temporal.ApplicationErrorOptions{})
			}
			require.Equal(t, signals.Completed, r.run().Status)
			require.Len(t, r.calls, want)
			if kind == "lost" {
				require.Equal(t, signals.OutcomeUnknown, r.inputs[1].Given[0].Error.Name)
				require.NotEmpty(t, r.inputs[1].Given[0].Error.Key)
			}
		})
	}
}

func TestIdempotentCallsAreRepeated(t *testing.T) {
	r := newRig(t)
	b := write(0)
	b.Class = signals.Idempotent
	r.passes = append(r.passes, blocked(b), ends(`1`))
	r.call = func(_ signals.CallInput, n int) (json.RawMessage, error) {
		if n < 3 {
			return nil, errors.New("lost")
		}
		return json.RawMessage(`"ok"`), nil
	}
	r.run()
	require.Len(t, r.calls, 3)
	require.Equal(t, r.calls[0].Key, r.calls[2].Key)
	require.Nil(t, r.inputs[1].Given[0].Error)
}

func TestPartialListsAreDispatchedTogether(t *testing.T) {
	r := newRig(t)
	partial := blocked(write(0))
	r.passes = append(r.passes, func(in signals.PassInput) signals.PassResult {
		p := partial(in)
		p.Partial = true
		return p
	}, func(in signals.PassInput) signals.PassResult {
		require.Empty(t, r.calls, "nothing is dispatched before the list is whole")
		return blocked(write(1))(in)
	}, ends(`1`))
	r.run()
	require.Len(t, r.calls, 2)
	require.Len(t, r.inputs[1].Open, 1)
}

func TestBudgets(t *testing.T) {
	for want, limits := range map[string]signals.Limits{
		"limit of 2 passes":  {Passes: 2},
		"more than 1 writes": {GatedCalls: 1},
		"time limit of 1s":   {RunTimeMs: 1000},
	} {
		t.Run(want, func(t *testing.T) {
			r := newRig(t)
			r.limits = limits
			sleepy := func(in signals.PassInput) signals.PassResult {
				p := blocked(write(in.Pass*2), write(in.Pass*2+1))(in)
				p.Timers = []signals.Timer{{ID: in.Pass, Due: r.env.Now().Add(2 * time.Second).UnixMilli()}}
				if limits.RunTimeMs > 0 {
					p.Blocked = nil
				}
				return p
			}
			r.passes = append(r.passes, sleepy, sleepy, sleepy, sleepy)
			result := r.run()
			require.Equal(t, signals.Failed, result.Status)
			require.Contains(t, result.Error, want)
		})
	}
}

// Waiting takes no timer, and so no event, however long it is.
func TestWaitAnswersWithTheOutcome(t *testing.T) {
	r := newRig(t)
	due := r.env.Now().Add(time.Hour).UnixMilli()
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassBlocked, Timers: []signals.Timer{{ID: 0, Due: due}}}
	}, ends(`"late"`))
	var first, last signals.Outcome
	r.waitAt(time.Second, &first)
	r.waitAt(59*time.Minute+55*time.Second, &last)
	r.run()
	require.Equal(t, signals.Completed, first.Status)
	require.Equal(t, signals.Completed, last.Status)
	require.Equal(t, `"late"`, string(last.Result))
}

func (r *rig) waitAt(after time.Duration, into *signals.Outcome) {
	r.env.RegisterDelayedCallback(func() {
		r.env.UpdateWorkflow(signals.UpdateWait, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { r.t.Error(err) },
			OnComplete: func(result any, err error) {
				require.NoError(r.t, err)
				require.NoError(r.t,
					converter.GetDefaultDataConverter().FromPayload(result.(converter.RawValue).Payload(), into))
			},
		}, signals.Wait{})
	}, after)
}

func TestOnlyFourWait(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassBlocked,
			Timers: []signals.Timer{{ID: 0, Due: r.env.Now().Add(time.Minute).UnixMilli()}}}
	}, ends(`1`))
	accepted, refused := 0, 0
	r.env.RegisterDelayedCallback(func() {
		for i := range 6 {
			r.env.UpdateWorkflow(signals.UpdateWait, fmt.Sprint(i), &testsuite.TestUpdateCallback{
				OnAccept: func() { accepted++ }, OnReject: func(error) { refused++ }, OnComplete: func(any, error) {},
			}, signals.Wait{})
		}
	}, time.Second)
	r.run()
	require.Equal(t, []int{4, 2}, []int{accepted, refused})
}

func TestQueries(t *testing.T) {
	r := newRig(t)
	long := json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)
	r.passes = append(r.passes, func(in signals.PassInput) signals.PassResult {
		p := blocked(ask(1))(in)
		p.Entries = []signals.Entry{{ID: 0, Connector: "store", Method: "read", Value: long}}
		return p
	})
	r.env.RegisterDelayedCallback(func() {
		var record signals.Record
		value, err := r.env.QueryWorkflow(signals.QueryState, signals.Page{})
		require.NoError(t, err)
		require.NoError(t, value.Get(&record))
		require.Equal(t, signals.Paused, record.Status)
		require.Equal(t, []bool{true, false}, []bool{record.Log[0].Omitted, record.Log[1].Omitted})
		require.Equal(t, 2, record.Total)
		value, err = r.env.QueryWorkflow(signals.QueryState, signals.Page{Offset: 1, Limit: 1})
		require.NoError(t, err)
		require.NoError(t, value.Get(&record))
		require.Equal(t, 1, record.Log[0].Seq)
		var pending []signals.PendingAction
		value, err = r.env.QueryWorkflow(signals.QueryPending)
		require.NoError(t, err)
		require.NoError(t, value.Get(&pending))
		require.Equal(t, `{"n":1}`, string(pending[0].Args))
	}, time.Hour)
	r.run()
}

func TestTooMuchCodeEndsAtOnce(t *testing.T) {
	r := newRig(t)
	r.env.ExecuteWorkflow(signals.ExecutionWorkflow, signals.ExecutionInput{Code: strings.Repeat("x", 1_000_001)})
	var result signals.ExecutionResult
	require.NoError(t, r.env.GetWorkflowResult(&result))
	require.Contains(t, result.Error, "The execution code is too large to record durably")
	require.Empty(t, r.inputs)
}

// TestLostAttemptAfterARetryableError: a worker is lost in the last attempt of a call, and the server's timeout tells
// what the attempt before had answered. That is not the call's answer.
func TestLostAttemptAfterARetryableError(t *testing.T) {
	r := newRig(t)
	put := write(0)
	put.Method, put.Class = "put", signals.Idempotent
	r.passes = append(r.passes, blocked(put), ends(`1`))
	r.call = func(signals.CallInput, int) (json.RawMessage, error) {
		answer := temporal.NewApplicationErrorWithOptions("try again", signals.ErrorRetryable,
			temporal.ApplicationErrorOptions{})
		return nil, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, answer)
	}
	r.run()
	given := r.inputs[1].Given[0]
	require.Equal(t, signals.OutcomeUnknown, given.Error.Name)
	require.Empty(t, given.Source, "no event holds an answer")
}

func TestAnswersShowArgumentsAsTheyAre(t *testing.T) {
	r := rigWithoutPass(t)
	r.env.RegisterActivityWithOptions(r.encoded, activity.RegisterOptions{Name: signals.PassActivity})
	call := ask(0)
	call.Args = json.RawMessage(`{"html":"<b>&</b>"}`)
	r.passes = append(r.passes, blocked(call))
	r.env.RegisterDelayedCallback(func() {
		value, err := r.env.QueryWorkflow(signals.QueryPending)
		require.NoError(t, err)
		var pending []signals.PendingAction
		require.NoError(t, value.Get(&pending))
		require.Equal(t, string(call.Args), string(pending[0].Args))
	}, time.Hour)
	var outcome signals.Outcome
	r.waitAt(time.Hour, &outcome)
	r.run()
	require.Equal(t, string(call.Args), string(outcome.Pending[0].Args))
}

// TestCancelledPassLosesNothing: what settled before a pass that was cancelled is in the record, and can be undone.
func TestCancelledPassLosesNothing(t *testing.T) {
	for name, stop := range map[string]func(r *rig){
		"cancel":   func(r *rig) { r.env.CancelWorkflow() },
		"rollback": func(r *rig) { r.env.SignalWorkflow(signals.SignalRollback, signals.Rollback{}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var plan signals.RollbackPlanInput
			r.env.RegisterActivityWithOptions(func(_ context.Context,
				in signals.RollbackPlanInput) (signals.RollbackPlan, error) {
				plan = in
				// of a late pass
				return signals.RollbackPlan{Targets: []signals.RevertTarget{{Seq: 7, Connector: "store",
					Method: "read"}}}, nil
			}, activity.RegisterOptions{Name: signals.RollbackPlanActivity})
			r.passes = append(r.passes, blocked(write(0)), func(in signals.PassInput) signals.PassResult {
				stop(r)
				return ends(`42`)(in)
			})
			result := r.run()
			require.NotEqual(t, signals.Completed, result.Status)
			require.Len(t, result.Final, 1)
			require.Equal(t, "call-0.1", result.Final[0].Source)
			if name == "rollback" {
				require.Equal(t, result.Final, plan.Settled)
				require.Equal(t, 1, plan.Passes)
			}
		})
	}
}

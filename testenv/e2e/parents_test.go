package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// approving is a workflow of a team's own: it runs a program as a child, approves what the child asks for, and reads
// the whole outcome where that is large.
func approving(ctx workflow.Context, runtime, id string, in signals.ExecutionInput) (string, error) {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: signals.WorkflowID(runtime, id), TaskQueue: signals.TaskQueue(runtime)})
	child := workflow.ExecuteChildWorkflow(ctx, signals.ExecutionWorkflow, in)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var paused signals.PausedNotice
			workflow.GetSignalChannel(ctx, signals.SignalPaused).Receive(ctx, &paused)
			for _, call := range paused.Pending {
				_ = workflow.SignalExternalWorkflow(ctx, paused.WorkflowID, "", signals.SignalApprove, signals.Approve{
					Seqs: []int{call.Seq}, ArgsDigest: call.ArgsDigest, By: "the parent"}).Get(ctx, nil)
			}
		}
	})
	var result signals.ExecutionResult
	if err := child.Get(ctx, &result); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s", result.Status, result.Result), nil
}

// team starts a worker with workflows of a team's own, and gives its task queue.
func (b *bench) team() string {
	queue := "team-" + b.runtime
	w := worker.New(b.temporal, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(approving, workflow.RegisterOptions{Name: "approving"})
	require.NoError(b.t, w.Start())
	b.t.Cleanup(w.Stop)
	return queue
}

func (b *bench) asParent(id string, in signals.ExecutionInput) (string, error) {
	run, err := b.temporal.ExecuteWorkflow(b.context(), client.StartWorkflowOptions{TaskQueue: b.team()}, "approving",
		b.runtime, id, in)
	require.NoError(b.t, err)
	var answer string
	err = run.Get(b.context(), &answer)
	return answer, err
}

func TestAParentApprovesAndGetsTheResult(t *testing.T) {
	b := setUp(t)
	b.worker()
	answer, err := b.asParent("child", signals.ExecutionInput{TellParent: true,
		Code: `const a = await lab.ask({name: 'a'}); return a + await lab.ask({name: 'b'})`})
	require.NoError(t, err)
	require.Equal(t, `completed "ab"`, answer)
	record := b.show("child")
	require.Equal(t, "the parent", record.Log[1].DecidedBy)
	b.healthy("child")
}

// TestAParentIsToldByEveryRun: the execution knows its parent after it has continued as new.
func TestAParentIsToldByEveryRun(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 40
	b.worker()
	answer, err := b.asParent("child", signals.ExecutionInput{TellParent: true, FailOnError: true,
		Code: manyWrites + `return await lab.ask({name: 'a'})`})
	require.NoError(t, err)
	require.Equal(t, `completed "a"`, answer)
	require.GreaterOrEqual(t, b.runs("child"), 3)
	b.healthy("child")
}

// TestAFailedChildIsAnError: and a client of ours sees what it sees of any other execution.
func TestAFailedChildIsAnError(t *testing.T) {
	b := setUp(t)
	b.worker()
	_, err := b.asParent("child", signals.ExecutionInput{FailOnError: true,
		Code: `await lab.make({name: 'a'}); console.log('so far'); throw new Error('it broke')`})
	var app *temporal.ApplicationError
	require.True(t, errors.As(err, &app), "%v", err)
	require.Equal(t, signals.ErrorExecution, app.Type())
	require.ErrorContains(t, err, "it broke")

	outcome := b.wait("child")
	require.Equal(t, signals.Failed, outcome.Status)
	require.Equal(t, "Code execution failed: it broke\n\nConsole output:\nso far", outcome.Error)
	require.Equal(t, []signals.CallState{signals.Applied}, b.states("child"))
	b.eventually("the list", func() bool { return len(b.ofStatus(signals.Failed)) == 1 })
	require.Equal(t, outcome.Error, b.ofStatus(signals.Failed)[0].Error)
	require.Equal(t, []int{0}, b.rollback("child").Reverted)
	require.Equal(t, signals.RolledBack, b.show("child").Status)
	b.healthy("child")
}

func (b *bench) ofStatus(status signals.Status) []signals.Record {
	list, err := b.client.Executions(b.context(), codemode.ListOptions{Status: status})
	require.NoError(b.t, err)
	return list
}

func TestARejectedChildIsAnError(t *testing.T) {
	b := setUp(t)
	b.worker()
	run, err := b.raw(signals.ExecutionInput{FailOnError: true, Code: `return await lab.ask({name: 'a'})`})
	require.NoError(t, err)
	require.Equal(t, signals.Paused, b.wait("raw").Status)
	rejected, err := b.client.Reject(b.context(), "raw", signals.Reject{Reason: "no"})
	require.NoError(t, err)
	require.True(t, rejected)
	err = run.Get(b.context(), nil)
	var app *temporal.ApplicationError
	require.True(t, errors.As(err, &app), "%v", err)
	require.Equal(t, signals.ErrorRejected, app.Type())
	var result signals.ExecutionResult
	require.NoError(t, app.Details(&result))
	require.Equal(t, signals.Rejected, result.Status)
	require.Equal(t, result.Error, b.wait("raw").Error)
	b.eventually("the list", func() bool { return len(b.ofStatus(signals.Rejected)) == 1 })
	require.NoError(t, b.client.Delete(b.context(), "raw"))
}

// raw starts an execution as any Temporal client can.
func (b *bench) raw(in signals.ExecutionInput) (client.WorkflowRun, error) {
	return b.temporal.ExecuteWorkflow(b.context(), client.StartWorkflowOptions{
		ID: signals.WorkflowID(b.runtime, "raw"), TaskQueue: signals.TaskQueue(b.runtime)},
		signals.ExecutionWorkflow, in)
}

// TestRawStartsCarrySearchAttributes: on the stock worker, and on a team's own with the plugin.
func TestRawStartsCarrySearchAttributes(t *testing.T) {
	for _, where := range []string{"stock", "plugin"} {
		t.Run(where, func(t *testing.T) {
			b := setUp(t)
			if where == "plugin" {
				require.NoError(t, codemodeworker.EnsureSearchAttributes(b.context(), b.temporal))
				plugin, err := codemodeworker.NewPlugin(b.options)
				require.NoError(t, err)
				w := worker.New(b.temporal, codemodeworker.TaskQueue(b.runtime),
					worker.Options{Plugins: []worker.Plugin{plugin}})
				require.NoError(t, w.Start())
				t.Cleanup(w.Stop)
			} else {
				b.options.IndexLabels = true
				require.NoError(t, codemodeworker.EnsureLabels(b.context(), b.temporal))
				b.worker()
			}
			_, err := b.raw(signals.ExecutionInput{Code: `return 1`,
				Caller: signals.Caller{Labels: map[string]string{"team": "billing"}}})
			require.NoError(t, err)
			require.Equal(t, signals.Completed, b.wait("raw").Status)
			query := fmt.Sprintf(`%s = "%s"`, signals.AttributeRuntime, b.runtime)
			if where == "stock" {
				query += fmt.Sprintf(` AND %s = "team=billing"`, signals.AttributeLabels)
			}
			b.eventually("the execution is found by its search attributes", func() bool {
				page, err := b.temporal.ListWorkflow(context.Background(),
					&workflowservice.ListWorkflowExecutionsRequest{Query: query})
				return err == nil && len(page.Executions) == 1 &&
					page.Executions[0].Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
			})
		})
	}
}

// TestWholeOutcomesForEverybody: a parent gets a large result by an activity, and who has no workflow of its own by a
// workflow. So do the arguments that a person is to approve.
func TestWholeOutcomesForEverybody(t *testing.T) {
	b := setUp(t)
	b.worker()
	wholeOf := func(id string) signals.OutcomePart {
		run, err := b.temporal.ExecuteWorkflow(b.context(),
			client.StartWorkflowOptions{TaskQueue: signals.TaskQueue(b.runtime)}, signals.OutcomeActivity,
			signals.OutcomeInput{WorkflowID: signals.WorkflowID(b.runtime, id)})
		require.NoError(t, err)
		var part signals.OutcomePart
		require.NoError(t, run.Get(b.context(), &part))
		return part
	}
	_, err := b.raw(signals.ExecutionInput{Code: `
		await lab.read({name: 'r'});
		const name = await lab.ask({name: 'x'.repeat(300_000)});
		return name.repeat(2)`})
	require.NoError(t, err)
	require.True(t, b.queried("raw")[0].Omitted, "a query shows no arguments of that size")
	paused := b.wait("raw")
	whole := wholeOf("raw")
	require.Equal(t, paused.Pending, whole.Pending)
	require.Len(t, whole.Pending[0].Args, 300_011)
	require.Equal(t, 1, whole.Parts)

	b.approve("raw", signals.Approve{})
	queue := b.team()
	w := worker.New(b.temporal, queue+"-whole", worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) (signals.OutcomePart, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: signals.TaskQueue(b.runtime),
			StartToCloseTimeout: time.Minute})
		var part signals.OutcomePart
		err := workflow.ExecuteActivity(ctx, signals.OutcomeActivity,
			signals.OutcomeInput{WorkflowID: signals.WorkflowID(b.runtime, "raw")}).Get(ctx, &part)
		return part, err
	}, workflow.RegisterOptions{Name: "whole"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	run, err := b.temporal.ExecuteWorkflow(b.context(),
		client.StartWorkflowOptions{TaskQueue: queue + "-whole"}, "whole")
	require.NoError(t, err)
	whole = signals.OutcomePart{}
	require.NoError(t, run.Get(b.context(), &whole))
	require.Equal(t, signals.Completed, whole.Status)
	require.Len(t, whole.Result, 600_002)
	require.Len(t, whole.Calls, 2)
	require.Equal(t, whole, wholeOf("raw"))

	unknown, err := b.temporal.ExecuteWorkflow(b.context(),
		client.StartWorkflowOptions{TaskQueue: signals.TaskQueue(b.runtime)}, signals.OutcomeActivity,
		signals.OutcomeInput{WorkflowID: signals.WorkflowID(b.runtime, "nothing")})
	require.NoError(t, err)
	require.ErrorContains(t, unknown.Get(b.context(), nil), "there is no execution")
}

// queried is what a query tells of pending calls.
func (b *bench) queried(id string) (actions []signals.PendingAction) {
	require.Equal(b.t, signals.Paused, b.wait(id).Status)
	value, err := b.temporal.QueryWorkflow(b.context(), signals.WorkflowID(b.runtime, id), "", signals.QueryPending)
	require.NoError(b.t, err)
	require.NoError(b.t, value.Get(&actions))
	return actions
}

package workflows

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// parentOf runs the rig's execution as a child of a workflow that approves what it is told of.
func (r *rig) parentOf(in signals.ExecutionInput, decide func(workflow.Context, signals.PausedNotice) bool) (
	result signals.ExecutionResult, notices []signals.PausedNotice, failure error) {
	parent := func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: testID})
		child := workflow.ExecuteChildWorkflow(ctx, signals.ExecutionWorkflow, in)
		workflow.Go(ctx, func(ctx workflow.Context) {
			for {
				var n signals.PausedNotice
				workflow.GetSignalChannel(ctx, signals.SignalPaused).Receive(ctx, &n)
				notices = append(notices, n)
				if decide(ctx, n) {
					approve := signals.Approve{Seqs: []int{n.Pending[0].Seq}, ArgsDigest: n.Pending[0].ArgsDigest}
					_ = child.SignalChildWorkflow(ctx, signals.SignalApprove, approve).Get(ctx, nil)
				}
			}
		})
		failure = child.Get(ctx, &result)
		return nil
	}
	r.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "parent", TaskQueue: "codemode-default"})
	r.env.RegisterWorkflowWithOptions(parent, workflow.RegisterOptions{Name: "Parent"})
	r.env.ExecuteWorkflow("Parent")
	require.True(r.t, r.env.IsWorkflowCompleted())
	require.NoError(r.t, r.env.GetWorkflowError())
	return result, notices, failure
}

func approves(workflow.Context, signals.PausedNotice) bool { return true }

func TestAParentIsToldOfPauses(t *testing.T) {
	r := newRig(t)
	r.passes = []func(signals.PassInput) signals.PassResult{blocked(ask(0)), blocked(), blocked(ask(1)), blocked(),
		ends(`"done"`)}
	result, notices, err := r.parentOf(signals.ExecutionInput{Code: "…", TellParent: true}, approves)
	require.NoError(t, err)
	require.Equal(t, signals.Completed, result.Status, result.Error)
	require.Len(t, notices, 2)
	for seq, n := range notices {
		require.Equal(t, testID, n.WorkflowID)
		require.Equal(t, "exec_1", n.ExecutionID)
		require.Equal(t, signals.Paused, n.Status)
		require.Equal(t, seq, n.Pending[0].Seq)
		require.JSONEq(t, string(ask(seq).Args), string(n.Pending[0].Args))
	}
	require.Len(t, r.calls, 2)
}

func TestAParentThatDoesNotAskIsNotTold(t *testing.T) {
	r := newRig(t)
	r.passes = []func(signals.PassInput) signals.PassResult{blocked(ask(0))}
	result, notices, err := r.parentOf(signals.ExecutionInput{Code: "…"}, approves)
	require.NoError(t, err)
	require.Equal(t, signals.Rejected, result.Status, "nobody knew")
	require.Empty(t, notices)
}

// TestNobodyIsToldWhereThereIsNoParent: the input asks for it all the same.
func TestNobodyIsToldWhereThereIsNoParent(t *testing.T) {
	r := newRig(t)
	r.input.TellParent = true
	r.passes = []func(signals.PassInput) signals.PassResult{blocked(ask(0)), blocked(), ends(`1`)}
	r.update(time.Hour, signals.SignalApprove, signals.Approve{})
	require.Equal(t, signals.Completed, r.run().Status)
}

func TestSeveralApproversAreToldApart(t *testing.T) {
	r := newRig(t)
	two := ask(0)
	two.Approvals = 2
	r.passes = []func(signals.PassInput) signals.PassResult{blocked(two), blocked(), ends(`1`)}
	var seen [][]string
	_, _, err := r.parentOf(signals.ExecutionInput{Code: "…", TellParent: true},
		func(ctx workflow.Context, n signals.PausedNotice) bool {
			seen = append(seen, n.Pending[0].ApprovedBy)
			approve := signals.Approve{Seqs: []int{0}, By: []string{"ada", "bob"}[len(seen)-1]}
			_ = workflow.SignalExternalWorkflow(ctx, n.WorkflowID, "", signals.SignalApprove, approve).Get(ctx, nil)
			return false
		})
	require.NoError(t, err)
	require.Equal(t, [][]string{nil, {"ada"}}, seen)
}

func TestFailOnError(t *testing.T) {
	fails := func(signals.PassInput) signals.PassResult {
		return signals.PassResult{End: signals.PassFailed, Failure: &signals.PassFailure{Message: "it broke"}}
	}
	for name, test := range map[string]struct {
		pass   func(signals.PassInput) signals.PassResult
		kind   string
		status signals.Status
		says   string
	}{
		"failed":    {fails, signals.ErrorExecution, signals.Failed, "it broke"},
		"expired":   {blocked(ask(0)), signals.ErrorRejected, signals.Rejected, signals.ExecutionExpired},
		"completed": {ends(`7`), "", signals.Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.passes = []func(signals.PassInput) signals.PassResult{test.pass}
			result, _, err := r.parentOf(signals.ExecutionInput{Code: "…", FailOnError: true}, approves)
			if test.kind == "" {
				require.NoError(t, err)
				require.Equal(t, test.status, result.Status)
				return
			}
			var app *temporal.ApplicationError
			require.True(t, errors.As(err, &app), "%v", err)
			require.Equal(t, test.kind, app.Type())
			require.True(t, app.NonRetryable())
			require.Equal(t, test.says, app.Message())
			require.NoError(t, app.Details(&result))
			require.Equal(t, test.status, result.Status)
			require.Equal(t, 1, result.Passes)
		})
	}
}

package workflows

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/temporal-codemode/codemode/signals"
)

// refusedByTheServer is the size in bytes from which the server refuses a payload, again and again.
const refusedByTheServer = 2 << 20

func encodedBytes(t *testing.T, v any) int {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return len(text)
}

func many(n int) (calls []signals.Blocked) {
	for seq := range n {
		calls = append(calls, ask(seq))
	}
	return calls
}

func TestLargeEditsDoNotMakeThePassTooLarge(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, blocked(many(4)...), blocked(), blocked(), blocked(), blocked(), ends(`1`))
	edited := json.RawMessage(`"` + strings.Repeat("x", 900_000) + `"`)
	var decisions signals.Mixed
	for seq := range 4 {
		args := edited
		if seq == 3 {
			args = json.RawMessage(`"small"`)
		}
		decisions = append(decisions, signals.OneDecision{Approve: &signals.Approve{Seqs: []int{seq}, Args: args}})
	}
	r.env.RegisterDelayedCallback(func() {
		r.env.SignalWorkflow(signals.SignalApprove,
			signals.Approve{Decisions: decisions})
	}, time.Hour)
	require.Equal(t, signals.Completed, r.run().Status)
	require.Less(t, encodedBytes(t, r.inputs[1]), refusedByTheServer/2)
	require.Len(t, r.calls, 4)
	for _, c := range r.calls {
		require.Equal(t, c.Seq == 3, len(c.Args) < len(edited), "it runs with what was approved")
	}
	var short []bool
	for _, g := range r.inputs[1].Given {
		short = append(short, g.Decision.Shortened)
	}
	require.Equal(t, []bool{true, true, true, false}, short)
	require.Nil(t, r.inputs[1].Given[0].Decision.EditedArgs)
	require.JSONEq(t, `"small"`, string(r.inputs[1].Given[3].Decision.EditedArgs))
}

func TestAGivenResultTravelsWithoutArguments(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Client, b.Approval, b.Args = true, false, json.RawMessage(`"`+strings.Repeat("é", 900_000)+`"`)
	r.passes = append(r.passes, blocked(b), blocked(), ends(`1`))
	r.call = func(in signals.CallInput, _ int) (json.RawMessage, error) { return in.Resolution.Value, nil }
	r.update(time.Hour, signals.SignalResolve,
		signals.Resolve{Seq: 0, Result: json.RawMessage(`"` + strings.Repeat("r", 900_000) + `"`)})
	require.Equal(t, signals.Completed, r.run().Status)
	require.Nil(t, r.calls[0].Args)
	require.NotEmpty(t, r.calls[0].Key)
	require.Less(t, encodedBytes(t, r.calls[0]), refusedByTheServer)
}

// TestAGivenResultKeepsItsArguments: their call's undoing needs the arguments.
func TestAGivenResultKeepsItsArguments(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Client, b.Approval = true, false
	r.passes = append(r.passes, blocked(b), blocked(), ends(`1`))
	r.call = func(in signals.CallInput, _ int) (json.RawMessage, error) { return in.Resolution.Value, nil }
	r.update(time.Hour, signals.SignalResolve, signals.Resolve{Seq: 0, Result: json.RawMessage(`7`)})
	require.Equal(t, signals.Completed, r.run().Status)
	require.JSONEq(t, `{"n":0}`, string(r.calls[0].Args))
}

// TestTheSecondApproverSeesTheEdit of the first, however large it is.
func TestTheSecondApproverSeesTheEdit(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Approvals = 2
	edited := json.RawMessage(`"` + strings.Repeat("x", 200_000) + `"`)
	r.passes = append(r.passes, blocked(b), blocked(), ends(`1`))
	r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada", Args: edited})
	var o signals.Outcome
	r.waitAt(2*time.Hour, &o)
	r.env.RegisterDelayedCallback(func() {
		value, err := r.env.QueryWorkflow(signals.QueryPending)
		require.NoError(t, err)
		var pending []signals.PendingAction
		require.NoError(t, value.Get(&pending))
		require.Equal(t, signals.Digest(edited), pending[0].ArgsDigest)
		require.Equal(t, edited, pending[0].Current())
		require.False(t, pending[0].Omitted)
		details, err := r.env.QueryWorkflow("__temporal_workflow_metadata")
		require.NoError(t, err)
		var shown sdkpb.WorkflowMetadata
		require.NoError(t, details.Get(&shown))
		require.Contains(t, shown.CurrentDetails, strings.Repeat("x", 100), "and so does the Web UI")
		require.True(t, o.Pending[0].Omitted, "an outcome is told too often for that")
		require.Nil(t, o.Pending[0].EditedArgs)
	}, 3*time.Hour)
	r.update(4*time.Hour, signals.SignalApprove, signals.Approve{By: "bob", ArgsDigest: signals.Digest(edited)})
	require.Equal(t, signals.Completed, r.run().Status)
	require.Equal(t, edited, r.calls[0].Args)
}

// TestEditingForEver: approvals without which no call goes on start no pass, so that the next is told of all of them.
func TestEditingForEver(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Approvals = 2
	r.passes = append(r.passes, blocked(b))
	edit := signals.Approve{By: strings.Repeat("a", 256), AssertedBy: strings.Repeat("b", 256),
		Args: json.RawMessage(`1`), Note: strings.Repeat("\x01", 300)}
	for at := time.Hour; at < 5*time.Hour; at += time.Hour {
		r.env.RegisterDelayedCallback(func() {
			for range 700 {
				r.env.SignalWorkflow(signals.SignalApprove, edit)
			}
		}, at)
	}
	r.update(11*time.Hour, signals.SignalReject, signals.Reject{All: true})
	result := r.run()
	require.Greater(t, len(result.Final), 500)
	require.Less(t, encodedBytes(t, result), refusedByTheServer)
}

func TestADecisionAboutManyCallsFitsEverywhere(t *testing.T) {
	note := strings.Repeat("n\x01", 2000)
	t.Run("approve", func(t *testing.T) {
		r := newRig(t)
		r.passes = append(r.passes, blocked(many(600)...), blocked(), ends(`1`))
		r.update(time.Hour, signals.SignalApprove, signals.Approve{By: "ada", Note: note})
		require.Equal(t, signals.Completed, r.run().Status)
		require.Less(t, encodedBytes(t, r.inputs[1]), refusedByTheServer/2)
		require.Equal(t, note, r.inputs[1].Given[0].Decision.Note)
		last := r.inputs[1].Given[599].Decision
		require.Less(t, len(last.Note), 65)
		require.True(t, last.Shortened)
		require.Equal(t, "ada", last.By)
	})
	t.Run("reject", func(t *testing.T) {
		r := newRig(t)
		r.passes = append(r.passes, blocked(many(600)...))
		r.update(time.Hour, signals.SignalReject, signals.Reject{All: true, By: "ada", Reason: note})
		result := r.run()
		require.Equal(t, signals.Rejected, result.Status)
		require.Len(t, result.Ended, 600)
		require.Equal(t, "ada", result.Ended[599].Decision.By)
		require.Less(t, encodedBytes(t, result), refusedByTheServer/2)
	})
}

func TestLongNamesLeaveCallsOutOfTheOutcome(t *testing.T) {
	r := newRig(t)
	r.passes = append(r.passes, func(signals.PassInput) signals.PassResult {
		read := signals.Entry{ID: 0, Connector: "store", Method: strings.Repeat("m", 100_000),
			Error: &signals.CallError{Name: strings.Repeat("n", 1000)}}
		return signals.PassResult{End: signals.PassBlocked, Entries: []signals.Entry{read},
			Blocked: []signals.Blocked{ask(1)}}
	})
	var o signals.Outcome
	r.waitAt(time.Hour, &o)
	r.update(2*time.Hour, signals.SignalReject, signals.Reject{All: true})
	r.run()
	require.Equal(t, signals.Paused, o.Status)
	require.True(t, o.CallsOmitted)
	require.Less(t, encodedBytes(t, o), 10_000)
}

func TestOnePersonIsOneApproval(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Approvals = 2
	r.passes = append(r.passes, blocked(b), blocked(), ends(`1`))
	twice := r.update(time.Hour, signals.SignalApprove, signals.Approve{Seqs: []int{0, 0}, AssertedBy: "ada"})
	r.env.RegisterDelayedCallback(func() {
		require.Empty(t, r.calls)
		require.Len(t, r.inputs, 1)
	}, 2*time.Hour)
	r.update(3*time.Hour, signals.SignalApprove, signals.Approve{Seqs: []int{0}, AssertedBy: "bob"})
	require.Equal(t, signals.Completed, r.run().Status)
	require.True(t, twice.Accepted)
	require.Equal(t, []int{0}, twice.Seqs)
	require.Len(t, r.inputs[1].Given, 2)
}

// TestAResultThatCannotBeChecked: nothing was made, so that nothing is unknown.
func TestAResultThatCannotBeChecked(t *testing.T) {
	r := newRig(t)
	b := ask(0)
	b.Client, b.Approval = true, false
	r.passes = append(r.passes, blocked(b), blocked(), blocked(), ends(`1`))
	r.call = func(in signals.CallInput, n int) (json.RawMessage, error) {
		if n <= 12 {
			return nil, errors.New("the worker was lost")
		}
		return in.Resolution.Value, nil
	}
	r.update(time.Hour, signals.SignalResolve, signals.Resolve{Seq: 0, Result: json.RawMessage(`7`)})
	r.env.RegisterDelayedCallback(func() {
		value, err := r.env.QueryWorkflow(signals.QueryPending)
		require.NoError(t, err)
		var pending []signals.PendingAction
		require.NoError(t, value.Get(&pending))
		require.Len(t, pending, 1)
		require.Contains(t, pending[0].Refused, "The given result could not be checked: ")
	}, 3*time.Hour)
	r.update(4*time.Hour, signals.SignalResolve, signals.Resolve{Seq: 0, Result: json.RawMessage(`8`)})
	require.Equal(t, signals.Completed, r.run().Status)
	require.Len(t, r.calls, 13, "ten attempts, then two and one more")
	require.Nil(t, r.inputs[len(r.inputs)-1].Given[len(r.inputs[len(r.inputs)-1].Given)-1].Error)
}

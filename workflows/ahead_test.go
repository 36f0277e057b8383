package workflows

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/signals"
)

// aheadRig has calls go on with the pass that follows, as workers that hold the program's runtime do.
func aheadRig(t *testing.T, settle func(out *signals.CallOutput),
	passes ...func(signals.PassInput) signals.PassResult) *rig {
	r := &rig{t: t, env: environment(), passes: passes}
	pass := func(ctx context.Context, in signals.PassInput) (signals.PassResult, error) {
		result, err := r.pass(ctx, in)
		result.Given = in.Given
		if result.Pinned != nil {
			result.Pinned.LocalPasses = true
		}
		return result, err
	}
	r.env.RegisterActivityWithOptions(pass, activity.RegisterOptions{Name: signals.PassActivity})
	r.env.RegisterDynamicActivity(func(ctx context.Context, args converter.EncodedValues) (signals.CallOutput, error) {
		var in signals.CallInput
		require.NoError(t, args.Get(&in))
		r.mu.Lock()
		r.calls = append(r.calls, in)
		r.mu.Unlock()
		out := signals.CallOutput{Value: in.Args}
		if in.Next != nil {
			given := signals.Given{ID: in.Seq, At: 1234, Source: activity.GetInfo(ctx).ActivityID,
				Attempts: max(1, in.Next.Attempts), Value: in.Args}
			result, err := pass(ctx,
				signals.PassInput{Pass: in.Next.Pass, After: in.Next.After, Given: []signals.Given{given}})
			require.NoError(t, err)
			out.Next, out.At = &result, given.At
		}
		if settle != nil {
			settle(&out)
		}
		return out, nil
	}, activity.DynamicRegisterOptions{})
	return r
}

func TestCallsGoOnWithThePassThatFollows(t *testing.T) {
	r := aheadRig(t, nil, blocked(write(0)), blocked(write(1)), ends(`42`))
	result := r.run()
	require.Equal(t, "42", string(result.Result))
	require.Equal(t, 3, result.Passes)
	require.Len(t, r.inputs, 3, "no pass is repeated")
	require.Equal(t, []string{"n1", "n2"}, []string{r.calls[0].Next.After, r.calls[1].Next.After})
	require.EqualValues(t, 1234, r.inputs[2].Given[0].At)
}

func TestWorkflowRunsThePassThatACallCouldNotWaitFor(t *testing.T) {
	r := aheadRig(t, func(out *signals.CallOutput) { out.Next = nil }, blocked(write(0)), ends(`42`))
	require.Equal(t, "42", string(r.run().Result))
	require.Len(t, r.inputs, 3)
	require.Equal(t, r.inputs[1].Given[0].At, r.inputs[2].Given[0].At, "it can be taken over: it is the same pass")
}

func TestPassOfAnotherCallDoesNotCount(t *testing.T) {
	r := aheadRig(t, func(out *signals.CallOutput) { out.Next.Given[0].ID = 7 }, blocked(write(0)), ends(`42`))
	require.Equal(t, "42", string(r.run().Result))
	require.Len(t, r.inputs, 3)
}

func TestPassThatFollowsACancelledCallDoesNotCount(t *testing.T) {
	r := aheadRig(t, nil, blocked(write(0)), ends(`42`))
	r.first = true // this environment answers for a call that runs at once, where a server waits for it
	r.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name != signals.PassActivity {
			r.env.CancelWorkflow()
		}
	})
	result := r.run()
	require.Equal(t, signals.Failed, result.Status)
	require.Equal(t, 1, result.Passes)
	require.Len(t, result.Final, 1, "the call is recorded")
}

func TestCallsThatAreNotAllAnExecutionWaitsForGoOnWithNothing(t *testing.T) {
	timer := func(in signals.PassInput) signals.PassResult {
		r := blocked(write(0))(in)
		r.Timers = []signals.Timer{{ID: 0, Due: time.Now().Add(time.Hour).UnixMilli()}}
		return r
	}
	elsewhere := write(0)
	elsewhere.Queue = "other"
	for name, first := range map[string]func(signals.PassInput) signals.PassResult{
		"two calls":      blocked(write(0), write(1)),
		"one waits":      blocked(write(0), ask(1)),
		"timer":          timer,
		"own task queue": blocked(elsewhere),
		"the pass goes on": func(in signals.PassInput) signals.PassResult {
			r := blocked(write(0))(in)
			r.End = signals.PassMore
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := aheadRig(t, nil, first, ends(`42`), ends(`42`))
			r.update(time.Second, signals.SignalApprove, signals.Approve{})
			r.run()
			require.NotEmpty(t, r.calls)
			require.Nil(t, r.calls[0].Next)
		})
	}
}

// TestDecisionsGoToThePassThatFollows: the call knows nothing of them, so the workflow starts that pass.
func TestDecisionsGoToThePassThatFollows(t *testing.T) {
	r := aheadRig(t, nil, blocked(ask(0)), blocked(), blocked(ask(1)), ends(`42`))
	r.update(time.Second, signals.SignalApprove, signals.Approve{Always: true})
	require.Equal(t, "42", string(r.run().Result))
	require.NotNil(t, r.calls[0].Next)
	require.Nil(t, r.calls[1].Next)
	require.Len(t, r.inputs, 4, "no pass is repeated")
	require.Len(t, r.inputs[3].Given, 2)
}

func TestRepeatedCallTellsItsAttempts(t *testing.T) {
	e := &execution{pinned: &signals.Pinned{LocalPasses: true}, passes: 1, nonce: "n1"}
	c := &call{phase: running, scheduled: 1}
	e.order = []*call{c}
	require.Equal(t, &signals.NextPass{Pass: 2, After: "n1"}, e.nextPass(c))
	c.scheduled = 3
	require.Equal(t, 3, e.nextPass(c).Attempts)
}

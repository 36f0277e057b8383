package activities

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// written is what became of a program's first write: what its activity answered, and the pass that the workflow would
// have run then if that had not.
type written struct {
	reads int
	out   signals.CallOutput
	then  signals.PassResult
	err   error // of that pass
}

// writeFirst runs the first pass of a program, the write that it is blocked on, and the next pass.
func writeFirst(t *testing.T, code string, before func(a *Activities, next *signals.NextPass)) written {
	var w written
	a := testActivities(t,
		method("write", connectors.Write, func(connectors.Context, json.RawMessage) (any, error) { return 1, nil }),
		method("read", connectors.Read, func(connectors.Context, json.RawMessage) (any, error) {
			w.reads++
			return 2, nil
		}),
	)
	a.LocalPass, a.patience = time.Hour, time.Hour
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	a.Register(env)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		ctx = workflow.WithActivityOptions(ctx,
			workflow.ActivityOptions{ActivityID: "call-0.1", StartToCloseTimeout: time.Minute})
		var first signals.PassResult
		if err := workflow.ExecuteLocalActivity(ctx, signals.PassActivity,
			signals.PassInput{ExecutionID: "e", Pass: 1, Code: code}).Get(ctx, &first); err != nil {
			return err
		}
		in := signals.CallInput{ExecutionID: "e", Connector: "store", Method: "write", Class: signals.Write}
		in.Next = &signals.NextPass{Pass: 2, After: first.Nonce}
		before(a, in.Next)
		if err := workflow.ExecuteActivity(ctx, "store.write", in).Get(ctx, &w.out); err != nil {
			return err
		}
		given := signals.Given{At: w.out.At, Source: "call-0.1", Attempts: 1, Value: w.out.Value, Carried: true}
		then := signals.PassInput{ExecutionID: "e", Pass: 2, After: first.Nonce, Given: []signals.Given{given},
			Pinned: first.Pinned}
		if w.out.Next != nil || w.out.At == 0 {
			return nil
		}
		w.err = workflow.ExecuteLocalActivity(ctx, signals.PassActivity, then).Get(ctx, &w.then)
		return nil
	})
	require.NoError(t, env.GetWorkflowError())
	return w
}

func TestCallGoesOnWithThePassThatFollows(t *testing.T) {
	w := writeFirst(t, `return 1 + await store.write({})`, func(*Activities, *signals.NextPass) {})
	require.Equal(t, "1", string(w.out.Value))
	require.Equal(t, 2, w.out.Next.Pass)
	require.Equal(t, "2", string(w.out.Next.Value))
	given := w.out.Next.Given[0]
	require.NotZero(t, given.At)
	require.Equal(t, signals.Given{ID: 0, At: given.At, Source: "call-0.1", Attempts: 1}, given,
		"the value stands there once")
	require.Nil(t, w.out.Next.Pinned, "the first pass pinned it")
}

func TestCallWaitsForNoOtherCall(t *testing.T) {
	w := writeFirst(t, `const w = await store.write({}); return w + await store.read({})`,
		func(*Activities, *signals.NextPass) {})
	require.Nil(t, w.out.Next, "the write is recorded before the read is made")
	require.NotZero(t, w.out.At)
	require.Equal(t, "3", string(w.then.Value))
	require.Equal(t, w.out.At, w.then.Given[0].At)
	require.Equal(t, 1, w.reads, "the pass is taken over")
}

func TestCallDoesNotWaitForALongPass(t *testing.T) {
	w := writeFirst(t, `const w = await store.write({}); return w + 1`,
		func(a *Activities, _ *signals.NextPass) { a.patience = 0 })
	if w.out.Next == nil { // else the pass was even faster
		require.NotZero(t, w.out.At)
		require.Equal(t, "2", string(w.then.Value))
	}
}

func TestCallDoesNotAnswerWithALargePass(t *testing.T) {
	w := writeFirst(t, `await store.write({}); return 'x'.repeat(300_000)`, func(*Activities, *signals.NextPass) {})
	require.Nil(t, w.out.Next)
	require.Equal(t, signals.PassElsewhere, w.then.End)
}

// garbled answers with what is no JSON, as a child may that its program has taken over.
type garbled struct{ sandbox.Executor }

func (garbled) Run(context.Context, sandbox.Pass, sandbox.Host) (sandbox.Result, error) {
	return sandbox.Result{End: sandbox.Completed, Value: json.RawMessage("{")}, nil
}

func TestCallIsRecordedWhateverThePassAnswers(t *testing.T) {
	w := writeFirst(t, `return 1 + await store.write({})`,
		func(a *Activities, _ *signals.NextPass) { a.Executor = garbled{a.Executor} })
	require.Equal(t, "1", string(w.out.Value))
	require.Nil(t, w.out.Next)
	require.Error(t, w.err)
}

func TestCallGoesOnOnlyAfterThePassThatIssuedIt(t *testing.T) {
	for name, before := range map[string]func(a *Activities, next *signals.NextPass){
		"another pass":    func(_ *Activities, next *signals.NextPass) { next.After = "other" },
		"another worker":  func(a *Activities, _ *signals.NextPass) { a.memory = memory{} },
		"no local passes": func(a *Activities, _ *signals.NextPass) { a.LocalPass = -1 },
		"another engine":  func(a *Activities, _ *signals.NextPass) { a.Modules = map[string]string{"m": "export {}"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := writeFirst(t, `return 1 + await store.write({})`, before)
			require.Equal(t, signals.CallOutput{Value: json.RawMessage("1")}, w.out)
		})
	}
}

func TestCallThatEndsInItsLastMomentsWaitsForNothing(t *testing.T) {
	for left, want := range map[time.Duration]bool{time.Hour: false, time.Millisecond: true} {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		require.Equal(t, want, endsSoon(ctx), left)
		cancel()
	}
	require.False(t, endsSoon(t.Context()), "there is no deadline")
}

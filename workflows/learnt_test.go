package workflows

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals/learnt"
)

func learntEnv(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(Learnt, workflow.RegisterOptions{Name: learnt.Workflow})
	return env
}

func batch(id, method, result string) learnt.Batch {
	return learnt.Batch{ID: id, Methods: []learnt.Method{{Name: method, Result: learnt.Look(json.RawMessage(result))}}}
}

func TestLearntKeepsWhatWorkersLearn(t *testing.T) {
	env := learntEnv(t)
	ask := func(have int) (s learnt.State) {
		answer, err := env.QueryWorkflow(learnt.Query, have)
		require.NoError(t, err)
		require.NoError(t, answer.Get(&s))
		return s
	}
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(learnt.SignalLearn, batch("a-1", "get", `{"id":1}`))
		env.SignalWorkflow(learnt.SignalLearn, batch("a-1", "get", `{"id":1}`)) // sent again
		env.SignalWorkflow(learnt.SignalLearn, "no batch")
		env.SignalWorkflow(learnt.SignalLearn, batch("b-1", "get", `{"id":2,"name":"x"}`))
	}, time.Minute)
	env.RegisterDelayedCallback(func() {
		s := ask(0)
		require.Equal(t, 2, s.Version)
		require.Equal(t, 2, s.Of("get").Seen)
		require.Equal(t, 1, s.Of("get").Field("name").Seen)
		require.Equal(t, learnt.State{Version: 2}, ask(2), "nothing is new")
		env.CancelWorkflow()
	}, 2*time.Minute)
	env.ExecuteWorkflow(learnt.Workflow, learnt.State{})
	require.Error(t, env.GetWorkflowError())
}

func TestLearntBeginsItsHistoryAnew(t *testing.T) {
	env := learntEnv(t)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(learnt.SignalLearn, batch("b-9", "get", `{"id":2}`))
	}, time.Minute)
	env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 2*time.Minute)
	before := learnt.State{}
	before.Add(batch("a-1", "get", `{"id":1}`))
	env.ExecuteWorkflow(learnt.Workflow, before)
	var anew *workflow.ContinueAsNewError
	require.True(t, errors.As(env.GetWorkflowError(), &anew))
	var state learnt.State
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(anew.Input, &state))
	require.Equal(t, []any{2, 2, []string{"a-1", "b-9"}}, []any{state.Version, state.Of("get").Seen, state.Recent})
}

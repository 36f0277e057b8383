package workflows

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/signals"
)

// snippetRig runs the workflow of a snippet; updates are sent one a minute.
type snippetRig struct {
	*testing.T
	env  *testsuite.TestWorkflowEnvironment
	next time.Duration
}

func newSnippetRig(t *testing.T) *snippetRig {
	suite := testsuite.WorkflowTestSuite{}
	r := &snippetRig{T: t, env: suite.NewTestWorkflowEnvironment()}
	r.env.RegisterWorkflowWithOptions(Snippet, workflow.RegisterOptions{Name: signals.SnippetWorkflow})
	return r
}

// update sends one update after the others and hands its answer to then.
func (r *snippetRig) update(name string, arg any, then func(answer any, err error)) {
	r.next += time.Minute
	r.env.RegisterDelayedCallback(func() {
		args := []any{arg}
		if arg == nil {
			args = nil
		}
		r.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { then(nil, err) }, OnComplete: then,
		}, args...)
	}, r.next)
}

func (r *snippetRig) must(name string, arg any, want int) {
	r.update(name, arg, func(answer any, err error) {
		require.NoError(r, err)
		require.Equal(r, want, answer.(signals.SnippetVersion).Version)
	})
}

func (r *snippetRig) ask(version int) (v signals.SnippetVersion, err error) {
	value, err := r.env.QueryWorkflow(signals.QuerySnippet, version)
	if err == nil {
		err = value.Get(&v)
	}
	return v, err
}

func TestSnippetKeepsVersions(t *testing.T) {
	r := newSnippetRig(t)
	r.must(signals.UpdateSave, signals.SnippetVersion{Code: "1 < 2", Description: "one", Connectors: []string{"store"}},
		1)
	r.must(signals.UpdateSave, signals.SnippetVersion{Code: "2"}, 2)
	r.must(signals.UpdateRestore, signals.RestoreSnippet{Version: 1, By: "ada"}, 3)
	r.update(signals.UpdateRestore, signals.RestoreSnippet{Version: 9}, func(_ any, err error) {
		require.ErrorContains(t, err, `snippet "s" has no version 9`)
		newest, err := r.ask(0)
		require.NoError(t, err)
		require.Equal(t, []any{3, "1 < 2", "ada", "one"},
			[]any{newest.Version, newest.Code, newest.By, newest.Description})
		second, err := r.ask(2)
		require.NoError(t, err)
		require.Equal(t, "2", second.Code)
	})
	r.update(signals.UpdateSave, signals.SnippetVersion{Code: strings.Repeat("x", signals.MaxValueUnits+1)},
		func(_ any, err error) {
			require.ErrorContains(t, err, "too large to record durably")
		})
	r.update(signals.UpdateDelete, nil, func(answer any, err error) {
		require.NoError(t, err)
		require.Equal(t, true, answer)
	})
	r.env.ExecuteWorkflow(signals.SnippetWorkflow, signals.SnippetState{Runtime: "default", Name: "s"})
	require.True(t, r.env.IsWorkflowCompleted())
	require.NoError(t, r.env.GetWorkflowError())
}

func TestSnippetBeginsItsHistoryAnew(t *testing.T) {
	r := newSnippetRig(t)
	r.must(signals.UpdateSave, signals.SnippetVersion{Code: "2"}, 8)
	r.env.RegisterDelayedCallback(func() { r.env.SetContinueAsNewSuggested(true) }, 2*time.Minute)
	r.env.ExecuteWorkflow(signals.SnippetWorkflow, signals.SnippetState{
		Runtime: "default", Name: "s", Last: 7, Versions: []signals.SnippetVersion{{Version: 7, Code: "1"}},
	})
	var anew *workflow.ContinueAsNewError
	require.True(t, errors.As(r.env.GetWorkflowError(), &anew))
	var state signals.SnippetState
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(anew.Input, &state))
	require.Equal(t, 8, state.Last)
	require.Len(t, state.Versions, 2)
}

func TestSnippetStateHasRoom(t *testing.T) {
	s := signals.SnippetState{Name: "s"}
	for range 60 {
		s.Add(signals.SnippetVersion{Code: "x"})
	}
	require.Len(t, s.Versions, 50)
	require.Equal(t, 60, s.Last)
	large := strings.Repeat("x", 800_000)
	s.Add(signals.SnippetVersion{Code: large})
	s.Add(signals.SnippetVersion{Code: large})
	require.Len(t, s.Versions, 1, "the newest is kept, older ones go")
	require.Equal(t, 62, s.Versions[0].Version)
}

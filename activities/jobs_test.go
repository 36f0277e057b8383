package activities

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// tryBoth runs a workflow that tries a pass locally and, where that goes on elsewhere, as an activity.
func tryBoth(t *testing.T, a *Activities, between func()) (local, regular signals.PassResult) {
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestWorkflowEnvironment()
	a.Register(env)
	a.memory.put(&remembered{runID: "default-test-run-id", code: "return await store.read({})", log: signals.NewLog()})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		in := signals.PassInput{ExecutionID: "e", Pass: 1}
		lctx := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
		if err := workflow.ExecuteLocalActivity(lctx, signals.PassActivity, in).Get(ctx, &local); err != nil ||
			local.End != signals.PassElsewhere {
			return err
		}
		between()
		actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		return workflow.ExecuteActivity(actx, signals.PassActivity, in).Get(ctx, &regular)
	})
	require.NoError(t, env.GetWorkflowError())
	return local, regular
}

func reading(t *testing.T, reads *int, value any, gate <-chan struct{}) *Activities {
	return testActivities(t,
		method("read", connectors.Read, func(c connectors.Context, _ json.RawMessage) (any, error) {
			*reads++
			select {
			case <-gate:
				return value, nil
			case <-c.Done():
				return nil, c.Err()
			}
		}))
}

func TestLocalPassAnswers(t *testing.T) {
	reads, open := 0, make(chan struct{})
	close(open)
	a := reading(t, &reads, 7, open)
	a.LocalPass = time.Hour
	local, _ := tryBoth(t, a, func() {})
	require.Equal(t, signals.PassCompleted, local.End)
	require.Equal(t, "7", string(local.Value))
	require.True(t, local.Pinned.LocalPasses)
}

// Among many that run so, a pass stays in its workflow task; the time that was asked for is kept.
func TestPassesStayInTheirTasksAmongMany(t *testing.T) {
	for _, c := range []struct {
		localPass time.Duration
		others    int64
		want      signals.PassEnd
	}{
		{0, manyInTasks, signals.PassCompleted},
		{0, manyInTasks - 1, signals.PassElsewhere},
		{0, mostInTasks, signals.PassElsewhere},
		{time.Nanosecond, manyInTasks, signals.PassElsewhere},
	} {
		reads, gate := 0, make(chan struct{})
		a := reading(t, &reads, 7, gate)
		a.inTasks.stretch = New(Options{LocalPass: c.localPass}).inTasks.stretch * 1000
		a.LocalPass = time.Nanosecond
		a.inTasks.running.Store(c.others)
		if c.want == signals.PassCompleted {
			close(gate)
		}
		local, _ := tryBoth(t, a, func() {
			if c.want == signals.PassElsewhere {
				close(gate)
			}
		})
		require.Equal(t, c.want, local.End, "%+v", c)
	}
}

func TestPassIsTakenOver(t *testing.T) {
	reads, gate := 0, make(chan struct{})
	a := reading(t, &reads, 7, gate)
	a.LocalPass = time.Nanosecond
	_, regular := tryBoth(t, a, func() { close(gate) })
	require.Equal(t, "7", string(regular.Value))
	require.Equal(t, 1, reads, "the pass went on, it was not repeated")
}

func TestLargeLocalResultIsTakenOver(t *testing.T) {
	reads, open := 0, make(chan struct{})
	close(open)
	a := reading(t, &reads, make([]byte, maxLocalPayload), open)
	a.LocalPass = time.Hour
	_, regular := tryBoth(t, a, func() {})
	require.Equal(t, signals.PassCompleted, regular.End)
	require.Equal(t, 1, reads)
}

func TestNoLocalPasses(t *testing.T) {
	reads, open := 0, make(chan struct{})
	close(open)
	a := reading(t, &reads, 7, open)
	a.LocalPass = -1
	local, regular := tryBoth(t, a, func() {})
	require.Equal(t, signals.PassElsewhere, local.End)
	require.Equal(t, signals.PassCompleted, regular.End)
	require.False(t, regular.Pinned.LocalPasses)
}

func TestOnlyTheNextPassTakesOver(t *testing.T) {
	a := testActivities(t)
	left := func() *job {
		ctx, cancel := context.WithCancelCause(context.Background())
		j := newJob(signals.PassInput{After: "n1"}, cancel)
		context.AfterFunc(ctx, func() { close(j.done) })
		a.jobs.leave("r", j)
		return j
	}
	j := left()
	require.Nil(t, a.jobs.takeOver("r", signals.PassInput{After: "n2"}), "history went another way")
	<-j.done
	require.Nil(t, a.jobs.takeOver("r", signals.PassInput{After: "n1"}))
	j = left()
	next := left()
	<-j.done
	require.Same(t, next, a.jobs.takeOver("r", signals.PassInput{After: "n1"}))
	require.Nil(t, a.jobs.takeOver("r", signals.PassInput{After: "n1"}), "no two attempts share it")
	j = left()
	a.jobs.drop(t.Context(), "r")
	<-j.done // the execution is over
	require.Nil(t, a.jobs.takeOver("r", signals.PassInput{After: "n1"}))
}

func TestAJobIsForOneOutcomeOfACall(t *testing.T) {
	applied := signals.Given{ID: 3, At: 7, Source: "call-3.1", Attempts: 1}
	unknown := signals.Given{ID: 3, At: 7, Attempts: 1, Error: &signals.CallError{Name: signals.OutcomeUnknown}}
	j := newJob(signals.PassInput{After: "n", Given: []signals.Given{applied}}, nil)
	require.True(t, j.isFor(signals.PassInput{After: "n", Given: []signals.Given{applied}}))
	require.False(t, j.isFor(signals.PassInput{After: "n", Given: []signals.Given{unknown}}))
}

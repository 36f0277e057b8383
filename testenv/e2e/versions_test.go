package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// build starts a worker of one build: what a program can import tells builds apart, and replay too.
func (b *bench) build(id string, versioned bool) *codemodeworker.Worker {
	b.t.Helper()
	b.options.Modules = map[string]string{"build": "export const id = " + id}
	if versioned {
		b.options.Worker.DeploymentOptions = worker.DeploymentOptions{
			UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: b.runtime, BuildID: id},
			DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		}
	}
	return b.worker()
}

// makeCurrent sends new executions to a build, once the server has heard of it.
func (b *bench) makeCurrent(id string) {
	b.t.Helper()
	deployment := shared.client.WorkerDeploymentClient().GetHandle(b.runtime)
	b.eventually("build "+id+" is known", func() bool {
		_, err := deployment.SetCurrentVersion(context.Background(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: id})
		return err == nil
	})
}

const tellsItsBuild = `const { id } = await import('build'); return [id, await lab.ask({name: 'go on'})]`

// A paused execution finishes on the build it started on, beside the one that takes the new ones.
func TestTwoBuildsSideBySide(t *testing.T) {
	b := setUp(t)
	b.build("1", true)
	b.makeCurrent("1")
	old := b.run(tellsItsBuild)
	require.Equal(t, signals.Paused, old.Status, old.Error)

	b.build("2", true)
	b.makeCurrent("2")
	young := b.run(tellsItsBuild)
	require.Equal(t, signals.Paused, young.Status, young.Error)

	b.completed(`[1, "go on"]`, b.approve(old.ExecutionID, signals.Approve{}))
	b.completed(`[2, "go on"]`, b.approve(young.ExecutionID, signals.Approve{}))
	tool, err := b.client.Tool(b.context(), codemode.ToolOptions{})
	require.NoError(t, err, "and the catalogue answers")
	require.NotEmpty(t, tool.Description)
}

// Without versioning another build refuses the pass, and nothing is lost: the right one takes it when it is back.
func TestAnotherBuildLeavesAnExecutionAlone(t *testing.T) {
	b := setUp(t)
	first := b.build("1", false)
	o := b.run(tellsItsBuild)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	first.Stop()

	b.build("2", false)
	v, err := b.client.Decide(b.context(), o.ExecutionID, signals.Approve{})
	require.NoError(t, err)
	require.True(t, v.Accepted, v.Error)
	b.eventually("the pass is refused, with the reason", func() bool {
		d, err := shared.client.DescribeWorkflowExecution(context.Background(),
			signals.WorkflowID(b.runtime, o.ExecutionID), "")
		require.NoError(t, err)
		for _, a := range d.PendingActivities {
			if f := a.LastFailure; f != nil {
				require.Contains(t, f.Message, "is not the execution's")
				return true
			}
		}
		return false
	})
	b.build("1", false)
	b.completed(`[1, "go on"]`, b.wait(o.ExecutionID))
}

// Runtimes of one namespace know nothing of each other.
func TestRuntimesAreApart(t *testing.T) {
	b := setUp(t)
	b.worker()
	other := *b
	other.runtime += "-other"
	other.options.Runtime = other.runtime
	other.client = other.clientFor(shared.client)
	other.worker()
	id := "exec_same"
	for _, each := range []*bench{b, &other} {
		o, err := each.client.Execute(each.context(), `return '`+each.runtime+`'`, codemode.ExecuteOptions{ID: id})
		require.NoError(t, err)
		each.completed(`"`+each.runtime+`"`, o)
	}
	pending := other.run(`return await lab.ask({name: 'x'})`)
	none, err := b.client.Pending(b.context(), "")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = b.client.Wait(b.context(), pending.ExecutionID, 0)
	require.ErrorIs(t, err, codemode.ErrNotFound)
}

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

var (
	oldKey = payload.Key{ID: "old", Secret: [32]byte{1}}
	newKey = payload.Key{ID: "new", Secret: [32]byte{2}}
)

// keyed is a client of the test's runtime that has these keys.
func (b *bench) keyed(keys ...payload.Key) (*codemode.Client, client.Client) {
	c, err := payload.NewConverter(keys...)
	require.NoError(b.t, err)
	o := client.Options{HostPort: b.address, Logger: quiet}
	c.Use(&o)
	temporal, err := client.Dial(o)
	require.NoError(b.t, err)
	b.t.Cleanup(temporal.Close)
	cm, err := codemode.NewClient(temporal, codemode.ClientOptions{Runtime: b.runtime, DataConverter: c})
	require.NoError(b.t, err)
	return cm, temporal
}

func (b *bench) taskFailures(id string) (n int) {
	for _, e := range b.events(id) {
		if e.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_FAILED {
			n++
		}
	}
	return n
}

// TestKeysRotatedAtTheClientFirst: what a worker cannot read waits for one that can, and is neither failed nor dropped.
func TestKeysRotatedAtTheClientFirst(t *testing.T) {
	b := setUp(t)
	b.withConverter(oldKey)
	w := b.worker()
	paused := b.run(`return await lab.ask({name: 'a'})`)
	require.Equal(t, signals.Paused, paused.Status, paused.Error)

	rotated, temporal := b.keyed(newKey, oldKey)
	started, err := rotated.Execute(b.context(), `await lab.write({name: 'b'}); return 2`,
		codemode.ExecuteOptions{NoWait: true})
	require.NoError(t, err)
	_, err = temporal.QueryWorkflow(b.context(), signals.WorkflowID(b.runtime, paused.ExecutionID), "",
		signals.QueryOutcome, signals.Wait{})
	require.ErrorContains(t, err, `a payload is encrypted with key "new": add that key to CODEMODE_ENCRYPTION_KEYS`,
		"a query says what is wrong")
	require.NoError(t, temporal.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, paused.ExecutionID), "",
		signals.SignalApprove, signals.Approve{By: "ada"}))
	b.eventually("workflow tasks fail", func() bool {
		return b.taskFailures(started.ExecutionID) > 0 && b.taskFailures(paused.ExecutionID) > 0
	})
	for _, id := range []string{started.ExecutionID, paused.ExecutionID} {
		d, err := b.temporal.DescribeWorkflowExecution(b.context(), signals.WorkflowID(b.runtime, id), "")
		require.NoError(t, err)
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, d.WorkflowExecutionInfo.Status)
	}

	w.Stop()
	b.withConverter(newKey, oldKey)
	b.worker()
	second, err := rotated.Wait(b.context(), started.ExecutionID, 0)
	require.NoError(t, err)
	require.Equal(t, `2`, string(second.Result), second.Error)
	done, err := rotated.Wait(b.context(), paused.ExecutionID, paused.Pass)
	require.NoError(t, err)
	require.Equal(t, `"a"`, string(done.Result), done.Error)
	require.Equal(t, "ada", done.Calls[0].DecidedBy)
}

// TestKeysInAMixedFleet: some workers have the new key already, in front, others do not. Nothing fails, and no write is
// an unknown outcome.
func TestKeysInAMixedFleet(t *testing.T) {
	b := setUp(t)
	b.withConverter(oldKey)
	b.worker()
	b.withConverter(newKey, oldKey)
	b.worker()
	for range 5 {
		o := b.run(`const out = [];
			for (const name of ['a', 'b', 'c', 'd']) out.push(await lab.write({name}));
			return out`)
		require.Equal(t, signals.Completed, o.Status, o.Error)
		require.JSONEq(t, `["a", "b", "c", "d"]`, string(o.Result))
	}
	require.Len(t, b.lab.effects("write"), 20)
}

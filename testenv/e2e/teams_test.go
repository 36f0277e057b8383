package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/npm"
)

// Reads of a team are activities of the execution, as many at a time as the program makes.
func TestTeamReads(t *testing.T) {
	b := setUp(t)
	b.shop()
	o := b.run(`
		const all = await Promise.all(['a', 'b', 'c'].map((order) => shop.GetOrder({order})));
		try { await shop.GetOrder({order: 'none'}) } catch (e) { return [all.length, e.name, e.details] }`)
	b.completed(`[3,"NotFound",{"looked":"archive"}]`, o)
	scheduled := 0
	for _, e := range b.events(o.ExecutionID) {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "GetOrder" {
			scheduled++
		}
	}
	require.Equal(t, 4, scheduled)
	b.eventually("the result's type is learnt", func() bool {
		d, err := b.client.Describe(b.context(), "shop.GetOrder")
		return err == nil && strings.Contains(string(d), "amount")
	})
}

// A workflow that is only started goes on when the execution has ended, even by a cancellation.
func TestTeamWorkflowStarted(t *testing.T) {
	b := setUp(t)
	s := b.shop(`  later:
    temporal:
      taskQueue: QUEUE
      workflows: { Fulfil: { wait: false, class: idempotent } }
`)
	o := b.run(`const started = await later.Fulfil({order: 'waits'}); await lab.ask({name: 'x'}); return started`)
	require.Len(t, o.Pending, 1, o.Error)
	<-s.begun
	_, err := b.client.Cancel(b.context(), o.ExecutionID, signals.Cancellation{})
	require.NoError(t, err)
	require.Equal(t, signals.Failed, b.wait(o.ExecutionID).Status)
	b.healthy(o.ExecutionID)
	var started signals.StartedWorkflow
	require.NoError(t, json.Unmarshal(b.show(o.ExecutionID).Log[0].Result, &started))
	require.Regexp(t, "^"+o.ExecutionID+":0:", started.WorkflowID)
	d, err := shared.client.DescribeWorkflowExecution(b.context(), started.WorkflowID, started.RunID)
	require.NoError(t, err)
	require.Nil(t, d.WorkflowExecutionInfo.CloseTime)
	require.Empty(t, s.canceled)
	require.NoError(t, shared.client.TerminateWorkflow(b.context(), started.WorkflowID, started.RunID, "the test ends"))
}

// Two programs cannot start one business workflow twice.
func TestTeamWorkflowIDIsTaken(t *testing.T) {
	b := setUp(t)
	b.shop()
	code := `try { return await shop.Fulfil({order: 'once'}) } catch (e) { return e.name }`
	b.completed(`"sent once by fulfil-shop-`+b.runtime+`-once"`, b.run(code))
	b.completed(`"WorkflowExecutionAlreadyStarted"`, b.run(code))
}

func TestTypeScriptWorker(t *testing.T) {
	b := setUp(t)
	queue := "stock-" + b.runtime
	script, err := filepath.Abs(filepath.Join("testdata", "worker.js"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "node", script, b.address, queue)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(npm.Install(t, "../npm/worker"), "node_modules"))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	b.bridge(strings.ReplaceAll(`
connectors:
  store:
    temporal:
      taskQueue: QUEUE
      activities: { stock: { class: read }, reserve: { idempotencyKey: argument } }
`, "QUEUE", queue))
	o := b.run(`
		const read = await store.stock({item: 'nut'});
		const written = await store.reserve({item: 'bolt'});
		try { await store.reserve({item: 'none'}) } catch (e) {
			return [read, written.left, written.key.includes(':1:'), e.name, e.message, e.details, e.nonRetryable] }`)
	b.completed(`[{"item":"nut","left":3},3,true,"NoSuchItem","no such item",{"item":"none"},true]`, o)
}

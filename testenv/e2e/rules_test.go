package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/signals"
)

const sleep = "const sleep = (ms) => new Promise(r => setTimeout(r, ms));\n"

func TestTimerRacesAWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(sleep + `const first = await Promise.race([lab.write({name: 'w', gate: 'go'}).then(() => 'write'), sleep(1200).then(() => 'timer')]);
		await lab.put({name: first}); return first`)
	b.eventually("the timer won and the program went on", func() bool { return len(b.lab.effects("put")) == 1 })
	b.lab.open("go")
	b.completed(`"timer"`, b.wait(id))
	for _, c := range b.show(id).Log {
		require.Equal(t, signals.Applied, c.State, "the write beside the timer is awaited and recorded")
	}
}

func TestIntervalBesideAWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`let n = 0; const i = setInterval(() => { if (++n === 3) lab.put({name: 'three'}) }, 50);
		await lab.write({name: 'w', gate: 'go'}); clearInterval(i); return n >= 3`)
	b.eventually("the interval ticks while the write runs", func() bool { return len(b.lab.effects("put")) == 1 })
	b.lab.open("go")
	b.completed(`true`, b.wait(id))
	require.Len(t, b.lab.effects("write"), 1)
}

func TestReadLoopBesideAWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`let done = false, n = 0; lab.write({name: 'w'}).then(() => done = true); while (!done) { await lab.read({}); n++ } return n > 0`)
	b.completed(`true`, b.wait(id))
	require.Len(t, b.lab.effects("write"), 1)
}

func TestWritesSettleInAnotherOrderThanIssued(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`const order = [];
		await Promise.all(['a', 'b'].map(async (n) => { await lab.write({name: n, gate: n}); order.push(n) }));
		await lab.ask({name: order.join()}); return order`)
	b.eventually("both run", func() bool { return len(b.lab.effects("write")) == 2 })
	b.lab.open("b")
	b.eventually("b settled", func() bool { return b.show(id).Log[1].State == signals.Applied })
	b.lab.open("a")
	o := b.wait(id)
	require.Equal(t, `{"name":"b,a"}`, string(o.Pending[0].Args))
	b.completed(`["b","a"]`, b.approve(id, signals.Approve{}))
}

func TestDecisionInMidPass(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`const one = lab.ask({name: 'one'}); await lab.ask({name: 'two'}); const r = await lab.read({name: 'r', gate: 'go'}); return [await one, r]`)
	require.Len(t, o.Pending, 2)
	v, err := b.client.Decide(b.context(), o.ExecutionID, signals.Approve{Seqs: []int{1}})
	require.NoError(t, err)
	require.True(t, v.Accepted)
	b.eventually("a pass is in its read", func() bool { return len(b.lab.effects("read")) == 1 })
	v, err = b.client.Decide(b.context(), o.ExecutionID,
		signals.Approve{Seqs: []int{0}, ArgsDigest: o.Pending[0].ArgsDigest})
	require.NoError(t, err)
	require.True(t, v.Accepted, v.Error)
	b.lab.open("go")
	b.completed(`["one","r"]`, b.wait(o.ExecutionID))
	require.Len(t, b.lab.effects("ask"), 2)
}

func TestElevenWaitersAndAnApproval(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.ask({name: 'a'}); return await lab.write({name: 'x', gate: 'go'})`)
	require.Equal(t, signals.Paused, o.Status)
	var group sync.WaitGroup
	outcomes := make([]signals.Outcome, 11)
	for i := range outcomes {
		group.Go(func() {
			var err error
			outcomes[i], err = b.client.Wait(b.context(), o.ExecutionID, o.Pass)
			if err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
	}
	started := time.Now()
	v, err := b.client.Decide(b.context(), o.ExecutionID, signals.Approve{})
	require.NoError(t, err)
	require.True(t, v.Accepted)
	require.Less(t, time.Since(started), 10*time.Second, "approvals never queue behind waiters")
	b.lab.open("go")
	group.Wait()
	for _, o := range outcomes {
		b.completed(`"x"`, o)
	}
}

// runningWrite starts a program with a write in progress beside a pending approval.
func runningWrite(b *bench) string {
	id := b.start(`const w = lab.write({name: 'w', gate: 'go'}); await lab.ask({name: 'a'}); await w; await lab.write({name: 'never'})`)
	b.eventually("the write runs", func() bool { return len(b.lab.effects("write")) == 1 })
	return id
}

func requireClosedAfterWrite(b *bench, id string, status signals.Status) {
	b.t.Helper()
	r := b.show(id)
	require.Equal(b.t, status, r.Status)
	require.Equal(b.t, signals.Applied, r.Log[0].State, "the write that ran is in the record")
	require.JSONEq(b.t, `"w"`, string(r.Log[0].Result))
	require.Equal(b.t, signals.Reverted, r.Log[1].State)
	require.Len(b.t, b.lab.effects("write"), 1)
	b.healthy(id)
}

func TestRejectDuringARunningWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := runningWrite(b)
	seq := 1
	done := make(chan bool)
	go func() {
		ok, err := b.client.Reject(b.context(), id, signals.Reject{Seq: &seq, Reason: "no", By: "ada"})
		done <- ok && err == nil
	}()
	b.eventually("the rejection is taken", func() bool {
		v, err := b.client.Decide(b.context(), id, signals.Approve{Seqs: []int{99}})
		return err == nil && strings.Contains(v.Error, "(status: rejected)")
	})
	b.lab.open("go")
	require.True(t, <-done)
	requireClosedAfterWrite(b, id, signals.Rejected)
	r := b.show(id)
	require.Equal(t, "Action lab.ask rejected by user: no", r.Error)
	require.Equal(t, "ada", r.Log[1].DecidedBy)
}

func TestCancelDuringARunningWrite(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := runningWrite(b)
	require.NoError(t, shared.client.CancelWorkflow(b.context(), signals.WorkflowID(b.runtime, id), ""))
	b.eventually("the cancellation is taken", func() bool {
		v, err := b.client.Decide(b.context(), id, signals.Approve{Seqs: []int{99}})
		return err == nil && strings.Contains(v.Error, "(status: error)")
	})
	b.lab.open("go")
	require.Equal(t, "Execution cancelled", b.wait(id).Error)
	requireClosedAfterWrite(b, id, signals.Failed)
}

func TestCancelDuringAPass(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`await lab.read({gate: 'never'})`)
	b.eventually("the read runs", func() bool { return len(b.lab.effects("read")) == 1 })
	ok, err := b.client.Cancel(b.context(), id, signals.Cancellation{By: "ada", Reason: "wrong account"})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, signals.Failed, b.show(id).Status)
	b.healthy(id)
}

func TestBudgetDuringARunningWrite(t *testing.T) {
	b := setUp(t)
	b.options.Limits.Passes = 3
	b.worker()
	id := b.start(`setInterval(() => {}, 30); const w = lab.write({name: 'w', gate: 'go'}); await lab.ask({name: 'a'}); await w`)
	b.eventually("the budget is spent", func() bool {
		v, err := b.client.Decide(b.context(), id, signals.Approve{Seqs: []int{99}})
		return err == nil && strings.Contains(v.Error, "(status: error)")
	})
	b.lab.open("go")
	require.Contains(t, b.wait(id).Error, "limit of 3 passes")
	requireClosedAfterWrite(b, id, signals.Failed)
}

func TestLargeValues(t *testing.T) {
	b := setUp(t)
	b.worker()
	for name, code := range map[string]string{
		"Arguments to lab.write is too large":     `await lab.write({name: 'é'.repeat(1500000)})`,
		"The result of lab.big is too large":      `await lab.big({size: 1500000})`,
		"Arguments to lab.read is too large":      `try { await lab.read({name: '€'.repeat(999000)}) } catch { return 1 }`,
		"The result of __step.s is too large":     `await codemode.step('s', () => 'é'.repeat(1500000))`,
		"could not be recorded durably (not seri": `const o = {}; o.o = o; await lab.write(o)`,
	} {
		o := b.run(code)
		require.Equal(t, signals.Failed, o.Status)
		require.Contains(t, o.Error, name)
		b.healthy(o.ExecutionID)
	}
	require.Empty(t, b.lab.effects("write"))

	o := b.run(`for (let i = 0; i < 3000; i++) console.log('é'.repeat(500)); await lab.write({name: '<&>'.repeat(300000)}); return '<é>'.repeat(400000)`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	var value string
	require.NoError(t, json.Unmarshal(o.Result, &value))
	require.Len(t, value, 1_600_000)
	require.Contains(t, o.Logs[0], "earlier console output dropped")
	require.Contains(t, string(b.show(o.ExecutionID).Result), "omitted from the audit trail")
	b.healthy(o.ExecutionID)

	o = b.run(`return '€'.repeat(1000000)`)
	require.Equal(t, signals.Completed, o.Status)
	require.Contains(t, string(o.Result), "omitted from the audit trail")
}

func TestFiftyLargeCallsBlockedAtOnce(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`const all = await Promise.all(Array.from({length: 50}, (_, i) => lab.write({name: String(i).padStart(100000, '<')}))); return all.length`)
	b.completed("50", o)
	require.Len(t, b.lab.effects("write"), 50)

	o = b.run(`const all = await Promise.all(Array.from({length: 50}, (_, i) => lab.ask({name: String(i).padStart(100000, 'x')}))); return all.length`)
	require.Len(t, o.Pending, 50)
	require.Len(t, o.Pending[49].Args, 100_011)
	b.completed("50", b.approve(o.ExecutionID, signals.Approve{}))
}

// otherEngine pretends to be another version of the sandbox.
type otherEngine struct{ engine.InProcess }

func (*otherEngine) Version() string { return "another engine" }

func TestWorkerWithAnotherEngineVersion(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(`await lab.ask({name: 'a'}); return 1`)
	w.Worker.Stop()
	right := b.options
	b.options.Executor = &otherEngine{}
	other := b.worker()
	v, err := b.client.Decide(b.context(), o.ExecutionID, signals.Approve{})
	require.NoError(t, err)
	require.True(t, v.Accepted)
	b.eventually("the other version refuses", func() bool {
		d, err := shared.client.DescribeWorkflowExecution(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "")
		return err == nil && len(d.PendingActivities) == 1 &&
			strings.Contains(d.PendingActivities[0].LastFailure.GetMessage(), "another engine")
	})
	other.Worker.Stop()
	b.options = right
	b.worker()
	b.completed("1", b.wait(o.ExecutionID))
}

func TestMissingConnectorAtApproval(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(`await lab.ask({name: 'a'}); return 1`)
	w.Worker.Stop()
	right := b.options
	b.options.Connectors = nil
	w = b.worker()
	answer := b.approve(o.ExecutionID, signals.Approve{})
	require.Equal(t, signals.Failed, answer.Status)
	require.Equal(t, fmt.Sprintf(`Execution %q requires connector(s) "lab" that are not configured on this runtime.`,
		o.ExecutionID), answer.Error)
	require.Equal(t, signals.Paused, b.wait(o.ExecutionID).Status, "the execution itself is paused again")
	w.Worker.Stop()
	b.options = right
	b.worker()
	b.completed("1", b.approve(o.ExecutionID, signals.Approve{}))
	require.Len(t, b.lab.effects("ask"), 1)
}

func TestEditedArguments(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`return await lab.ask({name: 'a'})`)
	refused := b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, Args: json.RawMessage(`{"name": 5}`)})
	require.Equal(t, signals.Failed, refused.Status)
	require.Contains(t, refused.Error, "Invalid arguments for lab.ask: name")
	require.Empty(t, b.show(o.ExecutionID).Log[0].Decisions, "it was not sent")
	stale := b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, ArgsDigest: "0000"})
	require.Contains(t, stale.Error, "is stale")
	done := b.approve(o.ExecutionID,
		signals.Approve{Seqs: []int{0}, ArgsDigest: o.Pending[0].ArgsDigest, Args: json.RawMessage(`{"name": "b"}`),
			By: "ada", Note: "b is right"})
	b.completed(`"b"`, done)
	call := b.show(o.ExecutionID).Log[0]
	require.JSONEq(t, `{"name":"a"}`, string(call.Args))
	require.JSONEq(t, `{"name":"b"}`, string(call.EditedArgs))
	require.Equal(t, []string{"ada", "b is right"}, []string{call.DecidedBy, call.Note})
	require.Contains(t, b.lab.effects("ask")[0], "ask b ")
}

// A signal is not checked before it is in history, so what it carries is checked when it is used.
func TestSignalledEditsAreCheckedAtUse(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`return await lab.ask({name: 'a'})`)
	require.NoError(t, shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "",
		signals.SignalApprove, map[string]any{"seqs": []int{0}, "args": map[string]any{"name": 5}}))
	b.eventually("it is refused and pending again", func() bool {
		pending, err := b.client.Pending(b.context(), o.ExecutionID)
		require.NoError(t, err)
		return len(pending) == 1 && strings.Contains(pending[0].Refused, "Invalid arguments for lab.ask: name")
	})
	require.Empty(t, b.lab.effects("ask"))
	b.completed(`"a"`, b.approve(o.ExecutionID, signals.Approve{}))
}

func TestRejectAndContinue(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`try { await lab.ask({name: 'a'}) } catch (e) { await lab.write({name: 'w'}); return [e.name, e.message] }`)
	ok, err := b.client.Reject(b.context(), o.ExecutionID,
		signals.Reject{Reason: "too dear", Continue: true, By: "ada"})
	require.NoError(t, err)
	require.True(t, ok)
	b.completed(`["RejectedError", "Action lab.ask rejected by user: too dear"]`, b.wait(o.ExecutionID))
	require.Equal(t, signals.Reverted, b.show(o.ExecutionID).Log[0].State)
	require.Empty(t, b.lab.effects("ask"))
}

func TestExpiry(t *testing.T) {
	b := setUp(t)
	b.options.Limits.PausedTTLMs = 300
	b.worker()
	o := b.run(`await lab.ask({name: 'a'})`)
	b.eventually("it expires", func() bool { return b.show(o.ExecutionID).Status == signals.Rejected })
	r := b.show(o.ExecutionID)
	require.Equal(t, "Expired awaiting approval", r.Error)
	require.Equal(t, []any{signals.Reverted, "expired"}, []any{r.Log[0].State, r.Log[0].Note})
	b.healthy(o.ExecutionID)
}

func TestSignalsDecideToo(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := signals.WorkflowID(b.runtime, b.run(`return await lab.ask({name: 'a'})`).ExecutionID)
	_, execution, _ := signals.ParseWorkflowID(id)
	require.NoError(t, shared.client.SignalWorkflow(b.context(), id, "", signals.SignalApprove,
		map[string]any{"by": "signal"}))
	b.eventually("the signal applies", func() bool { return b.show(execution).Status == signals.Completed })
	require.Equal(t, "signal", b.show(execution).Log[0].DecidedBy)

	o := b.run(`return await lab.ask({name: 'a'})`)
	require.NoError(t, shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID),
		"", signals.SignalExpire, nil))
	require.Equal(t, "Expired awaiting approval", func() string {
		b.eventually("it expires", func() bool { return b.show(o.ExecutionID).Status == signals.Rejected })
		return b.show(o.ExecutionID).Error
	}())
}

func TestRetries(t *testing.T) {
	b := setUp(t)
	b.worker()
	b.completed(`["done","done"]`, b.run(`return [await lab.flaky({name: 'r'}), await lab.flaky_write({name: 'w'})]`))
	require.Len(t, b.lab.effects("flaky"), 6)
	o := b.run(`return await lab.flaky_write({name: 'w2'}).catch(e => e.message)`)
	b.completed(`"done"`, o)
}

func TestSameIDStartsOnce(t *testing.T) {
	b := setUp(t)
	b.worker()
	for range 2 {
		o, err := b.client.Execute(b.context(), `await lab.write({name: 'w'}); return 1`,
			codemode.ExecuteOptions{ID: "mine"})
		require.NoError(t, err)
		b.completed("1", o)
	}
	require.Len(t, b.lab.effects("write"), 1)
}

func TestNoWorker(t *testing.T) {
	b := setUp(t)
	_, err := b.client.Execute(b.context(), `return 1`, codemode.ExecuteOptions{ID: "later"})
	var none *codemode.NoWorkerError
	require.ErrorAs(t, err, &none)
	b.worker()
	b.completed("1", b.wait("later"))
}

func TestManyGates(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`let t = 0; for (let i = 0; i < 60; i++) { t += (await lab.write({name: 'n'})).length; console.log(i) } return t`)
	b.completed("60", o)
	require.Len(t, o.Calls, 60)
	require.Len(t, o.Logs, 60)
}

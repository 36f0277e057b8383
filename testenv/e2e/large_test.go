package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/signals/payload"
)

// runLong executes what a busy machine takes minutes for.
func (b *bench) runLong(code string) signals.Outcome {
	b.t.Helper()
	id := b.start(code)
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	defer cancel()
	o, err := b.client.Wait(ctx, id, 0)
	require.NoError(b.t, err)
	return o
}

func TestThreeHundredGates(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.runLong(`let sum = 0; for (let i = 0; i < 300; i++) sum += Number(await lab.write({name: String(i)})); return sum`)
	b.completed("44850", o)
	require.Len(t, b.lab.effects("write"), 300, "each once")
	require.Len(t, b.show(o.ExecutionID).Log, 300)
}

func TestThirtyMegabytesOfReads(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.runLong(`let units = 0; for (let i = 0; i < 30; i++) { units += (await lab.big({size: 500000})).length; console.log(i, units) } return units`)
	b.completed("15000000", o)
	log := b.show(o.ExecutionID).Log
	require.Len(t, log, 30)
	require.Len(t, log[29].Result, 1_000_002, "the record holds every value")
}

// TestLargeCallsAreRepeatedInSeveralTasks: the server terminates a run whose workflow task holds more than some 4 MB of
// commands. After a while without a worker, all that was to be repeated is due at once.
func TestLargeCallsAreRepeatedInSeveralTasks(t *testing.T) {
	b := setUp(t)
	first := b.worker()
	id := b.start(`const names = [...Array(8).keys()].map(String);
return (await Promise.all(names.map((name) => lab.late_write({ name, pad: "x".repeat(700_000) })))).join("")`)
	timers := func(kind enums.EventType) (n int) {
		for _, e := range b.events(id) {
			if e.EventType == kind {
				n++
			}
		}
		return n
	}
	waiting := func() int { return timers(enums.EVENT_TYPE_TIMER_STARTED) - timers(enums.EVENT_TYPE_TIMER_FIRED) }
	b.eventually("all wait to be repeated", func() bool { return len(b.lab.effects("late")) >= 8 && waiting() >= 8 })
	first.Stop()
	b.eventually("all are due", func() bool { return waiting() == 0 })
	b.worker()
	b.completed(`"01234567"`, b.wait(id))
	require.Len(t, b.lab.effects("late"), 16)
	b.healthy(id)
}

func TestBudgetsEndInAClearError(t *testing.T) {
	b := setUp(t)
	b.options.Limits = signals.Limits{HistoryBytes: 2 << 20, LogBytes: 4 << 20}
	b.worker()
	o := b.runLong(`for (;;) await lab.big({size: 500000})`)
	require.Equal(t, signals.Failed, o.Status)
	require.Regexp(t, `^The log of this execution takes \d+ bytes, more than its limit of 4194304 `+
		`\(limits\.logBytes\)\. `+
		`Nothing that it did has taken effect\. Do less in one execution: `, o.Error)
	b.healthy(o.ExecutionID)
}

// withConverter gives the test a client and a worker whose payloads go through the codec.
func (b *bench) withConverter(keys ...payload.Key) *payload.Converter {
	b.t.Helper()
	c, err := payload.NewConverter(keys...)
	require.NoError(b.t, err)
	o := client.Options{HostPort: b.address, Logger: quiet}
	c.Use(&o)
	b.temporal, err = client.Dial(o)
	require.NoError(b.t, err)
	b.t.Cleanup(b.temporal.Close)
	b.converter, b.options.DataConverter = c, c
	reads, err := payload.NewConverter(keys...) // its own: what a worker requires is no matter of clients
	require.NoError(b.t, err)
	b.client = b.clientReading(b.temporal, reads)
	return c
}

const million = signals.MaxValueUnits - 2 // with its quotes

// A value of a million units in any script goes every way that a value can go.
func TestAMillionUnitsOfChinese(t *testing.T) {
	b := setUp(t)
	b.withConverter()
	b.worker()
	o := b.runLong(fmt.Sprintf(`const letters = Array.from({length: 1000}, (_, i) => 0x4E00 + (i * 7919) %% 0x5000), line = String.fromCharCode(...letters);
const text = Array.from({length: 1000}, (_, i) => line.slice(i) + line.slice(0, i)).join('').slice(0, %d);
const kept = await codemode.step('keep', () => text);
const written = await lab.write({name: kept.slice(0, 999000)});
return kept === text && written === kept.slice(0, 999000) ? kept : 'lost'`, million))
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Equal(t, million*3+2, len(o.Result), "three bytes a letter")
	record := b.show(o.ExecutionID)
	require.Equal(t, string(o.Result), string(record.Result))
	require.Len(t, record.Log[1].Result, 999_000*3+2)
	b.healthy(o.ExecutionID)

	plain := b.clientFor(shared.client)
	seen, err := plain.Show(b.context(), o.ExecutionID)
	require.NoError(t, err)
	require.Equal(t, len(record.Result), len(seen.Result), "clients without the codec read it too")
}

func TestEncryptedHistory(t *testing.T) {
	b := setUp(t)
	b.withConverter(payload.Key{ID: "test", Secret: [32]byte{1, 2, 3}})
	b.worker()
	o := b.run(`const secret = 'xyzzy'; await lab.write({name: secret}); try { await lab.nothing() } catch (e) { } return await lab.ask({name: secret})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Contains(t, string(o.Pending[0].Args), "xyzzy")
	done := b.approve(o.ExecutionID, signals.Approve{By: "xyzzy"})
	b.completed(`"xyzzy"`, done)
	events := shared.client.GetWorkflowHistory(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "", false, 1)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		require.False(t, strings.Contains(e.String(), "xyzzy"), "%s", e)
	}
	keyless := b.clientFor(shared.client)
	_, err := keyless.Show(b.context(), o.ExecutionID)
	require.ErrorContains(t, err, "set CODEMODE_ENCRYPTION_KEYS")
	b.eventually("a list shows what it cannot read", func() bool {
		list, err := keyless.Executions(b.context(), codemode.ListOptions{Status: signals.Completed})
		return err == nil && len(list) == 1 && list[0].ID == o.ExecutionID &&
			strings.Contains(list[0].Error, "set CODEMODE_ENCRYPTION_KEYS")
	})
}

// TestClearTextIsRefused where encryption is required: who has no keys starts and decides nothing, and nothing is made.
func TestClearTextIsRefused(t *testing.T) {
	b := setUp(t)
	b.withConverter(payload.Key{ID: "test", Secret: [32]byte{1, 2, 3}})
	b.options.EncryptionRequired = true
	b.worker()
	o := b.run(`return await lab.ask({name: 'a'})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)

	keyless := b.clientFor(shared.client)
	ctx, cancel := context.WithTimeout(b.context(), 20*time.Second)
	defer cancel()
	out, err := keyless.Execute(ctx, `await lab.write({name: 'clear'}); return 1`, codemode.ExecuteOptions{})
	require.Error(t, err, "%+v", out)
	verdict, err := keyless.Decide(ctx, o.ExecutionID, signals.Approve{By: "eve"})
	require.False(t, err == nil && verdict.Accepted)
	require.NoError(t, shared.client.SignalWorkflow(ctx, signals.WorkflowID(b.runtime, o.ExecutionID), "",
		signals.SignalApprove, signals.Approve{By: "eve"}))
	pending, err := b.client.Pending(ctx, o.ExecutionID)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.Empty(t, b.lab.effects("write"))
	require.Empty(t, b.lab.effects("ask"))
	keyed := b.clientReading(b.temporal, b.converter)
	require.NoError(t, err)
	done, err := keyed.Approve(ctx, o.ExecutionID, signals.Approve{By: "ada"})
	require.NoError(t, err)
	b.completed(`"a"`, done)
}

// TestOutcomesWithoutCalls: a client that needs no calls gets all else of an outcome, without reading history.
func TestOutcomesWithoutCalls(t *testing.T) {
	b := setUp(t)
	b.worker()
	brief, err := codemode.NewClient(shared.client, codemode.ClientOptions{Runtime: b.runtime, OmitCalls: true})
	require.NoError(t, err)
	const reads = `for (let i = 0; i < 300; i++) await lab.read({name: String(i)}); console.log('read');`
	for _, code := range []string{reads + "return 1", reads + "throw new Error('no')",
		reads + "await lab.ask({name: 'a'})"} {
		whole := b.run(code)
		o, err := brief.Execute(b.context(), code, codemode.ExecuteOptions{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(whole.Calls), 300)
		require.True(t, o.Partial && o.CallsOmitted)
		require.Empty(t, o.Calls)
		require.Len(t, o.Pending, len(whole.Pending))
		require.Equal(t, []any{whole.Status, whole.Result, whole.Error, whole.Logs},
			[]any{o.Status, o.Result, o.Error, o.Logs})
	}
	o, err := brief.Execute(b.context(), `return await lab.read({name: 'a'})`, codemode.ExecuteOptions{})
	require.NoError(t, err)
	require.Len(t, o.Calls, 1)
	require.False(t, o.Partial)
}

// TestLongErrorsAreReplayedAsTheyWere: a worker that knows nothing reads from history what another one was told.
func TestLongErrorsAreReplayedAsTheyWere(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(`const texts = [];
for (const size of [100, 2000, 5000]) await lab.wrong_write({size}).catch((e) => texts.push(e.message));
await lab.write({name: texts.map((text) => text.length).join()});
return lab.ask({name: 'x'})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	w.Worker.Stop()
	b.worker()
	b.completed(`"x"`, b.approve(o.ExecutionID, signals.Approve{}))
}

// What the server refuses for its size it refuses for ever, and the execution hangs. None of these tests ended before.

func TestLongNamesAreRefused(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`const errors = [];
for (const c of 'abc') {
	await lab[c.repeat(900000)]({}).catch((e) => errors.push(e.message));
	await codemode.step(c.repeat(900000), () => 1).catch((e) => errors.push(e.message));
	await codemode.step('s', () => { const e = new Error('x'); e.name = c.repeat(900000); throw e }).catch((e) => errors.push(e.name.length));
	await lab.write({name: c});
}
return errors.slice(0, 3)`)
	b.completed(`["lab has no method with a name of 900000 bytes.","codemode.step takes a name of at most 256 bytes, not one of 900000.",254]`, o)
}

func TestLargeEditedArguments(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	o := b.run(`const all = await Promise.all([1, 2, 3].map((i) => lab.ask({name: String(i)}))); return all.map((r) => r.length)`)
	w.Worker.Stop() // so that one pass is told of them all
	for seq := range 3 {
		args := json.RawMessage(`{"name":"` + strings.Repeat("x", 900_000) + `"}`)
		require.NoError(t, shared.client.SignalWorkflow(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID),
			"", signals.SignalApprove,
			signals.Approve{Seqs: []int{seq}, Args: args, By: "ada"}))
	}
	b.worker()
	b.eventually("all are made", func() bool { return b.show(o.ExecutionID).Status == signals.Completed })
	b.completed(`[900000,900000,900000]`, b.wait(o.ExecutionID))
	last := b.show(o.ExecutionID).Log[2]
	require.True(t, last.Decisions[0].Shortened)
	require.Greater(t, len(last.EditedArgs), 900_000, "the record shows what it was made with all the same")
}

func TestLargeGivenResult(t *testing.T) {
	b := setUp(t)
	b.options.Connectors = append(b.options.Connectors, connectors.New("client", "", connectors.Method{
		Name: "pick", Policy: connectors.Policy{ResolvedByClient: true},
	}))
	b.worker()
	o := b.run(`return (await client.pick({of: 'é'.repeat(900000)})).length`)
	done, err := b.client.Resolve(b.context(), o.ExecutionID,
		signals.Resolve{Result: json.RawMessage(`"` + strings.Repeat("r", 900_000) + `"`)})
	require.NoError(t, err)
	b.completed(`900000`, done)
}

func TestLongReasonForManyCalls(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await Promise.all(Array.from({length: 600}, (_, i) => lab.ask({name: String(i)})))`)
	rejected, err := b.client.Reject(b.context(), o.ExecutionID,
		signals.Reject{All: true, By: "ada", Reason: strings.Repeat("n", 4000)})
	require.NoError(t, err)
	require.True(t, rejected)
	record := b.show(o.ExecutionID)
	require.Equal(t, signals.Rejected, record.Status)
	require.Len(t, record.Log, 600)
	require.Equal(t, []string{"ada", "ada"}, []string{record.Log[0].DecidedBy, record.Log[599].DecidedBy})
}

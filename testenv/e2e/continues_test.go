package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// goOn runs a corrected program.
func (b *bench) goOn(from, code string) signals.Outcome {
	b.t.Helper()
	return b.goOnWith(code, codemode.ExecuteOptions{Continues: from})
}

func (b *bench) goOnWith(code string, o codemode.ExecuteOptions) signals.Outcome {
	b.t.Helper()
	out, err := b.client.Execute(b.context(), code, o)
	require.NoError(b.t, err)
	return out
}

// failed runs a program that fails.
func (b *bench) failed(code string) string {
	b.t.Helper()
	o := b.run(code)
	require.Equal(b.t, signals.Failed, o.Status, o.Error)
	return o.ExecutionID
}

// sources are where the calls of an execution come from: "" of those it made itself, else the seq of the call that it
// took over.
func (b *bench) sources(id string) []string {
	b.t.Helper()
	var list []string
	for _, c := range b.show(id).Log {
		from := ""
		if c.CarriedFrom != nil {
			from = fmt.Sprint(c.CarriedFrom.Seq)
		}
		list = append(list, from)
	}
	return list
}

// refused checks that an execution did not begin.
func (b *bench) refused(o signals.Outcome, why string) {
	b.t.Helper()
	require.Equal(b.t, signals.Failed, o.Status)
	require.Contains(b.t, o.Error, why)
	require.Empty(b.t, o.Calls)
	b.healthy(o.ExecutionID)
}

// A corrected program goes on from what is done: nothing is made again, what is new is made.
func TestContinues(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		w := b.worker()
		id := b.failed(`const r = await lab.read({name: 'r'}); const a = await lab.make({name: 'a' + Math.random()});
			await lab.put({name: 'p'}); await lab.write({name: String(Date.now())}); nonsense()`)
		w.Worker.Stop()
		b.worker() // one that remembers nothing
		o := b.goOn(id, `const r = await lab.read({name: 'r'}); const a = await lab.make({name: 'a' + Math.random()});
			await lab.put({name: 'p'}); await lab.write({name: String(Date.now())});
			return [r, await lab.make({name: 'b'})]`)
		b.completed(`["r","b"]`, o)
		require.Len(t, b.lab.effects("make"), 2)
		require.Len(t, b.lab.effects("put"), 1)
		require.Len(t, b.lab.effects("write"), 1, b.lab.ledger())
		record := b.show(o.ExecutionID)
		require.Equal(t, id, record.Continues)
		require.Equal(t, []string{"0", "1", "2", "3", ""}, b.sources(o.ExecutionID))
		require.Equal(t, []string{"0", "1", "2", "3", ""}, sourcesOf(o.Calls))
		require.Equal(t, id, record.Log[1].CarriedFrom.ExecutionID)
		require.Empty(t, o.LeftOver)
		require.Empty(t, record.LeftOver)
	})
}

func sourcesOf(calls []signals.Call) []string {
	var list []string
	for _, c := range calls {
		from := ""
		if c.CarriedFrom != nil {
			from = fmt.Sprint(c.CarriedFrom.Seq)
		}
		list = append(list, from)
	}
	return list
}

// Each call is used once, in order; what the program does not ask for is told, so that somebody may undo it.
func TestContinuesUsesEachOnceInOrder(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await Promise.all([lab.make({name: 'a'}), lab.make({name: 'a'}), lab.write({name: 'x'})]);
		await lab.make({name: 'z'}); throw 1`)
	o := b.goOn(id, `return await Promise.all([1, 2, 3].map(() => lab.make({name: 'a'})))`)
	b.completed(`["a","a","a"]`, o)
	require.Equal(t, []string{"0", "1", ""}, b.sources(o.ExecutionID))
	require.Len(t, o.LeftOver, 2)
	left := o.LeftOver[0]
	require.Equal(t, []any{id, 2, "lab", "write", false}, []any{left.ExecutionID, left.Seq, left.Connector, left.Method,
		left.Revertable})
	require.JSONEq(t, `{"name":"x"}`, string(left.Args))
	require.Equal(t, []any{3, "make", true}, []any{o.LeftOver[1].Seq, o.LeftOver[1].Method, o.LeftOver[1].Revertable})
	require.Equal(t, o.LeftOver, b.show(o.ExecutionID).LeftOver)
	require.Equal(t, o.LeftOver, b.wait(o.ExecutionID).LeftOver)
}

// Nobody is asked again about what was approved; what an approver edited shows.
func TestContinuesAsksNobodyAgain(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.ask({name: 'a'}); await lab.make_asking({name: 'b'}); throw new Error('oops')`)
	o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, By: "ada"})
	o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{1}, By: "ada", Args: []byte(`{"name":"c"}`)})
	require.Equal(t, signals.Failed, o.Status, o.Error)
	first := o.ExecutionID
	o = b.goOn(first, `return [await lab.ask({name: 'a'}), await lab.make_asking({name: 'b'})]`)
	b.completed(`["a","c"]`, o)
	call := b.show(o.ExecutionID).Log[1]
	require.JSONEq(t, `{"name":"b"}`, string(call.Args))
	require.JSONEq(t, `{"name":"c"}`, string(call.EditedArgs))
	require.Equal(t, []any{"ada", true}, []any{call.DecidedBy, call.RequiresApproval})
	require.Equal(t, []int{1}, b.rollback(o.ExecutionID).Reverted)
	require.Equal(t, []string{"c"}, b.undone(), "what was made is undone")

	// A program may ask for what the approver made of it.
	o = b.run(`await lab.make_asking({name: 'd'}); throw 1`)
	o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, Args: []byte(`{"name":"e"}`)})
	o = b.goOn(o.ExecutionID, `return await lab.make_asking({name: 'e'})`)
	b.completed(`"e"`, o)
}

// A rejected execution is gone on from; what was refused is asked about anew.
func TestContinuesARejectedExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.make({name: 'a'}); await lab.ask({name: 'b'})`)
	_, err := b.client.Reject(b.context(), o.ExecutionID, signals.Reject{Reason: "wrong name"})
	require.NoError(t, err)
	require.Equal(t, signals.Rejected, b.wait(o.ExecutionID).Status)
	o = b.goOn(o.ExecutionID, `return [await lab.make({name: 'a'}), await lab.ask({name: 'b'})]`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Equal(t, 1, o.Pending[0].Seq)
	b.completed(`["a","b"]`, b.approve(o.ExecutionID, signals.Approve{By: "ada"}))
	require.Len(t, b.lab.effects("make"), 1)
	require.Len(t, b.lab.effects("ask"), 1)
}

// So are one that was cancelled, and one that completed.
func TestContinuesCancelledAndCompletedExecutions(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.make({name: 'a'}); await lab.ask({name: 'b'})`)
	_, err := b.client.Cancel(b.context(), o.ExecutionID, signals.Cancellation{})
	require.NoError(t, err)
	b.wait(o.ExecutionID)
	second := b.goOn(o.ExecutionID, `return await lab.make({name: 'a'})`)
	b.completed(`"a"`, second)
	third := b.goOn(second.ExecutionID, `return [await lab.make({name: 'a'}), await lab.make({name: 'b'})]`)
	b.completed(`["a","b"]`, third)
	require.Len(t, b.lab.effects("make"), 2)
}

// Failed calls are made anew, and so are refused ones, under today's rules.
func TestContinuesMakesFailedCallsAnew(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await lab.make({name: 'a'}); await lab.wrong_write({size: 3}).catch(() => 0);
		await lab.nothing().catch(() => 0); throw 1`)
	o := b.goOn(id, `await lab.make({name: 'a'}); return await lab.wrong_write({size: 3}).catch((e) => e.message)`)
	b.completed(`"ééé"`, o)
	require.Len(t, b.lab.effects("wrong"), 2)
	require.Len(t, b.lab.effects("make"), 1)
}

// What was read is used while it is young, unless everything is to be read anew.
func TestContinuesReads(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	id := b.failed(`await lab.read_name(); await lab.make({name: 'a'}); await lab.read_name(); throw 1`)
	w.Worker.Stop()
	b.lab.name = "second"
	w = b.worker()
	const all = `return [await lab.read_name(), await lab.make({name: 'a'}), await lab.read_name()]`
	o := b.goOn(id, all)
	b.completed(`["first","a","first"]`, o)
	b.completed(`["second","a","second"]`, b.goOnWith(all, codemode.ExecuteOptions{Continues: id, Fresh: true}))
	// What was read before an effect tells nothing about the time after it.
	id = b.failed(`await lab.read_name(); await lab.make({name: 'b'}); throw 1`)
	w.Worker.Stop()
	b.lab.name = "third"
	w = b.worker()
	b.completed(`["b","third"]`, b.goOn(id, `return [await lab.make({name: 'b'}), await lab.read_name()]`))
	id = b.failed(`await lab.read_name(); throw 1`)
	w.Worker.Stop()
	b.lab.name, b.options.Limits.CarriedReadsMs = "fourth", 1
	b.worker()
	b.completed(`["c","fourth"]`, b.goOn(id, `return [await lab.make({name: 'c'}), await lab.read_name()]`))
	id = b.failed(`await lab.read_name(); throw 1`)
	b.completed(`"fourth"`, b.goOn(id, `return await lab.read_name()`))
	require.Equal(t, []string{"a", "b", "c"}, names(b.lab.effects("make")))
}

func names(lines []string) []string {
	var list []string
	for _, line := range lines {
		list = append(list, strings.Fields(line)[1])
	}
	return list
}

// A chain of three: effects keep the name of who made them, unused ones stay on offer, random numbers go on.
func TestContinuesChains(t *testing.T) {
	b := setUp(t)
	b.worker()
	one := b.failed(`const id = crypto.randomUUID(); await lab.make({name: id}); await lab.make({name: 'x'}); throw 1`)
	require.Contains(t, b.goOn(one, `const oops = (;`).Error, "SyntaxError")
	two := b.goOn(one, `const id = crypto.randomUUID(); await lab.make({name: id}); await lab.make({name: 'y'});
		throw 2`)
	require.Equal(t, signals.Failed, two.Status)
	require.Len(t, two.LeftOver, 1)
	// The model may name the first one again: what was done since counts all the same.
	o := b.goOn(one, `const id = crypto.randomUUID(); await lab.make({name: id}); await lab.make({name: 'y'});
		await lab.make({name: 'x'}); return await lab.make({name: 'z'})`)
	b.completed(`"z"`, o)
	require.Len(t, b.lab.effects("make"), 4, b.lab.ledger())
	record := b.show(o.ExecutionID)
	require.Equal(t, signals.CarriedFrom{ExecutionID: one, Seq: 0}, *record.Log[0].CarriedFrom)
	require.Equal(t, signals.CarriedFrom{ExecutionID: two.ExecutionID, Seq: 1}, *record.Log[1].CarriedFrom)
	require.Equal(t, signals.CarriedFrom{ExecutionID: one, Seq: 1}, *record.Log[2].CarriedFrom)
	require.Equal(t, []int{3, 1, 0, 2}, sorted(b.rollback(o.ExecutionID).Reverted, 3, 1, 0, 2))
	require.Len(t, b.undone(), 4)
}

// sorted gives want if the list has the same numbers.
func sorted(list []int, want ...int) []int {
	a, b := slices.Clone(list), slices.Clone(want)
	slices.Sort(a)
	slices.Sort(b)
	if slices.Equal(a, b) {
		return want
	}
	return list
}

// Once carried, the earlier history is not needed.
func TestContinuesWithoutTheEarlierHistory(t *testing.T) {
	b := setUp(t)
	w := b.worker()
	id := b.failed(`await lab.make({name: 'a'}); await lab.make({name: 'b'.repeat(5000)}); throw 1`)
	o := b.goOn(id, `const a = await lab.make({name: 'a'}); await lab.ask({name: 'q'});
		return [a, (await lab.make({name: 'b'.repeat(5000)})).length]`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.NoError(t, b.client.Delete(b.context(), id))
	w.Worker.Stop()
	b.worker()
	o = b.approve(o.ExecutionID, signals.Approve{By: "ada"})
	b.completed(`["a",5000]`, o)
	require.Len(t, b.lab.effects("make"), 2)
	require.Equal(t, []int{2, 0}, b.rollback(o.ExecutionID).Reverted)
	require.Len(t, b.undone(), 2)
	b.refused(b.goOn(id, `return 1`), "There is no execution")
}

// Each effect is undone once, whoever asks, in whatever order, and at once.
func TestContinuesUndoesOnce(t *testing.T) {
	const first = `await lab.make({name: 'a'}); await lab.make({name: 'b'}); throw 1`
	const second = `await lab.make({name: 'a'}); return await lab.make({name: 'c'})`
	for name, ask := range map[string]func(b *bench, old, new string){
		"the-new-one-first": func(b *bench, old, new string) {
			require.Equal(b.t, []int{1, 0}, b.rollback(new).Reverted)
			require.Equal(b.t, []string{"c", "a"}, b.undone())
			require.Equal(b.t, []signals.CallState{signals.Reverted, signals.Applied}, b.states(old))
			require.Equal(b.t, []int{1, 0}, b.rollback(old).Reverted)
		},
		"the-old-one-first": func(b *bench, old, new string) {
			require.Equal(b.t, []int{1, 0}, b.rollback(old).Reverted)
			require.Equal(b.t, []string{"b", "a"}, b.undone())
			require.Equal(b.t, []signals.CallState{signals.Reverted, signals.Applied}, b.states(new))
			require.NoError(b.t, b.client.Delete(b.context(), old))
			require.Equal(b.t, []int{1, 0}, b.rollback(new).Reverted)
		},
		"at-once": func(b *bench, old, new string) {
			var all sync.WaitGroup
			for range 3 {
				for _, id := range []string{old, new} {
					all.Go(func() {
						if _, err := b.client.Rollback(b.context(), id, signals.Rollback{}); err != nil {
							b.t.Error(err)
						}
					})
				}
			}
			all.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.worker()
			old := b.failed(first)
			o := b.goOn(old, second)
			b.completed(`"c"`, o)
			ask(b, old, o.ExecutionID)
			undone := b.undone()
			slices.Sort(undone)
			require.Equal(t, []string{"a", "b", "c"}, undone)
			require.Empty(t, b.rollback(o.ExecutionID).Reverted)
			require.Equal(t, signals.RolledBack, b.show(o.ExecutionID).Status)
		})
	}
}

// An open execution that carried something is rolled back, at the same time as the one that made it.
func TestContinuesUndoesOnceWhilePaused(t *testing.T) {
	b := setUp(t)
	b.worker()
	old := b.failed(`await lab.make({name: 'a', undo: 'gate'}); throw 1`)
	o := b.goOn(old, `await lab.make({name: 'a', undo: 'gate'}); await lab.make({name: 'b'});
		await lab.ask({name: 'q'})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	var all sync.WaitGroup
	for _, id := range []string{old, o.ExecutionID} {
		all.Go(func() {
			if _, err := b.client.Rollback(b.context(), id, signals.Rollback{}); err != nil {
				t.Error(err)
			}
		})
	}
	b.eventually("it is being undone", func() bool { return len(b.lab.effects("undo")) > 0 })
	b.lab.open("gate")
	all.Wait()
	undone := b.undone()
	slices.Sort(undone)
	require.Equal(t, []string{"a", "b"}, undone)
	keys := b.lab.effects("undo")
	require.True(t, slices.ContainsFunc(keys, func(line string) bool {
		return strings.Contains(line, "undo a "+old+":0:")
	}), "the key is that of the call that was made: %v", keys)
	b.healthy(o.ExecutionID)
}

// What was undone meanwhile is not offered to a third.
func TestContinuesAfterTheFirstWasUndone(t *testing.T) {
	b := setUp(t)
	b.worker()
	one := b.failed(`await lab.make({name: 'a'}); throw 1`)
	two := b.goOn(one, `await lab.make({name: 'a'}); await lab.make({name: 'b'}); throw 2`)
	b.rollback(one)
	b.refused(b.goOn(one, `return 1`), "was rolled back")
	o := b.goOn(two.ExecutionID, `return [await lab.make({name: 'a'}), await lab.make({name: 'b'})]`)
	b.completed(`["a","b"]`, o)
	require.Equal(t, []string{"", "1"}, b.sources(o.ExecutionID))
	require.Equal(t, []string{"a", "b", "a"}, names(b.lab.effects("make")))
}

// Open, unknown and rolled back executions are not continued.
func TestContinuesRefuses(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`await lab.make({name: 'a'}); await lab.ask({name: 'q'})`)
	open := b.goOn(o.ExecutionID, `await lab.make({name: 'a'})`)
	b.refused(open, "has not ended")
	b.refused(b.goOn("exec_unknown", `1`), `There is no execution "exec_unknown" to continue`)
	_, err := b.client.Reject(b.context(), o.ExecutionID, signals.Reject{All: true})
	require.NoError(t, err)
	b.wait(o.ExecutionID)
	// What was refused has done nothing: to continue it is to continue what it was to.
	again := b.goOn(open.ExecutionID, `await lab.make({name: 'a'}); await lab.ask({name: 'r'})`)
	require.Equal(t, signals.Paused, again.Status, again.Error)
	require.Len(t, b.lab.effects("make"), 1)
	b.refused(b.goOn(o.ExecutionID, `1`), `is continued by "`+again.ExecutionID+`" already`)
	b.rollback(again.ExecutionID)
	b.refused(b.goOn(again.ExecutionID, `1`), "was rolled back")
	b.refused(b.goOn(o.ExecutionID, `1`), "was rolled back")
}

// Of two that continue the same at the same time, one is refused.
func TestContinuesIsClaimedOnce(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await lab.make({name: 'a'}); throw 1`)
	outcomes := make([]signals.Outcome, 4)
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() {
			outcomes[i] = b.goOn(id, `await lab.make({name: 'a'}); await lab.make({name: 'b'});
				await lab.ask({name: 'q'})`)
		})
	}
	all.Wait()
	paused := 0
	for _, o := range outcomes {
		if o.Status == signals.Paused {
			paused++
		}
	}
	require.Equal(t, 1, paused)
	require.Equal(t, []string{"a", "b"}, names(b.lab.effects("make")))
}

// Where a door authenticates, only who started an execution, or an approver, may continue it.
func TestContinuesAsSomebodyElse(t *testing.T) {
	b := setUp(t)
	b.worker()
	as := func(name string) signals.Caller { return signals.Caller{StartedAs: name} }
	o := b.goOnWith(`await lab.make({name: 'a'}); throw 1`, codemode.ExecuteOptions{Caller: as("ada")})
	const more = `await lab.make({name: 'a'}); throw 2`
	b.refused(b.goOnWith(more, codemode.ExecuteOptions{Continues: o.ExecutionID, Caller: as("bob")}), "somebody else")
	o = b.goOnWith(more, codemode.ExecuteOptions{Continues: o.ExecutionID, Caller: as("ada")})
	require.Equal(t, []string{"0"}, b.sources(o.ExecutionID))
	o = b.goOnWith(more,
		codemode.ExecuteOptions{Continues: o.ExecutionID, Caller: as("bob"), Approver: true})
	require.Equal(t, []string{"0"}, b.sources(o.ExecutionID))
	require.Len(t, b.lab.effects("make"), 1)
}

// An unknown outcome stays one: the program is told so again, and nothing is repeated blindly.
func TestContinuesAnUnknownOutcome(t *testing.T) {
	b := setUp(t)
	p := b.process("first")
	id := b.start(`await lab.make({name: 'a'}); await lab.write({name: 'u', gate: 'never'})`)
	b.eventually("it runs", func() bool { return len(b.lab.effects("write")) == 1 })
	b.signal(p, syscall.SIGKILL)
	b.worker()
	require.Contains(t, b.wait(id).Error, "outcome of lab.write is unknown")
	const again = `await lab.make({name: 'a'});
		try { return await lab.write({name: 'u', gate: 'never'}) } catch (e) { return e.name }`
	o := b.goOn(id, again)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Contains(t, string(o.Result), signals.OutcomeUnknown)
	require.Len(t, b.lab.effects("write"), 1)
	require.Equal(t, []string{"0", "1"}, b.sources(o.ExecutionID))
	left := b.goOn(o.ExecutionID, `return 1`)
	require.Len(t, left.LeftOver, 2)
	require.Contains(t, left.LeftOver[1].Error, "unknown")
}

// With unknown: ask a person is asked, and what they let be made again has the key of the first time.
func TestContinuesAsksAboutAnUnknownOutcome(t *testing.T) {
	b := setUp(t)
	p := b.process("first")
	id := b.start(`await lab.write_asked({name: 'u', gate: 'go'})`)
	b.eventually("it runs", func() bool { return len(b.lab.effects("write_asked")) == 1 })
	b.signal(p, syscall.SIGKILL)
	w := b.worker()
	o := b.wait(id)
	require.Equal(t, signals.ReasonUnknown, o.Pending[0].Reason)
	_, err := b.client.Cancel(b.context(), id, signals.Cancellation{})
	require.NoError(t, err)
	b.wait(id)
	o = b.goOn(id, `return await lab.write_asked({name: 'u', gate: 'go'})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Equal(t, signals.ReasonUnknown, o.Pending[0].Reason)
	require.Len(t, b.lab.effects("write_asked"), 1)
	w.Worker.Stop()
	b.worker()
	b.lab.open("go")
	o, err = b.client.Retry(b.context(), o.ExecutionID, signals.Retry{Seq: 0, By: "ada"})
	require.NoError(t, err)
	b.completed(`"u"`, o)
	lines := b.lab.effects("write_asked")
	require.Len(t, lines, 2)
	require.Equal(t, lines[0], lines[1], "the same key")
	require.Equal(t, []int{0}, b.rollback(o.ExecutionID).Reverted)
	require.Len(t, b.undone(), 1)
}

// A worker dies in the middle of the corrected program.
func TestContinuesOnAnotherWorker(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		p := b.process("first")
		id := b.failed(`for (let i = 0; i < 5; i++) await lab.make({name: 'w' + i}); throw 1`)
		const code = `for (let i = 0; i < 5; i++) await lab.make({name: 'w' + i});
			await lab.read({name: 'r', gate: 'go'}); for (let i = 5; i < 8; i++) await lab.make({name: 'w' + i});
			return 'done'`
		o, err := b.client.Execute(b.context(), code, codemode.ExecuteOptions{Continues: id, NoWait: true})
		require.NoError(t, err)
		b.eventually("it reads", func() bool { return len(b.lab.effects("read")) == 1 })
		b.signal(p, syscall.SIGKILL)
		b.lab.open("go")
		b.worker()
		b.completed(`"done"`, b.wait(o.ExecutionID))
		require.Equal(t, []string{"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"}, names(b.lab.effects("make")))
		require.Equal(t, []string{"0", "1", "2", "3", "4", "", "", "", ""}, b.sources(o.ExecutionID))
	})
}

// What is carried goes on over the runs of an execution that continues as new.
func TestContinuesAsNewToo(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		b.options.Limits.HistoryEvents = 40
		b.worker()
		id := b.failed(manyWrites + `await lab.make({name: 'extra'}); throw 1`)
		o := b.goOn(id, `await lab.make({name: 'new0'}); await lab.make({name: 'new1'}); await lab.make({name: 'new2'});
			await lab.make({name: 'new3'}); await lab.make({name: 'new4'}); await lab.make({name: 'new5'});`+
			manyWrites+`await lab.ask({name: 'q'}); return all.length`)
		require.Equal(t, signals.Paused, o.Status, o.Error)
		require.GreaterOrEqual(t, b.runs(o.ExecutionID), 2)
		o = b.approve(o.ExecutionID, signals.Approve{By: "ada"})
		b.completed(`72`, o)
		require.Len(t, b.lab.effects("make"), 31)
		require.Len(t, o.LeftOver, 1)
		require.Equal(t, o.LeftOver, b.show(o.ExecutionID).LeftOver)
		require.Len(t, b.rollback(o.ExecutionID).Reverted, 30)
		require.Len(t, b.undone(), 30)
	})
}

// A workflow that was terminated while it wrote leaves an unknown outcome.
func TestContinuesATerminatedExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`await lab.make({name: 'a'}); await lab.write({name: 'u', gate: 'go'})`)
	b.eventually("it runs", func() bool { return len(b.lab.effects("write")) == 1 })
	require.NoError(t, shared.client.TerminateWorkflow(b.context(), signals.WorkflowID(b.runtime, id), "", "test"))
	b.lab.open("go")
	o := b.goOn(id, `await lab.make({name: 'a'}); return await lab.write({name: 'u', gate: 'go'}).catch((e) => e.name)`)
	b.completed(`"OutcomeUnknown"`, o)
	require.Len(t, b.lab.effects("write"), 1)
}

// A call that took effect but whose result was too large is not made again.
func TestContinuesAResultTooLarge(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await lab.big_write({name: 'x', size: 1100000})`)
	o := b.goOn(id, `return await lab.big_write({name: 'x', size: 1100000}).catch((e) => e.message)`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Contains(t, string(o.Result), "took effect before and is not made again")
	require.Len(t, b.lab.effects("big"), 1)
}

func applied(calls []signals.Call) int {
	n := 0
	for _, c := range calls {
		if c.State == signals.Applied {
			n++
		}
	}
	return n
}

// The program has the results in the order in which the earlier one had them.
func TestContinuesInTheSameOrder(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		b.worker()
		const code = `const seen = [await lab.read({name: 'r'})];
			const one = async (name) => {
				await lab.make({name, gate: name}); seen.push(name); await lab.write({name: seen.join('')});
			};
			await Promise.all(['x', 'y', 'z'].map(one));`
		id := b.start(code + `throw 1`)
		b.eventually("all run", func() bool { return len(b.lab.effects("make")) == 3 })
		for i, name := range []string{"z", "x", "y"} {
			b.lab.open(name)
			b.eventually("it has settled", func() bool { return applied(b.show(id).Log) > i+1 })
		}
		require.Equal(t, signals.Failed, b.wait(id).Status)
		require.ElementsMatch(t, []string{"rz", "rzx", "rzxy"}, names(b.lab.effects("write")))
		o := b.goOn(id, code+`return seen`)
		b.completed(`["r","z","x","y"]`, o)
		require.Len(t, b.lab.effects("write"), 3)
		require.Len(t, b.lab.effects("make"), 3)
		require.Empty(t, o.LeftOver)
	})
}

// Programs of the synchronous mode go on, too.
func TestContinuesSynchronously(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.goOnWith(`lab.make({name: 'a' + Math.random()}); throw 1`, codemode.ExecuteOptions{Synchronous: true})
	o = b.goOnWith(`const a = lab.make({name: 'a' + Math.random()}); return [a.length > 3, lab.make({name: 'b'})]`,
		codemode.ExecuteOptions{Synchronous: true, Continues: o.ExecutionID})
	b.completed(`[true,"b"]`, o)
	require.Len(t, b.lab.effects("make"), 2)
}

// What the earlier program slept is not slept again.
func TestContinuesDoesNotSleepAgain(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await lab.make({name: 'a' + Date.now()}); await codemode.sleep(1200); await lab.make({name: 'b'});
		throw 1`)
	o := b.goOn(id, `await lab.make({name: 'a' + Date.now()}); await codemode.sleep(1200); await lab.make({name: 'b'});
		return await lab.make({name: 'c'})`)
	b.completed(`"c"`, o)
	require.Len(t, b.lab.effects("make"), 3, b.lab.ledger())
	events := shared.client.GetWorkflowHistory(b.context(), signals.WorkflowID(b.runtime, o.ExecutionID), "", false,
		enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		require.NotEqual(t, enums.EVENT_TYPE_TIMER_STARTED, e.EventType)
	}
}

// What lists show are executions, nothing else.
func TestContinuesListsOnlyExecutions(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.failed(`await lab.make({name: 'a'}); throw 1`)
	o := b.goOn(id, `return await lab.make({name: 'a'})`)
	b.rollback(o.ExecutionID)
	b.eventually("lists show both", func() bool {
		list, err := b.client.Executions(b.context(), codemode.ListOptions{})
		return err == nil && len(list) == 2
	})
	page, err := shared.client.ListWorkflow(b.context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`WorkflowId STARTS_WITH "codemode/%s/"`, b.runtime)})
	require.NoError(t, err)
	for _, w := range page.Executions {
		b.healthyWorkflow(w.Execution.WorkflowId, "-"+w.Type.Name)
	}
	var text []byte
	text, err = json.Marshal(page)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"Failed"`)
}

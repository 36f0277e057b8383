package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// killedInAsk kills the worker in a write whose unknown outcome is left to a person.
func killedInAsk(t *testing.T, code string) (*bench, string) {
	b := setUp(t)
	first := b.process("first")
	id := b.start(code)
	b.eventually("the write runs", func() bool { return len(b.lab.effects("write_asked")) == 1 })
	b.signal(first, syscall.SIGKILL)
	b.process("second")
	o := b.wait(id)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	require.Equal(t, "outcome unknown", o.Pending[0].Reason)
	require.Contains(t, o.Pending[0].Error.Message, "The outcome of lab.write_asked is unknown")
	refused := b.approve(id, signals.Approve{})
	require.Equal(t, "The outcome of lab.write_asked (seq 0) is unknown: send retry, resolve or reject.", refused.Error)
	return b, id
}

const askedWrite = `try { return await lab.write_asked({name: 'w', gate: 'go'}) } catch (e) { return e.name }`

func TestUnknownOutcomeIsRetried(t *testing.T) {
	b, id := killedInAsk(t, askedWrite)
	b.lab.open("go")
	o, err := b.client.Retry(b.context(), id, signals.Retry{Seq: 0, By: "ada"})
	require.NoError(t, err)
	b.completed(`"w"`, o)
	writes := b.lab.effects("write_asked")
	require.Len(t, writes, 2)
	require.Equal(t, writes[0], writes[1], "with the same key")
	call := b.show(id).Log[0]
	require.Equal(t, []any{signals.Applied, "ada", "retry"}, []any{call.State, call.DecidedBy, call.Decisions[0].Kind})
}

func TestUnknownOutcomeIsResolved(t *testing.T) {
	b, id := killedInAsk(t, askedWrite)
	o, err := b.client.Resolve(b.context(),
		id, signals.Resolve{Seq: 0, Result: json.RawMessage(`"looked it up"`), By: "ada"})
	require.NoError(t, err)
	b.completed(`"looked it up"`, o)
	require.Len(t, b.lab.effects("write_asked"), 1)
	require.Equal(t, []int{0}, b.rollback(id).Reverted)
	require.Equal(t, []string{"looked"}, b.undone(), "the first word of what it answered")
}

func TestUnknownOutcomeIsRejected(t *testing.T) {
	b, id := killedInAsk(t, askedWrite)
	ok, err := b.client.Reject(b.context(), id, signals.Reject{Continue: true, By: "ada"})
	require.NoError(t, err)
	require.True(t, ok)
	b.completed(`"OutcomeUnknown"`, b.wait(id))
	call := b.show(id).Log[0]
	require.Equal(t, []any{signals.Errored, signals.OutcomeUnknown, "ada"},
		[]any{call.State, call.ErrorName, call.DecidedBy})
}

func TestUnknownOutcomeIsRejectedForGood(t *testing.T) {
	b, id := killedInAsk(t, askedWrite)
	ok, err := b.client.Reject(b.context(), id, signals.Reject{By: "ada"})
	require.NoError(t, err)
	require.True(t, ok)
	call := b.show(id).Log[0]
	require.Equal(t, []any{signals.Errored, signals.OutcomeUnknown}, []any{call.State, call.ErrorName},
		"it may have taken effect")
	b.healthy(id)
}

// A rollback says what it cannot know of.
func TestRollbackTellsOfUnknownOutcomes(t *testing.T) {
	b, id := killedInAsk(t, `const w = await lab.write_asked({name: 'w', gate: 'go'}).catch((e) => e.name);
await lab.make({name: 'm'});
return w`)
	ok, err := b.client.Reject(b.context(), id, signals.Reject{Continue: true, By: "ada"})
	require.NoError(t, err)
	require.True(t, ok)
	b.completed(`"OutcomeUnknown"`, b.wait(id))
	undone := b.rollback(id)
	require.Equal(t, [][]int{{1}, {0}}, [][]int{undone.Reverted, undone.Unknown})
	again := b.rollback(id)
	require.Equal(t, [][]int{{}, {0}}, [][]int{again.Reverted, again.Unknown})
}

func TestClientsResolveCalls(t *testing.T) {
	b := setUp(t)
	b.options.Connectors = append(b.options.Connectors, connectors.New("client", "", connectors.Method{
		Name: "pick", OutputSchema: json.RawMessage(`{"type":"object","required":["color"]}`),
		Policy: connectors.Policy{ResolvedByClient: true},
	}))
	b.worker()
	o := b.run(`const c = await client.pick({of: ['red', 'blue']}); await lab.write({name: c.color}); return c`)
	require.Equal(t, []any{signals.Paused, "client"}, []any{o.Status, o.Pending[0].Resolution})
	require.Equal(t, "client.pick (seq 0) waits for its result: send resolve or reject.",
		b.approve(o.ExecutionID, signals.Approve{}).Error)
	resolve := func(result string) signals.Outcome {
		o, err := b.client.Resolve(b.context(), o.ExecutionID,
			signals.Resolve{Seq: 0, Result: json.RawMessage(result), By: "ada"})
		require.NoError(t, err)
		return o
	}
	refused := resolve(`{"colour":"red"}`)
	require.Equal(t, signals.Failed, refused.Status)
	require.Contains(t, refused.Error, "invalid result for client.pick")
	b.completed(`{"color":"red"}`, resolve(`{"color":"red"}`))
	require.Contains(t, b.lab.effects("write")[0], "write red ")
	require.Contains(t, resolve(`{"color":"blue"}`).Error, "not paused (status: completed)")
	require.Equal(t, "resolve", b.show(o.ExecutionID).Log[0].Decisions[0].Kind)
}

func TestTwoPeopleApprove(t *testing.T) {
	b := setUp(t)
	b.options.Rules = map[string][]connectors.Rule{"lab": {{Pattern: "ask", Policy: connectors.Policy{Approvals: 2}}}}
	b.worker()
	o := b.run(`return await lab.ask({name: 'a'})`)
	require.Equal(t, 2, o.Pending[0].ApprovalsNeeded)
	require.Contains(t, b.approve(o.ExecutionID, signals.Approve{}).Error,
		"needs the approval of 2 people: say who approves")
	one := b.approve(o.ExecutionID, signals.Approve{By: "ada"})
	require.Equal(t, []any{signals.Paused, []string{"ada"}}, []any{one.Status, one.Pending[0].ApprovedBy})
	require.Contains(t, b.approve(o.ExecutionID, signals.Approve{By: "ada"}).Error,
		"ada has approved lab.ask (seq 0) already")
	require.Empty(t, b.lab.effects("ask"))

	edited := b.approve(o.ExecutionID, signals.Approve{By: "bob", Args: json.RawMessage(`{"name":"b"}`)})
	require.Equal(t, []string{"bob"}, edited.Pending[0].ApprovedBy, "edits void what was approved before")
	require.NotEqual(t, o.Pending[0].ArgsDigest, edited.Pending[0].ArgsDigest)
	stale := b.approve(o.ExecutionID, signals.Approve{By: "ada", Seqs: []int{0}, ArgsDigest: o.Pending[0].ArgsDigest})
	require.Contains(t, stale.Error, "is stale")
	done := b.approve(o.ExecutionID,
		signals.Approve{By: "ada", Seqs: []int{0}, ArgsDigest: edited.Pending[0].ArgsDigest})
	b.completed(`"b"`, done)
	require.Len(t, b.lab.effects("ask"), 1)
	call := b.show(o.ExecutionID).Log[0]
	require.Len(t, call.Decisions, 3)
	require.Equal(t, []string{"ada", "bob", "ada"},
		[]string{call.Decisions[0].By, call.Decisions[1].By, call.Decisions[2].By})
	require.JSONEq(t, `{"name":"b"}`, string(call.EditedArgs))
}

func TestApprovedForTheRestOfTheExecution(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`const both = await Promise.all([lab.ask({name: 'a'}), lab.ask({name: 'b'}), lab.make_asking({name: 'other'})]);
		for (const n of ['c', 'd']) both.push(await lab.ask({name: n}));
		return both`)
	require.Len(t, o.Pending, 3)
	b.approve(o.ExecutionID, signals.Approve{Seqs: []int{2}, By: "bob"})
	b.completed(`["a","b","other","c","d"]`,
		b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, By: "ada", Always: true}))
	log := b.show(o.ExecutionID).Log
	for _, seq := range []int{1, 3, 4} {
		require.Equal(t, []any{"ada", true}, []any{log[seq].DecidedBy, log[seq].Decisions[0].Remembered}, "call %d",
			seq)
	}
	require.False(t, log[0].Decisions[0].Remembered)
	require.Len(t, b.lab.effects("ask"), 4)
}

func TestSeveralDecisionsInOneMessage(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`const all = await Promise.allSettled(['a', 'b', 'c'].map(name => lab.ask({name}))); return all.map(r => r.value ?? r.reason.name)`)
	one, nine := 1, 9
	approve := func(seqs ...int) signals.OneDecision {
		return signals.OneDecision{Approve: &signals.Approve{Seqs: seqs, By: "ada"}}
	}
	reject := func(seq *int) signals.OneDecision {
		return signals.OneDecision{Reject: &signals.Reject{Seq: seq, Continue: true, By: "ada"}}
	}
	v, err := b.client.Decide(b.context(), o.ExecutionID,
		signals.Approve{Decisions: signals.Mixed{approve(0), reject(&nine)}})
	require.NoError(t, err)
	require.Contains(t, v.Error, "Call 9")
	require.Len(t, b.wait(o.ExecutionID).Pending, 3, "either all apply or none")
	v, err = b.client.Decide(b.context(), o.ExecutionID,
		signals.Reject{Decisions: signals.Mixed{approve(0, 2), reject(&one)}})
	require.NoError(t, err)
	require.True(t, v.Accepted, v.Error)
	done, err := b.client.Wait(b.context(), o.ExecutionID, v.Pass)
	require.NoError(t, err)
	b.completed(`["a","RejectedError","c"]`, done)
}

func TestExpiryIsToldApartFromANo(t *testing.T) {
	b := setUp(t)
	b.worker()
	kind := func(o signals.Outcome) string { return b.show(o.ExecutionID).Log[0].Decisions[0].Kind }
	o := b.run(`await lab.ask({name: 'a'})`)
	v, err := b.client.Decide(b.context(), o.ExecutionID, signals.Reject{By: "ada"})
	require.NoError(t, err)
	require.True(t, v.Accepted)
	b.wait(o.ExecutionID)
	require.Equal(t, "reject", kind(o))
	o = b.run(`await lab.ask({name: 'a'})`)
	b.eventually("it is listed as paused, and expires", func() bool {
		ids, err := b.client.Expire(b.context(), 0)
		return err == nil && len(ids) == 1
	})
	require.Equal(t, "expire", kind(o))
	require.Positive(t, b.show(o.ExecutionID).Log[0].DecidedAt)
}

func TestRetryLimitsOfAMethod(t *testing.T) {
	b := setUp(t)
	tries := map[string]int{}
	b.options.Connectors = append(b.options.Connectors, connectors.New("shop", "",
		retrying(tries, "once", connectors.Write, connectors.RetryLimits{Attempts: 1}),
		retrying(tries, "five", connectors.Idempotent, connectors.RetryLimits{Attempts: 5, Backoff: 1e6}),
		retrying(tries, "usual", connectors.Write, connectors.RetryLimits{}),
	))
	b.worker()
	o := b.run(`const r = []; for (const m of ['once', 'five', 'usual']) r.push(await shop[m]().catch(e => e.message)); return r`)
	b.completed(`["later","later","later"]`, o)
	require.Equal(t, map[string]int{"once": 1, "five": 5, "usual": 3}, tries)
	require.Equal(t, []int{1, 5, 3}, []int{o.Calls[0].Attempts, o.Calls[1].Attempts, o.Calls[2].Attempts})
}

func retrying(tries map[string]int, name string, class connectors.Class,
	limits connectors.RetryLimits) connectors.Method {
	return connectors.Method{Name: name, Class: class, Policy: connectors.Policy{Retry: limits},
		Execute: func(connectors.Context, json.RawMessage) (any, error) {
			tries[name]++
			return nil, &connectors.RetryableError{Message: "later", RetryAfter: 1e6}
		}}
}

func TestRetryPolicy(t *testing.T) {
	b := setUp(t)
	tries := map[string]int{}
	method := func(name string, class connectors.Class, err func() error) connectors.Method {
		return connectors.Method{Name: name, Class: class,
			Execute: func(connectors.Context, json.RawMessage) (any, error) {
				tries[name]++
				return nil, err()
			}}
	}
	other := func() error { return errPlain }
	unknown := func() error { return &connectors.OutcomeUnknownError{Err: errPlain} }
	b.options.Connectors = append(b.options.Connectors, connectors.New("shop", "",
		method("other", connectors.Write, other), method("lost_put", connectors.Idempotent, unknown),
		method("lost_write", connectors.Write, unknown), method("panics", connectors.Write, other),
		method("greedy", connectors.Write, other),
		retrying(tries, "refused", connectors.Write, connectors.RetryLimits{}),
	))
	b.options.RetryPolicy = func(_ context.Context, f connectors.FailedAttempt) connectors.RetryDecision {
		switch f.Method {
		case "panics":
			panic("oh")
		case "greedy":
			return connectors.RetryDecision{Retry: true, Attempts: 1000}
		}
		return connectors.RetryDecision{Retry: f.Method != "refused", Attempts: 4, After: 1e6}
	}
	b.worker()
	o := b.run(`const r = []; for (const m of ['other', 'lost_put', 'lost_write', 'panics', 'greedy', 'refused']) r.push(await shop[m]().catch(e => e.name + ': ' + e.message)); return r`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	var messages []string
	require.NoError(t, json.Unmarshal(o.Result, &messages))
	require.Equal(t, map[string]int{"other": 4, "lost_put": 4, "lost_write": 1, "panics": 1, "greedy": 1, "refused": 1},
		tries)
	require.Equal(t, "Error: plain", messages[0])
	require.Contains(t, messages[2], "OutcomeUnknown: The outcome of shop.lost_write is unknown")
	require.Contains(t, messages[3], "the retry policy panicked: oh")
	require.Contains(t, messages[4], "the retry policy asked for 1000 attempts")
	b.healthy(o.ExecutionID)
}

var errPlain = errors.New("plain")

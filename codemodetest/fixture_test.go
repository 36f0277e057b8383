package codemodetest_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/codemodetest"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

const refunds = `const order = await shop.order({ id: 7, token: 'tok-0123456789' });
try { await shop.check({ id: order.id }) } catch (e) { console.log(e.message) }
const r = await shop.refund({ id: order.id, amount: order.amount });
return { refunded: r.amount, secret: order.password }`

// shop is what the program was recorded with.
func shop() *codemodetest.Connector {
	c := codemodetest.NewConnector("shop")
	c.Read("order", map[string]any{"id": 7, "amount": 30, "password": "hunter22"})
	c.Read("check", errors.New("no stock"))
	c.Write("refund", codemodetest.Answer(func(args json.RawMessage) (any, error) { return args, nil })).Approvals = 2
	return c
}

func two(signals.PendingAction) codemodetest.Decision {
	return codemodetest.Approve().By("ada").And(codemodetest.Approve().By("bob"))
}

// recorded is a fixture as it lies in a file.
func recorded(t *testing.T) *codemodetest.Fixture {
	t.Helper()
	o := with(shop())
	o.Decide = two
	run := codemodetest.Run(t, refunds, o)
	require.Equal(t, signals.Completed, run.Outcome.Status, run.Outcome.Error)
	require.Equal(t, []string{"ada", "bob"}, approvers(run.Record.Log[2]))
	fixture, err := signals.Fixture(*run.Record)
	require.NoError(t, err)
	text, err := signals.Marshal(fixture)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter22")
	require.NotContains(t, string(text), "tok-0123456789")
	file := filepath.Join(t.TempDir(), "refund.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return codemodetest.LoadFixture(t, file)
}

func approvers(c signals.Call) (list []string) {
	for _, d := range c.Decisions {
		list = append(list, d.By)
	}
	return list
}

func lines(breaks []codemodetest.Break) (list []string) {
	for _, b := range breaks {
		list = append(list, b.String())
	}
	return list
}

func TestReplayOfWhatHasNotChanged(t *testing.T) {
	now := recorded(t).Replay(t, codemodetest.Replay{})
	require.Empty(t, lines(now.Breaks))
	require.Equal(t, []string{"ada", "bob"}, approvers(now.Record.Log[2]), "people decide as they did")
	require.Equal(t, []string{"no stock"}, now.Outcome.Logs)
}

func TestReplayOfAChangedProgram(t *testing.T) {
	now := recorded(t).Replay(t, codemodetest.Replay{Code: `
const order = await shop.order({ id: 7, token: 'another-token' });
try { await shop.stock({ id: 7 }) } catch {}
const r = await shop.refund({ id: order.id, amount: 31 }).catch((e) => ({ amount: 0 }));
return { refunded: r.amount, secret: order.password }`})
	require.Equal(t, []string{
		`call 1 shop.stock is new, and fails: Tool "stock" not found on shop. ` +
			`Find it with codemode.search("what it does").`,
		`call 2 shop.refund has other arguments: {"id":7,"amount":31}, recorded {"amount":30,"id":7}`,
		`call 1 shop.check is not made any more: {"id":7}`,
		`the outcome has the result {"refunded":0,"secret":"•••"}, recorded {"refunded":30,"secret":"•••"}`,
	}, lines(now.Breaks))
}

// What the shop offers has changed: nothing of it is called.
func TestReplayAgainstAChangedCatalogue(t *testing.T) {
	changed := codemodetest.NewConnector("shop")
	changed.Read("order", nil).RequiresApproval = true
	changed.Write("check", nil)
	refund := changed.Write("refund", nil)
	refund.InputSchema = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)
	now := recorded(t).Replay(t, codemodetest.Replay{Options: with(changed)})
	require.Equal(t, []string{
		"call 0 shop.order waits for approval now",
		"call 1 shop.check is of class write, recorded read",
	}, lines(now.Breaks)[:2])
	require.Contains(t, lines(now.Breaks)[2], "call 2 shop.refund ends as error, recorded applied: Invalid arguments")
	require.Contains(t, lines(now.Breaks), "call 2 shop.refund waits for no approval any more")
	require.Contains(t, lines(now.Breaks)[len(now.Breaks)-1], "the outcome is error, recorded completed")
	require.Empty(t, changed.Calls())
}

func TestAssertAtAPause(t *testing.T) {
	c, paused := shop(), 0
	o := with(c)
	o.Decide = two
	o.Paused = func(out signals.Outcome) {
		paused++
		require.Equal(t, signals.Paused, out.Status)
		require.Equal(t, 2, out.Pending[0].ApprovalsNeeded)
		require.Empty(t, c.Calls("refund"), "nothing is refunded yet")
	}
	run := codemodetest.Run(t, refunds, o)
	require.Equal(t, signals.Completed, run.Outcome.Status, run.Outcome.Error)
	require.Equal(t, 1, paused)
	require.Len(t, c.Calls("refund"), 1)
}

func TestOneOfTwoApproversIsNotEnough(t *testing.T) {
	o := with(shop())
	o.Decide = func(signals.PendingAction) codemodetest.Decision { return codemodetest.Approve().By("ada") }
	run := codemodetest.Run(t, refunds, o)
	require.Equal(t, signals.Rejected, run.Outcome.Status, "and so it expires")
}

func TestUnknownOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		decision codemodetest.Decision
		result   string
		calls    int
	}{
		"resolved": {codemodetest.Resolve(json.RawMessage(`{"ok":true}`)), `{"ok":true}`, 1},
		"retried":  {codemodetest.Retry(), `"sent"`, 2},
		"refused":  {codemodetest.Refuse("no"), `"OutcomeUnknown"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			mail, tries := codemodetest.NewConnector("mail"), 0
			mail.Write("send", codemodetest.Answer(func(json.RawMessage) (any, error) {
				if tries++; tries == 1 {
					return nil, &connectors.OutcomeUnknownError{Err: errors.New("the connection was lost")}
				}
				return "sent", nil
			})).AskWhenUnknown = true
			o := with(mail)
			o.Decide = func(p signals.PendingAction) codemodetest.Decision {
				require.Equal(t, signals.ReasonUnknown, p.Reason)
				return c.decision
			}
			run := codemodetest.Run(t, `try { return await mail.send({}) } catch (e) { return e.name }`, o)
			require.Equal(t, c.result, string(run.Outcome.Result), run.Outcome.Error)
			require.Len(t, mail.Calls(), c.calls)
		})
	}
}

func TestRollbackAtAPauseAndAfterTheEnd(t *testing.T) {
	tracker := codemodetest.NewConnector("tracker")
	tracker.Write("create", 7)
	tracker.Write("close", true).RequiresApproval = true
	o := with(tracker)
	o.Decide = func(signals.PendingAction) codemodetest.Decision { return codemodetest.Rollback("wrong one") }
	run := codemodetest.Run(t, `await tracker.create({}); await tracker.close({})`, o)
	require.Equal(t, signals.RolledBack, run.Outcome.Status)
	require.True(t, tracker.Calls()[1].Revert)

	ended := codemodetest.NewConnector("tracker")
	ended.Write("create", 7)
	run = codemodetest.Run(t, `await tracker.create({ n: 1 }); await tracker.create({ n: 2 })`, with(ended))
	require.Equal(t, []int{1, 0}, run.Rollback(t).Reverted)
	require.JSONEq(t, `{"n":2}`, string(ended.Calls()[2].Args), "the last one first")
}

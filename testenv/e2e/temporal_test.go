package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/config"
)

// shopTeam is the worker of a team that knows nothing of codemode: three activities and a workflow.
type shopTeam struct {
	mu       sync.Mutex
	refunds  map[string]int // by order: how often it was tried
	keys     []string
	cancels  []string
	begun    chan string // orders whose slow activity runs
	canceled chan string
}

type order struct {
	Order  string `json:"order"`
	Amount int    `json:"amount,omitempty"`
}

type missing struct {
	Looked string `json:"looked"`
}

func (s *shopTeam) GetOrder(ctx context.Context, in order) (order, error) {
	switch in.Order {
	case "none":
		return order{}, temporal.NewNonRetryableApplicationError("no such order", "NotFound", nil, missing{"archive"})
	case "slow":
		return order{}, s.hang(ctx, in.Order)
	}
	return order{Order: in.Order, Amount: 120}, nil
}

// hang runs until it is cancelled.
func (s *shopTeam) hang(ctx context.Context, name string) error {
	s.begun <- name
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.canceled <- name
	return ctx.Err()
}

type refunded struct {
	Refund string `json:"refund"`
	Tries  int    `json:"tries"`
}

func (s *shopTeam) RefundOrder(ctx context.Context, in order, key string) (refunded, error) {
	s.mu.Lock()
	s.refunds[in.Order]++
	tries := s.refunds[in.Order]
	s.keys = append(s.keys, key)
	s.mu.Unlock()
	switch {
	case in.Order == "locked":
		return refunded{}, temporal.NewApplicationErrorWithOptions("the books are closed", "BooksClosed",
			temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{map[string]any{"until": "Monday"}}})
	case in.Order == "flaky" && tries < 3:
		return refunded{}, errors.New("the bank is busy")
	case in.Order == "lost":
		<-ctx.Done() // past its timeout
	case in.Order == "hangs":
		return refunded{}, s.hang(ctx, in.Order)
	}
	return refunded{Refund: "r-" + in.Order, Tries: tries}, nil
}

func (s *shopTeam) CancelRefund(_ context.Context, in refunded) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels = append(s.cancels, in.Refund)
	return nil
}

func (s *shopTeam) Fulfil(ctx workflow.Context, in order) (string, error) {
	switch in.Order {
	case "empty":
		return "", temporal.NewApplicationError("nothing in stock", "OutOfStock")
	case "waits":
		s.begun <- in.Order
		err := workflow.Sleep(ctx, time.Hour)
		s.canceled <- in.Order
		return "", err
	}
	return "sent " + in.Order + " by " + workflow.GetInfo(ctx).WorkflowExecution.ID, nil
}

const shopConfig = `
connectors:
  shop:
    temporal:
      taskQueue: QUEUE
      activities:
        GetOrder: { class: read, input: shop.json#/order, heartbeat: 5s }
        RefundOrder: { requiresApproval: "args.amount > 100", idempotencyKey: argument, heartbeat: 5s, timeout: 2s,
          retry: { attempts: 3, backoff: 10ms }, revert: { tool: CancelRefund, args: { refund: result.refund } } }
        CancelRefund: { hidden: true }
      workflows: { Fulfil: { id: "'fulfil-QUEUE-' + args.order" } }
`

const shopSchemas = `{"order": {"type": "object", "required": ["order"], "properties": {"order": {"$ref": "#/$defs/id"},
	"amount": {"type": "number"}}}, "$defs": {"id": {"type": "string"}}}`

// shop starts the team's worker and a runtime that is bridged to it by configuration alone: more follows that of the
// shop.
func (b *bench) shop(more ...string) *shopTeam {
	b.t.Helper()
	s := &shopTeam{refunds: map[string]int{}, begun: make(chan string, 10), canceled: make(chan string, 10)}
	queue := "shop-" + b.runtime
	w := worker.New(b.temporal, queue, worker.Options{DefaultHeartbeatThrottleInterval: 20 * time.Millisecond,
		MaxHeartbeatThrottleInterval: 20 * time.Millisecond})
	w.RegisterActivity(s.GetOrder)
	w.RegisterActivity(s.RefundOrder)
	w.RegisterActivity(s.CancelRefund)
	w.RegisterWorkflow(s.Fulfil)
	require.NoError(b.t, w.Start())
	b.t.Cleanup(w.Stop)
	b.bridge(strings.ReplaceAll(shopConfig+strings.Join(more, ""), "QUEUE", queue))
	return s
}

// bridge starts a worker with the connectors of a configuration.
func (b *bench) bridge(text string) {
	b.t.Helper()
	dir := b.t.TempDir()
	path := filepath.Join(dir, "codemode.yaml")
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(shopSchemas), 0o600))
	c, err := config.Load(path)
	require.NoError(b.t, err)
	o, err := c.Options()
	require.NoError(b.t, err)
	b.options.Connectors, b.options.Rules = append(b.options.Connectors, o.Connectors...), o.Rules
	b.worker()
}

func TestTeamActivities(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		s := b.shop()
		o := b.run(`
			const got = await shop.GetOrder({order: 'a'});
			const refund = await shop.RefundOrder({order: 'a', amount: got.amount});
			return [got, refund, await shop.Fulfil({order: 'a'})]`)
		require.Len(t, o.Pending, 1, o.Error)
		o = b.approve(o.ExecutionID, signals.Approve{})
		b.completed(`[{"order":"a","amount":120}, {"refund":"r-a","tries":1},
			"sent a by fulfil-shop-`+b.runtime+`-a"]`, o)
		require.Regexp(t, "^"+o.ExecutionID+":1:", s.keys[0])
		var activities, children []string
		for _, e := range b.events(o.ExecutionID) {
			if a := e.GetActivityTaskScheduledEventAttributes(); a != nil && a.TaskQueue.Name == "shop-"+b.runtime {
				activities = append(activities, a.ActivityType.Name)
				require.EqualValues(t, 3, a.RetryPolicy.MaximumAttempts)
			}
			if a := e.GetActivityTaskScheduledEventAttributes(); a.GetActivityType().GetName() == "RefundOrder" {
				require.Equal(t, 2*time.Second, a.StartToCloseTimeout.AsDuration())
				require.Contains(t, a.RetryPolicy.NonRetryableErrorTypes, "TemporalTimeout:StartToClose")
			}
			if c := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); c != nil {
				children = append(children, c.WorkflowType.Name)
			}
		}
		require.Equal(t, []string{"GetOrder", "RefundOrder"}, activities)
		require.Equal(t, []string{"Fulfil"}, children)
		r := b.show(o.ExecutionID)
		require.JSONEq(t, `{"refund":"r-a","tries":1}`, string(r.Log[1].Result))
	})
}

func TestTeamErrors(t *testing.T) {
	b := setUp(t)
	s := b.shop()
	o := b.run(`
		const told = async (call) => { try { return await call } catch (e) {
			return [e.name, e.message, e.details, e.nonRetryable] } };
		return [
			await told(shop.GetOrder({order: 'none'})),
			await told(shop.RefundOrder({order: 'locked', amount: 1})),
			await told(shop.RefundOrder({order: 'flaky', amount: 1})),
			(await told(shop.RefundOrder({order: 'lost', amount: 1})))[0],
			await told(shop.Fulfil({order: 'empty'})),
			(await told(shop.GetOrder({}))).slice(0, 2),
		]`)
	b.completed(`[["NotFound","no such order",{"looked":"archive"},true],
		["BooksClosed","the books are closed",{"until":"Monday"},true],
		{"refund":"r-flaky","tries":3}, "OutcomeUnknown", ["OutOfStock","nothing in stock",null,null],
		["Error","Invalid arguments for shop.GetOrder: order: required, but missing"]]`, o)
	require.Equal(t, 1, s.refunds["locked"])
	require.Equal(t, 1, s.refunds["lost"], "a write that timed out is never made again")
	require.Equal(t, s.keys[1], s.keys[2], "one key for all attempts")
}

func TestTeamRollback(t *testing.T) {
	b := setUp(t)
	s := b.shop()
	o := b.run(`
		await shop.RefundOrder({order: 'one', amount: 1});
		await shop.RefundOrder({order: 'two', amount: 2}); return 1`)
	b.completed(`1`, o)
	r, err := b.client.Rollback(b.context(), o.ExecutionID, signals.Rollback{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, r.Reverted)
	require.Equal(t, []string{"r-two", "r-one"}, s.cancels)
	b.healthyWorkflow(signals.RollbackID(signals.WorkflowID(b.runtime, o.ExecutionID), 1), "rollback")

	// On an open execution, whose arguments a person had edited.
	o = b.run(`
		await shop.RefundOrder({order: 'three', amount: 101});
		await shop.RefundOrder({order: 'b', amount: 101})`)
	require.Len(t, o.Pending, 1)
	o = b.approve(o.ExecutionID, signals.Approve{Seqs: []int{0}, Args: []byte(`{"order":"edited","amount":7}`)})
	require.Len(t, o.Pending, 1, o.Error)
	r, err = b.client.Rollback(b.context(), o.ExecutionID, signals.Rollback{})
	require.NoError(t, err)
	require.Equal(t, []int{0}, r.Reverted)
	require.Equal(t, []string{"r-two", "r-one", "r-edited"}, s.cancels)
	b.healthy(o.ExecutionID)
	require.Equal(t, 1, s.refunds["edited"])
	require.Zero(t, s.refunds["three"])
}

func TestTeamCancellation(t *testing.T) {
	for name, code := range map[string]string{
		"read":     `await shop.GetOrder({order: 'slow'})`,
		"write":    `await shop.RefundOrder({order: 'hangs', amount: 1})`,
		"workflow": `await shop.Fulfil({order: 'waits'})`,
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			s := b.shop()
			id := b.start(code)
			begun := <-s.begun
			_, err := b.client.Cancel(b.context(), id, signals.Cancellation{})
			require.NoError(t, err)
			require.Equal(t, begun, <-s.canceled)
			o := b.wait(id)
			require.Equal(t, signals.Failed, o.Status)
			b.healthy(id)
			if name != "read" {
				r := b.show(id)
				require.Equal(t, signals.Errored, r.Log[0].State)
				require.Equal(t, signals.OutcomeUnknown, r.Log[0].ErrorName)
			}
		})
	}
}

// A result larger than travels beside its reference comes from the event, also to a worker with a cold memory.
func TestTeamLogFromHistory(t *testing.T) {
	b := setUp(t)
	b.shop()
	o := b.run(`
		const long = 'x'.repeat(10000);
		const a = await shop.Fulfil({order: long.slice(0, 700)});
		const r = await shop.RefundOrder({order: long, amount: 1});
		await shop.RefundOrder({order: 'stop', amount: 101});
		let e; try { await shop.RefundOrder({order: 'locked', amount: 1}) } catch (x) { e = x.name }
		return [a.length > 700, r.refund.length, e]`)
	require.Len(t, o.Pending, 1, o.Error)
	b.worker() // without memory
	o, err := b.client.Approve(b.context(), o.ExecutionID, signals.Approve{})
	require.NoError(t, err)
	b.completed(`[true, 10002, "BooksClosed"]`, o)
	next, err := b.client.Execute(b.context(), `
		const long = 'x'.repeat(10000);
		await shop.Fulfil({order: long.slice(0, 700)});
		return (await shop.RefundOrder({order: long, amount: 1})).tries`,
		codemode.ExecuteOptions{Continues: o.ExecutionID})
	require.NoError(t, err)
	b.completed(`1`, next)
}

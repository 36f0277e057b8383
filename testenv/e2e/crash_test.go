package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode/internal/history"
	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/server"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

func TestKilledInAPass(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		first := b.process("first")
		id := b.start(`await lab.write({name: 'before'}); const r = [await lab.read({name: 'a'}), await lab.read({name: 'b', gate: 'go'})]; await lab.write({name: 'after'}); return r`)
		b.eventually("the pass is in its read", func() bool { return len(b.lab.effects("read")) == 1 })
		b.eventually("the write that it follows is in history", func() bool { return b.recorded(id, "call-0.1") })
		b.signal(first, syscall.SIGKILL)
		b.process("second")
		b.lab.open("go")
		b.completed(`["a","b"]`, b.wait(id))
		require.Len(t, b.lab.effects("write"), 2, "writes happen once")
	})
}

// recorded: history has the result of an activity.
func (b *bench) recorded(id, activityID string) bool {
	h, err := history.Read(b.context(), shared.client, converter.GetDefaultDataConverter(),
		signals.WorkflowID(b.runtime, id), "")
	require.NoError(b.t, err)
	_, err = h.Source(activityID)
	return err == nil
}

func TestKilledInAWrite(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		first := b.process("first")
		id := b.start(`try { await lab.write({name: 'w', gate: 'never'}) } catch (e) { return [e.name, e.args, e.idempotencyKey.startsWith('exec_'), e.message] }`)
		b.eventually("the write runs", func() bool { return len(b.lab.effects("write")) == 1 })
		b.signal(first, syscall.SIGKILL)
		b.process("second")
		b.completed(`["OutcomeUnknown", {"name": "w", "gate": "never"}, true, "The outcome of lab.write is unknown: it was interrupted while it ran and may or may not have taken effect. Check before you repeat it."]`, b.wait(id))
		require.Len(t, b.lab.effects("write"), 1, "a write is never blindly repeated")
		call := b.show(id).Log[0]
		require.Equal(t, signals.Errored, call.State)
		require.Equal(t, signals.OutcomeUnknown, call.ErrorName)
	})
}

func TestKilledInAnIdempotentCall(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		first := b.process("first")
		id := b.start(`return await lab.put({name: 'p', gate: 'go'})`)
		b.eventually("the call runs", func() bool { return len(b.lab.effects("put")) == 1 })
		b.signal(first, syscall.SIGKILL)
		b.process("second")
		b.lab.open("go")
		b.completed(`"p"`, b.wait(id))
		puts := b.lab.effects("put")
		require.Len(t, puts, 2)
		require.Equal(t, puts[0], puts[1], "repeated with the same key")
	})
}

func TestKilledWhilePaused(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		first := b.process("first")
		b.lab.open("open")
		o := b.run(`const r = await lab.read({name: 'a', gate: 'open'}); await lab.write({name: 'w'}); return [r, await lab.ask({name: 'x'})]`)
		b.signal(first, syscall.SIGKILL)
		b.process("second")
		done := b.approve(o.ExecutionID, signals.Approve{})
		b.completed(`["a","x"]`, done)
		require.Len(t, b.lab.effects("read"), 1, "reads are replayed, not repeated")
		require.Len(t, b.lab.effects("write"), 1)
		require.Len(t, b.lab.effects("ask"), 1)
	})
}

// TestStalePassLeavesNothingBehind: a worker stalls in a pass that has buffered a result already, another one repeats
// the pass and reads another value, and the next pass lands on the first worker again.
func TestStalePassLeavesNothingBehind(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		first := b.process("first")
		id := b.start(`const who = await lab.read_name({}); await lab.read({gate: 'go'}); await lab.ask({name: who}); return [who, await lab.read_name({})]`)
		b.eventually("the pass is in its second read", func() bool { return len(b.lab.effects("read")) == 1 })
		b.signal(first, syscall.SIGSTOP)
		second := b.process("second")
		b.eventually("the pass was repeated", func() bool { return len(b.lab.effects("read")) == 2 })
		b.lab.open("go")
		o := b.wait(id)
		require.JSONEq(t, `{"name":"second"}`, string(o.Pending[0].Args))
		b.signal(first, syscall.SIGCONT)
		b.signal(second, syscall.SIGKILL)
		b.completed(`["second","first"]`, b.approve(id, signals.Approve{}))
	})
}

// TestApprovalAfterALostWorkflowTask: a worker shows a pause, and is lost before the server has it.
func TestApprovalAfterALostWorkflowTask(t *testing.T) {
	b := setUp(t)
	b.options.LocalPass = -1
	lost := make(chan struct{})
	lose := func(ctx context.Context, method string, req, reply any, c *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		if done, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok && armsTimer(done.Commands) {
			close(lost)
			<-ctx.Done()
			return ctx.Err()
		}
		return invoke(ctx, method, req, reply, c, opts...)
	}
	o := client.Options{HostPort: b.address, Logger: quiet}
	o.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(lose)}
	loses, err := client.Dial(o)
	require.NoError(t, err)
	t.Cleanup(loses.Close)
	first, err := codemodeworker.New(t.Context(), loses, b.options)
	require.NoError(t, err)
	require.NoError(t, first.Start())
	id := b.start(`return await lab.ask({name: 'a'})`)
	<-lost
	verdict := make(chan signals.Verdict, 1)
	go func() {
		v, err := b.client.Decide(b.context(), id, signals.Approve{By: "ada"})
		if err != nil {
			v.Error = err.Error()
		}
		verdict <- v
	}()
	first.Stop() // the server waits ten seconds for the workflow task, which the approval has for its way
	b.worker()
	v := <-verdict
	require.True(t, v.Accepted, v.Error)
	b.completed(`"a"`, b.wait(id))
}

// armsTimer: a pause does, for its expiry.
func armsTimer(commands []*commandpb.Command) bool {
	return slices.ContainsFunc(commands, func(c *commandpb.Command) bool {
		return c.CommandType == enums.COMMAND_TYPE_START_TIMER
	})
}

func TestServerRestart(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		db := filepath.Join(t.TempDir(), "temporal.db")
		s, err := server.Start(context.Background(), server.Options{DB: db})
		require.NoError(t, err)
		c := dial(s.Address())
		t.Cleanup(c.Close)
		b.client = b.clientFor(c)
		w, err := codemodeworker.New(context.Background(), c, b.options)
		require.NoError(t, err)
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
		paused := b.run(`const r = await lab.read({name: 'a'}); await lab.ask({name: 'x'}); return r`)
		reading := b.start(`return await lab.read({name: 'r', gate: 'go'})`)
		b.eventually("a pass runs", func() bool { return len(b.lab.effects("read")) == 1 })

		address := s.Address()
		s.Stop()
		b.lab.open("go")
		s, err = server.Start(context.Background(), server.Options{DB: db, Address: address})
		require.NoError(t, err)
		t.Cleanup(s.Stop)
		require.Equal(t, signals.Completed, b.wait(reading).Status)
		done := b.approve(paused.ExecutionID, signals.Approve{})
		require.Equal(t, signals.Completed, done.Status, done.Error)
		require.Len(t, b.lab.effects("ask"), 1)
		require.False(t, strings.Contains(b.lab.ledger(), "write"))
	})
}

package e2e

import (
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// counter counts a client's requests by their names.
type counter struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counter) count(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, do grpc.UnaryInvoker,
	o ...grpc.CallOption) error {
	c.mu.Lock()
	c.calls[path.Base(method)]++
	c.mu.Unlock()
	return do(ctx, method, in, out, conn, o...)
}

// asked are the requests that something made.
func (c *counter) asked(t *testing.T, what func() error) map[string]int {
	t.Helper()
	c.mu.Lock()
	c.calls = map[string]int{}
	c.mu.Unlock()
	require.NoError(t, what())
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// counted is a client of the runtime whose requests are counted.
func (b *bench) counted() (*codemode.Client, *counter) {
	b.t.Helper()
	c := &counter{calls: map[string]int{}}
	o := client.Options{HostPort: b.address, Logger: quiet}
	o.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(c.count)}
	t, err := client.Dial(o)
	require.NoError(b.t, err)
	b.t.Cleanup(t.Close)
	return b.clientFor(t), c
}

// listed waits until lists show so many executions of a status.
func (b *bench) listed(status signals.Status, want int) {
	b.t.Helper()
	b.eventually("lists show what happened", func() bool {
		list, err := b.client.Executions(b.context(), codemode.ListOptions{Status: status, Limit: 1000, Brief: true})
		return err == nil && len(list) == want
	})
}

const onlyLists = "ListWorkflowExecutions"

// Lists ask nothing but the server's own lists, and tell of each execution what its record tells.
func TestListsReadNoHistories(t *testing.T) {
	b := setUp(t)
	b.worker()
	var ids []string
	for n := range 4 {
		ids = append(ids, b.run(fmt.Sprintf(`return {n: %d, at: await lab.read({name: 'x'})}`, n)).ExecutionID)
	}
	for n := range 3 {
		ids = append(ids, b.run(fmt.Sprintf(`return await Promise.all([lab.ask({name: 'a%d'}), lab.ask({name: 'b'})])`,
			n)).ExecutionID)
	}
	failed, undone := b.run(`await lab.ask({name: 'x'}).catch(() => {}); throw new Error('no')`),
		b.run(`return await lab.make({name: 'x'})`)
	b.approve(failed.ExecutionID, signals.Approve{})
	b.rollback(undone.ExecutionID)
	rejected, ended := b.run(`return await lab.ask({name: 'x'})`), b.run(`return await lab.ask({name: 'x'})`)
	_, err := b.client.Reject(b.context(), rejected.ExecutionID, signals.Reject{By: "ada"})
	require.NoError(t, err)
	require.NoError(t, shared.client.TerminateWorkflow(b.context(),
		signals.WorkflowID(b.runtime, ended.ExecutionID), "", "enough"))
	ids = append(ids, failed.ExecutionID, undone.ExecutionID, rejected.ExecutionID, ended.ExecutionID)
	for status, n := range map[signals.Status]int{signals.Completed: 4, signals.Paused: 3, signals.Failed: 2,
		signals.RolledBack: 1, signals.Rejected: 1} {
		b.listed(status, n)
	}

	c, asked := b.counted()
	var pending []signals.PendingAction
	require.Equal(t, map[string]int{onlyLists: 1}, asked.asked(t, func() (err error) {
		pending, err = c.Pending(b.context(), "")
		return err
	}))
	require.Len(t, pending, 6)
	require.Equal(t, b.pending(pending[0].ExecutionID), pending[:2], "as the execution itself says")

	var brief, list []signals.Record
	requests := asked.asked(t, func() (err error) {
		brief, err = c.Executions(b.context(), codemode.ListOptions{Limit: 100, Brief: true})
		return err
	})
	require.Equal(t, []string{onlyLists}, keys(requests))
	requests = asked.asked(t, func() (err error) {
		list, err = c.Executions(b.context(), codemode.ListOptions{Limit: 100})
		return err
	})
	require.Equal(t, 8, requests["GetWorkflowExecutionHistory"], "the end of each that has ended: %v", requests)
	delete(requests, "GetWorkflowExecutionHistory")
	require.Equal(t, []string{onlyLists}, keys(requests))
	require.Len(t, list, len(ids))
	for i, r := range list {
		b.asShown(r)
		require.Equal(t, []any{r.ID, r.Status, r.Code, r.CreatedAt},
			[]any{brief[i].ID, brief[i].Status, brief[i].Code, brief[i].CreatedAt})
	}
}

func keys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func (b *bench) pending(id string) []signals.PendingAction {
	b.t.Helper()
	list, err := b.client.Pending(b.context(), id)
	require.NoError(b.t, err)
	return list
}

// asShown compares a record of a list with the whole one.
func (b *bench) asShown(listed signals.Record) {
	b.t.Helper()
	whole := b.show(listed.ID)
	whole.Error, _, _ = strings.Cut(whole.Error, "\n\nConsole output:")
	whole.Log, whole.Logs, whole.Engine, whole.HookErrors, whole.Total = nil, nil, "", nil, 0
	whole.Hints, whole.Program, whole.Excerpt, whole.Warnings = nil, nil, "", nil
	whole.UpdatedAt, listed.UpdatedAt, whole.Rollbacks = 0, 0, nil // a step of the server apart
	if strings.Contains(whole.Error, "from outside") {
		listed.Connectors, listed.Passes = whole.Connectors, whole.Passes // nothing tells at such an end
	}
	require.Equal(b.t, whole, listed)
}

// What an older client started carries no memo: it is read, and nothing else.
func TestListsOfExecutionsWithoutMemo(t *testing.T) {
	b := setUp(t)
	b.worker()
	b.run(`return 1`)
	b.run(`return await lab.ask({name: 'new'})`)
	for n, code := range []string{`return 2`, `return await lab.ask({name: 'old'})`} {
		_, err := shared.client.ExecuteWorkflow(b.context(), client.StartWorkflowOptions{
			ID: signals.WorkflowID(b.runtime, fmt.Sprint("old", n)), TaskQueue: signals.TaskQueue(b.runtime)},
			signals.ExecutionWorkflow, signals.ExecutionInput{Code: code, Purpose: "old"})
		require.NoError(t, err)
		b.wait(fmt.Sprint("old", n))
	}
	b.listed(signals.Paused, 2)
	b.listed(signals.Completed, 2)
	c, asked := b.counted()
	var list []signals.Record
	requests := asked.asked(t, func() (err error) {
		list, err = c.Executions(b.context(), codemode.ListOptions{Text: "OLD", Brief: true})
		return err
	})
	require.Len(t, list, 2)
	require.Equal(t, []any{"old1", "old", signals.Paused, "old0", signals.Completed},
		[]any{list[0].ID, list[0].Purpose, list[0].Status, list[1].ID, list[1].Status})
	require.Equal(t, 2, requests["GetWorkflowExecutionHistory"], "%v", requests)
	var pending []signals.PendingAction
	requests = asked.asked(t, func() (err error) {
		pending, err = c.Pending(b.context(), "")
		return err
	})
	require.Len(t, pending, 2)
	require.JSONEq(t, `{"name":"old"}`, string(pending[0].Args))
	require.Zero(t, requests["GetWorkflowExecutionHistory"], "what waits is asked by query: %v", requests)
	require.LessOrEqual(t, requests["QueryWorkflow"], 2)
}

// Programs are searched to their end, however long they are, and arguments are told however large.
func TestListsOfWhatIsLarge(t *testing.T) {
	b := setUp(t)
	b.worker()
	long := "// " + strings.Repeat("é", 3000) + " needle\n"
	o := b.run(long + `return await lab.ask({name: 'x'.repeat(9000)})`)
	b.listed(signals.Paused, 1)
	list, err := b.client.Executions(b.context(), codemode.ListOptions{Text: "needle", Brief: true})
	require.NoError(t, err)
	require.Len(t, list, 1)
	list, err = b.client.Executions(b.context(), codemode.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, b.show(o.ExecutionID).Code, list[0].Code)
	all, err := b.client.Pending(b.context(), "")
	require.NoError(t, err)
	require.Equal(t, b.pending(o.ExecutionID), all)
	require.Greater(t, len(all[0].Args), 9000)
}

// A run that continues as new while a person decides is listed as one execution, since its beginning.
func TestListsOfContinuedRuns(t *testing.T) {
	b := setUp(t)
	b.options.Limits.HistoryEvents = 40
	b.worker()
	o := b.run(manyWrites + `return await lab.ask({name: 'x'})`)
	require.Equal(t, signals.Paused, o.Status, o.Error)
	b.listed(signals.Paused, 1)
	require.Greater(t, b.runs(o.ExecutionID), 1)
	c, asked := b.counted()
	var list []signals.Record
	requests := asked.asked(t, func() (err error) {
		list, err = c.Executions(b.context(), codemode.ListOptions{})
		return err
	})
	require.Equal(t, []string{onlyLists}, keys(requests))
	require.Equal(t, b.show(o.ExecutionID).CreatedAt, list[0].CreatedAt)
	requests = asked.asked(t, func() error { _, err := c.Pending(b.context(), ""); return err })
	require.Equal(t, []string{onlyLists}, keys(requests))
	b.approve(o.ExecutionID, signals.Approve{})
	b.listed(signals.Completed, 1)
	list, err := c.Executions(b.context(), codemode.ListOptions{})
	require.NoError(t, err)
	b.asShown(list[0])
	b.healthy(o.ExecutionID)
}

func (b *bench) selected(s codemode.Selection, want int) (items []codemode.InboxItem) {
	b.t.Helper()
	b.eventually("lists show what waits", func() bool {
		var err error
		items, err = b.client.Select(b.context(), s)
		return err == nil && len(items) == want
	})
	return items
}

func (b *bench) runLabelled(code string, labels map[string]string) string {
	b.t.Helper()
	o, err := b.client.Execute(b.context(), code, codemode.ExecuteOptions{Caller: signals.Caller{Labels: labels}})
	require.NoError(b.t, err)
	require.Equal(b.t, signals.Paused, o.Status, o.Error)
	return o.ExecutionID
}

// One decision about many executions covers what was listed, as it was listed.
func TestApproveMany(t *testing.T) {
	b := setUp(t)
	b.options.Rules = map[string][]connectors.Rule{"lab": {{Pattern: "make_asking",
		Policy: connectors.Policy{Approvals: 2}}}}
	b.worker()
	const two = `return await Promise.all([lab.ask({name: 'a'}), lab.make_asking({name: 'b'})])`
	edited := b.runLabelled(two, map[string]string{"team": "billing"})
	for range 4 {
		b.runLabelled(two, map[string]string{"team": "billing", "for": "ada"})
	}
	other := b.runLabelled(`return await lab.ask({name: 'c'})`, map[string]string{"team": "sales"})

	require.Len(t, b.selected(codemode.Selection{Method: "lab.make*"}, 5), 5)
	require.Len(t, b.selected(codemode.Selection{Labels: map[string]string{"for": "ada"}}, 8), 8)
	items := b.selected(codemode.Selection{Labels: map[string]string{"team": "billing"}}, 10)
	v, err := b.client.Decide(b.context(), edited, signals.Approve{Seqs: []int{1}, Args: []byte(`{"name":"other"}`),
		By: "eve"})
	require.NoError(t, err)
	require.True(t, v.Accepted, v.Error)

	told := 0
	list, err := b.client.ApproveAll(b.context(), items, codemode.ApproveAllOptions{By: "ada",
		Progress: func(codemode.Decided) { told++ }})
	require.NoError(t, err)
	require.Len(t, list, 5)
	require.Equal(t, 5, told)
	for _, d := range list {
		if d.ExecutionID != edited {
			require.Equal(t, codemode.Decided{ExecutionID: d.ExecutionID, Accepted: []int{0, 1},
				Refused: []codemode.RefusedCall{}}, d)
			continue
		}
		require.Equal(t, []int{0}, d.Accepted, "what has not changed is approved")
		require.Len(t, d.Refused, 1)
		require.Contains(t, d.Refused[0].Error, "is stale")
	}
	require.Equal(t, signals.Paused, b.show(other).Status, "it was not picked")
	items = b.selected(codemode.Selection{Method: "lab.make_asking"}, 5)
	require.NotEmpty(t, items[0].ApprovedBy, "lists tell who has approved")
	list, err = b.client.RejectAll(b.context(), items, codemode.RejectAllOptions{By: "bob", Reason: "no"})
	require.NoError(t, err)
	require.Len(t, list, 5)
	require.Equal(t, signals.Rejected, b.wait(edited).Status)
	b.healthy(edited)
	again, err := b.client.ApproveAll(b.context(), items[:1], codemode.ApproveAllOptions{By: "bob"})
	require.NoError(t, err)
	require.Contains(t, again[0].Refused[0].Error, "is not paused (status: rejected)")
}

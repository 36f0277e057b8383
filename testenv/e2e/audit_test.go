package e2e

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// TestAudit: every decision of every kind stands there once, with what became of it, also over several runs and after
// the end.
func TestAudit(t *testing.T) {
	b := setUp(t)
	b.worker()
	ctx := b.context()
	ask := func(name string) string { return b.run(`return await lab.ask({name: '` + name + `'})`).ExecutionID }
	began := time.Now().Add(-time.Second)

	edited := ask("a")
	b.approve(edited, signals.Approve{By: "ada", Note: "fine", Args: json.RawMessage(`{"name":"b"}`)})
	rejected := ask("r")
	_, err := b.client.Reject(ctx, rejected, signals.Reject{By: "bob", Reason: "no"})
	require.NoError(t, err)
	goesOn := b.run(`try { await lab.ask({name: 'x'}) } catch (e) { } return await lab.ask({name: 'y'})`).ExecutionID
	_, err = b.client.Reject(ctx, goesOn, signals.Reject{By: "bob", Continue: true})
	require.NoError(t, err)
	b.wait(goesOn)
	b.approve(goesOn, signals.Approve{By: "ada"})
	always := b.run(`for (const n of ['1', '2', '3']) await lab.ask({name: n});
return await lab.make({name: 'm'})`).ExecutionID
	b.approve(always, signals.Approve{By: "cy", Always: true})
	cancelled := ask("c")
	_, err = b.client.Cancel(ctx, cancelled, signals.Cancellation{By: "dan", Reason: "late"})
	require.NoError(t, err)
	_, err = b.client.Rollback(ctx, always, signals.Rollback{By: "eve"})
	require.NoError(t, err)
	waiting := ask("w")

	var audit codemode.Audit
	b.eventually("visibility has the last", func() bool {
		audit, err = b.client.Audit(ctx, codemode.AuditOptions{Since: began})
		return err == nil && slices.ContainsFunc(audit.Entries,
			func(e codemode.AuditEntry) bool { return e.Kind == signals.SignalRollback })
	})
	require.Empty(t, audit.Unreadable)
	var told [][]string
	for _, e := range audit.Entries {
		require.NotEqual(t, waiting, e.ExecutionID)
		told = append(told, []string{e.ExecutionID, e.Kind, e.By, e.Method, e.Call, string(e.Execution)})
	}
	require.Equal(t, [][]string{
		{edited, "approve", "ada", "lab.ask", "applied", "completed"},
		{rejected, "reject", "bob", "lab.ask", "rejected", "rejected"},
		{goesOn, "reject", "bob", "lab.ask", "rejected", "completed"},
		{goesOn, "approve", "ada", "lab.ask", "applied", "completed"},
		{always, "approve", "cy", "lab.ask", "applied", "rolled_back"},
		{always, "approve", "cy", "lab.ask", "applied", "rolled_back"},
		{always, "approve", "cy", "lab.ask", "applied", "rolled_back"},
		{cancelled, "cancel", "dan", "", "", "error"},
		{always, "rollback", "eve", "", "", "rolled_back"},
	}, told)
	require.JSONEq(t, `{"name":"b"}`, string(audit.Entries[0].EditedArgs))
	require.True(t, audit.Entries[5].Remembered)

	for want, o := range map[int]codemode.AuditOptions{
		0: {Until: began}, 2: {By: "ada"}, 7: {Method: "lab.*"}, 1: {Kind: signals.SignalRollback},
		5: {Kind: signals.SignalApprove},
	} {
		some, err := b.client.Audit(ctx, o)
		require.NoError(t, err)
		require.Len(t, some.Entries, want, "%+v", o)
	}
	_, err = b.client.Audit(ctx, codemode.AuditOptions{Kind: "approved"})
	require.ErrorContains(t, err, "approve, reject, retry")
}

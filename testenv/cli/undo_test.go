package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestRollback(t *testing.T) {
	id, runtime := "to-undo", "--runtime="+fresh("undo")
	worker(t, trackerConfig(strings.TrimPrefix(runtime, "--runtime="), t.TempDir()+"/tracker.json"))
	run(t, 3, create("to undo"), "--id", id, runtime)
	require.Contains(t, text(t, 0, "show", id, runtime), "can be undone")
	outcome(t, 0, "approve", id, runtime)
	r := decode[signals.RollbackResult](t, starter(t, "", "rollback", id, runtime, "--json"))
	require.Equal(t, signals.RollbackResult{Reverted: []int{0}, Failed: []signals.FailedRevert{}}, r)
	record := decode[signals.Record](t, starter(t, "", "show", id, runtime, "--json"))
	require.Equal(t, signals.RolledBack, record.Status)
	require.Equal(t, "ada", record.Rollbacks[0].By)
	require.Contains(t, text(t, 0, "show", id, runtime), "undone")
	require.Equal(t, "nothing can be undone\n", text(t, 0, "rollback", id, runtime))
	require.Equal(t, signals.RolledBack, outcome(t, 0, "wait", id, runtime).Status)
	unknown := starter(t, "", "rollback", "none", runtime, "--json")
	require.Equal(t, 4, unknown.code)
	require.Equal(t, `{"reverted":[],"failed":[]}`+"\n", unknown.stdout)
}

func TestDelete(t *testing.T) {
	id := fresh("delete")
	run(t, 3, create("to delete"), "--id", id)
	r := starter(t, "", "delete", id, "--json")
	require.Equal(t, []any{0, "true\n"}, []any{r.code, r.stdout}, r.stderr)
	r = starter(t, "", "delete", id, "--json")
	require.Equal(t, []any{4, "false\n"}, []any{r.code, r.stdout}, r.stderr)
	require.Equal(t, 4, starter(t, "", "show", id).code)
}

func TestPruneAndExpire(t *testing.T) {
	runtime := fresh("retention")
	worker(t, trackerConfig(runtime, t.TempDir()+"/tracker.json"))
	for range 3 {
		run(t, 0, "return 'needle'", "--runtime", runtime)
	}
	paused := run(t, 3, create("paused"), "--runtime", runtime)
	listed := func(n int, args ...string) {
		t.Helper()
		require.Eventually(t, func() bool {
			list := decode[[]signals.Record](t,
				starter(t, "", append([]string{"list", "--json", "--runtime", runtime}, args...)...))
			return len(list) == n
		}, 30*time.Second, 100*time.Millisecond)
	}
	listed(3, "--text", "NEEDLE")
	listed(1, "--status", "paused")
	listed(3, "--status", "completed")
	require.Equal(t, "2\n", starter(t, "", "prune", "--keep", "1", "--runtime", runtime, "--json").stdout)
	listed(2)
	require.Equal(t, "[]\n", starter(t, "", "expire", "--max-age", "1h", "--runtime", runtime, "--json").stdout)
	r := starter(t, "", "expire", "--max-age", "0s", "--runtime", runtime, "--json")
	require.Equal(t, `["`+paused.ExecutionID+`"]`+"\n", r.stdout, r.stderr)
	require.Equal(t, "Expired awaiting approval",
		decode[signals.Record](t, starter(t, "", "show", paused.ExecutionID, "--runtime", runtime, "--json")).Error)
}

func TestRetentionMistakes(t *testing.T) {
	for _, args := range []string{"prune", "prune --keep -1", "prune --keep x", "expire", "expire --max-age -1s",
		"rollback", "delete a b", "retry x", "resolve x", "retry x --seq -1", "resolve x --seq 0 --result {"} {
		r := starter(t, "", strings.Fields(args)...)
		require.Equal(t, 2, r.code, args)
	}
	r := starter(t, "", "prune", "--keep", "-1", "--json")
	require.Equal(t, "0\n", r.stdout)
}

func TestSettlingWhatIsNotPending(t *testing.T) {
	id := fresh("settle")
	run(t, 3, create("to settle"), "--id", id)
	o := outcome(t, 1, "retry", id, "--seq", "0")
	require.Equal(t, "tracker.create_issue (seq 0) has not been made: retry is for a call whose outcome is unknown.",
		o.Error)
	require.Contains(t, outcome(t, 1, "resolve", id, "--seq", "0", "--result", "1").Error, "waits for approval")
	require.Equal(t, "No execution \"none\" to resume.", outcome(t, 4, "retry", "none", "--seq", "0").Error)
	outcome(t, 0, "approve", id, "--always")
	require.True(t, decode[signals.Record](t, starter(t, "", "show", id, "--json")).Log[0].Decisions[0].Always)
}

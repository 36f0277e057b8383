package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode"
	"github.com/temporal-codemode/codemode/signals"
)

// manyDecided is the document of approve --all and of reject --all.
type manyDecided struct {
	Accepted, Refused, NotDecided int
	Executions                    []codemode.Decided
}

// waiting runs programs that wait for a person, with a label of their own, until lists show them.
func waiting(t *testing.T, n int) (label string, ids []string) {
	t.Helper()
	name := fresh("many")
	label = "batch=" + name
	for range n {
		ids = append(ids, run(t, 3, create(name), "--label", label).ExecutionID)
	}
	require.Eventually(t, func() bool {
		r := starter(t, "", "list", "--status", "paused", "--label", label, "--json")
		return len(decode[[]signals.Record](t, r)) == n
	}, 30*time.Second, 50*time.Millisecond)
	return label, ids
}

func recordOf(t *testing.T, id string) signals.Record {
	return decode[signals.Record](t, starter(t, "", "show", id, "--json"))
}

func TestApproveManyByLabel(t *testing.T) {
	label, ids := waiting(t, 3)
	_, others := waiting(t, 1)
	r := starter(t, "", "approve", "--label", label, "--method", "tracker.create_*", "--note", "fine", "--json")
	require.Equal(t, 0, r.code, r.stderr)
	m := decode[manyDecided](t, r)
	require.Equal(t, []int{3, 0, 0, 3}, []int{m.Accepted, m.Refused, m.NotDecided, len(m.Executions)})
	for _, id := range ids {
		require.Equal(t, signals.Completed, outcome(t, 0, "wait", id).Status)
	}
	require.Equal(t, 3, effects(t, strings.TrimPrefix(label, "batch=")))
	require.Equal(t, "ada", recordOf(t, ids[0]).Log[0].DecidedBy)
	require.Equal(t, signals.Paused, recordOf(t, others[0]).Status)
	require.Contains(t, text(t, 0, "approve", "--label", label), "0 calls approved", "nothing waits any more")
}

func TestRejectManyForPeople(t *testing.T) {
	label, ids := waiting(t, 2)
	require.Contains(t, text(t, 0, "reject", "--all", "--label", label, "--reason", "no"), "2 calls rejected")
	for _, id := range ids {
		require.Equal(t, signals.Rejected, outcome(t, 1, "wait", id).Status)
	}
}

func TestManyIsSaidClearly(t *testing.T) {
	for _, args := range [][]string{{"approve"}, {"approve", "--all", "exec_1"}, {"reject", "--method", "[x"},
		{"approve", "--all", "--seq", "1"}, {"approve", "--method", "a.b", "--args", "{}"},
		{"reject", "--label", "x=1", "--seq", "0"}} {
		r := starter(t, "", append(args, "--json")...)
		require.Equal(t, 2, r.code, "%v: %s", args, r.stderr)
		require.True(t, json.Valid([]byte(r.stdout)), r.stdout)
	}
}

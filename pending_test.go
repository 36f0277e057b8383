package codemode

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

func TestInboxLooksAtWhatMayHaveChanged(t *testing.T) {
	i := (&Client{runtime: "r"}).NewInbox()
	var ids []string
	for n := range 120 {
		ids = append(ids, fmt.Sprintf("exec_%03d", n))
	}
	require.Len(t, i.due(ids), 120, "all are new")
	for n, id := range ids {
		i.learn(id, &waiting{events: 9, seen: time.UnixMilli(int64(n)),
			actions: []signals.PendingAction{{ExecutionID: id}}})
	}
	due := i.due(ids)
	require.Len(t, due, recheck)
	require.Contains(t, due, "exec_000", "the longest not looked at comes first")
	require.EqualValues(t, 9, due["exec_000"].events)
	i.Changed("exec_119")
	due = i.due(ids)
	require.Len(t, due, recheck+1)
	require.Zero(t, due["exec_119"].events, "it is asked whatever its history")
	require.Len(t, i.due(ids), recheck, "once")
	i.due(ids[1:])
	items := i.items([]string{"exec_002", "exec_000", "exec_001"})
	require.Equal(t, []string{"exec_002", "exec_001"}, []string{items[0].ExecutionID, items[1].ExecutionID},
		"in the order listed, without what is gone")
	require.Len(t, items, 2)
	require.Equal(t, "exec_119", i.items(nil)[0].ExecutionID, "newest first")
}

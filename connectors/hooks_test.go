package connectors

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// listening is a connector with hooks.
type listening struct {
	Connector
	hook func(event string) error
}

func (l listening) PassEnd(_ context.Context, id, status string) error {
	return l.hook(fmt.Sprint("end ", id, " ", status))
}

func (l listening) Dispose(_ context.Context, id, status string) error {
	return l.hook(fmt.Sprint("over ", id, " ", status))
}

func TestHooksReachEveryConnectorThatHasThem(t *testing.T) {
	var heard string
	set, err := NewSet(context.Background(), []Connector{
		New("plain", ""),
		listening{New("a", ""), func(event string) error { heard = event; return nil }},
		listening{New("b", ""), func(string) error { return errors.New("no") }},
		listening{New("c", ""), func(string) error { panic("oh") }},
	}, nil)
	require.NoError(t, err)
	require.True(t, set.HasPassEnd() && set.HasDispose())
	errs := set.PassEnd(context.Background(), "exec_1", "paused")
	require.Equal(t, "end exec_1 paused", heard)
	require.Len(t, errs, 2)
	require.EqualError(t, errs[0], "connector b: no")
	require.EqualError(t, errs[1], "connector c: panic: oh")
	set.Dispose(context.Background(), "exec_1", "completed")
	require.Equal(t, "over exec_1 completed", heard)

	set, err = NewSet(context.Background(), []Connector{New("plain", "")}, nil)
	require.NoError(t, err)
	require.False(t, set.HasPassEnd() || set.HasDispose())
	require.Empty(t, set.PassEnd(context.Background(), "e", "paused"))
}

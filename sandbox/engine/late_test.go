package engine

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
)

// On a busy machine a result may come after the deadline and still be noticed before it; it must not count.
func TestResultAfterTheDeadlineIsCutOff(t *testing.T) {
	e := New(context.Background(), sandbox.Pass{Limits: sandbox.Limits{Timeout: time.Second}}, nil)
	c := &call{Call: sandbox.Call{Connector: "store", Method: "slow"}}
	e.running[0] = c
	e.until.Store(time.Now().Add(-time.Second).UnixNano())
	e.arrived(completion{call: c, value: json.RawMessage("1")})
	require.Empty(t, e.ready)
	e.fatal = &sandbox.Failure{Kind: sandbox.TimedOut}
	e.fail()
	require.True(t, e.entries[0].Dropped)
}

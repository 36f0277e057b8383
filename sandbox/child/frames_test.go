package child

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// nulls is a result whose field is an array of so many nothings, a byte each.
func nulls(t *testing.T, field string, count uint32) []byte {
	t.Helper()
	key, err := cbor.Marshal(field)
	require.NoError(t, err)
	body := append([]byte{0xa1}, key...)
	body = binary.BigEndian.AppendUint32(append(body, 0x9a), count)
	for range count {
		body = append(body, 0xf6)
	}
	return body
}

// What a taken-over child sends costs about what it weighs.
func TestResultsCostWhatTheyWeigh(t *testing.T) {
	for _, field := range []string{"Entries", "Blocked", "Logs", "Timers"} {
		body := nulls(t, field, 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decodeResult(body)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), field)
		if field == "Entries" || field == "Blocked" {
			require.Error(t, err)
		}
	}
	_, err := decodeResult(nulls(t, "Logs", 1<<21))
	require.Error(t, err)
}

func TestDecodeResult(t *testing.T) {
	for _, r := range []sandbox.Result{
		{End: sandbox.Completed, Value: []byte("1")},
		{End: sandbox.Blocked, Entries: make([]signals.Entry, 20_000), Blocked: make([]sandbox.BlockedCall, 3),
			Timers: make([]signals.Timer, 50_000), Logs: []string{"a"}, Failure: &sandbox.Failure{Message: "no"}},
	} {
		got, err := decodeResult(frame(t, r))
		require.NoError(t, err)
		require.Equal(t, r, got)
	}
}

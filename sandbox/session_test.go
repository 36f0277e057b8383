package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

// bankHost makes calls of read; those of transfer wait for a person.
type bankHost struct{ made chan Call }

func (h *bankHost) Admit(c Call) Admission {
	if c.Method == "transfer" {
		return Admission{Gated: true, Approval: true, Class: "write"}
	}
	return Admission{Class: "read"}
}

func (h *bankHost) Call(_ context.Context, c Call) Settlement {
	h.made <- c
	return Settlement{Value: json.RawMessage("1")}
}

func frame(t *testing.T, body any) []byte {
	t.Helper()
	encoded, err := cbor.Marshal(body)
	require.NoError(t, err)
	return encoded
}

// A child that its program has taken over may send what it likes.
func takenOver(t *testing.T) (*session, *bankHost) {
	host := &bankHost{made: make(chan Call, 1)}
	return &session{
		p: &process{link: newLink(nil, io.Discard, 0)}, host: host, ctx: t.Context(), admitted: map[int]admitted{}, calls: make(chan *inlineCall),
	}, host
}

var (
	read     = Call{Seq: 5, Connector: "bank", Method: "read"}
	transfer = Call{Seq: 5, Connector: "bank", Method: "transfer", Args: json.RawMessage(`{"amount":9}`)}
)

func TestOnlyTheAdmittedCallIsMade(t *testing.T) {
	s, host := takenOver(t)
	require.NoError(t, s.admit(frame(t, read)))
	require.NoError(t, s.call(frame(t, transfer)))
	require.Equal(t, "read", (<-host.made).Method)
	require.NoError(t, s.call(frame(t, transfer)), "answered, not made")
	require.Len(t, s.issued, 1)
}

func TestBlockedCallsAreWhatWasAdmitted(t *testing.T) {
	s, _ := takenOver(t)
	require.NoError(t, s.admit(frame(t, transfer)))
	forged := BlockedCall{Call: transfer, Class: "read"}
	forged.Args = json.RawMessage(`{"amount":9000}`)
	r, err := s.result(frame(t, Result{End: Blocked, Blocked: []BlockedCall{forged}}))
	require.NoError(t, err)
	require.Equal(t, []BlockedCall{{Call: transfer, Class: "write", Approval: true}}, r.Blocked)

	forged.Seq = 6
	_, err = s.result(frame(t, Result{End: Blocked, Blocked: []BlockedCall{forged}}))
	require.ErrorContains(t, err, "did not admit")
}

func TestEntriesAreWhatWasMade(t *testing.T) {
	s, _ := takenOver(t)
	_, err := s.result(frame(t, Result{End: Completed, Entries: []Entry{{ID: 5, Connector: "bank", Method: "transfer"}}}))
	require.ErrorContains(t, err, "did not make")

	require.NoError(t, s.admit(frame(t, read)))
	r, err := s.result(frame(t, Result{End: Completed, Entries: []Entry{{ID: 5, Connector: "bank", Method: "transfer", Class: "write"}}}))
	require.NoError(t, err)
	require.Equal(t, "read", r.Entries[0].Method)
	require.Equal(t, "read", r.Entries[0].Class)
}

func TestEndsAreThoseOfTheEngine(t *testing.T) {
	for _, forged := range []Result{{}, {End: "missing"}, {End: "elsewhere"}, {End: Failed}} {
		s, _ := takenOver(t)
		_, err := s.result(frame(t, forged))
		require.Error(t, err, forged.End)
	}
}

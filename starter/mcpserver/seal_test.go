package mcpserver

import (
	"errors"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"
)

// What a client carries is taken from whom it was given to, for the same request, in time, and as it was.
func TestQuestionsAreBound(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	own, err := newSealer([]byte("the secret of these doors"))
	require.NoError(t, err)
	other, err := newSealer([]byte("the secret of these doors"))
	require.NoError(t, err)
	stranger, err := newSealer(nil)
	require.NoError(t, err)
	a := asked{Execution: "exec_1", Calls: []askedCall{{"0-d", 0, "d"}}, Principal: "ada", Request: "r",
		Expires: now.UnixMilli()}
	sealed, err := own.close(a)
	require.NoError(t, err)
	got, err := other.open(sealed, "ada", "r", now)
	require.NoError(t, err, "another door with the same secret")
	require.Equal(t, a, got)
	again, err := own.close(a)
	require.NoError(t, err)
	require.NotEqual(t, sealed, again)

	middle := len(sealed) / 2
	changed := sealed[:middle] + map[bool]string{true: "B", false: "A"}[sealed[middle] == 'A'] + sealed[middle+1:]
	for name, c := range map[string]struct {
		sealer                     sealer
		sealed, principal, request string
		now                        time.Time
		want                       string
	}{
		"changed":         {own, changed, "ada", "r", now, "was changed"},
		"cut":             {own, sealed[:20], "ada", "r", now, "was changed"},
		"no base64":       {own, "{}", "ada", "r", now, "was changed"},
		"made elsewhere":  {stranger, sealed, "ada", "r", now, "was not made here"},
		"another caller":  {own, sealed, "bob", "r", now, "another caller"},
		"another request": {own, sealed, "ada", "s", now, "another request"},
		"too late":        {own, sealed, "ada", "r", now.Add(time.Millisecond), "came too late"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.sealer.open(c.sealed, c.principal, c.request, c.now)
			var wire *jsonrpc.Error
			require.True(t, errors.As(err, &wire))
			require.EqualValues(t, jsonrpc.CodeInvalidParams, wire.Code)
			require.Contains(t, wire.Message, c.want)
		})
	}
}

func FuzzOpenTakesOnlyWhatWasSealed(f *testing.F) {
	s, err := newSealer([]byte("the secret of these doors"))
	if err != nil {
		f.Fatal(err)
	}
	good, err := s.close(asked{Execution: "exec_1", Principal: "ada", Request: "r", Expires: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := s.open(text, "ada", "r", time.UnixMilli(0))
		if err == nil && a.Execution != "exec_1" {
			t.Fatalf("%q was opened as %+v", text, a)
		}
	})
}

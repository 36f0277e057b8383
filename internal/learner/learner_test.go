package learner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// server keeps what workers send, as the workflow does.
type server struct {
	client.Client
	mu      sync.Mutex
	state   learnt.State
	batches []learnt.Batch
	lost    int // answers that do not come back
	down    bool
	asked   int
}

func (s *server) SignalWithStartWorkflow(_ context.Context, _, _ string, arg any, _ client.StartWorkflowOptions,
	_ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, serviceerror.NewUnavailable("down")
	}
	var b learnt.Batch
	if err := json.Unmarshal(arg.(converter.RawValue).Payload().Data, &b); err != nil {
		return nil, err
	}
	s.state.Add(b)
	s.batches = append(s.batches, b)
	if s.lost > 0 {
		s.lost--
		return nil, errors.New("the connection was lost")
	}
	return nil, nil
}

func (s *server) QueryWorkflowWithOptions(_ context.Context,
	_ *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.down {
		return nil, serviceerror.NewUnavailable("down")
	}
	text, err := json.Marshal(s.state)
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: client.NewValue(&commonpb.Payloads{
		Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: text}},
	})}, err
}

func method(name string) *connectors.Bound {
	return &connectors.Bound{Connector: "store", Method: connectors.Method{Name: name}}
}

func results(t *testing.T, l *Learner, s *server) string {
	t.Helper()
	text, err := json.Marshal(l.Results(t.Context(), s, "store")("get"))
	require.NoError(t, err)
	return string(text)
}

// What two workers learn is one, and each of them says so; a worker that comes later knows it.
func TestTwoWorkersAgree(t *testing.T) {
	s, a, b := &server{}, New("default"), New("default")
	a.Saw(s, method("get"), json.RawMessage(`{"id":1}`))
	b.Saw(s, method("get"), json.RawMessage(`{"id":2,"name":"x"}`))
	require.Contains(t, results(t, a, s), `"n":1`, "a worker knows its own at once")
	a.Close()
	b.Close()
	later := New("default")
	require.Equal(t, `{"n":2,"m":2,"t":"o","f":[{"k":"id","n":2,"t":"n"},{"k":"name","n":1,"t":"s"}]}`,
		results(t, later, s))
	for _, w := range []*Learner{a, b} {
		w.space("store").asked = time.Time{} // it is time to ask again
		require.Equal(t, results(t, later, s), results(t, w, s))
	}
}

// A batch whose answer was lost is sent again, and counts once.
func TestBatchesCountOnce(t *testing.T) {
	s, l := &server{lost: 1}, New("default")
	l.Saw(s, method("get"), json.RawMessage(`{"id":1}`))
	l.send(time.Second)
	l.send(time.Second)
	require.Len(t, s.batches, 2)
	require.Equal(t, s.batches[0], s.batches[1])
	require.Equal(t, 1, s.state.Of("get").Seen)
	l.Close()
}

// A hot loop is not noticed: of a hundred thousand results few are looked at, and sent in few batches.
func TestHotLoop(t *testing.T) {
	s, l := &server{}, New("default")
	m, result := method("get"), json.RawMessage(`{"items":[`+strings.Repeat(`{"id":1,"name":"x"},`, 500)+`{}]}`)
	for range 100_000 {
		l.Saw(s, m, result)
	}
	l.Close()
	require.LessOrEqual(t, len(s.batches), 3)
	require.GreaterOrEqual(t, s.state.Of("get").Seen, lookAtAll)
	require.Less(t, s.state.Of("get").Seen, 200)
}

func TestServerThatIsDownHarmsNothing(t *testing.T) {
	s, l := &server{down: true}, New("default")
	for range 3 {
		l.Saw(s, method("get"), json.RawMessage(`{"id":1}`))
		l.send(time.Second)
		require.Contains(t, results(t, l, s), `"id"`)
	}
	require.Equal(t, 1, s.asked, "one that does not answer is left alone for a while")
	s.down = false
	l.send(time.Second)
	require.Equal(t, 3, s.state.Of("get").Seen)
	l.Close()
}

func TestNothingIsLearntWhereARuleSaysSo(t *testing.T) {
	s, l := &server{}, New("default")
	m := method("get")
	m.NoLearning = true
	l.Saw(s, m, json.RawMessage(`{"id":1}`))
	(*Learner)(nil).Saw(s, method("get"), json.RawMessage(`{"id":1}`))
	l.Close()
	require.Empty(t, s.batches)
	require.Equal(t, "null", results(t, l, s))
}

func BenchmarkSaw(b *testing.B) {
	s, l := &server{}, New("default")
	m, result := method("get"), json.RawMessage(`{"items":[`+strings.Repeat(`{"id":1,"name":"x"},`, 100)+`{}]}`)
	for b.Loop() {
		l.Saw(s, m, result)
	}
	l.Close()
}

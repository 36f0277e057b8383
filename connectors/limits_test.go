package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMaxConcurrent(t *testing.T) {
	var running, most atomic.Int64
	entered, leave := make(chan bool, 10), make(chan bool)
	busy := func(name string) Method {
		return Method{Name: name, Execute: func(Context, json.RawMessage) (any, error) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			entered <- true
			<-leave
			running.Add(-1)
			return nil, nil
		}}
	}
	set := newSet(t, map[string][]Rule{"c": {{Pattern: "free", MaxConcurrent: 1}, {Pattern: "*", MaxConcurrent: 2}}},
		New("c", "", busy("a"), busy("b"), busy("free")))
	call := func(ctx context.Context, name string) error {
		b, err := set.Lookup("c", name)
		require.NoError(t, err)
		in := callContext()
		in.Context = ctx
		_, err = b.Invoke(in, nil)
		return err
	}
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "a", "b"} {
		wg.Go(func() { assert.NoError(t, call(t.Context(), name)) })
	}
	<-entered
	<-entered
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	err := call(gone, "a")
	var retryable *WaitingError
	require.ErrorAs(t, err, &retryable)
	assert.EqualError(t, err, `the call was not made: too many others are under the maxConcurrent of the rule "*"`)
	wg.Go(func() { assert.NoError(t, call(t.Context(), "free")) })
	<-entered // another rule, another limit
	for range 5 {
		leave <- true
	}
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int64(3))
}

func TestRatePerSecond(t *testing.T) {
	set := newSet(t, map[string][]Rule{"c": {{Pattern: "*", RatePerSecond: 0.001}}}, New("c", "", method("a")))
	b, err := set.Lookup("c", "a")
	require.NoError(t, err)
	_, err = b.Invoke(callContext(), nil)
	require.NoError(t, err)
	in := callContext()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in.Context = ctx
	_, err = b.Invoke(in, nil)
	assert.EqualError(t, err, `the call was not made: too many others are under the ratePerSecond of the rule "*"`)
}

func TestLimitsBelowZero(t *testing.T) {
	_, err := NewSet(t.Context(), []Connector{New("c", "")},
		map[string][]Rule{"c": {{Pattern: "a", MaxConcurrent: -1}}})
	assert.EqualError(t, err, `rule "a" of connector "c" has a limit below zero`)
}

type disposing struct{ remote }

func (disposing) Dispose(context.Context, string, string) error { return nil }

func TestDecorate(t *testing.T) {
	var changed func()
	works := &atomic.Bool{}
	works.Store(true)
	inner := flickering{remote{name: "c", methods: []Method{method("get"), method("put")}}, works, &changed}
	undone := errors.New("undone")
	c := Decorate(inner, func(m *Method) {
		m.RequiresApproval = m.Name == "put"
		m.Revert = func(Context, json.RawMessage, json.RawMessage) error { return undone }
	})
	set := newSet(t, map[string][]Rule{"c": {{Pattern: "put", Class: Idempotent}}}, c,
		Decorate(sharing{remote{name: "api", methods: []Method{method("x")}}}, func(*Method) {}))
	defer set.Close()
	put, err := set.Lookup("c", "put")
	require.NoError(t, err)
	assert.True(t, put.RequiresApproval)
	assert.Equal(t, Idempotent, put.Class)
	assert.Equal(t, "put", put.Rule)
	assert.ErrorIs(t, put.Undo(callContext(), nil, nil), undone)
	assert.NotNil(t, changed, "what the connector can do beside is kept")
	assert.NotNil(t, set.Definitions("api"))
	assert.Nil(t, set.Definitions("c"))
	assert.Equal(t, []string{"left something out"}, set.Warnings())
	assert.False(t, set.HasDispose())
	assert.True(t, newSet(t, nil, Decorate(disposing{remote{name: "d"}}, func(*Method) {})).HasDispose())
	assert.False(t, inner.methods[1].RequiresApproval, "the connector's own list stays as it is")
}

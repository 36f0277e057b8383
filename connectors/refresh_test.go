package connectors

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flickering is a connector that fails until it is told otherwise.
type flickering struct {
	remote
	works   *atomic.Bool
	changed *func()
}

func (c flickering) OnChange(changed func()) { *c.changed = changed }

func (c flickering) Methods(context.Context) ([]Method, error) {
	if !c.works.Load() {
		return nil, errors.New("connection refused")
	}
	return c.methods, nil
}

func TestUnavailableConnectorsAreTriedAgain(t *testing.T) {
	var changed func()
	c := flickering{remote{name: "down", methods: []Method{method("get")}}, &atomic.Bool{}, &changed}
	set := newSet(t, map[string][]Rule{"down": {{Pattern: "nothing"}}}, c, New("up", "", method("get")))
	defer set.Close()
	_, err := set.Lookup("down", "get")
	require.EqualError(t, err, `Connector "down" is not available: connection refused`)
	assert.Equal(t, []string{err.Error()}, set.Warnings())
	_, err = set.Lookup("up", "get")
	require.NoError(t, err)

	c.works.Store(true)
	require.Eventually(t, func() bool { return set.Err("down") == nil }, 30*time.Second, 10*time.Millisecond)
	b, err := set.Lookup("down", "get")
	require.NoError(t, err)
	assert.Len(t, set.Warnings(), 1, "the rules were applied")

	c.works.Store(false)
	changed()
	require.Eventually(t, func() bool { return len(set.Warnings()) == 2 }, 30*time.Second, 10*time.Millisecond)
	assert.Equal(t, `the methods of connector "down" may have changed, but cannot be listed: connection refused`,
		set.Warnings()[1])
	same, err := set.Lookup("down", "get")
	require.NoError(t, err, "what works is kept")
	assert.Same(t, b, same)
}

// Whoever loads slowly does not keep the others from starting.
func TestSlowConnectorsLoadInTheBackground(t *testing.T) {
	open := make(chan struct{})
	slow := remote{name: "slow", methods: []Method{method("get")}, load: func() { <-open }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set, err := NewSet(ctx, []Connector{slow}, nil)
	require.NoError(t, err)
	defer set.Close()
	assert.EqualError(t, set.Err("slow"), `Connector "slow" is not available: its methods are still being loaded`)
	close(open)
	assert.Eventually(t, func() bool { return set.Err("slow") == nil }, 30*time.Second, time.Millisecond)
}

func TestReloadPause(t *testing.T) {
	for failures, want := range map[int]time.Duration{0: 0, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second,
		6: 30 * time.Second, 900: 30 * time.Second} {
		assert.Equal(t, want, reloadPause(failures), "%d", failures)
	}
}

// A connector that says all the time that its methods changed is asked now and then.
func TestChangesAreListedNowAndThen(t *testing.T) {
	var lists atomic.Int32
	var changed func()
	c := flickering{remote{name: "x", methods: []Method{method("get")}}, &atomic.Bool{}, &changed}
	set := newSet(t, nil, noisy{c, &lists})
	defer set.Close()
	require.EqualValues(t, 1, lists.Load())
	before := set.Version()
	for range 100_000 {
		changed()
	}
	require.Eventually(t, func() bool { return set.Version() > before }, 30*time.Second, time.Millisecond)
	assert.LessOrEqual(t, lists.Load(), int32(3))
}

// noisy counts how often it is asked.
type noisy struct {
	flickering
	lists *atomic.Int32
}

func (c noisy) Methods(context.Context) ([]Method, error) {
	c.lists.Add(1)
	return c.methods, nil
}

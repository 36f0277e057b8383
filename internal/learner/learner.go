// Package learner has a worker learn what the results of methods look like, and tell the other workers of its runtime
// through a workflow for each connector (package signals/learnt).
//
// The first results of a method are all looked at, later ones now and then, so that a program in a hot loop does not
// notice. What a method's first results tell is sent at once, what is new later every few seconds at most, and mere
// counts when they have doubled.
//
// Its rule: nothing fails or waits for long because of it. What cannot be sent or asked for is so later.
package learner

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals/learnt"
)

// How many results of a method are looked at.
const (
	// lookAtAll is the number of first results.
	lookAtAll = 20
	// lookEvery is how often after that.
	lookEvery = 250 * time.Millisecond
)

// Learner is what one worker has learnt. Nil learns nothing.
type Learner struct {
	runtime string
	id      string // of this worker, for its batches
	samples sync.Map

	mu     sync.Mutex
	client client.Client // of the last call
	spaces map[string]*space
	sent   int // batches
	// timer runs when something waits to be sent, which is due then.
	timer    *time.Timer
	due      time.Time
	lastSent time.Time
	failures int
	sending  sync.Mutex // held while batches are sent
	closed   bool
}

// New makes a learner for a worker of a runtime.
func New(runtime string) *Learner {
	return &Learner{runtime: runtime, id: rand.Text()[:13], spaces: map[string]*space{}}
}

// space is what is known of one connector.
type space struct {
	mu      sync.Mutex // held while the workflow is asked
	asked   time.Time
	version int // of the workflow's state, when that was asked for last
	// known is the workflow's state, and what was sent since.
	known learnt.State
	// fresh is what has not been sent, by method, and unsent are batches that could not be.
	fresh  map[string]*learnt.Shape
	unsent []learnt.Batch
	// told are methods of which something was sent.
	told map[string]bool
}

func (l *Learner) space(connector string) *space {
	s := l.spaces[connector]
	if s == nil {
		s = &space{fresh: map[string]*learnt.Shape{}, told: map[string]bool{}}
		l.spaces[connector] = s
	}
	return s
}

// sample says which results of a method are looked at.
type sample struct{ results, next atomic.Int64 }

func (s *sample) take() bool {
	if s.results.Load() < lookAtAll && s.results.Add(1) <= lookAtAll {
		return true
	}
	next, now := s.next.Load(), time.Now().UnixNano()
	return now >= next && s.next.CompareAndSwap(next, now+int64(lookEvery))
}

type path struct{ connector, method string }

// Saw learns from a result of a live call, given as wire JSON. The client is used later, to tell the other workers.
func (l *Learner) Saw(c client.Client, m *connectors.Bound, result json.RawMessage) {
	if l == nil || m.NoLearning {
		return
	}
	key := path{m.Connector, m.Method.Name}
	at, known := l.samples.Load(key)
	if !known {
		at, _ = l.samples.LoadOrStore(key, &sample{})
	}
	if !at.(*sample).take() {
		return
	}
	defer func() { _ = recover() }() // a result that no connector gives must not harm its call
	if shape := learnt.Look(result); shape != nil {
		l.keep(c, key, shape)
	}
}

func (l *Learner) keep(c client.Client, key path, shape *learnt.Shape) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.space(key.connector)
	known := learnt.Merge(s.known.Of(key.method), s.fresh[key.method])
	s.fresh[key.method] = learnt.Merge(s.fresh[key.method], shape)
	l.client = c
	switch {
	case !s.told[key.method]:
		l.sendAt(time.Now().Add(sendSoon))
	case !known.Covers(shape):
		l.sendAt(later(time.Now().Add(sendSoon), l.lastSent.Add(sendNews)))
	case s.fresh[key.method].Seen*2 >= known.Seen:
		l.sendAt(later(time.Now().Add(sendSoon), l.lastSent.Add(sendCounts)))
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// batches takes what is fresh of a connector, in batches that are small enough to be sent.
func (l *Learner) batches(s *space) {
	var b learnt.Batch
	size := 0
	add := func() {
		if len(b.Methods) > 0 {
			l.sent++
			b.ID = fmt.Sprintf("%s-%d", l.id, l.sent)
			s.unsent = append(s.unsent, b)
		}
		b, size = learnt.Batch{}, 0
	}
	for name, shape := range s.fresh {
		m := learnt.Method{Name: name, Result: shape}
		if size += m.Size(); size > maxBatch {
			add()
			size = m.Size()
		}
		b.Methods = append(b.Methods, m)
		s.told[name] = true
	}
	add()
	s.fresh = map[string]*learnt.Shape{}
}

// maxBatch is in bytes: history holds batches until it begins anew.
const maxBatch = 200_000

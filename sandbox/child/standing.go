package child

import (
	"context"
	"os"
	"runtime/debug"
	"sync"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
)

// standing are the runtimes that a child keeps where their passes left them, so that these need not replay. They take
// about half a megabyte each, and are dropped as soon as the pass at work needs the memory: then the worker, which
// knows all that these passes delivered, has them replayed.
type standing struct {
	mu   sync.Mutex
	byID map[uint64]kept
}

// kept is a runtime, and whether it may be parked when its pass ends.
type kept struct {
	e    *engine.Engine
	park bool
}

const (
	// mostStanding bounds the runtimes that stand in a child. A pass that finds no room replays: to make room for it
	// would only make another one replay.
	mostStanding = 250
	// manyStanding is from where on garbage is collected more eagerly: it adds to what stands.
	manyStanding = 50
	gcPercent    = 400
	gcEager      = 200
)

// keep lets a runtime stand, if there is room.
func (s *standing) keep(id uint64, k kept, memory int64) bool {
	_, live := heap()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= mostStanding || live > uint64(memory)/4 {
		return false
	}
	if s.byID == nil {
		s.byID = map[uint64]kept{}
	}
	s.byID[id] = k
	s.collect()
	return true
}

// take hands over a runtime; there is none if it was dropped.
func (s *standing) take(id uint64) (kept, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.byID[id]
	if delete(s.byID, id); ok {
		s.collect()
	}
	return k, ok
}

// dropAll reports whether there was anything to drop.
func (s *standing) dropAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.byID) > 0
	s.byID = nil
	s.collect()
	return had
}

// collect sets how eagerly garbage is collected.
func (s *standing) collect() {
	switch len(s.byID) {
	case manyStanding:
		debug.SetGCPercent(gcEager)
	case 0:
		debug.SetGCPercent(gcPercent)
	}
}

// spare lets go of all that the pass at work does not need, and reports whether there was anything.
func (c *child) spare() bool {
	runtimes, programs := c.standing.dropAll(), c.programs.Clear()
	return runtimes || programs
}

func (c *child) drop(body []byte) {
	var id uint64
	if decodeFrame(body, &id) != nil {
		os.Exit(exitBroken)
	}
	c.standing.take(id)
}

// comeBack lets a runtime go on where its pass left it, if it still stands.
func (c *child) comeBack(body []byte) bool {
	var m returnMessage
	if decodeFrame(body, &m) != nil || m.Left == nil {
		os.Exit(exitBroken)
	}
	k, ok := c.standing.take(m.ID)
	if !ok {
		return c.link.send(frameGone, struct{}{}) == nil
	}
	return c.pass(nil, func([]byte) sandbox.Result {
		c.begin(m.Stay)
		return c.watched(m.ID, k.e, k.park, func() (sandbox.Result, error) {
			k.e.ComeBack(context.Background(), m.Left)
			c.leave(k.e)
			return k.e.GoOn()
		})
	})
}

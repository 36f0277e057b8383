package catalogue

import (
	"sync"
	"time"

	"github.com/temporal-codemode/codemode/connectors"
)

// Follower gives the catalogue of a set as it is now, though its methods may
// change. Make one with [Follow]; it may be used by many goroutines at once.
type Follower struct {
	set *connectors.Set

	mu     sync.Mutex
	newest *edition
}

// edition is the catalogue of one version of the set.
type edition struct {
	version int64
	ready   chan struct{} // closed when catalogue is there, and can be searched
	catalogue,
	before *Catalogue // what is served meanwhile
}

// Follow makes a follower of a set.
func Follow(set *connectors.Set) *Follower { return &Follower{set: set} }

// editionPatience is how long an answer waits for the index of a new edition,
// before it comes from the one before.
const editionPatience = time.Second

// Current gives the newest catalogue. While that of a large set is being made
// anew it gives the one before, so that a change stops nobody.
func (f *Follower) Current() *Catalogue {
	e := f.edition()
	if e.before == nil {
		<-e.ready
		return e.catalogue
	}
	timer := time.NewTimer(editionPatience)
	defer timer.Stop()
	select {
	case <-e.ready:
		return e.catalogue
	case <-timer.C:
		return e.before
	}
}

func (f *Follower) edition() *edition {
	f.mu.Lock()
	defer f.mu.Unlock()
	version := f.set.Version()
	if f.newest != nil && f.newest.version == version {
		return f.newest
	}
	e := &edition{version: version, ready: make(chan struct{})}
	if last := f.newest; last != nil {
		e.before = last.served()
	}
	f.newest = e
	go e.make(f.set)
	return e
}

func (e *edition) served() *Catalogue {
	select {
	case <-e.ready:
		return e.catalogue
	default:
		return e.before
	}
}

func (e *edition) make(set *connectors.Set) {
	defer close(e.ready)
	e.catalogue = New(set)
	if e.before != nil {
		e.catalogue.index()
	}
}

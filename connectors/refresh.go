package connectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Changer is implemented by connectors whose methods may change while they are
// used, such as those of an MCP server that says so.
type Changer interface {
	// OnChange is called once, before the methods are listed. The connector
	// calls changed, from wherever it likes, when they should be listed again.
	OnChange(changed func())
}

// slot is the place of one connector in a [Set].
type slot struct {
	connector Connector
	rules     *ruleBook
	space     atomic.Pointer[namespace]

	loaded time.Time // when the methods were last asked for; of keepFresh

	mu      sync.Mutex
	stale   bool  // the methods are to be loaded again
	loading bool  // somebody does
	failed  error // why they could not be, while those from before are kept
}

var errStillLoading = errors.New("its methods are still being loaded")

// load loads all connectors at the same time and reports their mistakes.
func (s *Set) load(ctx context.Context) error {
	var loaded sync.WaitGroup
	for _, at := range s.slots {
		at.loading = true
		if c, ok := as[Changer](at.connector); ok {
			c.OnChange(func() { s.refresh(at) })
		}
		loaded.Add(1)
		s.work.Go(func() {
			first := sync.OnceFunc(loaded.Done)
			defer first()
			s.keepFresh(at, first)
		})
	}
	all := make(chan struct{})
	go func() { loaded.Wait(); close(all) }()
	patience := time.NewTimer(loadPatience)
	defer patience.Stop()
	select {
	case <-all:
	case <-patience.C:
	case <-ctx.Done():
	}
	var mistakes []error
	for _, name := range s.names {
		s.slots[name].space.CompareAndSwap(nil, &namespace{err: errStillLoading})
		var config *ConfigError
		if err := s.slots[name].space.Load().err; errors.As(err, &config) {
			mistakes = append(mistakes, err)
		}
	}
	return errors.Join(mistakes...)
}

// refresh loads a connector's methods again, in the background.
func (s *Set) refresh(at *slot) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.stale = true
	if at.loading || s.life.Err() != nil {
		return
	}
	at.loading = true
	s.work.Go(func() { s.keepFresh(at, func() {}) })
}

// keepFresh loads until nothing is stale any more, and calls tried after the
// first attempt.
func (s *Set) keepFresh(at *slot, tried func()) {
	for failures := 0; ; {
		if early := reloadEvery - time.Since(at.loaded); early > 0 && !s.pause(early) {
			return
		}
		at.loaded = time.Now()
		at.begin()
		s.loading <- struct{}{}
		space := loadNamespace(s.life, at.connector, at.rules)
		<-s.loading
		if s.life.Err() != nil && at.space.Load() != nil {
			return
		}
		s.put(at, space)
		tried()
		failures++
		if space.err == nil {
			failures = 0
		}
		if at.finished(space.err) || !s.pause(reloadPause(failures)) {
			return
		}
	}
}

func (at *slot) begin() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.stale = false
}

// finished tells that nothing changed meanwhile, so that the next change starts anew.
func (at *slot) finished(err error) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.failed = err
	at.loading = at.stale || err != nil
	return !at.loading
}

// put replaces what was loaded before; methods that work are not replaced by none.
func (s *Set) put(at *slot, space *namespace) {
	if before := at.space.Load(); space.err != nil && before != nil && before.err == nil {
		return
	}
	at.space.Store(space)
	s.version.Add(1)
}

const (
	// reloadEvery is how often methods are listed again at most: each time costs a new index of all connectors.
	reloadEvery      = 2 * time.Second
	firstReloadPause = time.Second
	maxReloadPause   = 30 * time.Second
)

func reloadPause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(firstReloadPause<<min(failures-1, 16), maxReloadPause)
}

// pause waits, unless the set is closed.
func (s *Set) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.life.Done():
		return false
	}
}

// stop ends what runs in the background.
func (s *Set) stop() {
	s.end()
	for _, at := range s.slots { // after this no refresh begins
		at.mu.Lock()
		at.loading = true
		at.mu.Unlock()
	}
	s.work.Wait()
}

// warnings are those of [Set.WarningList] about one connector.
func (at *slot) warnings() []Warning {
	name, space := at.rules.connector, at.space.Load()
	if space.err != nil {
		return []Warning{{name, WarnUnavailable, (&UnavailableError{Connector: name, Err: space.err}).Error()}}
	}
	list := append([]Warning(nil), space.warnings...)
	at.mu.Lock()
	failed := at.failed
	at.mu.Unlock()
	if failed != nil {
		list = append(list, Warning{name, WarnStale, fmt.Sprintf("the methods of connector %q may have changed, but "+
			"cannot be listed: %v", name, failed)})
	}
	list = append(list, warned(name, at.connector)...)
	return append(list, space.schemaWarnings()...)
}

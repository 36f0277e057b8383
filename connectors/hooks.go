package connectors

import (
	"context"
	"fmt"
	"sync"
)

// PassEnder is a connector that wants to know when a pass of a program has left
// its execution paused or ended. Status is paused, completed or error.
type PassEnder interface {
	PassEnd(ctx context.Context, executionID, status string) error
}

// Disposer is a connector that wants to know when an execution is over, to let
// go of what it keeps for it. Status is completed, error, rejected or
// rolled_back; an execution that is rolled back after its end is told of twice.
type Disposer interface {
	Dispose(ctx context.Context, executionID, status string) error
}

// HasPassEnd tells whether any connector is a [PassEnder].
func (s *Set) HasPassEnd() bool { return hasHook[PassEnder](s) }

// HasDispose tells whether any connector is a [Disposer].
func (s *Set) HasDispose() bool { return hasHook[Disposer](s) }

// PassEnd tells every [PassEnder], all at the same time, whether or not the
// program used it, and gives what failed.
func (s *Set) PassEnd(ctx context.Context, executionID, status string) []error {
	return runHooks(s, func(c PassEnder) error { return c.PassEnd(ctx, executionID, status) })
}

// Dispose tells every [Disposer] as PassEnd does.
func (s *Set) Dispose(ctx context.Context, executionID, status string) []error {
	return runHooks(s, func(c Disposer) error { return c.Dispose(ctx, executionID, status) })
}

func hasHook[T any](s *Set) bool {
	for _, at := range s.slots {
		if _, ok := as[T](at.connector); ok {
			return true
		}
	}
	return false
}

// runHooks gives the errors in the order of the connectors.
func runHooks[T any](s *Set, hook func(T) error) []error {
	all := make([]error, len(s.names))
	var wg sync.WaitGroup
	for i, name := range s.names {
		if listener, ok := as[T](s.slots[name].connector); ok {
			wg.Go(func() {
				defer func() {
					if r := recover(); r != nil {
						all[i] = fmt.Errorf("connector %s: panic: %v", name, r)
					}
				}()
				if err := hook(listener); err != nil {
					all[i] = fmt.Errorf("connector %s: %w", name, err)
				}
			})
		}
	}
	wg.Wait()
	var errs []error
	for _, err := range all {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

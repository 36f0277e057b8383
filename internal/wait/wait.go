// Package wait pauses a goroutine for as long as somebody still waits for what it does.
//
// Its rule: nothing sleeps past the end of its context.
package wait

import (
	"context"
	"time"
)

// For waits d, or until ctx ends: then it returns the cause.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

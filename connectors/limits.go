package connectors

import (
	"context"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// limiter keeps the calls under one rule apart, in this process.
type limiter struct {
	rule  string
	slots chan struct{} // nil: any number at the same time
	rate  *rate.Limiter // nil: any number a second
}

func newLimiter(r Rule) *limiter {
	l := &limiter{rule: r.Pattern}
	if r.MaxConcurrent > 0 {
		l.slots = make(chan struct{}, r.MaxConcurrent)
	}
	if r.RatePerSecond > 0 {
		l.rate = rate.NewLimiter(rate.Limit(r.RatePerSecond), max(1, int(math.Ceil(r.RatePerSecond))))
	}
	return l
}

// enter waits for a call's turn, for half of the time that the call has: the other half is its own. The error, a
// [*WaitingError], says that it never began. A nil limiter lets everybody in.
func (l *limiter) enter(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if l == nil {
		return leave, nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		now := time.Now()
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, now.Add(deadline.Sub(now)/2))
		defer cancel()
	}
	if l.slots != nil {
		select {
		case l.slots <- struct{}{}:
			leave = func() { <-l.slots }
		case <-ctx.Done():
			return nil, l.waited("maxConcurrent")
		}
	}
	if l.rate != nil && l.rate.Wait(ctx) != nil {
		leave()
		return nil, l.waited("ratePerSecond")
	}
	return leave, nil
}

func (l *limiter) waited(limit string) error {
	return &WaitingError{Rule: l.rule, Limit: limit}
}

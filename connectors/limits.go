package connectors

import (
	"context"
	"fmt"
	"math"

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

// enter waits for a call's turn. Its error says that the call never began, so
// that it may be made again. A nil limiter lets everybody in.
func (l *limiter) enter(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if l == nil {
		return leave, nil
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
	return &RetryableError{Message: fmt.Sprintf("the call was not made: too many others are under the %s of the "+
		"rule %q", limit, l.rule)}
}

package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/temporal-codemode/codemode"
)

// Quota bounds what one caller starts at this door; a zero field bounds nothing.
type Quota struct {
	// InFlight is how many executions may be under way, those that wait for people included.
	InFlight int
	// PerHour is how many may be started within an hour.
	PerHour int
}

// starts are the executions that callers with a quota have started here, by caller.
type starts struct {
	mu       sync.Mutex
	byCaller map[string][]*start
}

type start struct {
	id   string
	at   time.Time
	over bool
}

// startTime is how long an execution may take to exist after it was let in.
const startTime = time.Minute

// admit lets a caller start an execution, or says why not. Whether the earlier ones go on is asked when it matters.
func (s *session) admit(ctx context.Context, id string) (over func(), err error) {
	if s.who == nil || s.who.Quota == (Quota{}) || s.request.Params.RequestState != "" {
		return func() {}, nil
	}
	q, now := s.who.Quota, time.Now()
	if under := s.starts.underWay(s.principal()); q.InFlight > 0 && len(under) >= q.InFlight {
		s.lookWhatIsOver(ctx, under, now)
	}
	return s.starts.add(s.principal(), id, q, now)
}

// lookWhatIsOver marks the executions that have ended.
func (s *session) lookWhatIsOver(ctx context.Context, list []*start, now time.Time) {
	durable, ok := s.Runtime.(Durable)
	if !ok {
		return
	}
	for _, each := range list {
		at, err := durable.Standing(ctx, each.id)
		never := errors.Is(err, codemode.ErrNotFound) && now.Sub(each.at) > startTime
		if never || err == nil && at.Status.Terminal() {
			s.starts.end(each)
		}
	}
}

func (l *starts) underWay(caller string) []*start {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.byCaller[caller]), func(s *start) bool { return s.over })
}

func (l *starts) end(s *start) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.over = true
}

func (l *starts) add(caller, id string, q Quota, now time.Time) (over func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := func(s *start) bool { return now.Sub(s.at) < time.Hour }
	kept := slices.DeleteFunc(l.byCaller[caller], func(s *start) bool { return s.over && !recent(s) })
	var flying []string
	var lately []*start
	for _, s := range kept {
		if !s.over {
			flying = append(flying, s.id)
		}
		if recent(s) {
			lately = append(lately, s)
		}
	}
	if l.byCaller == nil {
		l.byCaller = map[string][]*start{}
	}
	l.byCaller[caller] = kept
	switch {
	case q.InFlight > 0 && len(flying) >= q.InFlight:
		return nil, fmt.Errorf("nothing was started: %d executions of yours are in flight, which is the most. Wait "+
			"until one of them has ended, or cancel one: %s", len(flying), strings.Join(flying, ", "))
	case q.PerHour > 0 && len(lately) >= q.PerHour:
		return nil, fmt.Errorf("nothing was started: you have started %d executions within an hour, which is the "+
			"most. Try again in %v", len(lately), lately[0].at.Add(time.Hour).Sub(now).Round(time.Second))
	}
	begun := &start{id: id, at: now}
	l.byCaller[caller] = append(kept, begun)
	return func() { l.end(begun) }, nil
}

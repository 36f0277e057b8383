package child

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// A pass that has left its child: its calls go on here, and what they come to is given to the child in which it goes
// on. That one replays what the pass had delivered, so to the program nothing has happened.

// away is what the worker keeps of a pass that has left a child.
type away struct {
	entries []signals.Entry // delivered in children that the pass has left
	log     []signals.Entry // what it replays: the pass's own log and these
	bytes   int             // about, of entries
	state   *sandbox.LeftState
	stands  *process      // the child that keeps the runtime where it stands, if one does
	queued  time.Duration // that the pass has waited for children: no time of its own
	began   time.Time
}

// errLeavesTooMuch says that a child reports more than its engine would before it leaves.
var errLeavesTooMuch = errors.New("the sandbox child reports more than a pass may hold when it leaves")

// errLeavesLate says that a child would go on leaving when the time of its pass is up.
var errLeavesLate = errors.New("the sandbox child left a pass whose time is up")

// leave takes up the entries of a pass that leaves its child.
func (s *stint) leave(r *sandbox.Result, size int) error {
	s.away.bytes += size
	switch {
	case r.Left == nil:
		return errors.New("the sandbox child left a pass and does not say where it stands")
	case s.away.bytes > maxFrameToWorker:
		return errLeavesTooMuch
	case time.Now().After(s.deadline.Add(killGrace)):
		return errLeavesLate
	}
	if err := s.entries(r); err != nil {
		return err
	}
	s.away.take(r.Entries, s.pass.Refresh)
	s.away.state = r.Left
	if r.Left.Stands {
		s.away.stands = s.p
	}
	s.issued = slices.DeleteFunc(s.issued, func(c *inlineCall) bool { return s.admitted[c.Seq].reported })
	s.p.before = loggedCalls{} // the pass keeps it
	return nil
}

// take adds entries to what is replayed. Of reads that were made anew, the new one counts.
func (a *away) take(entries []signals.Entry, anew bool) {
	a.entries = append(a.entries, entries...)
	if !anew {
		a.log = append(slices.Clip(a.log), entries...)
		return
	}
	a.log = slices.Clone(a.log)
	for _, e := range entries {
		at := slices.IndexFunc(a.log, func(old signals.Entry) bool { return !old.Timer && !e.Timer && old.ID == e.ID })
		if at < 0 {
			a.log = append(a.log, e)
		} else {
			a.log[at] = e
		}
	}
}

// forget lets a child ask anew about what was not made: it is about to issue that again.
func (s *session) forget() {
	for seq, k := range s.admitted {
		if k.made == nil && !k.reported {
			delete(s.admitted, seq)
		}
	}
}

// lost goes back to where the pass last left a child, or to its beginning: the child in which it was is gone. The calls
// made there go on: the program will most likely issue them again.
func (s *session) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.over, s.away.stands = nil, false, nil
	delivered, given := map[int]bool{}, map[int]bool{}
	for _, e := range s.away.entries {
		delivered[e.ID] = delivered[e.ID] || !e.Timer
	}
	if s.away.state != nil {
		for _, l := range s.away.state.Calls {
			given[l.Seq] = true
		}
	}
	for seq, k := range s.admitted {
		k.reported = delivered[seq]
	}
	s.forget()
	for _, c := range s.issued {
		c.lost = c.lost || !given[c.Seq]
	}
}

// again returns the call of this number that the pass made in another child, if it is the same one. One that the
// program does not issue again, after its child was lost, is forgotten.
func (s *stint) again(c sandbox.Call) *admitted {
	k := s.admitted[c.Seq]
	if k == nil || k.made == nil || k.reported {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case k.made.asker == s:
		return nil
	case k.is(c):
		return k
	case k.made.lost:
		delete(s.admitted, c.Seq)
		s.issued = slices.DeleteFunc(s.issued, func(i *inlineCall) bool { return i == k.made })
		s.started--
	}
	return nil
}

// rejoin makes the child the one that is told how a call ends.
func (s *stint) rejoin(c *inlineCall) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.asker = s
	if c.settlement == nil {
		return nil
	}
	return s.p.link.send(frameSettlement, settledMessage{Seq: c.Seq, Settlement: c.ending()})
}

// waited takes the time that the pass has waited for a child out of its own.
func (s *session) waited(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = s.deadline.Add(d)
	if s.away.began.IsZero() {
		s.away.began = time.Now()
	} else {
		s.away.queued += d
	}
}

// close lets nothing that still goes on have an effect.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.over = nil, true
	s.quit()
}

// quit lets go of a runtime that stands in a child.
func (s *session) quit() {
	if p := s.away.stands; p != nil {
		s.away.stands = nil
		go func() { _ = p.link.send(frameDrop, s.id) }() // it may not read at once
	}
}

// next is the pass as the next child is given it.
func (s *session) next() sandbox.Pass {
	p := s.pass
	if s.away.state == nil {
		return p
	}
	if p.Refresh {
		p.As = "" // a runtime that has replayed reads made anew is not what it would be without
	}
	p.Log, p.Refresh, p.After = s.away.log, false, ""
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	l := s.away.state
	l.Spent, l.Remaining, l.Calls = now.Sub(s.away.began)-s.away.queued, s.deadline.Sub(now), nil
	for _, c := range s.issued {
		if !c.lost {
			l.Calls = append(l.Calls, c.left(now))
		}
	}
	p.Left = l
	return p
}

// left is what the child needs to know of a call that was begun in another one.
func (c *inlineCall) left(now time.Time) sandbox.LeftCall {
	l := sandbox.LeftCall{Seq: c.Seq, Admission: c.Admission, Age: now.Sub(c.began), At: c.at}
	if c.settlement != nil {
		ending := c.ending()
		l.Settlement, c.known = &ending, true
	}
	return l
}

// ready reports whether a pass that has left its child can go on: a call has settled, or the child left before it had
// asked for one.
func (s *session) ready() bool {
	underWay := 0
	for _, c := range s.issued {
		if c.settlement != nil && !c.known {
			return true
		}
		if c.settlement == nil {
			underWay++
		}
	}
	return underWay < s.away.state.Running
}

// wait returns once a pass that has left its child can go on: a call has settled, a timer of the program is due, or its
// time is up.
func (s *session) wait() error {
	s.mu.Lock()
	until := s.deadline
	if wake := s.away.state.Wake; wake > 0 && time.UnixMilli(wake).Before(until) {
		until = time.UnixMilli(wake)
	}
	select {
	case <-s.progress: // of a call that the pass was given since
	default:
	}
	ready := s.ready()
	s.mu.Unlock()
	if ready {
		return nil
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-s.progress:
	case <-timer.C:
	case <-s.broke:
		panic(s.panicked)
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	return nil
}

package child

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
)

// leaveAfter is how long an ended child's frames may still be answered before the session ends without its host.
const leaveAfter = 500 * time.Millisecond

var errHostBusy = errors.New("the host still answers a child that has ended")

// serve waits for the child's result, while its frames are answered. A host that is busy with one when the child has
// ended, such as with the check of its arguments, is not waited for: nobody would read the answer.
func (s *stint) serve() (sandbox.Result, error) {
	go s.answer()
	select {
	case <-s.ended:
		return s.final, s.fault
	case <-s.p.exited:
		late := time.AfterFunc(leaveAfter, func() { s.end(sandbox.Result{}, errHostBusy) })
		defer late.Stop()
	case <-s.broke:
	}
	select {
	case <-s.ended:
		return s.final, s.fault
	case <-s.broke:
		s.p.kill()
		panic(s.panicked)
	}
}

// answer answers the child's frames until its result, or until it makes a call that takes long: another goroutine goes
// on.
func (s *stint) answer() {
	for {
		c, over := s.handle()
		if over || c != nil && !s.makeHere(c) {
			return
		}
	}
}

// handle answers one frame, but for a call that is to be made.
func (s *stint) handle() (c *inlineCall, over bool) {
	done := false
	defer func() {
		if !done {
			s.raise(recover())
			over = true
		}
	}()
	c, over = s.take(s.p.link.receive())
	s.active.Store(time.Now().UnixNano())
	done = true
	return c, over
}

// take answers what the child asks, or ends the session.
func (s *stint) take(kind frameKind, body []byte, err error) (c *inlineCall, over bool) {
	switch {
	case err != nil:
	case kind == frameAdmit:
		err = s.admit(body)
	case kind == frameCall:
		c, err = s.call(body)
	case kind == frameGone && s.returns:
		err = errGone
	case kind == frameResult:
		s.end(s.result(body))
		return nil, true
	default:
		err = fmt.Errorf("unexpected sandbox frame %q", kind)
	}
	if err != nil {
		s.end(sandbox.Result{}, err)
	}
	return c, err != nil
}

// Panic is what a Pool panics with where its host does, or what reads a child's answers, on a goroutine of its own.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

func (p *Panic) String() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// raise ends the session with a panic, where the pass is run.
func (s *session) raise(value any) {
	if value == nil {
		value = "the sandbox's host ended its goroutine"
	}
	s.once.Do(func() {
		s.panicked = &Panic{value, debug.Stack()}
		close(s.broke)
	})
}

func (s *stint) end(r sandbox.Result, err error) {
	s.once.Do(func() {
		s.final, s.fault = r, err
		close(s.ended)
	})
}

const (
	// patience is how long a call may hold up the reading of frames, before another goroutine takes the reading over.
	patience = 300 * time.Microsecond
	// quickCall is within what most inline calls end: before a goroutine of their own would have started.
	quickCall = 50 * time.Microsecond
	// afterSlowCall is how many calls get goroutines of their own after one that was not quick, so that slow calls that
	// a program makes in parallel do not queue behind the one made on the reading goroutine.
	afterSlowCall = 16
)

// makeHere makes a call on the reading goroutine. It returns false when that took so long that another goroutine has
// taken the reading over.
func (s *stint) makeHere(c *inlineCall) bool {
	if s.ownGoroutines > 0 {
		s.ownGoroutines--
		go s.make(c)
		return true
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Hour, s.takeOver)
	}
	began := time.Now()
	turn := s.turn.Add(1)
	s.timer.Reset(patience) // only once the turn has begun: takeOver does nothing outside of a turn
	s.make(c)
	if !s.turn.CompareAndSwap(turn, turn+1) {
		return false
	}
	s.timer.Stop()
	if time.Since(began) > quickCall {
		s.ownGoroutines = afterSlowCall
	}
	return true
}

// takeOver goes on reading frames while a call takes long.
func (s *stint) takeOver() {
	turn := s.turn.Load()
	if making := turn%2 == 1; making && s.turn.CompareAndSwap(turn, turn+1) {
		s.ownGoroutines = afterSlowCall
		s.answer()
	}
}

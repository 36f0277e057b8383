package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// session is one pass in a child, seen from the worker.
type session struct {
	p        *process
	host     Host
	ctx      context.Context
	deadline int64 // of the pass, epoch milliseconds
	mu       sync.Mutex
	admitted map[int]admitted // by seq
	issued   []*inlineCall    // in the order in which they were started
	open     int              // of these, not settled
	calls    chan *inlineCall // to a goroutine that has made one
	over     bool             // the pass has ended: the child would take a settlement for one of its next pass
}

type inlineCall struct {
	admitted
	settlement *Settlement
	at         int64
}

// admitted is what the worker knows of a call. A child may have been taken over by its program: what it says later of a
// call that it has asked about does not count.
type admitted struct {
	Call
	Admission
	started bool
}

// serve answers the child's frames until its result.
func (s *session) serve() (Result, error) {
	for {
		kind, body, err := s.p.link.receive()
		if err != nil {
			return Result{}, err
		}
		switch kind {
		case frameAdmit:
			err = s.admit(body)
		case frameCall:
			err = s.call(body)
		case frameResult:
			s.mu.Lock()
			s.over = true
			s.mu.Unlock()
			return s.result(body)
		default:
			err = fmt.Errorf("unexpected sandbox frame %q", kind)
		}
		if err != nil {
			return Result{}, err
		}
	}
}

// result takes the child's result, in which calls are what the worker admitted.
func (s *session) result(body []byte) (Result, error) {
	var r Result
	if err := decodeFrame(body, &r); err != nil {
		return r, err
	}
	switch r.End {
	case Completed, Blocked, More:
	case Failed:
		if r.Failure == nil {
			return r, errors.New("the sandbox child failed and does not say why")
		}
	default:
		return r, fmt.Errorf("the sandbox child ended its pass as %q", r.End)
	}
	for i := range r.Blocked {
		b := &r.Blocked[i]
		known, asked := s.admitted[b.Seq]
		if !asked || known.Refused != nil {
			return r, fmt.Errorf("the sandbox child is blocked on call %d, which the worker did not admit", b.Seq)
		}
		b.Call, b.Class, b.Approval, b.Timeout = known.Call, known.Class, known.Approval, known.Timeout
	}
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.Timer || e.Connector == StepConnector {
			continue
		}
		known, asked := s.admitted[e.ID]
		if !asked || known.Gated {
			return r, fmt.Errorf("the sandbox child reports call %d, which the worker did not make", e.ID)
		}
		e.Connector, e.Method, e.Args, e.Class, e.Ephemeral = known.Connector, known.Method, known.Args, known.Class, known.Ephemeral
	}
	return r, nil
}

func (s *session) admit(body []byte) error {
	var c Call
	if err := decodeFrame(body, &c); err != nil {
		return err
	}
	a := s.host.Admit(c)
	s.admitted[c.Seq] = admitted{Call: c, Admission: a}
	return s.p.link.send(frameAdmission, a)
}

// errFlood: a child asks for more at once than its engine ever would.
var errFlood = errors.New("the sandbox child started too many calls at once")

const maxOpenCalls = 64

// call makes an inline call: one that was admitted so, else of a method that need not be asked about again, or a read of
// the log that is made anew.
func (s *session) call(body []byte) error {
	var c Call
	if err := decodeFrame(body, &c); err != nil {
		return err
	}
	known, asked := s.admitted[c.Seq]
	if !asked || known.started {
		known = admitted{Call: c, Admission: s.host.Admit(c)}
	}
	known.started = true
	s.admitted[c.Seq] = known
	switch a := known.Admission; {
	case a.Refused != nil:
		return s.p.link.send(frameSettlement, settledMessage{c.Seq, Settlement{Err: a.Refused}})
	case a.Gated: // the method has changed meanwhile
		return s.p.link.send(frameSettlement, settledMessage{c.Seq, Settlement{Escalate: true, As: &a}})
	}
	return s.start(&inlineCall{admitted: known})
}

func (s *session) start(c *inlineCall) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open++; s.open > maxOpenCalls {
		return errFlood
	}
	s.issued = append(s.issued, c)
	select {
	case s.calls <- c:
	default:
		go s.makeCalls(c)
	}
	return nil
}

// makeCalls makes a call, then others for as long as the pass runs: the stack has grown by then.
func (s *session) makeCalls(c *inlineCall) {
	for s.make(c); ; s.make(c) {
		select {
		case c = <-s.calls:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *session) make(c *inlineCall) {
	settlement := s.host.Call(s.ctx, c.Call)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.settlement, c.at = &settlement, time.Now().UnixMilli()
	s.open--
	if !s.over {
		_ = s.p.link.send(frameSettlement, settledMessage{Seq: c.Seq, Settlement: settlement})
	}
}

// broken is the result of a pass whose child ended without one: the calls it made are still recorded.
func (s *session) broken(overdue <-chan *Failure) Result {
	s.p.end()
	r := Result{End: Failed, Stopped: true, Failure: classify(s.p.cmd.ProcessState, s.p.stderr.String())}
	select {
	case r.Failure = <-overdue:
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.issued {
		r.Entries = append(r.Entries, c.entry(s.deadline))
	}
	return r
}

// entry records the call; a result that came after the deadline is none, whichever of both the child noticed first.
func (c *inlineCall) entry(deadline int64) Entry {
	e := Entry{ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, Class: c.Class, Position: c.Position, At: time.Now().UnixMilli()}
	if c.settlement == nil || c.settlement.Escalate || c.at > deadline {
		e.Dropped, e.Err = true, &CallError{Message: "The pass was stopped before this call settled."}
		return e
	}
	e.Value, e.Err, e.At = c.settlement.Value, c.settlement.Err, c.at
	return e
}

package child

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// session is one pass in a child, seen from the worker.
type session struct {
	p        *process
	host     sandbox.Host
	ctx      context.Context
	limits   sandbox.Limits
	deadline int64 // of the pass, epoch milliseconds
	pass     sandbox.Pass
	earlier  map[int]*signals.Entry // see issuedBefore
	// admitted is by seq; it and what else has no lock is for the goroutine that answers, and passes on with turn.
	admitted map[int]*admitted
	started  int // inline calls that no earlier pass made
	mu       sync.Mutex
	issued   []*inlineCall // in the order in which they were started
	open     int           // of these, not settled
	kept     int           // bytes that these hold
	over     bool          // the pass has ended: the child would take a settlement for one of its next pass
	turn     atomic.Int64  // odd while the goroutine that answers makes a call; who makes it even answers next
	timer    *time.Timer   // for the next to take over
	wary     int           // how many calls to come have goroutines of their own
	once     sync.Once
	ended    chan struct{} // closed with what follows
	final    sandbox.Result
	failed   error
	panicked *Panic
}

func newSession(ctx context.Context, p *process, pass sandbox.Pass, host sandbox.Host) *session {
	limits := pass.Limits.WithDefaults()
	return &session{
		p: p, host: host, ctx: ctx, pass: pass, limits: limits, deadline: time.Now().Add(limits.Timeout).UnixMilli(),
		admitted: map[int]*admitted{}, ended: make(chan struct{}),
	}
}

// issuedBefore finds the calls of earlier passes, with what the log has of them where that may be read anew. Not for a
// pass that makes no call.
func (s *session) issuedBefore() map[int]*signals.Entry {
	if s.earlier == nil {
		s.earlier = s.p.before.of(s.pass)
	}
	return s.earlier
}

// loggedCalls are the calls of a log, by seq. They grow with the passes of a kept runtime, so that each pass looks at
// what is new only.
type loggedCalls struct {
	bySeq   map[int]*signals.Entry
	entries int // of the log that are in it
}

func (l *loggedCalls) of(p sandbox.Pass) map[int]*signals.Entry {
	if l.bySeq == nil {
		l.bySeq = make(map[int]*signals.Entry, len(p.Log)+len(p.Open))
	}
	for _, o := range p.Open {
		l.bySeq[o.Seq] = nil
	}
	for ; l.entries < len(p.Log); l.entries++ {
		e := &p.Log[l.entries]
		switch {
		case e.Timer:
		case p.Refresh:
			l.bySeq[e.ID] = e
		default:
			l.bySeq[e.ID] = nil
		}
	}
	return l.bySeq
}

// admitted is what the worker knows of a call. A child may have been taken over by its program: what it says later of a
// call that it has asked about does not count. Of what may be long the worker keeps a digest only, since a program may
// issue as much as its child's memory holds; the child repeats it.
type admitted struct {
	sandbox.Call      // without its arguments
	sandbox.Admission // without the reason of a refusal
	refused           bool
	args              digest
	reason            digest         // of a refusal
	again             *signals.Entry // what the log has of a read that is made anew
	asked             bool           // to make it
	made              *inlineCall    // once it is started
	reported          bool           // in the result
}

type inlineCall struct {
	admitted
	settlement *sandbox.Settlement // that the child was sent
	tooLarge   bool                // the settlement's value, so that it is not kept
	at         int64
}

type digest [sha256.Size]byte

func digestOf(parts ...string) digest { return sha256.Sum256(fmt.Appendf(nil, "%q", parts)) }

// readCall reads a call and refuses what no engine asks about: it numbers look-ups apart, and runs steps itself.
func readCall(body []byte) (c sandbox.Call, err error) {
	if err := decodeFrame(body, &c); err != nil {
		return c, err
	}
	switch {
	case len(c.Connector) > sandbox.MaxName || len(c.Method) > sandbox.MaxName:
		return c, fmt.Errorf("the sandbox child names call %d in more than %d bytes", c.Seq, sandbox.MaxName)
	case c.Connector == sandbox.StepConnector || (c.Connector == sandbox.PlatformConnector) != (c.Seq < 0):
		const misnumbered = "the sandbox child asks about %s.%s as call %d, as no engine numbers it"
		return c, fmt.Errorf(misnumbered, c.Connector, c.Method, c.Seq)
	}
	return c, nil
}

// admit answers how a call will be made. An engine asks about all that the program has issued at once before it finds
// that these are too many; what is beyond any budget need not be remembered.
func (s *session) admit(body []byte) error {
	c, err := readCall(body)
	if err != nil {
		return err
	}
	if _, earlier := s.issuedBefore()[c.Seq]; earlier || s.admitted[c.Seq] != nil {
		return fmt.Errorf("the sandbox child asks about call %d again", c.Seq)
	}
	if s.full() {
		refused := &signals.CallError{Message: "This execution made too many calls."}
		return s.p.link.send(frameAdmission, sandbox.Admission{Refused: refused})
	}
	return s.p.link.send(frameAdmission, s.learn(c, nil))
}

// full: there are more calls than any budget has room for, even if some count twice, as inline and then as gated. Reads
// of the log that are made anew are in none.
func (s *session) full() bool {
	return len(s.admitted) >= 2*(s.limits.InlineCalls+s.limits.GatedCalls)+1000+len(s.issuedBefore())
}

func (s *session) learn(c sandbox.Call, again *signals.Entry) sandbox.Admission {
	a := s.host.Admit(c)
	k := &admitted{Call: c, Admission: a, again: again, refused: a.Refused != nil, args: sha256.Sum256(c.Args)}
	if k.refused {
		k.reason = digestOf(a.Refused.Name, a.Refused.Message, a.Refused.Key)
	}
	k.Args, k.Refused = nil, nil
	s.admitted[c.Seq] = k
	return a
}

// errFlood: a child asks for more than its engine ever would.
var errFlood = errors.New("the sandbox child started too many calls")

const maxOpenCalls = 64

// call takes up an inline call: one that was admitted so, else of a method that need not be asked about again, or a
// read of the log that is made anew. None is returned if it is not to be made.
func (s *session) call(body []byte) (*inlineCall, error) {
	c, err := readCall(body)
	if err != nil {
		return nil, err
	}
	var refused *signals.CallError
	k := s.admitted[c.Seq]
	switch {
	case k == nil:
		if refused, err = s.first(c); err != nil {
			return nil, err
		}
		k = s.admitted[c.Seq]
	case k.asked || k.refused || !k.is(c):
		return nil, fmt.Errorf("the sandbox child asks for another call %d than was admitted", c.Seq)
	}
	k.asked = true
	switch a := k.Admission; {
	case refused != nil:
		return nil, s.p.link.send(frameSettlement, settledMessage{c.Seq, sandbox.Settlement{Err: refused}})
	case a.Gated: // the method has changed meanwhile
		return nil, s.p.link.send(frameSettlement, settledMessage{c.Seq, sandbox.Settlement{Escalate: true, As: &a}})
	}
	k.made = &inlineCall{admitted: *k}
	k.made.Args = c.Args
	return k.made, s.begin(k.made)
}

// first admits a call that nobody has asked about.
func (s *session) first(c sandbox.Call) (refused *signals.CallError, err error) {
	again, err := s.madeAnew(c)
	switch {
	case err != nil:
		return nil, err
	case s.full():
		return nil, errFlood
	}
	return s.learn(c, again).Refused, nil
}

// is: the call is the one that was admitted.
func (k *admitted) is(c sandbox.Call) bool {
	return k.Connector == c.Connector && k.Method == c.Method && k.args == sha256.Sum256(c.Args)
}

// madeAnew finds what the log has of a call; nothing but a read that is to be made anew may be there.
func (s *session) madeAnew(c sandbox.Call) (*signals.Entry, error) {
	e, earlier := s.issuedBefore()[c.Seq]
	switch {
	case !earlier:
		return nil, nil
	case e != nil && s.pass.Refresh && e.Ephemeral &&
		e.Connector == c.Connector && e.Method == c.Method && signals.SameArgs(e.Args, c.Args):
		return e, nil
	}
	return nil, fmt.Errorf("the sandbox child makes call %d again", c.Seq)
}

// begin counts a call that is about to be made.
func (s *session) begin(c *inlineCall) error {
	if c.again == nil {
		s.started++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	s.kept += len(c.Args)
	if s.open > maxOpenCalls || s.started > s.limits.InlineCalls || s.kept > mostKept(s.limits) {
		return errFlood
	}
	s.issued = append(s.issued, c)
	return nil
}

// mostKept bounds what the calls of a pass hold on the worker, with arguments and values: those that were delivered fit
// the frame of the result, and the engine starts no more than Parallel others, beside one that the program waits for
// and one that did not fit.
func mostKept(l sandbox.Limits) int { return maxFrameToWorker + 2*(l.Parallel+2)*l.ValueBytes }

// make makes a call and tells the child how it ended.
func (s *session) make(c *inlineCall) {
	defer func() {
		if r := recover(); r != nil {
			s.raise(r)
		}
	}()
	settlement := s.host.Call(s.ctx, c.Call)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.over {
		return
	}
	c.at = time.Now().UnixMilli()
	_ = s.p.link.send(frameSettlement, settledMessage{Seq: c.Seq, Settlement: settlement})
	if c.tooLarge = c.again == nil && !fits(s.limits, settlement.Value); c.tooLarge {
		settlement.Value = nil
	}
	c.settlement = &settlement
	s.kept += len(settlement.Value)
	if settlement.Err != nil {
		s.kept += len(settlement.Err.Message)
	}
	if settlement.Escalate { // any number of these may wait until the pass ends
		s.kept -= len(c.Args)
		c.Args = nil
	}
}

// fits: the engine records a value of that size.
func fits(l sandbox.Limits, value json.RawMessage) bool {
	return len(value) <= l.ValueBytes && (len(value) <= l.ValueUnits || signals.Units(value) <= l.ValueUnits)
}

// broken is the result of a pass whose child ended without one: the calls it made are still recorded.
func (s *session) broken(overdue <-chan *sandbox.Failure) sandbox.Result {
	s.p.end()
	failure := classify(s.p.cmd.ProcessState, s.p.stderr.String())
	r := sandbox.Result{End: sandbox.Failed, Stopped: true, Failure: failure}
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
func (c *inlineCall) entry(deadline int64) signals.Entry {
	e := signals.Entry{
		ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, Class: c.Class, Position: c.Position,
		At: time.Now().UnixMilli(),
	}
	if c.settlement == nil || c.settlement.Escalate || c.at > deadline {
		e.Dropped, e.Error = true, sandbox.DroppedError()
		return e
	}
	e.Value, e.Error = c.outcome()
	e.At = c.at
	return e
}

// outcome is what is recorded of a call that has settled.
func (c *inlineCall) outcome() (json.RawMessage, *signals.CallError) {
	switch {
	case c.tooLarge:
		return nil, sandbox.TooLargeToRecordError()
	case c.settlement.Err != nil:
		return nil, c.settlement.Err
	}
	return c.settlement.Value, nil
}

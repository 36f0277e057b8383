package child

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// session is one pass, seen from the worker. It outlives the children in which the pass runs.
type session struct {
	id     uint64
	host   sandbox.Host
	ctx    context.Context
	limits sandbox.Limits
	pass   sandbox.Pass

	// Fields without a lock belong to the goroutine that reads the child's frames, and while the pass is in no child,
	// to the one that runs it.
	earlier  map[int]*signals.Entry // see issuedBefore
	admitted map[int]*admitted      // by seq
	started  int                    // inline calls that no earlier pass made
	away     away

	mu       sync.Mutex // guards what follows
	at       *stint     // the child in which the pass is, if it is in one
	deadline time.Time
	issued   []*inlineCall // not in entries, in the order in which they were started
	slow     atomic.Bool   // the latest call to settle took long
	making   atomic.Int64  // how many calls have not settled
	kept     int           // bytes of arguments and values that calls hold
	over     bool          // the pass has ended

	progress chan struct{} // has something when a call has settled while the pass is in no child
	once     sync.Once
	broke    chan struct{} // closed once the host has panicked
	panicked *Panic
}

// sessions numbers the passes of this process.
var sessions atomic.Uint64

func newSession(ctx context.Context, pass sandbox.Pass, host sandbox.Host) *session {
	limits := pass.Limits.WithDefaults()
	return &session{
		id: sessions.Add(1), host: host, ctx: ctx, pass: pass, limits: limits, deadline: time.Now().Add(limits.Timeout),
		admitted: map[int]*admitted{}, progress: make(chan struct{}, 1), broke: make(chan struct{}),
		away: away{log: pass.Log},
	}
}

// admitted is what the worker knows of a call. A child may have been taken over by its program, so what it says about a
// call later does not count. Arguments and reasons may be as long as the child's memory allows: the worker keeps their
// digests, and checks what the child repeats against them.
type admitted struct {
	sandbox.Call      // without its arguments
	sandbox.Admission // without the reason of a refusal
	refused           bool
	args              digest
	reason            digest         // why the call was refused
	again             *signals.Entry // the log's entry of a read that this pass repeats
	asked             bool           // a child asked to make the call
	askedIn           *stint         // the newest of them
	made              *inlineCall    // nil until the call is started
	reported          bool           // the child's result has the call
}

type inlineCall struct {
	admitted
	settlement *sandbox.Settlement // what the child was sent
	tooLarge   bool                // the value was too large to record, and was not kept
	untold     *sandbox.Settlement // how it ended, with a value that is not kept: no child knows it yet
	known      bool                // the child in which the pass goes on was given how it ended
	at         int64
	began      time.Time
	asker      *stint // who asked for it last, and is told
	lost       bool   // its child was lost after it was made there: the program may not issue it again
}

type digest [sha256.Size]byte

func digestOf(parts ...string) digest { return sha256.Sum256(fmt.Appendf(nil, "%q", parts)) }

// readCall reads a call and refuses what no engine asks about: it numbers look-ups apart, and runs steps itself.
func readCall(body []byte) (c sandbox.Call, err error) {
	if err := decodeFrame(body, &c); err != nil {
		return c, err
	}
	switch {
	case !isJSON(c.Args):
		return c, fmt.Errorf("the arguments of the sandbox child's call %d are not JSON", c.Seq)
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
func (s *stint) admit(body []byte) error {
	c, err := readCall(body)
	if err != nil {
		return err
	}
	if k := s.again(c); k != nil {
		return s.p.link.send(frameAdmission, k.Admission)
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

// full reports whether there are more calls than any budget has room for, even if some count twice, as inline and then
// as gated. Reads of the log that the pass repeats count in no budget.
func (s *stint) full() bool {
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

// errFlood says that a child started more calls than its engine ever would, so that it cannot be trusted any more.
var errFlood = errors.New("the sandbox child started too many calls")

const maxOpenCalls = 64

// call checks a request to make an inline call. The call was admitted as inline, or every call of its method is, or it
// repeats a read of the log. It returns nil if the call is not to be made.
func (s *stint) call(body []byte) (*inlineCall, error) {
	c, err := readCall(body)
	if err != nil {
		return nil, err
	}
	if k := s.again(c); k != nil {
		return nil, s.rejoin(k.made)
	}
	var refused *signals.CallError
	k := s.admitted[c.Seq]
	if k != nil && k.asked && k.made == nil && k.askedIn != s { // the child left before it knew that it was not made
		delete(s.admitted, c.Seq)
		k = nil
	}
	switch {
	case k == nil:
		if refused, err = s.first(c); err != nil {
			return nil, err
		}
		k = s.admitted[c.Seq]
	case k.asked || k.refused || k.Carried != nil || !k.is(c):
		return nil, fmt.Errorf("the sandbox child asks for another call %d than was admitted", c.Seq)
	}
	k.asked, k.askedIn = true, s
	switch a := k.Admission; {
	case refused != nil:
		return nil, s.p.link.send(frameSettlement, settledMessage{c.Seq, sandbox.Settlement{Err: refused}})
	case a.Gated: // the method has changed meanwhile
		return nil, s.p.link.send(frameSettlement, settledMessage{c.Seq, sandbox.Settlement{Escalate: true, As: &a}})
	}
	k.made = &inlineCall{admitted: *k, began: time.Now(), asker: s}
	k.made.Args = c.Args
	return k.made, s.begin(k.made)
}

// first admits a call that the child did not ask about before.
func (s *stint) first(c sandbox.Call) (refused *signals.CallError, err error) {
	again, err := s.madeAnew(c)
	switch {
	case err != nil:
		return nil, err
	case s.full():
		return nil, errFlood
	}
	return s.learn(c, again).Refused, nil
}

// is reports whether this is the call that was admitted: same method, same arguments.
func (k *admitted) is(c sandbox.Call) bool {
	return k.Connector == c.Connector && k.Method == c.Method && k.args == sha256.Sum256(c.Args)
}

// madeAnew returns the log's entry of a call, which must be a read that this pass repeats, or nil.
func (s *stint) madeAnew(c sandbox.Call) (*signals.Entry, error) {
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
func (s *stint) begin(c *inlineCall) error {
	if c.again == nil {
		s.started++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allow(c.Timeout)
	s.making.Add(1)
	s.kept += len(c.Args)
	if s.making.Load() > maxOpenCalls || s.started > s.limits.InlineCalls || s.kept > mostKept(s.limits) {
		return errFlood
	}
	s.issued = append(s.issued, c)
	return nil
}

// mostKept bounds the bytes of arguments and values that the calls of a pass hold on the worker. Delivered calls fit
// the result's frame; beside them the engine starts at most Parallel calls, one that the program waits for, and one
// that did not fit.
func mostKept(l sandbox.Limits) int { return maxFrameToWorker + 2*(l.Parallel+2)*l.ValueBytes }

// allow gives the pass the time that a call may take by a timeout of its own.
func (s *session) allow(call time.Duration) {
	until := time.Now().Add(call + sandbox.TimeoutGrace)
	if call <= 0 || !until.After(s.deadline) {
		return
	}
	s.deadline = until
	if s.at != nil && s.at.limit != nil {
		s.at.limit.Reset(time.Until(until) + killGrace)
	}
}

// make makes a call and tells the child how it ended, if the pass is in one.
func (s *session) make(c *inlineCall) {
	defer func() {
		if r := recover(); r != nil {
			s.raise(r)
		}
	}()
	settlement := s.host.Call(s.ctx, c.Call)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.making.Add(-1)
	if s.over {
		return
	}
	c.at = time.Now().UnixMilli()
	s.slow.Store(time.Since(c.began) > slowCall)
	told := settlement
	if c.tooLarge = c.again == nil && !fits(s.limits, settlement.Value); c.tooLarge {
		settlement.Value = nil
	}
	c.settlement = &settlement
	s.keep(c)
	s.tell(c, told)
}

// tell lets the child know how a call ended, or whoever waits for the pass to go on.
func (s *session) tell(c *inlineCall, settlement sandbox.Settlement) {
	switch {
	case s.at != nil && s.at == c.asker:
		s.at.active.Store(time.Now().UnixNano())
		_ = s.at.p.link.send(frameSettlement, settledMessage{Seq: c.Seq, Settlement: settlement})
		return
	case s.at == nil:
		select {
		case s.progress <- struct{}{}:
		default:
		}
	}
	if c.tooLarge {
		c.untold = &settlement
	}
}

// ending is what a child is told of a call that has settled.
func (c *inlineCall) ending() sandbox.Settlement {
	switch {
	case c.untold != nil:
		return *c.untold
	case c.tooLarge:
		return sandbox.Settlement{Err: sandbox.TooLargeToRecordError()}
	}
	return *c.settlement
}

// keep counts what a call that has settled holds.
func (s *session) keep(c *inlineCall) {
	settlement := c.settlement
	s.kept += len(settlement.Value)
	if settlement.Err != nil {
		s.kept += len(settlement.Err.Message)
	}
	if settlement.Escalate { // any number of these may wait until the pass ends
		s.kept -= len(c.Args)
		c.Args = nil
	}
}

// fits reports whether a value is within the limits of what the engine records.
func fits(l sandbox.Limits, value json.RawMessage) bool {
	return len(value) <= l.ValueBytes && (len(value) <= l.ValueUnits || signals.Units(value) <= l.ValueUnits)
}

// broken is the result of a pass whose child ended without one: the calls it made are still recorded.
func (s *stint) broken(overdue <-chan *sandbox.Failure) sandbox.Result {
	s.p.end()
	failure := classify(s.p.cmd.ProcessState, s.p.stderr.String(), s.limits)
	r := sandbox.Result{End: sandbox.Failed, Stopped: true, Failure: failure}
	select {
	case r.Failure = <-overdue:
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Entries = slices.Clone(s.away.entries)
	recorded := map[int]bool{}
	for _, e := range r.Entries {
		recorded[e.ID] = recorded[e.ID] || !e.Timer
	}
	for _, c := range s.issued {
		if !recorded[c.Seq] {
			r.Entries = append(r.Entries, c.entry(s.deadline.UnixMilli()))
		}
	}
	return r
}

// entry records the call. A result that came after the deadline is not recorded, even if the child saw it in time.
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

// outcome is the result or error that is recorded of a settled call.
func (c *inlineCall) outcome() (json.RawMessage, *signals.CallError) {
	switch {
	case c.tooLarge:
		return nil, sandbox.TooLargeToRecordError()
	case c.settlement.Err != nil:
		return nil, c.settlement.Err
	}
	return c.settlement.Value, nil
}

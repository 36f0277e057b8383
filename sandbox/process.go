package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a sandbox child as the worker sees it.
type process struct {
	cmd    *exec.Cmd
	link   *link
	stdin  io.Closer
	stderr *tail
	memory int64
	layers []Layer
	passes int
	parked string        // the state that the child keeps the runtime of
	seen   int           // how much of its log that runtime has seen
	exited chan struct{} // closed when the child has ended
	once   sync.Once
}

// readyWithin bounds the start of a child.
const readyWithin = 20 * time.Second

func startProcess(memory int64, namespaces bool) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	mode := "plain"
	if namespaces {
		mode = "namespaces"
	}
	cmd := &exec.Cmd{Path: self, Args: []string{childName, fmt.Sprintf("memory=%d", memory), mode}, Env: []string{}, Dir: "/"}
	p := &process{cmd: cmd, memory: memory, stderr: &tail{}, exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	setAttributes(cmd, namespaces)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOnThread(cmd); err != nil {
		return nil, err
	}
	from, err := newPipeReader(out.(*os.File))
	if err != nil {
		return nil, err
	}
	p.stdin, p.link = in, newLink(from, in, maxFrameToWorker)
	return p, p.greet()
}

// greet waits for the child's first frame.
func (p *process) greet() error {
	timer := time.AfterFunc(readyWithin, p.kill)
	defer timer.Stop()
	kind, body, err := p.link.receive()
	var ready readyMessage
	if err == nil && kind == frameReady {
		err = decodeFrame(body, &ready)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w (%s)", err, p.end())
	case ready.Version != engineVersion():
		err = fmt.Errorf("the child is of another version (%s)", ready.Version)
	}
	if err != nil {
		p.kill()
		return err
	}
	p.layers = ready.Layers
	return nil
}

func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.stdin.Close()
		go func() {
			_ = p.cmd.Wait()
			close(p.exited)
		}()
	})
}

// end waits for a child that has closed its pipe, and tells how it ended.
func (p *process) end() string {
	timer := time.AfterFunc(killGrace, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	p.once.Do(func() {
		_ = p.stdin.Close()
		_ = p.cmd.Wait()
		close(p.exited)
	})
	<-p.exited
	return strings.TrimSpace(p.cmd.ProcessState.String() + " " + p.stderr.String())
}

// session is one pass in a child, seen from the worker.
type session struct {
	p        *process
	host     Host
	ctx      context.Context
	deadline int64 // of the pass, epoch milliseconds
	mu       sync.Mutex
	inline   map[int]string   // classes of the calls that may be started, by seq
	issued   []*inlineCall    // in the order in which they were started
	open     int              // of these, not settled
	calls    chan *inlineCall // to a goroutine that has made one
	over     bool             // the pass has ended: the child would take a settlement for one of its next pass
}

type inlineCall struct {
	Call
	settlement *Settlement
	at         int64
	class      string
}

// run drives a pass. healthy says whether the child may serve another.
func (p *process) run(ctx context.Context, pass Pass, host Host) (result Result, healthy bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timeout := pass.Limits.withDefaults().Timeout
	s := &session{p: p, host: host, ctx: ctx, deadline: time.Now().Add(timeout).UnixMilli(), inline: map[int]string{}, calls: make(chan *inlineCall)}
	overdue := make(chan *Failure, 1)
	timer := time.AfterFunc(timeout+killGrace, func() {
		overdue <- p.overdue()
		p.kill()
	})
	defer timer.Stop()
	defer context.AfterFunc(ctx, p.kill)()
	if err := p.begin(pass); err == nil {
		if result, err := s.serve(); err == nil {
			if result.Parked {
				p.parked, p.seen = pass.As, len(pass.Log)+len(result.Entries)
			}
			healthy = p.link.send(frameResult, struct{}{}) == nil
			return result, healthy && (result.Failure == nil || !result.Stopped || result.Failure.Kind.clean()), nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return Result{}, false, cause
	}
	result = s.broken(overdue)
	if result.Failure.Kind == Crashed && strings.HasPrefix(p.cmd.ProcessState.String(), "signal: killed") {
		return result, false, errKilled
	}
	return result, false, nil
}

// errKilled: somebody else ended the child, such as the kernel when the host is short of memory. That says nothing about
// the program.
var errKilled = errors.New("the sandbox child was killed from outside")

// begin sends a pass, or of one that goes on in the parked runtime, only what that has not seen.
func (p *process) begin(pass Pass) error {
	parked := p.parked
	p.parked = ""
	if parked == "" || !pass.follows(parked) || p.seen > len(pass.Log) {
		return p.link.send(framePass, pass)
	}
	return p.link.send(frameNext, nextOf(pass, p.seen))
}

// follows: the pass goes on from that state. One that reads again what earlier passes read starts anew.
func (p Pass) follows(state string) bool { return p.After == state && !p.Refresh }

// overdue says why a child that does not even end itself is killed.
func (p *process) overdue() *Failure {
	if residentBytes(p.cmd.Process.Pid) > p.memory/2 {
		return &Failure{Kind: OutOfMemory, Message: memoryMessage}
	}
	return &Failure{Kind: TimedOut, Message: "Execution timed out"}
}

// clean: the runtime ended in an orderly way, so that the child is none the worse for it.
func (k FailureKind) clean() bool {
	switch k {
	case TooLarge, NotSerializable, BudgetExceeded, Diverged, Deadlock, Thrown, SyntaxError:
		return true
	}
	return false
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
			var r Result
			err = decodeFrame(body, &r)
			return r, err
		default:
			err = fmt.Errorf("unexpected sandbox frame %q", kind)
		}
		if err != nil {
			return Result{}, err
		}
	}
}

func (s *session) admit(body []byte) error {
	var c Call
	if err := decodeFrame(body, &c); err != nil {
		return err
	}
	a := s.host.Admit(c)
	if !a.Gated && a.Refused == nil {
		s.inline[c.Seq] = a.Class
	}
	return s.p.link.send(frameAdmission, a)
}

// errFlood: a child asks for more at once than its engine ever would.
var errFlood = errors.New("the sandbox child started too many calls at once")

const maxOpenCalls = 64

func (s *session) call(body []byte) error {
	c := &inlineCall{}
	if err := decodeFrame(body, &c.Call); err != nil {
		return err
	}
	class, admitted := s.inline[c.Seq]
	delete(s.inline, c.Seq)
	if !admitted { // a call of a method that need not be asked about again, or a read of the log that is made anew
		a := s.host.Admit(c.Call)
		switch {
		case a.Refused != nil:
			return s.p.link.send(frameSettlement, settledMessage{c.Seq, Settlement{Err: a.Refused}})
		case a.Gated: // the method has changed meanwhile
			return s.p.link.send(frameSettlement, settledMessage{c.Seq, Settlement{Escalate: true, As: &a}})
		}
		class = a.Class
	}
	c.class = class
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
	e := Entry{ID: c.Seq, Connector: c.Connector, Method: c.Method, Args: c.Args, Class: c.class, Position: c.Position, At: time.Now().UnixMilli()}
	if c.settlement == nil || c.settlement.Escalate || c.at > deadline {
		e.Dropped, e.Err = true, &CallError{Message: "The pass was stopped before this call settled."}
		return e
	}
	e.Value, e.Err, e.At = c.settlement.Value, c.settlement.Err, c.at
	return e
}

// classify tells why a child ended by its exit code and its last words.
func classify(state *os.ProcessState, words string) *Failure {
	switch {
	case state.ExitCode() == exitMemory, strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"):
		return &Failure{Kind: OutOfMemory, Message: memoryMessage}
	case state.ExitCode() == exitTime:
		return &Failure{Kind: TimedOut, Message: "Execution timed out"}
	case state.ExitCode() == exitCPU, strings.Contains(state.String(), "CPU time limit"):
		return &Failure{Kind: TimedOut, Message: cpuMessage}
	case strings.Contains(words, "stack exceeds"), strings.Contains(words, "stack overflow"):
		return &Failure{Kind: StackOverflow, Message: stackMessage}
	}
	return &Failure{Kind: Crashed, Message: crashMessage}
}

// tail keeps the beginning and forgets the rest of what a child writes to its standard error: Go says first why it dies.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const tailBytes = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := tailBytes - t.b.Len(); room > 0 {
		t.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

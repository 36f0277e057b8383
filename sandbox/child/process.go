package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
)

// process is a sandbox child as the worker sees it.
type process struct {
	cmd      *exec.Cmd
	link     *link
	stdin    io.Closer
	stderr   *tail
	memory   int64
	layers   []harden.Layer
	passes   int
	busyPoll bool          // both ends of the pipe busy-poll during this pass
	parked   string        // the nonce after which the parked runtime goes on; "" when none is parked
	seen     int           // how many entries of its log the parked runtime has seen
	rest     rest          // of an idle child
	before   loggedCalls   // the calls among those entries
	exited   chan struct{} // closed when the child has ended
	killed   atomic.Bool   // by this process
	once     sync.Once
}

// readyWithin bounds the start of a child.
const readyWithin = 20 * time.Second

func startProcess(memory int64, namespaces bool) (*process, error) {
	self, err := harden.OwnBinary()
	if err != nil {
		return nil, err
	}
	mode := "plain"
	if namespaces {
		mode = "namespaces"
	}
	args := []string{childName, fmt.Sprintf("memory=%d", memory), mode}
	cmd := &exec.Cmd{Path: self, Args: args, Env: []string{}, Dir: "/"}
	p := &process{cmd: cmd, memory: memory, stderr: &tail{}, exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	cmd.WaitDelay = killGrace // where a child may start processes, one of these may keep standard error open
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := harden.Start(cmd, namespaces); err != nil {
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
	case ready.Version != engine.Version():
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
		p.killed.Store(true)
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
	timer := time.AfterFunc(killGrace, func() {
		p.killed.Store(true)
		_ = p.cmd.Process.Kill()
	})
	defer timer.Stop()
	p.once.Do(func() {
		_ = p.stdin.Close()
		_ = p.cmd.Wait()
		close(p.exited)
	})
	<-p.exited
	return strings.TrimSpace(p.cmd.ProcessState.String() + " " + p.stderr.String())
}

// run drives a pass until it ends or leaves. healthy says whether the child may serve another.
func (p *process) run(s *stint) (result sandbox.Result, healthy bool, err error) {
	pass, overdue := s.next(), make(chan *sandbox.Failure, 1)
	defer s.bound(func() {
		overdue <- p.overdue(pass.Limits.WithDefaults())
		p.kill()
	}).Stop()
	defer context.AfterFunc(s.ctx, p.kill)()
	if err := p.begin(s, pass); err == nil {
		if result, err := s.serve(); err == nil {
			if result.Parked {
				p.parked, p.seen = pass.As, len(pass.Log)+len(result.Entries)
			} else {
				p.before = loggedCalls{}
			}
			healthy = p.link.send(frameResult, struct{}{}) == nil
			sound := result.Failure == nil || !result.Stopped || endsCleanly(result.Failure.Kind)
			if result.End != sandbox.Left && len(s.away.entries) > 0 {
				result.Entries = append(slices.Clip(s.away.entries), result.Entries...)
			}
			return result, healthy && sound, nil
		}
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return sandbox.Result{}, false, cause
	}
	if s.fault == errGone {
		return sandbox.Result{}, true, errGone
	}
	result = s.broken(overdue)
	fromOutside := !p.killed.Load() && strings.HasPrefix(p.cmd.ProcessState.String(), "signal: killed")
	if fromOutside && result.Failure.Kind == sandbox.Crashed {
		return result, false, errKilled
	}
	return result, false, nil
}

// bound ends the child some time after the pass's time is up.
func (s *stint) bound(end func()) *time.Timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = time.AfterFunc(max(time.Until(s.deadline), time.Second)+killGrace, end)
	return s.limit
}

// errKilled says that somebody else ended the child, such as the kernel when the host is short of memory. That is not
// the program's fault.
var errKilled = errors.New("the sandbox child was killed from outside")

// errGone says that a child has not kept the runtime of a pass, which is to replay.
var errGone = errors.New("the sandbox child has dropped the runtime")

// begin sends the pass. To the parked runtime of the same execution it sends only what that has not seen yet, and to
// one that stands where the pass left it only what has happened since.
func (p *process) begin(s *stint, pass sandbox.Pass) error {
	p.link.setBusyPoll(p.busyPoll)
	parked, stay := p.parked, Stay{s.id, p.busyPoll, s.asked.Load()}
	p.parked = ""
	if s.away.stands == p {
		s.away.stands, p.before, s.returns = nil, loggedCalls{}, true
		return p.link.send(frameReturn, returnMessage{stay, pass.Left})
	}
	s.quit()
	s.forget()
	p.passes++
	if parked == "" || !follows(pass, parked) || p.seen > len(pass.Log) {
		p.before = loggedCalls{}
		return p.link.send(framePass, passMessage{stay, pass})
	}
	return p.link.send(frameNext, nextMessage{stay, engine.NextOf(pass, p.seen)})
}

// follows reports whether the pass goes on from the state that this nonce names. A pass that repeats the reads of
// earlier ones starts from its first line instead.
func follows(p sandbox.Pass, state string) bool { return p.After == state && !p.Refresh }

// overdue says why a child that does not even end itself is killed.
func (p *process) overdue(limits sandbox.Limits) *sandbox.Failure {
	if harden.ResidentBytes(p.cmd.Process.Pid) > p.memory/2 {
		return &sandbox.Failure{Kind: sandbox.OutOfMemory, Message: memoryMessage}
	}
	return sandbox.TimeUp(limits.Told)
}

// endsCleanly reports whether the child can serve other passes after a failure of this kind.
func endsCleanly(k sandbox.FailureKind) bool {
	switch k {
	case sandbox.TooLarge, sandbox.NotSerializable, sandbox.BudgetExceeded, sandbox.Diverged, sandbox.Deadlock,
		sandbox.Thrown, sandbox.SyntaxError:
		return true
	}
	return false
}

// classify tells why a child ended by its exit code and its last words.
func classify(state *os.ProcessState, words string, limits sandbox.Limits) *sandbox.Failure {
	switch {
	case state.ExitCode() == exitMemory,
		strings.Contains(words, "out of memory"), strings.Contains(words, "cannot allocate memory"):
		return &sandbox.Failure{Kind: sandbox.OutOfMemory, Message: memoryMessage}
	case state.ExitCode() == exitTime:
		return sandbox.TimeUp(limits.Told)
	case state.ExitCode() == exitCPU, strings.Contains(state.String(), "CPU time limit"):
		return sandbox.CPUUsed(limits.CPU)
	case strings.Contains(words, "stack exceeds"), strings.Contains(words, "stack overflow"):
		return &sandbox.Failure{Kind: sandbox.StackOverflow, Message: stackMessage}
	}
	return &sandbox.Failure{Kind: sandbox.Crashed, Message: crashMessage}
}

// tail keeps the beginning and forgets the rest of what a child writes to its standard error: Go says first why it
// dies.
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

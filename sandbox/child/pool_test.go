package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/harden"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// pool is shared by the tests of this package.
var pool = sync.OnceValue(func() *Pool {
	x, err := New(Options{})
	if err != nil {
		panic(err)
	}
	return x
})

func TestIsolatedRunsAPass(t *testing.T) {
	d := sandboxtest.NewDriver(t, &engine.InProcess{},
		`console.log('hi'); const r = await Promise.all([1,2,3].map(n => store.echo(n))); await store.w_gate({r}); return r`)
	for range 2 {
		d.Pass.Log, d.Open, d.Pass.Lines = nil, nil, 0
		for range 2 {
			d.Pass.Open = nil
			r, err := pool().Run(context.Background(), d.Pass, d.Host)
			require.NoError(t, err)
			for _, e := range r.Entries {
				d.Fold(e)
			}
			if r.End == sandbox.Completed {
				sandboxtest.RequireValue(t, `[1,2,3]`, r)
				break
			}
			require.Equal(t, sandbox.Blocked, r.End, "%+v", r.Failure)
			require.Equal(t, []string{"hi"}, r.Logs)
			d.Open = r.Blocked
			d.SettleOpen(0)
		}
	}
}

func TestIsolatedLayers(t *testing.T) {
	for _, l := range pool().Layers() {
		t.Logf("%-14s active=%v %s", l.Name, l.Active, l.Detail)
	}
	if os.Getenv(wantNamespaces) != "" {
		require.True(t, layerOf(pool().Layers(), "namespaces").Active)
	}
}

func TestNothingGetsOutOfAChild(t *testing.T) {
	x := pool()
	p, err := x.acquire(sandbox.Pass{})
	require.NoError(t, err)
	defer p.kill()
	require.NoError(t, p.link.send(frameProbe, nil))
	kind, body, err := p.link.receive()
	require.NoError(t, err, p.stderr)
	require.Equal(t, frameProbed, kind)
	var got harden.Probe
	require.NoError(t, decodeFrame(body, &got))
	require.Equal(t, harden.Probe{}, got)
}

func TestRequiredLayer(t *testing.T) {
	_, err := New(Options{Require: []string{"moat"}})
	require.EqualError(t, err, `the sandbox layer "moat" is required but not available here: unknown layer`)
}

func TestOneChildPerPass(t *testing.T) {
	x, err := New(Options{Reuse: -1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	pids := map[int]bool{}
	for range 3 {
		p, err := x.acquire(sandbox.Pass{})
		require.NoError(t, err)
		pids[p.cmd.Process.Pid] = true
		x.keep(p)
		r, err := x.Run(context.Background(), sandbox.Pass{Code: "return 1", Connectors: []string{"store"}},
			&sandboxtest.Host{})
		require.NoError(t, err)
		sandboxtest.RequireValue(t, "1", r)
		require.Empty(t, x.idle)
	}
	require.Len(t, pids, 3)
}

func TestKilledChildIsReported(t *testing.T) {
	x := pool()
	host := &sandboxtest.Host{Methods: map[string]func(json.RawMessage) (string, error){}}
	host.Methods["die"] = func(json.RawMessage) (string, error) { return "", errors.New("unused") }
	started := make(chan struct{})
	host.Methods["die"] = func(json.RawMessage) (string, error) { close(started); select {} }
	p, err := x.acquire(sandbox.Pass{})
	require.NoError(t, err)
	go func() { <-started; _ = p.cmd.Process.Kill() }()
	r, healthy, err := p.run(newSession(context.Background(),
		sandbox.Pass{Code: "await store.echo(1); await store.die({})", Connectors: []string{"store"}}, host).enter(p))
	require.ErrorIs(t, err, errKilled)
	require.False(t, healthy)
	require.Equal(t, sandbox.Crashed, r.Failure.Kind)
	require.Len(t, r.Entries, 2, "what the pass did is still recorded")
	require.Equal(t, "1", string(r.Entries[0].Value))
	require.True(t, r.Entries[1].Dropped)
}

func TestCancelledIsolatedPass(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := pool().Run(ctx, sandbox.Pass{Code: "for (;;) {}", Connectors: []string{"store"}}, &sandboxtest.Host{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestAttacks runs hostile programs with 2 s and 256 MiB each, and beside them a bystander that must not be delayed.
// CODEMODE_ATTACKS=DIR runs those of another directory.
func TestAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: the race detector makes children too slow and too large for 2 s and 256 MiB")
	}
	dir := os.Getenv("CODEMODE_ATTACKS")
	if dir == "" {
		dir = "testdata/attacks"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.js"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no attacks in %s", dir)
	x, err := New(Options{Memory: 256 << 20})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	stop, longest := bystander(t, x)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { attack(t, x, file) })
	}
	close(stop)
	require.Less(t, <-longest, bystanderDeadline, "a bystander was delayed")
	r, err := x.Run(context.Background(), sandbox.Pass{Code: "return 'fine'", Connectors: []string{"tools"}},
		toolsHost{})
	require.NoError(t, err)
	sandboxtest.RequireValue(t, `"fine"`, r)
}

// bystanderDeadline is far above the milliseconds that it takes on an idle machine: tests of other packages run beside.
const bystanderDeadline = 20 * time.Second

func bystander(t *testing.T, x *Pool) (chan struct{}, chan time.Duration) {
	stop, longest := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		var worst time.Duration
		for {
			select {
			case <-stop:
				longest <- worst
				return
			case <-time.After(20 * time.Millisecond):
			}
			began := time.Now()
			r, err := x.Run(context.Background(),
				sandbox.Pass{Code: "return (await tools.echo(1))[0]", Connectors: []string{"tools"}}, toolsHost{})
			if err != nil || r.End != sandbox.Completed {
				t.Errorf("bystander: %v %+v", err, r.Failure)
			}
			worst = max(worst, time.Since(began))
		}
	}()
	return stop, longest
}

func attack(t *testing.T, x *Pool, file string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(text), "\n")
	expect := strings.TrimSpace(strings.TrimPrefix(head, "// expect:"))
	began := time.Now()
	r, err := x.Run(context.Background(), sandbox.Pass{
		Code: "\n" + body, Seed: "attack", Start: began.UnixMilli(), Connectors: []string{"tools"},
		Limits: sandbox.Limits{Timeout: 2 * time.Second, CPU: 2 * time.Second},
	}, toolsHost{})
	require.NoError(t, err)
	require.Less(t, time.Since(began), 20*time.Second)
	got := outcomeOf(r)
	t.Logf("%s in %s", got, time.Since(began).Round(time.Millisecond))
	for _, alternative := range strings.Split(expect, "|") {
		if want, ok := strings.CutPrefix(alternative, "ok:"); ok && r.End == sandbox.Completed {
			require.JSONEq(t, want, string(r.Value))
			return
		}
		if got == alternative || alternative == "ok" && r.End == sandbox.Completed {
			return
		}
	}
	t.Fatalf("expected %s, got %s: %+v value %.200s", expect, got, r.Failure, r.Value)
}

func outcomeOf(r sandbox.Result) string {
	switch {
	case r.Failure == nil:
		return fmt.Sprint("ok:", string(r.Value[:min(len(r.Value), 100)]))
	case r.Failure.Kind == sandbox.TimedOut:
		return "timeout"
	case r.Failure.Kind == sandbox.OutOfMemory:
		return "memory"
	}
	return "error"
}

// toolsHost has the one method echo, which returns the array of its arguments.
type toolsHost struct{}

func (toolsHost) Admit(sandbox.Call) sandbox.Admission { return sandbox.Admission{Class: "read"} }

func (toolsHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	if len(c.Args) == 0 {
		return sandbox.Settlement{Value: json.RawMessage("[]")}
	}
	return sandbox.Settlement{Value: json.RawMessage("[" + string(c.Args) + "]")}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 'R', 0xf6})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := newLink(strings.NewReader(string(data)), nil, maxFrameToWorker)
		for {
			_, body, err := l.receive()
			if err != nil {
				return
			}
			_, _ = decodeResult(body)
			var c sandbox.Call
			_ = decodeFrame(body, &c)
		}
	})
}

func BenchmarkIsolatedTinyPass(b *testing.B) {
	for b.Loop() {
		if r, err := pool().Run(context.Background(), sandbox.Pass{Code: "return 1", Connectors: []string{"store"}},
			&sandboxtest.Host{}); err != nil || r.End != sandbox.Completed {
			b.Fatal(err, r.Failure)
		}
	}
}

// killingHost kills a process when it is called first.
type killingHost struct {
	sandbox.Host
	victim *os.Process
	once   sync.Once
}

func (h *killingHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	h.once.Do(func() { _ = h.victim.Kill() })
	return h.Host.Call(ctx, c)
}

func TestPassSurvivesAKilledChild(t *testing.T) {
	x, err := New(Options{})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	d := sandboxtest.NewDriver(t, &engine.InProcess{}, `return [await store.echo(1), await store.echo(2)]`)
	r, err := x.Run(context.Background(), d.Pass, &killingHost{Host: d.Host, victim: x.idle[0].cmd.Process})
	require.NoError(t, err)
	require.Nil(t, r.Failure)
	sandboxtest.RequireValue(t, `[1,2]`, r)
	require.Len(t, r.Entries, 2, "what the killed child had is not recorded twice")
}

// lingeringHost keeps a call of the first pass until the second one makes its own, of the same number.
type lingeringHost struct {
	sandbox.Host
	second chan struct{}
}

func (h *lingeringHost) Admit(sandbox.Call) sandbox.Admission {
	return sandbox.Admission{Class: "read"}
}

func (h *lingeringHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	switch c.Method {
	case "linger":
		<-h.second
		return sandbox.Settlement{Value: json.RawMessage(`"of the first pass"`)}
	case "mine":
		close(h.second)
		time.Sleep(20 * time.Millisecond) // gives the other answer every chance to come first
		return sandbox.Settlement{Value: json.RawMessage(`"of the second pass"`)}
	}
	return h.Host.Call(ctx, c)
}

// TestLateAnswerIsNotTheNextPass: a pass fails while a call is under way, its child goes on with another program, and
// what the call came to must not reach that one.
func TestLateAnswerIsNotTheNextPass(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	host := &lingeringHost{Host: &sandboxtest.Host{}, second: make(chan struct{})}
	r, err := x.Run(context.Background(),
		sandbox.Pass{Code: `store.linger({}); await store.echo({}); await store.echo('x'.repeat(2000000))`,
			Connectors: []string{"store"}}, host)
	require.NoError(t, err)
	require.Equal(t, sandbox.TooLarge, r.Failure.Kind)
	r, err = x.Run(context.Background(),
		sandbox.Pass{Code: `return await store.mine({})`, Connectors: []string{"store"}}, host)
	require.NoError(t, err)
	require.Nil(t, r.Failure)
	sandboxtest.RequireValue(t, `"of the second pass"`, r)
}

// changingHost admits every call of a method as inline, then changes its mind.
type changingHost struct {
	asked int
	later sandbox.Admission
}

func (h *changingHost) Admit(sandbox.Call) sandbox.Admission {
	if h.asked++; h.asked == 1 {
		return sandbox.Admission{Class: "read", EveryCall: true}
	}
	return h.later
}

func (h *changingHost) Call(_ context.Context, c sandbox.Call) sandbox.Settlement {
	return sandbox.Settlement{Value: c.Args}
}

// TestAdmittedOnce: a child asks once about a method whose every call is inline. The worker looks at each call's
// arguments all the same, and makes none that it would not admit.
func TestAdmittedOnce(t *testing.T) {
	pass := sandbox.Pass{Code: `return [await store.echo(1), await store.echo(2).catch(e => e.message)]`,
		Connectors: []string{"store"}}
	run := func(later sandbox.Admission) (sandbox.Result, int) {
		host := &changingHost{later: later}
		r, err := pool().Run(context.Background(), pass, host)
		require.NoError(t, err)
		require.Nil(t, r.Failure)
		return r, host.asked
	}
	r, asked := run(sandbox.Admission{Class: "read", EveryCall: true})
	sandboxtest.RequireValue(t, `[1,2]`, r)
	require.Equal(t, 2, asked, "by the child, and when the second call is made")
	r, _ = run(sandbox.Admission{Refused: &signals.CallError{Message: "bad arguments"}})
	sandboxtest.RequireValue(t, `[1,"bad arguments"]`, r)
	require.Len(t, r.Entries, 2)
	r, _ = run(sandbox.Admission{Gated: true, Approval: true, Class: "write"})
	require.Equal(t, sandbox.Blocked, r.End)
	require.Equal(t, 1, r.Blocked[0].Seq)
	require.True(t, r.Blocked[0].Approval, "what it has become counts")
	require.Equal(t, signals.Write, r.Blocked[0].Class)
}

// TestChildrenDoNotPileUp: each retired child has one successor, however long this goes on.
func TestChildrenDoNotPileUp(t *testing.T) {
	x, err := New(Options{Children: 2, Reuse: prewarmBefore + 2})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	retired := map[*process]bool{}
	for len(retired) < 8 {
		_, err := x.Run(context.Background(), sandbox.Pass{Code: "return 1"}, &sandboxtest.Host{})
		require.NoError(t, err)
		x.mu.Lock()
		for _, p := range x.idle {
			retired[p] = true
		}
		idle := len(x.idle)
		x.mu.Unlock()
		require.LessOrEqual(t, idle, 3)
	}
}

// TestChildrenAreNotStartedTwice: those that are being started count.
func TestChildrenAreNotStartedTwice(t *testing.T) {
	x, err := New(Options{Children: 3})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	x.warming = 2
	x.prewarm(3)
	require.Len(t, x.idle, 1)
	x.warming = 1
	x.prewarm(3)
	require.Len(t, x.idle, 2)
	require.Equal(t, 1, x.warming)
}

// TestEveryChildHasTheLayersOfTheFirst: what Layers tells holds for all, or they are not started.
func TestEveryChildHasTheLayersOfTheFirst(t *testing.T) {
	x, err := New(Options{})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	x.plain = true
	for i := range x.layers {
		x.layers[i].Active = x.layers[i].Name == "namespaces"
	}
	_, err = x.spawn()
	require.EqualError(t,
		err, `the sandbox layer "namespaces", which the first child has, is missing: refused by the host`)
	x.layers = []harden.Layer{{Name: "moat", Active: true}}
	_, err = x.spawn()
	require.ErrorContains(t, err, `the sandbox layer "moat", which the first child has, is missing`)
	x.layers[0].Active = false
	p, err := x.spawn()
	require.NoError(t, err, "more than the first has is none the worse")
	p.kill()
}

// deafPipe is the input of a child that never reads: a write ends when the child does.
type deafPipe struct {
	p       *process
	writing chan struct{}
}

func (d deafPipe) Write([]byte) (int, error) {
	close(d.writing)
	<-d.p.exited
	return 0, os.ErrClosed
}

// TestDeafChildHoldsUpNobody: a child that does not read what it is told to forget is ended, and others serve
// meanwhile.
func TestDeafChildHoldsUpNobody(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	deaf := x.idle[0]
	pipe := deafPipe{p: deaf, writing: make(chan struct{})}
	deaf.parked, deaf.link = "state", newLink(nil, pipe, 0)
	forgotten := make(chan struct{})
	go func() {
		x.forget(deaf, "state")
		close(forgotten)
	}()
	<-pipe.writing
	require.True(t, x.mu.TryLock(), "nobody waits for the pipe")
	require.Empty(t, x.idle)
	require.Equal(t, 1, x.warming, "it counts, so that none is started in its place")
	x.mu.Unlock()
	x.prewarm(1)
	r, err := x.Run(t.Context(), sandbox.Pass{Code: "return 1"}, &sandboxtest.Host{})
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "1", r)
	<-forgotten
	require.Zero(t, x.warming)
	require.Len(t, x.idle, 1)
	require.NotSame(t, deaf, x.idle[0])
}

// TestChildAtWorkForgetsNothing: only the pass at work looks at what its child keeps.
func TestChildAtWorkForgetsNothing(t *testing.T) {
	x, err := New(Options{Children: 1})
	require.NoError(t, err)
	defer func() { _ = x.Close() }()
	p, err := x.acquire(sandbox.Pass{})
	require.NoError(t, err)
	defer p.kill()
	p.parked = "state"
	forgotten := make(chan struct{})
	go func() {
		x.forget(p, "state")
		close(forgotten)
	}()
	r, _, err := p.run(newSession(t.Context(), sandbox.Pass{Code: "return 1"}, &sandboxtest.Host{}).enter(p))
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "1", r)
	<-forgotten
	require.Empty(t, x.idle)
}

// TestQuiet: passes busy-poll only while processors are to spare, and have been for a second.
func TestQuiet(t *testing.T) {
	x := &Pool{seats: seats{free: 1000}}
	fill := func(n int) {
		for range n {
			require.Nil(t, x.seats.apply(newSession(t.Context(), sandbox.Pass{}, nil)))
		}
	}
	fill(runtime.GOMAXPROCS(0) / 2)
	require.True(t, x.quiet())
	fill(1)
	require.False(t, x.quiet())
	x.seats.leave(nil)
	require.False(t, x.quiet(), "the next may come at any time")
	x.crowded.Add(-int64(2 * time.Second))
	require.True(t, x.quiet())
}

func TestSyncPassesAreTheSameInAChild(t *testing.T) {
	d := sandboxtest.NewDriver(t, &engine.InProcess{},
		`const a = store.echo({n: 1}).n; console.log(a); try { store.w_put({n: 2}) } finally { console.log('finally') } return a`)
	d.Pass.Synchronous = true
	r, err := pool().Run(t.Context(), d.Pass, d.Host)
	require.NoError(t, err)
	require.Equal(t, sandbox.Blocked, r.End, "%+v", r.Failure)
	require.Equal(t, []string{"1"}, r.Logs)
	require.Len(t, r.Entries, 1)
	d.Fold(r.Entries[0])
	d.Open, d.Pass.Lines = r.Blocked, r.Lines
	d.SettleOpen(0)
	r, err = pool().Run(t.Context(), d.Pass, d.Host)
	require.NoError(t, err)
	require.Equal(t, []string{"finally"}, r.Logs)
	require.Equal(t, "1", string(r.Value))
}

package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// slowHost makes calls of slow last until they are cancelled or released.
type slowHost struct {
	*sandboxtest.Host
	timeout   time.Duration // of slow
	release   chan struct{}
	cancelled chan struct{}
	mu        sync.Mutex
	made      int
}

func newSlowHost(h *sandboxtest.Host) *slowHost {
	return &slowHost{Host: h, release: make(chan struct{}), cancelled: make(chan struct{}, 10)}
}

func (h *slowHost) Admit(c sandbox.Call) sandbox.Admission {
	if c.Method == "slow" {
		return sandbox.Admission{Class: "read", Timeout: h.timeout}
	}
	return h.Host.Admit(c)
}

// count is how many slow calls were made.
func (h *slowHost) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.made
}

func (h *slowHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Method != "slow" {
		return h.Host.Call(ctx, c)
	}
	h.mu.Lock()
	h.made++
	h.mu.Unlock()
	select {
	case <-h.release:
	case <-ctx.Done():
		h.cancelled <- struct{}{}
	}
	return sandbox.Settlement{Value: c.Args}
}

// TestLostReadDelaysNothing: a program that has ended does not wait for what it no longer awaits.
func TestLostReadDelaysNothing(t *testing.T) {
	for code, end := range map[string]sandbox.End{
		`return await Promise.race([store.slow(1), store.echo(2)])`:        sandbox.Completed,
		`await Promise.race([store.slow(1), store.echo(2)]); throw 1`:      sandbox.Failed,
		`store.slow(1).then(() => store.w_late(1)); await store.echo(2)`:   sandbox.Completed,
		`const r = store.slow(1); await store.echo(2); return r ? 2 : (1)`: sandbox.Completed,
	} {
		d := newDriver(t, code)
		h := newSlowHost(d.Host)
		r, err := d.Exec.Run(t.Context(), d.Pass, h)
		require.NoError(t, err)
		require.Equal(t, end, r.End, code)
		require.Empty(t, r.Blocked)
		require.Len(t, r.Entries, 2)
		require.Equal(t, sandbox.UnawaitedError(), r.Entries[1].Error)
		require.True(t, r.Entries[1].Dropped)
		<-h.cancelled
	}
}

// TestCancelledReadIsNotMadeAgain: neither does the pass wait for it that a write which was not awaited leads to.
func TestCancelledReadIsNotMadeAgain(t *testing.T) {
	d := newDriver(t, `store.w_write(1).catch(() => {}); store.slow(2).catch(() => store.w_write(3)); return 'done'`)
	h := newSlowHost(d.Host)
	r, err := d.Exec.Run(t.Context(), d.Pass, h)
	require.NoError(t, err)
	require.Equal(t, sandbox.Blocked, r.End)
	require.Len(t, r.Blocked, 1)
	for _, e := range r.Entries {
		d.Fold(e)
	}
	d.Open = r.Blocked
	d.SettleOpen(0)
	r, err = d.Exec.Run(t.Context(), d.Pass, h)
	require.NoError(t, err)
	sandboxtest.RequireValue(t, `"done"`, r)
	require.Empty(t, r.Blocked)
	require.Equal(t, 1, h.count())
}

// TestReadWithATimeoutOfItsOwn: the pass has as much time as it.
func TestReadWithATimeoutOfItsOwn(t *testing.T) {
	for _, synchronous := range []bool{false, true} {
		d := newDriver(t, `const r = store.slow(1); return r.then ? await r : r`)
		d.Pass.Synchronous, d.Pass.Limits.Timeout = synchronous, 50*time.Millisecond
		h := newSlowHost(d.Host)
		h.timeout = time.Hour
		time.AfterFunc(200*time.Millisecond, func() { close(h.release) })
		r, err := d.Exec.Run(t.Context(), d.Pass, h)
		require.NoError(t, err)
		sandboxtest.RequireValue(t, "1", r)
	}
}

// TestPassWithAStepStays: what its function did to the program's variables is in no log.
func TestPassWithAStepStays(t *testing.T) {
	for code, leaves := range map[string]bool{
		`await store.slow(1)`: true,
		`let n = 0; await codemode.step('s', () => { n++ }); await store.slow(n)`: false,
	} {
		d := newDriver(t, code)
		h := newSlowHost(d.Host)
		p, failure := (&compile.Cache{}).Get(code, nil, compile.ProgramSource)
		require.Nil(t, failure)
		e := New(t.Context(), d.Pass, h)
		e.Leave()
		if !leaves {
			time.AfterFunc(20*time.Millisecond, func() { close(h.release) })
		}
		r, err := e.Run(p)
		require.NoError(t, err)
		require.Equal(t, leaves, r.End == sandbox.Left)
	}
}

// Leaving runs passes in this process that leave now and then, as in a child that others want: they come back to the
// runtime, or replay in another. Calls go on meanwhile.
type Leaving struct {
	Random *rand.Rand
	mu     sync.Mutex
	Left   int // how often a pass left
}

func (x *Leaving) draw(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Random.IntN(n)
}

// askAtRandom asks the pass to leave, sooner or later or never.
func (x *Leaving) askAtRandom(e *Engine) (stop func()) {
	if x.draw(3) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(time.Duration(x.draw(1500))*time.Microsecond, e.Leave)
	return func() { timer.Stop() }
}

// run drives a pass from where run begins it, until it ends.
func (x *Leaving) run(e *Engine, pass sandbox.Pass, l *lasting, again func(sandbox.Pass) *Engine,
	p *compile.Program, run func() (sandbox.Result, error)) (*Engine, sandbox.Result, error) {
	var before []signals.Entry
	for {
		stop := x.askAtRandom(e)
		r, err := run()
		stop()
		if err != nil || r.End != sandbox.Left {
			r.Entries = append(slices.Clip(before), r.Entries...)
			return e, r, err
		}
		x.Left++
		before = append(before, r.Entries...)
		l.wait(r.Left.Wake, before)
		r.Left.Remaining, r.Left.Calls = time.Minute, l.left(before)
		if r.Left.Stands && x.draw(2) == 0 {
			e.ComeBack(context.Background(), r.Left)
			run = e.GoOn
			continue
		}
		next := pass
		next.Log, next.Left = append(slices.Clip(pass.Log), before...), r.Left
		e = again(next)
		run = func() (sandbox.Result, error) { return e.Run(p) }
	}
}

// lasting is a host whose calls go on while the pass is away.
type lasting struct {
	sandbox.Host
	mu    sync.Mutex
	calls map[int]*lastingCall
	asked map[int]sandbox.Admission
}

type lastingCall struct {
	sandbox.LeftCall
	done chan struct{}
}

func newLasting(h sandbox.Host) *lasting {
	return &lasting{Host: h, calls: map[int]*lastingCall{}, asked: map[int]sandbox.Admission{}}
}

func (l *lasting) Admit(c sandbox.Call) sandbox.Admission {
	a := l.Host.Admit(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[c.Seq] = a
	return a
}

func (l *lasting) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	l.mu.Lock()
	k := l.calls[c.Seq]
	if k == nil {
		k = &lastingCall{done: make(chan struct{})}
		k.Seq, k.Admission = c.Seq, l.asked[c.Seq]
		l.calls[c.Seq] = k
		go func() {
			s := l.Host.Call(context.WithoutCancel(ctx), c)
			l.mu.Lock()
			defer l.mu.Unlock()
			k.Settlement, k.At = &s, time.Now().UnixMilli()
			close(k.done)
		}()
	}
	l.mu.Unlock()
	select {
	case <-k.done:
		return *k.Settlement
	case <-ctx.Done():
		return sandbox.Settlement{}
	}
}

// left are the calls that the program has not had the results of.
func (l *lasting) left(delivered []signals.Entry) []sandbox.LeftCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []sandbox.LeftCall
	for seq, k := range l.calls {
		if !slices.ContainsFunc(delivered, func(e signals.Entry) bool { return !e.Timer && e.ID == seq }) {
			list = append(list, k.LeftCall)
		}
	}
	return list
}

// wait waits for the first call to end, or for the timer that is due at wake.
func (l *lasting) wait(wake int64, delivered []signals.Entry) {
	var first *lastingCall
	for _, c := range l.left(delivered) {
		l.mu.Lock()
		first = l.calls[c.Seq]
		l.mu.Unlock()
	}
	until := time.Second
	if wake > 0 {
		until = time.Until(time.UnixMilli(wake))
	}
	if first == nil {
		time.Sleep(min(until, time.Millisecond))
		return
	}
	select {
	case <-first.done:
	case <-time.After(until):
	}
}

package child

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/engine"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
	"github.com/temporal-codemode/codemode/signals"
)

// meeting is a host whose calls of meet return once as many are under way as are expected. It counts the calls.
type meeting struct {
	sandboxtest.Host
	expected int
	mu       sync.Mutex
	there    int
	all      chan struct{}
	made     map[string]int
	admitted map[string]sandbox.Admission
}

func newMeeting(expected int) *meeting {
	return &meeting{expected: expected, all: make(chan struct{}), made: map[string]int{}}
}

func (m *meeting) Admit(c sandbox.Call) sandbox.Admission {
	if a, ok := m.admitted[c.Method]; ok {
		return a
	}
	if c.Method == "meet" {
		return sandbox.Admission{Class: "read", EveryCall: true}
	}
	return m.Host.Admit(c)
}

func (m *meeting) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	m.mu.Lock()
	m.made[c.Method+string(c.Args)]++
	if c.Method != "meet" {
		m.mu.Unlock()
		return sandbox.Settlement{Value: c.Args}
	}
	all := m.all
	if m.there++; m.there == m.expected {
		m.there, m.all = 0, make(chan struct{})
		close(all)
	}
	m.mu.Unlock()
	select {
	case <-all:
		return sandbox.Settlement{Value: c.Args}
	case <-ctx.Done():
		return sandbox.Settlement{Err: &signals.CallError{Message: "cancelled"}}
	}
}

func few(t *testing.T, children int) *Pool {
	x, err := New(Options{Children: children})
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// TestWaitingProgramsGiveTheirChildBack: many programs wait for each other in reads, on one child. Each call is made
// once, and every program does what it would have done alone.
func TestWaitingProgramsGiveTheirChildBack(t *testing.T) {
	const programs = 20
	for name, code := range map[string]string{
		"async": `const out = [Math.random() < 2];
for (let i = 0; i < 3; i++) {
	console.log(i);
	const [, mine] = await Promise.all([store.meet({me: %[1]d, i}), store.echo({me: %[1]d, i})]);
	out.push(mine.i);
}
return [out, Math.random()]`,
		"sync": `const out = [];
for (let i = 0; i < 3; i++) { console.log(i); store.meet({me: %[1]d, i}); out.push(store.echo({me: %[1]d, i}).i) }
return [out, Math.random()]`,
	} {
		t.Run(name, func(t *testing.T) {
			x, host := few(t, 1), newMeeting(programs)
			var group sync.WaitGroup
			for i := range programs {
				group.Go(func() {
					pass := sandbox.Pass{Code: fmt.Sprintf(code, i), Seed: fmt.Sprint(i), Connectors: []string{"store"},
						Synchronous: name == "sync"}
					r, err := x.Run(t.Context(), pass, host)
					require.NoError(t, err)
					require.Equal(t, sandbox.Completed, r.End, "%+v", r.Failure)
					require.Len(t, r.Entries, 6)
					require.Equal(t, []string{"0", "1", "2"}, r.Logs)
					pass.Log = r.Entries
					replayed, err := (&engine.InProcess{}).Run(t.Context(), pass, host)
					require.NoError(t, err)
					require.Equal(t, string(replayed.Value), string(r.Value))
				})
			}
			group.Wait()
			require.Len(t, host.made, 6*programs)
			for call, times := range host.made {
				require.Equal(t, 1, times, call)
			}
		})
	}
}

// TestPassesThatCanGoOnComeFirst: before those that have not begun.
func TestPassesThatCanGoOnComeFirst(t *testing.T) {
	var x seats
	left := newSession(t.Context(), sandbox.Pass{}, nil)
	left.away.state = &sandbox.LeftState{}
	first, later := x.apply(newSession(t.Context(), sandbox.Pass{}, nil)), x.apply(left)
	x.leave(nil)
	<-later.seated
	select {
	case <-first.seated:
		t.Fatal("one seat for two")
	default:
	}
	x.withdraw(later) // it had the seat already
	<-first.seated
	x.used++
	x.leave(nil)
	require.Equal(t, 1, x.free)
}

// TestLeftPassesChildIsKilled: what a pass did before it left is not lost with the child in which it goes on, and calls
// that are under way there are not made again.
func TestLeftPassesChildIsKilled(t *testing.T) {
	x, host := few(t, 1), newMeeting(2)
	began := make(chan struct{})
	release := make(chan struct{})
	long := &longHost{meeting: host, began: began, release: release}
	done := make(chan sandbox.Result)
	go func() {
		r, err := x.Run(t.Context(), sandbox.Pass{
			Code:       `const a = await store.meet(1); const b = await store.long(2); return [a, b, await store.echo(3)]`,
			Connectors: []string{"store"}}, long)
		require.NoError(t, err)
		done <- r
	}()
	r, err := x.Run(t.Context(), sandbox.Pass{Code: `return await store.meet(4)`, Connectors: []string{"store"}}, host)
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "4", r)
	<-began
	x.seats.mu.Lock()
	for st := range x.seats.stints {
		require.NoError(t, st.p.cmd.Process.Signal(os.Kill))
	}
	x.seats.mu.Unlock()
	close(release)
	r = <-done
	sandboxtest.RequireValue(t, "[1,2,3]", r)
	require.Len(t, r.Entries, 3)
	for call, times := range host.made {
		require.Equal(t, 1, times, call)
	}
}

type longHost struct {
	*meeting
	began, release chan struct{}
}

func (h *longHost) Admit(c sandbox.Call) sandbox.Admission {
	if c.Method == "long" {
		return sandbox.Admission{Class: "read"}
	}
	return h.meeting.Admit(c)
}

func (h *longHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Method == "long" {
		close(h.began)
		<-h.release
	}
	return h.meeting.Call(ctx, c)
}

// TestWaitingForAChildTakesNoTime: a pass has its whole time once it begins, and reads with a timeout of their own have
// theirs.
func TestWaitingForAChildTakesNoTime(t *testing.T) {
	s := newSession(t.Context(), sandbox.Pass{Limits: sandbox.Limits{Timeout: time.Minute}}, nil)
	s.waited(time.Hour)
	require.WithinDuration(t, time.Now().Add(time.Hour+time.Minute), s.deadline, time.Minute/2)
	s.away.state = &sandbox.LeftState{}
	s.waited(time.Hour)
	p := s.next()
	require.Less(t, p.Left.Spent, time.Second-time.Hour)
	require.Greater(t, p.Left.Remaining, 2*time.Hour)
	s.allow(5 * time.Hour)
	require.WithinDuration(t, time.Now().Add(5*time.Hour), s.deadline, time.Minute)
}

// TestTimeIsUpWhileAway: a pass that waits in no child for a call that takes too long is told so, and ends.
func TestTimeIsUpWhileAway(t *testing.T) {
	x, host := few(t, 1), newMeeting(3)
	result := make(chan sandbox.Result)
	go func() {
		r, err := x.Run(t.Context(), sandbox.Pass{Code: `await store.meet(1)`, Connectors: []string{"store"},
			Limits: sandbox.Limits{Timeout: 300 * time.Millisecond}}, host)
		require.NoError(t, err)
		result <- r
	}()
	r, err := x.Run(t.Context(), sandbox.Pass{Code: `
for (let i = 0; i < 5; i++) await new Promise(r => setTimeout(r, 100));
return 1`, Connectors: []string{"store"}}, host)
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "1", r)
	r = <-result
	require.Equal(t, sandbox.TimedOut, r.Failure.Kind)
	require.Len(t, r.Entries, 1)
	require.True(t, r.Entries[0].Dropped)
}

// TestEscalatedCallStaysGated: a call that was given up for the workflow to make is not made again by a pass that left.
func TestEscalatedCallStaysGated(t *testing.T) {
	x, host := few(t, 1), newMeeting(2)
	flaky := &flakyHost{meeting: host, given: make(chan struct{})}
	result := make(chan sandbox.Result)
	go func() {
		r, err := x.Run(t.Context(), sandbox.Pass{Code: `await Promise.all([store.flaky(1), store.meet(2)])`,
			Connectors: []string{"store"}}, flaky)
		require.NoError(t, err)
		result <- r
	}()
	<-flaky.given
	r, err := x.Run(t.Context(), sandbox.Pass{Code: `return await store.meet(3)`, Connectors: []string{"store"}}, host)
	require.NoError(t, err)
	sandboxtest.RequireValue(t, "3", r)
	r = <-result
	require.Equal(t, sandbox.Blocked, r.End, "%+v", r.Failure)
	require.Len(t, r.Blocked, 1)
	require.Equal(t, "flaky", r.Blocked[0].Method)
	require.JSONEq(t, "1", string(r.Blocked[0].Args))
	require.Equal(t, 1, flaky.times)
}

type flakyHost struct {
	*meeting
	given chan struct{}
	times int
}

func (h *flakyHost) Admit(c sandbox.Call) sandbox.Admission { return sandbox.Admission{Class: "read"} }

func (h *flakyHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Method == "flaky" {
		if h.times++; h.times == 1 {
			close(h.given)
		}
		return sandbox.Settlement{Escalate: true}
	}
	return h.meeting.Call(ctx, c)
}

// TestChildThatSaysItLeft: a child that its program has taken over cannot leave with more than a pass may hold.
func TestChildThatSaysItLeft(t *testing.T) {
	s, _ := takenOver(t, sandbox.Pass{})
	_, err := s.result(frame(t, sandbox.Result{End: sandbox.Left}))
	require.ErrorContains(t, err, "does not say where it stands")
	left := frame(t, sandbox.Result{End: sandbox.Left, Left: &sandbox.LeftState{},
		Entries: []signals.Entry{{Connector: sandbox.StepConnector, Value: json.RawMessage(`"` +
			string(make([]byte, maxFrameToWorker)) + `"`)}}})
	_, err = s.result(left)
	require.ErrorIs(t, err, errLeavesTooMuch)
}

// TestTimeIsUpHoweverManyWait: a pass whose time is up does not leave once more.
func TestTimeIsUpHoweverManyWait(t *testing.T) {
	x, host := few(t, 1), newMeeting(2)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			pass := sandbox.Pass{Code: `for (;;) { await store.nap({}); for (let i = 0; i < 1e4; i++); }`,
				Connectors: []string{"store"}, Limits: sandbox.Limits{Timeout: time.Minute, InlineCalls: 1e6}}
			for ctx.Err() == nil {
				_, _ = x.Run(ctx, pass, &napHost{host})
			}
		})
	}
	r, err := x.Run(t.Context(), sandbox.Pass{Code: `await store.nap({}); await store.meet(1)`,
		Connectors: []string{"store"}, Limits: sandbox.Limits{Timeout: 300 * time.Millisecond}}, &napHost{host})
	cancel()
	group.Wait()
	require.NoError(t, err)
	require.Equal(t, sandbox.TimedOut, r.Failure.Kind)
}

// napHost makes calls of nap take a while.
type napHost struct{ *meeting }

func (h *napHost) Admit(sandbox.Call) sandbox.Admission {
	return sandbox.Admission{Class: "read", EveryCall: true}
}

func (h *napHost) Call(ctx context.Context, c sandbox.Call) sandbox.Settlement {
	if c.Method == "nap" {
		time.Sleep(10 * time.Millisecond)
		return sandbox.Settlement{Value: c.Args}
	}
	return h.meeting.Call(ctx, c)
}

package child

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// stint is the stay of a pass in one child.
type stint struct {
	*session
	p       *process
	entered time.Time
	limit   *time.Timer // ends the child when the pass's time is up

	// turn hands what has no lock to another goroutine: it is odd while the reading goroutine makes a call, and whoever
	// makes it even reads next.
	turn          atomic.Int64
	timer         *time.Timer  // calls takeOver when a call takes long
	ownGoroutines int          // how many of the next calls get a goroutine of their own
	active        atomic.Int64 // when the child was last heard of or told something, in Unix nanoseconds
	asked         atomic.Bool  // to leave
	replays       int          // entries of the log with which it began
	returns       bool         // to a runtime that stands in the child

	once  sync.Once
	ended chan struct{} // closed once the next two are set
	final sandbox.Result
	fault error
}

// enter begins the stay in a child.
func (s *session) enter(p *process) *stint {
	st := &stint{session: s, p: p, entered: time.Now(), ended: make(chan struct{}), replays: len(s.away.log)}
	st.active.Store(time.Now().UnixNano())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = st
	return st
}

// issuedBefore returns the calls of earlier passes by seq, with their log entry where the pass may repeat the read. It
// is made on first use, since many passes make no call.
func (s *stint) issuedBefore() map[int]*signals.Entry {
	if s.earlier == nil {
		s.earlier = s.p.before.of(s.pass)
	}
	return s.earlier
}

// loggedCalls are the calls of a log, by seq. They grow with the passes of a parked runtime, so that each pass reads
// only the new entries.
type loggedCalls struct {
	bySeq   map[int]*signals.Entry
	entries int // how many entries of the log were read
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

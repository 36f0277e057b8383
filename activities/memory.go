package activities

import (
	"container/list"
	"slices"
	"sync"

	"github.com/temporal-codemode/codemode/signals"
)

// remembered is what a worker keeps of an execution between two passes.
type remembered struct {
	runID   string
	nonce   string
	code    string
	log     *signals.Log
	scanned int               // entries of the log that were looked at for ephemeral ones
	anew    bool              // there is an ephemeral one
	input   signals.PassInput // what the inputs of its passes have in common
	bytes   int               // about, of all that is kept
	entered int               // of these, of what weighed entries of the log hold
	weighed int
}

// entryBytes is about what an entry takes beside its values.
const entryBytes = 350

// entries are what a pass replays, and whether some of them are reads that a pass after a decision makes anew. Those
// are replaced in the log itself, so a pass of such a log is given a copy.
func (r *remembered) entries() (entries []signals.Entry, ephemeral bool) {
	for ; r.scanned < len(r.log.Order); r.scanned++ {
		r.anew = r.anew || r.log.Order[r.scanned].Ephemeral
	}
	if r.anew {
		return slices.Clone(r.log.Order), true
	}
	return slices.Clip(r.log.Order), false
}

// weigh adds what the log has grown by.
func (r *remembered) weigh() {
	for _, e := range r.log.Order[r.weighed:] {
		r.entered += len(e.Args) + len(e.Value) + entryBytes
	}
	r.weighed = len(r.log.Order)
	r.bytes = r.entered + len(r.code) + r.log.Besides()
}

// memory keeps the logs of the executions whose passes ran here last. It only saves reading history.
type memory struct {
	mu    sync.Mutex
	byRun map[string]*list.Element
	used  list.List // newest first
	bytes int
}

// What is kept of all executions together, about. The newest is kept whatever its size, else each of its passes would
// read all of it from history.
const (
	memoryKept  = 1024
	memoryBytes = 64 << 20
)

// take hands over what is remembered of a run, if it stands right after the pass with that nonce. It is gone then, so
// that no two attempts share it.
func (m *memory) take(runID, nonce string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.remove(m.byRun[runID])
	if r == nil || r.nonce != nonce {
		return nil
	}
	return r
}

// input is what the pass is given that follows the one with that nonce, but for its number and what has settled; latest
// is when something settled last. ok is false if something else, or nothing, is remembered of the run.
func (m *memory) input(runID, nonce string) (in signals.PassInput, latest int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byRun[runID]
	if e == nil || e.Value.(*remembered).nonce != nonce {
		return in, 0, false
	}
	known := e.Value.(*remembered)
	in = known.input
	in.After, in.Pinned = nonce, known.log.Pinned
	if n := len(known.log.Order); n > 0 {
		latest = known.log.Order[n-1].At
	}
	return in, latest, true
}

// drop forgets a run.
func (m *memory) drop(runID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(m.byRun[runID])
}

func (m *memory) put(r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byRun == nil {
		m.byRun = map[string]*list.Element{}
	}
	r.weigh()
	m.remove(m.byRun[r.runID])
	m.byRun[r.runID] = m.used.PushFront(r)
	m.bytes += r.bytes
	for m.used.Len() > memoryKept || m.bytes > memoryBytes && m.used.Len() > 1 {
		m.remove(m.used.Back())
	}
}

func (m *memory) remove(e *list.Element) *remembered {
	if e == nil {
		return nil
	}
	r := m.used.Remove(e).(*remembered)
	delete(m.byRun, r.runID)
	m.bytes -= r.bytes
	return r
}

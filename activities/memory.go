package activities

import (
	"container/list"
	"sync"

	"github.com/temporal-codemode/codemode/signals"
)

// remembered is what a worker keeps of an execution between two passes.
type remembered struct {
	runID string
	nonce string
	code  string
	log   *signals.Log
}

// memory keeps the logs of the executions whose passes ran here last. It only saves reading history.
type memory struct {
	mu    sync.Mutex
	byRun map[string]*list.Element
	used  list.List // newest first
}

const memoryKept = 256

// take hands over what is remembered of a run, if it stands right after the pass with that nonce. It is gone then, so
// that no two attempts share it.
func (m *memory) take(runID, nonce string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	element := m.byRun[runID]
	if element == nil {
		return nil
	}
	r := m.used.Remove(element).(*remembered)
	delete(m.byRun, runID)
	if r.nonce != nonce {
		return nil
	}
	return r
}

func (m *memory) put(r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byRun == nil {
		m.byRun = map[string]*list.Element{}
	}
	if old := m.byRun[r.runID]; old != nil {
		m.used.Remove(old)
	}
	m.byRun[r.runID] = m.used.PushFront(r)
	if m.used.Len() > memoryKept {
		oldest := m.used.Back()
		delete(m.byRun, m.used.Remove(oldest).(*remembered).runID)
	}
}

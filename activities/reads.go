package activities

import (
	"maps"
	"slices"
	"sync"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/signals"
)

// reads are those that a pass is making, for its heartbeats to tell.
type reads struct {
	mu     sync.Mutex
	bySeq  map[int]*signals.RunningCall
	issued int
}

// begin notes a read, until done. What the connector says of it goes through told.
func (r *reads) begin(seq int, method string) (told func(connectors.Progress), done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bySeq == nil {
		r.bySeq = map[int]*signals.RunningCall{}
	}
	call := &signals.RunningCall{Seq: seq, Method: method}
	r.bySeq[seq], r.issued = call, max(r.issued, seq+1)
	return func(p connectors.Progress) {
			r.mu.Lock()
			defer r.mu.Unlock()
			call.Done, call.Total, call.Message = p.Done, p.Total, p.Message
		}, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.bySeq, seq)
		}
}

// list names the oldest, and tells how many calls there are so far.
func (r *reads) list() (list []signals.RunningCall, issued int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seqs := slices.Sorted(maps.Keys(r.bySeq))
	for _, seq := range seqs[:min(len(seqs), signals.MaxReads)] {
		list = append(list, *r.bySeq[seq])
	}
	return list, r.issued
}

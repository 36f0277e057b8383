package learnt

import (
	"cmp"
	"fmt"
	"slices"
)

// Workflow is the workflow type that keeps what is learnt of the methods of one connector of a runtime.
const Workflow = "codemode.Learnt"

// SignalLearn carries a [Batch]. Query answers with a [State], for the version that the asker has: without methods
// where that is the newest.
const (
	SignalLearn = "learn"
	Query       = "learnt"
)

// WorkflowID is the workflow id of what is learnt of a connector.
func WorkflowID(runtime, connector string) string {
	return "codemode/" + runtime + "/learnt/" + connector
}

// Method is what is learnt of a method's results.
type Method struct {
	Name   string `json:"method"`
	Result *Shape `json:"result"`
	// Changed is the version of the state in which it changed last.
	Changed int `json:"changed,omitempty"`

	bytes int // of Name and Result as JSON, 0 until that is measured
}

// Batch is what one worker learnt in a while.
type Batch struct {
	// ID is the same however often the batch is sent.
	ID      string   `json:"id"`
	Methods []Method `json:"methods"`
}

// State is all that is kept of a connector, and the input of its workflow.
type State struct {
	// Version counts the batches that were added.
	Version int `json:"version"`
	// Methods are in the order of their names.
	Methods []Method `json:"methods,omitempty"`
	// Recent are the ids of the newest batches.
	Recent []string `json:"recent,omitempty"`
}

const (
	// maxRecent batches are known again.
	maxRecent = 200
	// maxID and maxMethod bound names, in bytes.
	maxID     = 64
	maxMethod = 256
	// maxState bounds what is kept of a connector, in bytes of JSON.
	maxState = 1_000_000
)

// Add takes a batch in, once. What no worker makes changes nothing.
func (s *State) Add(b Batch) {
	if len(b.ID) > maxID || slices.Contains(s.Recent, b.ID) {
		return
	}
	s.Version++
	if s.Recent = append(s.Recent, b.ID); len(s.Recent) > maxRecent {
		s.Recent = slices.Delete(s.Recent, 0, len(s.Recent)-maxRecent)
	}
	for _, m := range b.Methods {
		if m.Check() == nil {
			s.add(m)
		}
	}
	s.forget()
}

// Check refuses what no worker makes.
func (m Method) Check() error {
	if m.Name == "" || len(m.Name) > maxMethod || m.Result == nil {
		return fmt.Errorf("nothing is learnt of a method without a name or a result")
	}
	return m.Result.Check()
}

func (s *State) add(m Method) {
	m.Changed, m.bytes = s.Version, 0
	at, found := s.find(m.Name)
	if !found {
		s.Methods = slices.Insert(s.Methods, at, m)
		return
	}
	m.Result = Merge(s.Methods[at].Result, m.Result)
	s.Methods[at] = m
}

func (s *State) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.Methods, name, func(m Method, name string) int {
		return cmp.Compare(m.Name, name)
	})
}

// Of is what is learnt of a method, nil for nothing.
func (s *State) Of(name string) *Shape {
	if at, found := s.find(name); found {
		return s.Methods[at].Result
	}
	return nil
}

// forget makes room: what changed longest ago goes first.
func (s *State) forget() {
	total := 0
	for i := range s.Methods {
		total += s.Methods[i].Size()
	}
	for total > maxState {
		oldest := 0
		for i := range s.Methods {
			if s.Methods[i].Changed < s.Methods[oldest].Changed {
				oldest = i
			}
		}
		total -= s.Methods[oldest].Size()
		s.Methods = slices.Delete(s.Methods, oldest, oldest+1)
	}
}

// Size is what is kept of a method, in bytes. It is measured once: a replay adds thousands of batches at a time.
func (m *Method) Size() int {
	if m.bytes == 0 {
		m.bytes = len(m.Name) + m.Result.size()
	}
	return m.bytes
}

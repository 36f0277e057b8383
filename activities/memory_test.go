package activities

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
)

// What a worker keeps is bounded by all that it holds: programs, console lines, and calls that wait, with what people
// wrote of them.
func TestMemoryWeighsAllThatItKeeps(t *testing.T) {
	text := strings.Repeat("x", 400_000)
	args := json.RawMessage(`"` + text + `"`)
	wide := signals.Blocked{Seq: 0, Args: args}
	for name, fill := range map[string]func(r *remembered){
		"a program":     func(r *remembered) { r.code = text },
		"console lines": func(r *remembered) { r.log.Add(signals.PassResult{Logs: []string{text}}) },
		"an open call":  func(r *remembered) { r.log.Add(signals.PassResult{Blocked: []signals.Blocked{wide}}) },
		"a decision": func(r *remembered) {
			d := signals.Decision{Kind: signals.SignalApprove, EditedArgs: args}
			given := []signals.Given{{Kind: signals.GivenDecision, Decision: &d}}
			require.NoError(t, r.log.Give(given, nil))
		},
		"a log that was carried": func(r *remembered) {
			log := signals.NewLog()
			log.Add(signals.PassResult{Blocked: []signals.Blocked{wide}})
			for _, part := range log.Carry() {
				r.log.Restore(part)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m memory
			for n := range 400 {
				r := &remembered{runID: fmt.Sprint(n), log: signals.NewLog()}
				fill(r)
				m.put(r)
			}
			require.LessOrEqual(t, m.used.Len(), memoryBytes/len(text))
			require.Positive(t, m.used.Len())
		})
	}
}

// A call weighs its arguments once, open or settled.
func TestSettledCallsAreWeighedOnce(t *testing.T) {
	r := &remembered{runID: "r", log: signals.NewLog()}
	args := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	r.log.Add(signals.PassResult{Blocked: []signals.Blocked{{Seq: 0, Args: args}}})
	r.weigh()
	open := r.bytes
	require.NoError(t, r.log.Give([]signals.Given{{ID: 0}}, nil))
	r.weigh()
	require.Equal(t, open+entryBytes, r.bytes)
	next := &remembered{runID: "r", log: signals.NewLog()}
	for _, part := range r.log.Carry() {
		next.log.Restore(part)
	}
	next.weigh()
	require.Equal(t, r.bytes, next.bytes)
}

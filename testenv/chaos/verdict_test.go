package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

const written = `{"tag":"s1","entry":0}`

// scene is an execution that made one call, as record and ledger agree on it. Tests change one of both.
type scene struct {
	record  signals.Record
	entries []ledger.Entry
	actor   actor
}

func newScene(method string, class signals.Class) *scene {
	call := signals.Call{
		Seq: 0, Connector: "shop", Method: method, Class: class, State: signals.Applied,
		Args: json.RawMessage(`{"tag":"s1"}`), Result: json.RawMessage(written),
	}
	return &scene{
		record:  signals.Record{ID: "exec_1", Status: signals.Completed, Log: []signals.Call{call}},
		entries: []ledger.Entry{entry(method, class, "exec_1:0:abc")},
		actor:   actor{allowed: map[int][]ledger.Args{}},
	}
}

func entry(method string, class signals.Class, key string) ledger.Entry {
	return ledger.Entry{
		Execution: "exec_1", Key: key, Method: "shop." + method, Class: string(class),
		Args: json.RawMessage(`{"tag":"s1"}`), Result: json.RawMessage(written),
	}
}

func (s *scene) judge() findings {
	f := findings{Ended: map[signals.Status]int{}}
	f.judge(&s.record, s.entries, &s.actor)
	return f
}

func TestVerdict(t *testing.T) {
	undo := entry("undo", signals.Idempotent, "undo")
	for name, c := range map[string]struct {
		method string
		class  signals.Class
		change func(*scene)
		want   findings // its problems counted only
	}{
		"all is well": {"write", signals.Write, func(*scene) {}, findings{}},
		"a write happened twice": {"write", signals.Write,
			func(s *scene) { s.entries = append(s.entries, s.entries[0]) }, findings{DuplicateWrites: 1}},
		"a write never happened": {"write", signals.Write, func(s *scene) { s.entries = nil },
			findings{Mismatches: 1}},
		"an effect is missing in the record": {"write", signals.Write, func(s *scene) { s.record.Log = nil },
			findings{Mismatches: 1}},
		"a failed write happened": {"write", signals.Write, func(s *scene) {
			s.record.Log[0].State, s.record.Log[0].Error = signals.Errored, "broken"
		}, findings{Mismatches: 1}},
		"an unknown outcome took effect": {"write", signals.Write, func(s *scene) {
			s.record.Log[0].State, s.record.Log[0].ErrorName = signals.Errored, signals.OutcomeUnknown
		}, findings{Unknown: 1, UnknownApplied: 1}},
		"an unknown outcome happened twice": {"write", signals.Write, func(s *scene) {
			s.record.Log[0].State, s.record.Log[0].ErrorName = signals.Errored, signals.OutcomeUnknown
			s.entries = append(s.entries, s.entries[0])
		}, findings{Unknown: 1, UnknownApplied: 1, DuplicateWrites: 1}},
		"a refused attempt is none": {"write", signals.Write, func(s *scene) {
			refused := s.entries[0]
			refused.Refusal = ledger.TryAgain
			s.entries = append(s.entries, refused)
		}, findings{}},
		"an idempotent call came twice with its key": {"put", signals.Idempotent,
			func(s *scene) { s.entries = append(s.entries, s.entries[0]) }, findings{Repeats: 1}},
		"an idempotent call came with two keys": {"put", signals.Idempotent, func(s *scene) {
			s.entries = append(s.entries, entry("put", signals.Idempotent, "exec_1:0:def"))
		}, findings{Repeats: 1, DuplicateKeys: 1}},
		"a read was lost with its pass": {"read", signals.Read,
			func(s *scene) { s.entries = append(s.entries, s.entries[0]) }, findings{LostReads: 1}},
		"another call's key": {"write", signals.Write, func(s *scene) { s.entries[0].Key = "exec_1:1:abc" },
			findings{Mismatches: 1}},
		"other arguments": {"write", signals.Write,
			func(s *scene) { s.entries[0].Args = json.RawMessage(`{"tag":"s1","fails":1}`) }, findings{Mismatches: 1}},
		"another result": {"write", signals.Write,
			func(s *scene) { s.entries[0].Result = json.RawMessage(`{}`) }, findings{Mismatches: 1}},
		"nobody approved": {"ask", signals.Write,
			func(s *scene) { s.record.Log[0].RequiresApproval = true }, findings{Mismatches: 1}},
		"approved as it happened": {"ask", signals.Write, func(s *scene) {
			s.record.Log[0].RequiresApproval = true
			s.actor.allow(0, s.record.Log[0].Args)
		}, findings{}},
		"approved with other arguments": {"ask", signals.Write, func(s *scene) {
			s.record.Log[0].RequiresApproval = true
			s.actor.allow(0, edit(s.record.Log[0].Args))
		}, findings{Mismatches: 1}},
		"a call still runs at the end": {"write", signals.Write,
			func(s *scene) { s.record.Log[0].State = signals.Executing }, findings{Mismatches: 1}},
		"undone": {"write", signals.Write, func(s *scene) { s.rollBack(undo) },
			findings{Undone: 1}},
		"undone twice with a key": {"write", signals.Write, func(s *scene) { s.rollBack(undo, undo) },
			findings{Undone: 1}},
		"undone with two keys": {"write", signals.Write, func(s *scene) {
			s.rollBack(undo, entry("undo", signals.Idempotent, "other"))
		}, findings{Undone: 1, Mismatches: 1}},
		"reverted in the record only": {"write", signals.Write, func(s *scene) { s.rollBack() },
			findings{Mismatches: 1}},
		"undone in the ledger only": {"write", signals.Write, func(s *scene) { s.entries = append(s.entries, undo) },
			findings{Mismatches: 1}},
		"stands after a rollback": {"write", signals.Write, func(s *scene) { s.actor.rolledBack = true },
			findings{Mismatches: 1}},
		"not ended": {"write", signals.Write, func(s *scene) { s.record.Status = signals.Paused },
			findings{Stuck: 1}},
		"diverged": {"write", signals.Write, func(s *scene) {
			s.record.Status, s.record.Error = signals.Failed, "Codemode replay divergence at 1: expected shop.write"
		}, findings{Divergences: 1}},
		"failed without a reason": {"write", signals.Write,
			func(s *scene) { s.record.Status, s.record.Error = signals.Failed, "out of memory" },
			findings{Mismatches: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(c.method, c.class)
			c.change(s)
			got := s.judge()
			problems := c.want.DuplicateWrites + c.want.DuplicateKeys + c.want.Stuck + c.want.Divergences +
				c.want.Mismatches
			require.Len(t, got.Problems, problems)
			require.Equal(t, problems == 0, got.passed())
			c.want.Ended, c.want.Problems = got.Ended, got.Problems
			c.want.Calls, c.want.Passes, c.want.Effects = got.Calls, got.Passes, got.Effects
			require.Equal(t, c.want, got)
		})
	}
}

func (s *scene) rollBack(undone ...ledger.Entry) {
	s.record.Status, s.record.Log[0].State, s.actor.rolledBack = signals.RolledBack, signals.Reverted, true
	s.entries = append(s.entries, undone...)
}

func TestSeedsReproduce(t *testing.T) {
	for n := range 200 {
		require.Equal(t, program(7, n), program(7, n))
		require.NotEqual(t, program(7, n), program(8, n))
	}
}

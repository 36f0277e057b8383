package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/temporal-codemode/codemode/signals"
)

// Undone are the calls whose undoing the run's events tell of, by seq, with the time of it.
func (h *History) Undone() map[int]int64 {
	undone := map[int]int64{}
	for id, a := range h.byID {
		if seq, ok := signals.ParseRevertActivityID(id); ok && a.result != nil && a.out.Prepared == nil {
			undone[seq] = a.ended
		}
	}
	return undone
}

// Loose are the calls that completed in a run which was ended from outside before it could give them to a pass.
func (h *History) Loose(log *signals.Log) []signals.Given {
	var given []signals.Given
	for id, a := range h.byID {
		seq, ok := signals.ParseCallActivityID(id)
		made := a.result != nil && a.out.Prepared == nil
		if _, issued := log.Blocked[seq]; ok && issued && made && !log.Settled(seq) {
			given = append(given, signals.Given{ID: seq, At: a.ended, Source: id})
		}
	}
	slices.SortFunc(given, func(a, b signals.Given) int { return cmp.Or(cmp.Compare(a.At, b.At), a.ID-b.ID) })
	return given
}

// HookErrors lists what lifecycle hooks failed with, in the order of the hooks.
func (h *History) HookErrors() []string {
	var hooks []*activity
	for _, a := range h.byID {
		if (a.kind == signals.PassEndActivity || a.kind == signals.DisposeActivity) && a.result != nil {
			hooks = append(hooks, a)
		}
	}
	slices.SortFunc(hooks, func(a, b *activity) int {
		return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(b.kind, a.kind)) // PassEnd comes before Dispose
	})
	var errs []string
	for _, a := range hooks {
		var out signals.HookOutput
		if h.decode(a.result, &out) == nil {
			errs = append(errs, out.Errors...)
		}
	}
	return errs
}

// Dispatched is what a gated call was made with, and what it answered.
func (h *History) Dispatched(activityID string) (args, result json.RawMessage, err error) {
	a := h.byID[activityID]
	if a == nil || a.result == nil {
		return nil, nil, fmt.Errorf("no completed activity %q in history", activityID)
	}
	if seq, ok := signals.ParseCallActivityID(activityID); ok && signals.IsTargetID(activityID) {
		return h.preparedArgs(seq), a.out.Value, nil
	}
	var in signals.CallInput
	if err := h.decode(a.input, &in); err != nil {
		return nil, nil, err
	}
	return in.Args, a.out.Value, nil
}

// made is the input of the newest activity that made a call, or was to: not of one that only checks a given result.
func (h *History) made(seq int) (in signals.CallInput, ok bool) {
	for try := 1; ; try++ {
		a := h.attempt(seq, try)
		if a == nil {
			return in, ok
		}
		if signals.IsTargetID(a.id) {
			in, ok = h.madeByTarget(seq, try, in), true
			continue
		}
		var next signals.CallInput
		if a.input == nil {
			continue // a recorder that keeps no inputs
		}
		if err := h.decode(a.input, &next); err == nil && next.Resolution == nil {
			in, ok = next, true
		}
	}
}

// Edited is what a person let a call be made with instead of the program's arguments; nil if nobody did.
func (h *History) Edited(seq int) json.RawMessage {
	if in, ok := h.made(seq); ok && in.Edited {
		return in.Args
	}
	return nil
}

// Effect is what a call that took effect was made with, and what it answered.
func (h *History) Effect(log *signals.Log, t signals.RevertTarget) (args, result json.RawMessage, err error) {
	if t.Source != "" {
		args, result, err = h.Dispatched(t.Source)
		if err != nil || len(args) > 0 {
			return args, result, err
		}
		// Its result was given, and too large to travel with the arguments.
		if in, ok := h.made(t.Seq); ok && !signals.IsTargetID(t.Source) {
			return in.Args, result, nil
		}
	}
	for _, e := range log.Order {
		if edited := log.Edited[e.ID]; !e.Internal() && e.ID == t.Seq && len(edited) > 0 {
			return edited, e.Value, nil
		}
		if !e.Internal() && e.ID == t.Seq {
			return e.Args, e.Value, nil
		}
	}
	return nil, nil, fmt.Errorf("no call %d in history", t.Seq)
}

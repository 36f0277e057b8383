package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// print writes the verdict for people, or as JSON.
func (r result) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	f := r.Findings
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("chaos: seed %d, %d executions in %d s", r.Options.Seed, r.Options.Executions, r.Seconds)
	say("  killed: %d workers, %d sandbox children, %d connector servers, %d times Temporal", r.Kills.Workers,
		r.Kills.Children, r.Kills.Depots, r.Kills.Temporal)
	if r.Kills.Callers > 0 {
		say("          %d callers in the middle of a call", r.Kills.Callers)
	}
	for _, status := range slices.Sorted(maps.Keys(f.Ended)) {
		say("  %-12s %d", status, f.Ended[status])
	}
	say("  %d calls in %d passes, %d effects, %d of them undone; %d reads were lost with their pass", f.Calls, f.Passes,
		f.Effects, f.Undone, f.LostReads)
	say("  idempotent calls repeated with the same key: %d", f.Repeats)
	say("  unknown outcomes reported: %d; the ledger has %d of them, %d never happened", f.Unknown, f.UnknownApplied,
		f.Unknown-f.UnknownApplied)
	say("  duplicate writes:                       %d", f.DuplicateWrites)
	say("  idempotent calls with several keys:     %d", f.DuplicateKeys)
	say("  stuck:                                  %d", f.Stuck)
	say("  divergences:                            %d", f.Divergences)
	say("  audit record different from the ledger: %d", f.Mismatches)
	for _, p := range f.Problems {
		say("    %s", p)
	}
	if r.Passed {
		say("verdict: passed")
	} else {
		say("verdict: FAILED; the same again: go run ./testenv/chaos --seed %d --executions %d", r.Options.Seed,
			r.Options.Executions)
	}
	return nil
}

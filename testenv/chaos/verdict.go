package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

// findings count what was seen, over all executions.
type findings struct {
	Ended   map[signals.Status]int `json:"ended"`
	Calls   int                    `json:"calls"`
	Passes  int                    `json:"passes"`
	Effects int                    `json:"effects"`
	// Repeats are effects of idempotent calls that came again with the same key.
	Repeats int `json:"idempotentRepeats"`
	// LostReads reached the ledger, but the pass that made them was lost.
	LostReads int `json:"lostReads"`
	Undone    int `json:"undone"`
	// Unknown outcomes of writes, and how many of them had taken effect.
	Unknown         int `json:"unknownOutcomes"`
	UnknownApplied  int `json:"unknownThatTookEffect"`
	DuplicateWrites int `json:"duplicateWrites"`
	DuplicateKeys   int `json:"idempotentWithSeveralKeys"`
	Stuck           int `json:"stuck"`
	Divergences     int `json:"divergences"`
	// Mismatches are all other differences between audit record and ledger.
	Mismatches int `json:"auditDiffersFromLedger"`
	// Problems tell each of the last five counts in words.
	Problems []string `json:"problems"`
}

func (f *findings) passed() bool { return len(f.Problems) == 0 }

// judgement compares one execution's audit record with the ledger.
type judgement struct {
	*findings
	record  *signals.Record
	actor   *actor
	effects map[string][]ledger.Entry // by method and tag
	undone  map[string][]ledger.Entry // by connector and tag
}

func (f *findings) problem(count *int, id, format string, args ...any) {
	*count++
	f.Problems = append(f.Problems, id+": "+fmt.Sprintf(format, args...))
}

// judge adds one execution.
func (f *findings) judge(record *signals.Record, entries []ledger.Entry, a *actor) {
	j := &judgement{findings: f, record: record, actor: a, effects: map[string][]ledger.Entry{},
		undone: map[string][]ledger.Entry{}}
	for _, e := range entries {
		j.sort(e)
	}
	f.Ended[record.Status]++
	f.Passes += record.Passes
	j.end()
	for _, c := range record.Log {
		if c.Connector == "shop" || c.Connector == "depot" {
			f.Calls++
			j.call(c)
		}
	}
	j.rest()
}

// sort puts an entry with the call that it belongs to. Refused ones had no effect.
func (j *judgement) sort(e ledger.Entry) {
	if e.Refusal != "" {
		return
	}
	j.Effects++
	tag := parseArgs(e.Args).Tag
	if connector, ok := strings.CutSuffix(e.Method, ".undo"); ok {
		j.undone[connector+" "+tag] = append(j.undone[connector+" "+tag], e)
		return
	}
	j.effects[e.Method+" "+tag] = append(j.effects[e.Method+" "+tag], e)
}

// end checks that the execution ended as its program and its person meant it to.
func (j *judgement) end() {
	text := j.record.Error
	switch {
	case strings.Contains(text, "replay divergence"):
		j.problem(&j.Divergences, j.record.ID, "%s", text)
	case !j.record.Status.Terminal():
		j.problem(&j.Stuck, j.record.ID, "has not ended: %s", j.record.Status)
	case j.record.Status == signals.Failed && !strings.Contains(text, "at the end") && !j.actor.cancelled,
		j.record.Status == signals.Rejected && !j.actor.rejected,
		j.record.Status == signals.RolledBack && !j.actor.rolledBack:
		j.problem(&j.Mismatches, j.record.ID, "ended as %s: %s", j.record.Status, text)
	}
}

// call checks one call, and takes its effects from those that are left.
func (j *judgement) call(c signals.Call) {
	args := parseArgs(c.Args)
	if len(c.EditedArgs) > 0 {
		args = parseArgs(c.EditedArgs)
	}
	key, undoKey := c.Connector+"."+c.Method+" "+args.Tag, c.Connector+" "+args.Tag
	effects := j.effects[key]
	delete(j.effects, key)
	j.often(c, effects)
	if first := j.actor.rivals[c.Seq]; first != "" && len(c.Decisions) == 1 && c.Decisions[0].Kind != first {
		j.mismatch(c, "the %s came first, and %s was done", first, c.Decisions[0].Kind)
	}
	switch c.State {
	case signals.Applied:
		j.applied(c, args, effects)
	case signals.Errored:
		j.errored(c, effects)
	case signals.Reverted:
		j.reverted(c, effects, j.undone[undoKey])
		delete(j.undone, undoKey)
	default:
		if j.record.Status.Terminal() {
			j.mismatch(c, "is %s in an execution that has ended", c.State)
		}
	}
	if c.RequiresApproval {
		j.approved(c, effects)
	}
}

func (j *judgement) mismatch(c signals.Call, format string, args ...any) {
	j.problem(&j.Mismatches, j.record.ID, "call %d, %s.%s(%s): %s", c.Seq, c.Connector, c.Method,
		c.Args, fmt.Sprintf(format, args...))
}

// often checks how many times a call happened.
func (j *judgement) often(c signals.Call, effects []ledger.Entry) {
	switch {
	case len(effects) < 2:
	case c.Class == signals.Read:
		j.LostReads += len(effects) - 1
	case c.Class == signals.Idempotent:
		j.Repeats += len(effects) - 1
		if keys(effects) > 1 {
			j.problem(&j.DuplicateKeys, j.record.ID, "call %d, %s.%s, came with %d keys", c.Seq, c.Connector,
				c.Method, keys(effects))
		}
	default:
		j.problem(&j.DuplicateWrites, j.record.ID, "call %d, %s.%s(%s), happened %d times", c.Seq, c.Connector,
			c.Method, c.Args, len(effects))
	}
}

func keys(effects []ledger.Entry) int {
	seen := map[string]bool{}
	for _, e := range effects {
		seen[e.Key] = true
	}
	return len(seen)
}

// applied checks that what the record says was done is what the ledger did.
func (j *judgement) applied(c signals.Call, args ledger.Args, effects []ledger.Entry) {
	if len(effects) == 0 {
		j.mismatch(c, "is applied, but the ledger has no such effect")
		return
	}
	if c.Class != signals.Read && !strings.HasPrefix(effects[0].Key, fmt.Sprintf("%s:%d:", j.record.ID, c.Seq)) {
		j.mismatch(c, "has the key %q in the ledger", effects[0].Key)
	}
	if !slices.ContainsFunc(effects, func(e ledger.Entry) bool { return parseArgs(e.Args) == args }) {
		j.mismatch(c, "has other arguments in the ledger: %s", effects[0].Args)
	}
	if !slices.ContainsFunc(effects, func(e ledger.Entry) bool { return signals.SameArgs(e.Result, c.Result) }) {
		j.mismatch(c, "has the result %s, and %s in the ledger", c.Result, effects[0].Result)
	}
	if c.Class == signals.Write && j.actor.rolledBack {
		j.mismatch(c, "still stands after a rollback")
	}
}

// errored: a call that failed has no effect, unless its outcome is unknown or it could be repeated.
func (j *judgement) errored(c signals.Call, effects []ledger.Entry) {
	if c.ErrorName == signals.OutcomeUnknown {
		j.Unknown++
		if len(effects) > 0 {
			j.UnknownApplied++
		}
		return
	}
	if c.Class != signals.Read && len(effects) > 0 {
		j.mismatch(c, "failed with %q, but the ledger has the effect", c.Error)
	}
}

// reverted: the call was rejected and never happened, or it happened and was undone once.
func (j *judgement) reverted(c signals.Call, effects, undone []ledger.Entry) {
	if len(effects) > 0 && len(undone) == 0 {
		j.mismatch(c, "is reverted, but the ledger has nothing that undoes it")
	}
	if len(effects) == 0 && len(undone) > 0 {
		j.mismatch(c, "was undone, but never happened")
	}
	if len(undone) > 0 {
		j.Undone++
	}
	if keys(undone) > 1 {
		j.mismatch(c, "was undone with %d keys", keys(undone))
	}
}

// approved checks that nothing happened which nobody approved, with just these arguments.
func (j *judgement) approved(c signals.Call, effects []ledger.Entry) {
	for _, e := range effects {
		if !slices.Contains(j.actor.allowed[c.Seq], parseArgs(e.Args)) {
			j.mismatch(c, "happened with arguments that nobody approved: %s", e.Args)
		}
	}
}

// rest is what the ledger has beyond the record.
func (j *judgement) rest() {
	for _, effects := range j.effects {
		if effects[0].Class == string(signals.Read) {
			j.LostReads += len(effects)
			continue
		}
		j.problem(&j.Mismatches, j.record.ID, "%s(%s) happened, but is not in the record", effects[0].Method,
			effects[0].Args)
	}
	for _, undone := range j.undone {
		j.problem(&j.Mismatches, j.record.ID, "%s(%s) was done, but the record does not say so", undone[0].Method,
			undone[0].Args)
	}
}

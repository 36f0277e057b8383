package signals

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
)

// Log is the fold over the recorded passes of an execution: what was given to each, then what it delivered itself.
// Passes, records and rollbacks all read it; nothing else orders the log.
type Log struct {
	Nonce  string
	Passes int
	Pinned *Pinned
	// Order holds every settled call and fired timer in settle order.
	Order []Entry
	// Blocked are the gated calls ever issued, by seq.
	Blocked   map[int]Blocked
	Decisions map[int][]Decision
	Logs      []string
	// Edited are the arguments that settled calls of earlier runs were made with, where a person replaced them.
	Edited map[int]json.RawMessage
	// Earlier is what the execution is offered by the one that it continues; nil where it continues none.
	Earlier *Earlier
	// HookErrors are what lifecycle hooks failed with in earlier runs.
	HookErrors []string
	// Last is the newest pass result, without what was folded.
	Last PassResult

	settled map[int]int // seq to index in Order
	gated   int         // of these, calls that the workflow made
	lines   int
	printed int // bytes of Logs
	beside  int // bytes, about, of decisions and of the arguments of calls that have not settled
}

// Settlement is the value that a source event holds.
type Settlement struct {
	Value json.RawMessage
	Error *CallError
}

// Source finds the settlement that the event of an activity id holds.
type Source func(activityID string) (Settlement, error)

// NewLog is the log before the first pass.
func NewLog() *Log {
	return &Log{Blocked: map[int]Blocked{}, Decisions: map[int][]Decision{}, settled: map[int]int{}}
}

// Fold adds a recorded pass. PassMissing results ran nothing: what was decided before them led to nothing, and stays in
// the record.
func (l *Log) Fold(r PassResult, source Source) error {
	l.Nonce, l.Passes = r.Nonce, r.Pass
	if r.End == PassMissing {
		for _, g := range r.Given {
			if g.Kind == GivenDecision {
				d := *g.Decision
				d.Void = true
				l.decide(g.ID, d)
			}
		}
		return nil
	}
	if err := l.Give(r.Given, source); err != nil {
		return err
	}
	l.Add(r)
	return nil
}

// Give adds what settled between two passes.
func (l *Log) Give(given []Given, source Source) error {
	for _, g := range given {
		if err := l.give(g, source); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) give(g Given, source Source) error {
	switch g.Kind {
	case GivenDecision:
		l.decide(g.ID, *g.Decision)
		return nil
	case GivenTimer:
		l.Order = append(l.Order, Entry{Timer: true, ID: g.ID, At: g.At})
		return nil
	}
	b, ok := l.Blocked[g.ID]
	if !ok {
		return fmt.Errorf("call %d settled but no pass issued it", g.ID)
	}
	if l.Settled(g.ID) { // a pass that came too late to count was given it before
		return nil
	}
	s := Settlement{Value: g.Value, Error: g.Error}
	if g.Source != "" && !g.Carried {
		var err error
		if s, err = source(g.Source); err != nil {
			return fmt.Errorf("result of call %d: %w", g.ID, err)
		}
	}
	l.settle(Entry{
		ID: g.ID, Connector: b.Connector, Method: b.Method, Args: b.Args, Value: s.Value, Error: s.Error, At: g.At,
		Class: b.Class, Approval: b.Approval, Attempts: g.Attempts, Position: b.Position,
		Revertable: b.Revertable, Source: g.Source,
	})
	return nil
}

// decide notes a decision once: a pass that came too late to count was given it before.
func (l *Log) decide(seq int, d Decision) {
	known := func(k Decision) bool {
		// an earlier version left them out at the end
		if len(k.EditedArgs) > InlineValueBytes && len(d.EditedArgs) == 0 {
			k.EditedArgs = nil
		}
		return reflect.DeepEqual(k, d)
	}
	if !slices.ContainsFunc(l.Decisions[seq], known) {
		l.Decisions[seq] = append(l.Decisions[seq], d)
		l.beside += d.Bytes()
	}
}

// Besides is about how many bytes the log holds beside the settled calls: console lines, arguments, decisions.
func (l *Log) Besides() int { return l.printed + l.beside }

// Add adds what a pass delivered and issued itself.
func (l *Log) Add(r PassResult) {
	for _, e := range r.Entries {
		if e.Timer {
			l.Order = append(l.Order, e)
		} else {
			l.settle(e)
		}
	}
	for _, b := range r.Blocked {
		if _, known := l.Blocked[b.Seq]; !known && l.Settled(b.Seq) {
			l.gated++
		}
		l.block(b)
	}
	l.lines = r.Lines
	l.addLines(r.Logs)
	if r.Pinned != nil {
		l.Pinned = r.Pinned
	}
	l.Nonce, l.Passes = r.Nonce, r.Pass
	r.Given, r.Entries, r.Blocked, r.Logs = nil, nil, nil, nil
	l.Last = r
}

func (l *Log) block(b Blocked) {
	if _, known := l.Blocked[b.Seq]; !known && !l.Settled(b.Seq) {
		l.beside += len(b.Args)
	}
	l.Blocked[b.Seq] = b
	l.acts(b)
	if b.Earlier != nil {
		l.take(b.Seq, b.Earlier.From)
	}
}

// settle appends, but a reexecute read that ran anew takes the place of its former result.
func (l *Log) settle(e Entry) {
	i, again := l.settled[e.ID]
	if again && e.Ephemeral {
		l.Order[i] = e
		return
	}
	if b, gated := l.Blocked[e.ID]; gated && !again {
		l.gated++
		l.beside -= len(b.Args)
	}
	l.settled[e.ID] = len(l.Order)
	l.Order = append(l.Order, e)
	l.carried(e.ID, e.CarriedFrom)
}

// Settled reports whether the call is in the log.
func (l *Log) Settled(seq int) bool {
	_, ok := l.settled[seq]
	return ok
}

// Counts are the calls so far: those that passes made themselves, and gated ones.
func (l *Log) Counts() (inline, gated int) {
	return len(l.settled) - l.gated, len(l.Blocked)
}

// Lines counts the console lines that the passes printed, dropped ones too.
func (l *Log) Lines() int { return l.lines }

// maxLogUnits bounds the console output that a record keeps.
const maxLogUnits = 500_000

// LogsDropped is the first console line of a record that could not keep all.
const LogsDropped = "[codemode: earlier console output dropped — too large to record]"

func (l *Log) addLines(lines []string) {
	l.Logs = append(l.Logs, lines...)
	for _, line := range lines {
		l.printed += len(line)
	}
	if l.printed <= maxLogUnits {
		return
	}
	for l.printed > maxLogUnits/2 && len(l.Logs) > 1 {
		l.printed -= len(l.Logs[0])
		l.Logs = l.Logs[1:]
	}
	l.Logs = append([]string{LogsDropped}, l.Logs...)
	l.printed += len(LogsDropped)
}

// Calls lists every call ever issued, in seq order: settled ones with their result, others as executing or, where
// approval is required and not given, pending.
func (l *Log) Calls() []Call {
	calls := make([]Call, 0, len(l.settled)+len(l.Blocked))
	for i, e := range l.Order {
		if !e.Internal() {
			call := l.settledCall(e)
			call.SettleOrder = i + 1
			calls = append(calls, call)
		}
	}
	for seq, b := range l.Blocked {
		if !l.Settled(seq) {
			calls = append(calls, l.openCall(b))
		}
	}
	sort.Slice(calls, func(i, j int) bool { return calls[i].Seq < calls[j].Seq })
	return calls
}

// UndoPlan lists what a rollback undoes, in its order; undone says when calls were undone before, by seq.
func (l *Log) UndoPlan(undone map[int]int64) []RevertTarget {
	calls := l.Calls()
	for i := range calls {
		calls[i].RevertedAt = undone[calls[i].Seq]
	}
	list := []RevertTarget{}
	for _, call := range UndoOrder(calls) {
		b, e := l.Blocked[call.Seq], l.Order[call.SettleOrder-1]
		t := RevertTarget{
			Seq: call.Seq, Connector: call.Connector, Method: call.Method, TimeoutMs: b.TimeoutMs, Queue: b.Queue,
			Source: e.Source, Origin: e.CarriedFrom,
		}
		if o, carried := l.Earlier.offer(e.CarriedFrom); carried {
			t.TimeoutMs, t.Queue = o.TimeoutMs, o.Queue
		}
		list = append(list, t)
	}
	return list
}

func (l *Log) settledCall(e Entry) Call {
	c := Call{
		Seq: e.ID, Connector: e.Connector, Method: e.Method, Args: e.Args, State: Applied, Class: e.Class,
		RequiresApproval: e.Approval, Ephemeral: e.Ephemeral, Attempts: e.Attempts, Position: e.Position,
		SettledAt:  e.At,
		Revertable: e.Revertable, CarriedFrom: e.CarriedFrom,
	}
	if !e.Ephemeral {
		c.Result = e.Value
	}
	if b, gated := l.Blocked[e.ID]; gated {
		c.ArgsDigest, c.CarriedFrom = Digest(e.Args), b.from()
	}
	if e.Error != nil {
		c.State, c.Error, c.ErrorName = Errored, e.Error.Message, e.Error.Name
	}
	if c.ErrorName == RejectedError {
		c.State, c.Ended = Reverted, CallRejected
	}
	return l.decided(c)
}

func (l *Log) openCall(b Blocked) Call {
	c := Call{
		Seq: b.Seq, Connector: b.Connector, Method: b.Method, Args: b.Args, State: Executing, Class: b.Class,
		RequiresApproval: b.Approval, Position: b.Position, ArgsDigest: Digest(b.Args), Revertable: b.Revertable,
		CarriedFrom: b.from(),
	}
	if b.Client || b.Earlier != nil && l.taken(b.Seq) == 0 || b.Approval && l.taken(b.Seq) < max(1, b.Approvals) {
		c.State = Pending
	}
	return l.decided(c)
}

// taken counts the decisions about a call that led to something.
func (l *Log) taken(seq int) int {
	n := 0
	for _, d := range l.Decisions[seq] {
		if !d.Void {
			n++
		}
	}
	return n
}

func (l *Log) decided(c Call) Call {
	for _, d := range l.Decisions[c.Seq] {
		if d.Void {
			continue
		}
		c.DecidedBy, c.AssertedBy, c.DecidedAt, c.Note = d.By, d.AssertedBy, d.At, d.Note
		if len(d.EditedArgs) > 0 || d.ArgsDigest == c.ArgsDigest {
			c.EditedArgs = d.EditedArgs
		}
	}
	if c.Decisions = l.Decisions[c.Seq]; len(c.EditedArgs) == 0 {
		c.EditedArgs = l.Edited[c.Seq]
	}
	return c
}

// End applies what the closing of an execution said of calls that never settled. It says nothing of those that only a
// pass which came too late to count has issued: they were never made.
func End(calls []Call, ended []EndedCall) {
	bySeq := map[int]EndedCall{}
	for _, e := range ended {
		bySeq[e.Seq] = e
	}
	for i := range calls {
		e, ok := bySeq[calls[i].Seq]
		if !ok {
			if calls[i].State == Executing || calls[i].State == Pending {
				calls[i].State, calls[i].Ended = Reverted, CallNotMade
			}
			continue
		}
		calls[i].State, calls[i].Ended = e.State, e.Ended
		if d := e.Decision; d != nil {
			calls[i].DecidedBy, calls[i].AssertedBy, calls[i].DecidedAt, calls[i].Note = d.By, d.AssertedBy,
				d.At, d.Note
			calls[i].Decisions = append(calls[i].Decisions, *d)
		}
		if e.Error != nil {
			calls[i].Error, calls[i].ErrorName = e.Error.Message, e.Error.Name
		}
	}
}

// ErrorText is the message of a failed program followed by its console output, as outcomes and records show it.
func ErrorText(message string, logs []string) string {
	if message == "" || len(logs) == 0 {
		return message
	}
	text := message + "\n\nConsole output:"
	for _, line := range logs {
		text += "\n" + line
	}
	return text
}

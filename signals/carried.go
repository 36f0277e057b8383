package signals

import (
	"encoding/json"
	"slices"
)

// A run of a workflow cannot grow for ever, an execution may. Before a limit of history its run continues as new: the
// workflow's own state goes with the next run's input (Carried), and the log is read from the run before by the next
// one's first activities, whose results hold it from then on (CarriedLog). So nothing needs earlier runs afterwards.

// CarryActivity answers with one part of the log of the run before.
const CarryActivity = "codemode.Carry"

// CarryActivityID names the activity of a part.
const CarryActivityID = "carry"

// Carried is the state of an execution at the end of a run that was not its last.
type Carried struct {
	// Run counts the runs, from 2. From is the id of the run before.
	Run       int    `json:"run"`
	From      string `json:"from"`
	StartedAt int64  `json:"startedAt"`

	Passes int     `json:"passes"`
	Nonce  string  `json:"nonce"`
	Pinned *Pinned `json:"pinned"`

	Inline        int `json:"inline,omitempty"`
	Gated         int `json:"gated,omitempty"`
	Effects       int `json:"effects,omitempty"`
	DecisionBytes int `json:"decisionBytes,omitempty"`

	Always map[string]Decision `json:"always,omitempty"`
	Open   []CarriedCall       `json:"open,omitempty"`
	// Given settled, and was decided, since the newest pass; values are in events of the run before. The next run's log
	// holds them.
	Given  []Given `json:"given,omitempty"`
	Timers []Timer `json:"timers,omitempty"`
	// Settled says that something has settled since the newest pass, in the run before or in one before that.
	Settled bool `json:"settled,omitempty"`

	// More says that the newest pass asks for the next one, Partial that it could not list all that it is blocked on.
	More    bool `json:"more,omitempty"`
	Partial bool `json:"partial,omitempty"`
	// Paused says that people have been told of the calls that wait for them.
	Paused bool `json:"paused,omitempty"`
	// Undoable says that a call of the runs before can be undone.
	Undoable    bool           `json:"undoable,omitempty"`
	PassEndTold int            `json:"passEndTold,omitempty"`
	Attributes  bool           `json:"attributes,omitempty"`
	Shown       Status         `json:"shown,omitempty"`
	Largest     map[string]int `json:"largest,omitempty"`
}

// CarriedCall is a gated call that has not settled. Its arguments are in the log.
type CarriedCall struct {
	Blocked     Blocked         `json:"blocked"`
	ArgsDigest  string          `json:"argsDigest"`
	Phase       string          `json:"phase"`
	RequestedAt int64           `json:"requestedAt"`
	EditedArgs  json.RawMessage `json:"editedArgs,omitempty"`
	Refused     string          `json:"refused,omitempty"`
	Scheduled   int             `json:"scheduled,omitempty"`
	Approvers   []string        `json:"approvers,omitempty"`
	Approved    bool            `json:"approved,omitempty"`
	Resolution  *Resolution     `json:"resolution,omitempty"`
	Interrupted *CallError      `json:"interrupted,omitempty"`
	Retried     bool            `json:"retried,omitempty"`
	Decisions   []Decision      `json:"decisions,omitempty"`
}

// CarryInput asks for a part of the log, from 0.
type CarryInput struct {
	ExecutionID string `json:"executionId"`
	Part        int    `json:"part"`
}

// CarriedLog is one of Parts parts of a log.
type CarriedLog struct {
	Part  int `json:"part"`
	Parts int `json:"parts"`
	// Bytes is what all parts take in history. Only the first part says it.
	Bytes int `json:"bytes,omitempty"`

	Entries []Entry `json:"entries,omitempty"`
	// Blocked are the gated calls among the entries, without their arguments, and those that have not settled.
	Blocked   []Blocked               `json:"blocked,omitempty"`
	Decisions map[int][]Decision      `json:"decisions,omitempty"`
	Edited    map[int]json.RawMessage `json:"edited,omitempty"`
	// Earlier is a part of what the execution was offered, and comes before all that it took of that.
	Earlier *EarlierPart `json:"earlier,omitempty"`

	// The last part has the rest.
	Nonce      string   `json:"nonce,omitempty"`
	Passes     int      `json:"passes,omitempty"`
	Pinned     *Pinned  `json:"pinned,omitempty"`
	Logs       []string `json:"logs,omitempty"`
	Lines      int      `json:"lines,omitempty"`
	HookErrors []string `json:"hookErrors,omitempty"`
}

// carriedPart is what a part holds in bytes, unless it holds a single entry.
const carriedPart = 1_200_000

// Carry splits the log into parts, each of which fits an event. It is the same for the same log.
func (l *Log) Carry() []CarriedLog {
	c := &carrier{parts: []CarriedLog{{}}}
	for _, part := range l.Earlier.parts() {
		if c.last().Earlier != nil {
			c.parts = append(c.parts, CarriedLog{})
		}
		c.last().Earlier = &part
		for _, o := range part.Offers {
			c.bytes += o.bytes()
		}
	}
	for _, e := range l.Order {
		c.entry(l, e)
	}
	for _, seq := range l.unsettled() {
		b := l.Blocked[seq]
		c.room(len(b.Args) + 300)
		c.last().Blocked = append(c.last().Blocked, b)
		c.decided(l, seq)
	}
	logs := 0
	for _, line := range l.Logs {
		logs += len(line)
	}
	c.room(logs)
	end := c.last()
	end.Nonce, end.Passes, end.Pinned = l.Nonce, l.Passes, l.Pinned
	end.Logs, end.Lines, end.HookErrors = l.Logs, l.lines, l.HookErrors
	for i := range c.parts {
		c.parts[i].Part, c.parts[i].Parts = i, len(c.parts)
	}
	return c.parts
}

func (l *Log) unsettled() []int {
	var seqs []int
	//workflowcheck:ignore sorted below
	for seq := range l.Blocked {
		if !l.Settled(seq) {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return seqs
}

type carrier struct {
	parts []CarriedLog
	bytes int // in the last of them
}

func (c *carrier) last() *CarriedLog { return &c.parts[len(c.parts)-1] }

// room begins another part where the last one has no room.
func (c *carrier) room(bytes int) {
	if c.bytes > 0 && c.bytes+bytes > carriedPart {
		c.parts, c.bytes = append(c.parts, CarriedLog{}), 0
	}
	c.bytes += bytes
}

func (c *carrier) entry(l *Log, e Entry) {
	const besides = 300
	e.Source = "" // an event of a run that is not needed any more
	edited := l.Edited[e.ID]
	c.room(len(e.Args) + len(e.Value) + len(edited) + besides)
	part := c.last()
	part.Entries = append(part.Entries, e)
	if e.Timer {
		return
	}
	if b, gated := l.Blocked[e.ID]; gated {
		b.Args = nil // the entry has them
		part.Blocked = append(part.Blocked, b)
	}
	if len(edited) > 0 {
		if part.Edited == nil {
			part.Edited = map[int]json.RawMessage{}
		}
		part.Edited[e.ID] = edited
	}
	c.decided(l, e.ID)
}

func (c *carrier) decided(l *Log, seq int) {
	if len(l.Decisions[seq]) == 0 {
		return
	}
	part := c.last()
	if part.Decisions == nil {
		part.Decisions = map[int][]Decision{}
	}
	part.Decisions[seq] = l.Decisions[seq]
	for _, d := range l.Decisions[seq] {
		c.bytes += d.Bytes()
	}
}

// Restore adds a part, in order, to a log that has nothing else yet.
func (l *Log) Restore(part CarriedLog) {
	if part.Earlier != nil {
		l.Offer(*part.Earlier)
	}
	for _, b := range part.Blocked {
		l.block(b)
	}
	for _, e := range part.Entries {
		if e.Timer {
			l.Order = append(l.Order, e)
			continue
		}
		l.settle(e)
		if b, gated := l.Blocked[e.ID]; gated {
			b.Args = e.Args
			l.Blocked[e.ID] = b
		}
	}
	//workflowcheck:ignore each goes to its own key
	for seq, decisions := range part.Decisions {
		l.Decisions[seq] = decisions
		for _, d := range decisions {
			l.beside += d.Bytes()
		}
	}
	//workflowcheck:ignore each goes to its own key
	for seq, args := range part.Edited {
		l.edit(seq, args)
	}
	if part.Part == part.Parts-1 {
		l.Nonce, l.Passes, l.Pinned = part.Nonce, part.Passes, part.Pinned
		l.HookErrors = part.HookErrors
		l.addLines(part.Logs)
		l.lines = part.Lines
	}
}

// edit notes what a call was made with where a person replaced its arguments.
func (l *Log) edit(seq int, args json.RawMessage) {
	if l.Edited == nil {
		l.Edited = map[int]json.RawMessage{}
	}
	l.Edited[seq] = args
}

// Edit notes, of the settled calls whose arguments somebody edited, what they were made with, as made tells.
func (l *Log) Edit(made func(seq int) json.RawMessage) {
	//workflowcheck:ignore each goes to its own key
	for seq, decisions := range l.Decisions {
		edited := func(d Decision) bool { return len(d.EditedArgs) > 0 || d.Shortened }
		if len(l.Edited[seq]) == 0 && slices.ContainsFunc(decisions, edited) {
			if args := made(seq); len(args) > 0 {
				l.edit(seq, args)
			}
		}
	}
}

package signals

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A corrected program may go on from an execution that has ended. What that one did is offered to it, call by call: the
// next execution's first activities read the offers, and its own history holds them from then on. A call that equals an
// offer takes it over, and is not made.

// ContinueActivity answers with one part of what an execution is offered by the one that it continues.
const ContinueActivity = "codemode.Continue"

// ContinueActivityID names the activity of a part.
const ContinueActivityID = "continue"

// Continues names an execution that has ended, from which a corrected program goes on.
type Continues struct {
	ExecutionID string `json:"executionId"`
	// Fresh makes all reads anew.
	Fresh bool `json:"fresh,omitempty"`
	// Approver says that whoever continues may decide about calls at the door, and so may see everybody's.
	Approver bool `json:"approver,omitempty"`
}

// CarriedFrom is the call of an earlier execution that another one took over: the one that was made, however many
// executions have carried it since.
type CarriedFrom struct {
	ExecutionID string `json:"executionId"`
	Seq         int    `json:"seq"`
}

// Offer is a call of an earlier execution that may be taken over.
type Offer struct {
	From      CarriedFrom     `json:"from"`
	Connector string          `json:"connector"`
	Method    string          `json:"method"`
	Args      json.RawMessage `json:"args,omitempty"`
	// Edited are the arguments that it was made with, where a person replaced the program's.
	Edited json.RawMessage `json:"edited,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	// Error is set of a call that may have taken effect, although nobody knows, and of one that did, but whose result
	// was too large. Other failed calls are not offered.
	Error      *CallError `json:"error,omitempty"`
	At         int64      `json:"at"`
	Class      Class      `json:"class,omitempty"`
	Approval   bool       `json:"approval,omitempty"`
	Revertable bool       `json:"revertable,omitempty"`
	Attempts   int        `json:"attempts,omitempty"`
	TimeoutMs  int64      `json:"timeoutMs,omitempty"`
	Queue      string     `json:"queue,omitempty"`
	Decisions  []Decision `json:"decisions,omitempty"`
	// Order is the place of the call in the order in which the earlier program saw its calls settle, from 1.
	Order int `json:"order,omitempty"`
}

// Effect reports whether the call changed something, or may have.
func (o Offer) Effect() bool { return o.Class != Read }

// Unknown reports whether nobody knows if the call took effect.
func (o Offer) Unknown() bool { return o.Error != nil && o.Error.Name == OutcomeUnknown }

// ContinueInput asks for a part of the offers, from 0. The later ones say whose they are, as the first did.
type ContinueInput struct {
	ExecutionID string    `json:"executionId"`
	Continues   Continues `json:"continues"`
	Caller      Caller    `json:"caller,omitzero"`
	Part        int       `json:"part"`
	Tip         string    `json:"tip,omitempty"`
	TipRun      string    `json:"tipRun,omitempty"`
}

// EarlierPart is one of Parts parts of what an execution is offered. Only the first says all.
type EarlierPart struct {
	Part  int `json:"part"`
	Parts int `json:"parts"`
	// Bytes is what all parts take in history.
	Bytes int `json:"bytes,omitempty"`
	// Tip is the execution that is continued: the one asked for, or the newest that has continued that one.
	Tip    string `json:"tip,omitempty"`
	TipRun string `json:"tipRun,omitempty"`
	// Seed and StartedAt are the earlier program's: what draws the same numbers at the same time asks for the same.
	Seed      string `json:"seed,omitempty"`
	StartedAt int64  `json:"startedAt,omitempty"`
	Fresh     bool   `json:"fresh,omitempty"`
	// Undone are offers that were undone before they could be taken.
	Undone []CarriedFrom `json:"undone,omitempty"`
	Offers []Offer       `json:"offers,omitempty"`
}

// OfferParts splits offers into parts, each of which fits an event. It is the same for the same offers.
func OfferParts(first EarlierPart, offers []Offer) []EarlierPart {
	parts, size := []EarlierPart{first}, 0
	for _, o := range offers {
		if size > 0 && size+o.bytes() > carriedPart {
			parts, size = append(parts, EarlierPart{}), 0
		}
		size += o.bytes()
		last := &parts[len(parts)-1]
		last.Offers = append(last.Offers, o)
	}
	for i := range parts {
		parts[i].Part, parts[i].Parts = i, len(parts)
	}
	return parts
}

// bytes is about what an offer takes.
func (o Offer) bytes() int {
	size := len(o.Args) + len(o.Edited) + len(o.Value) + 400
	for _, d := range o.Decisions {
		size += d.Bytes()
	}
	return size
}

// Earlier is what an execution was offered by the one that it continues, and what it took.
type Earlier struct {
	EarlierPart // without its offers
	Offers      []Offer

	at      map[CarriedFrom]int // index in Offers
	byCall  map[string][]int    // the same, by what equal calls have in common
	methods map[string]bool
	used    map[CarriedFrom]bool // was taken, or undone before it could be
	newest  int                  // of the effects that were taken; -1 before the first
	acted   bool                 // the program has caused an effect of its own
}

// Offer adds a part of the offers to a log that has no calls yet.
func (l *Log) Offer(part EarlierPart) {
	if l.Earlier == nil {
		l.Earlier = &Earlier{EarlierPart: part, at: map[CarriedFrom]int{}, byCall: map[string][]int{},
			methods: map[string]bool{}, used: map[CarriedFrom]bool{}, newest: -1}
		l.Earlier.EarlierPart.Offers = nil
		for _, undone := range part.Undone {
			l.Earlier.used[undone] = true
		}
	}
	for _, o := range part.Offers {
		l.Earlier.add(o)
	}
}

func (e *Earlier) add(o Offer) {
	i := len(e.Offers)
	e.Offers = append(e.Offers, o)
	e.at[o.From], e.methods[o.Connector+"."+o.Method] = i, true
	key := callKey(o.Connector, o.Method, o.Args)
	e.byCall[key] = append(e.byCall[key], i)
	if edited := callKey(o.Connector, o.Method, o.Edited); len(o.Edited) > 0 && edited != key {
		e.byCall[edited] = append(e.byCall[edited], i)
	}
}

// Bytes is about what the offers hold.
func (e *Earlier) Bytes() int {
	size := 0
	if e != nil {
		for _, o := range e.Offers {
			size += o.bytes()
		}
	}
	return size
}

// parts are the offers as another run is given them.
func (e *Earlier) parts() []EarlierPart {
	if e == nil {
		return nil
	}
	return OfferParts(e.EarlierPart, e.Offers)
}

func (e *Earlier) offer(from *CarriedFrom) (Offer, bool) {
	if e == nil || from == nil {
		return Offer{}, false
	}
	i, ok := e.at[*from]
	if !ok {
		return Offer{}, false
	}
	return e.Offers[i], true
}

// take notes that a call took an offer over.
func (l *Log) take(seq int, from CarriedFrom) {
	o, ok := l.Earlier.offer(&from)
	if !ok {
		return
	}
	if l.Earlier.used[o.From] = true; o.Effect() {
		l.Earlier.newest = max(l.Earlier.newest, l.Earlier.at[from])
	}
	if len(o.Edited) > 0 {
		l.edit(seq, o.Edited)
	}
}

// carried notes that a settled call took an offer over: what people decided about the offer belongs to its record.
func (l *Log) carried(seq int, from *CarriedFrom) {
	o, ok := l.Earlier.offer(from)
	if !ok {
		return
	}
	l.take(seq, o.From)
	if len(l.Decisions[seq]) == 0 && len(o.Decisions) > 0 {
		l.Decisions[seq] = slices.Clone(o.Decisions)
	}
}

// Unused are the offers that no call has taken, without those that were undone.
func (l *Log) Unused() []Offer {
	var list []Offer
	if l.Earlier == nil {
		return nil
	}
	for _, o := range l.Earlier.Offers {
		if !l.Earlier.used[o.From] {
			list = append(list, o)
		}
	}
	return list
}

// LeftOver is an effect of an earlier execution that the program which continues it did not ask for.
type LeftOver struct {
	CarriedFrom
	Connector  string          `json:"connector"`
	Method     string          `json:"method"`
	Args       json.RawMessage `json:"args,omitempty"`
	Revertable bool            `json:"revertable,omitempty"`
	// Error is set where nobody knows whether the call took effect.
	Error string `json:"error,omitempty"`
	// Omitted says that args are left out here for their size; the record of the earlier execution has them.
	Omitted bool `json:"omitted,omitempty"`
}

// maxLeftOverArgs is how many bytes of the arguments of an effect are told.
const maxLeftOverArgs = 1024

// LeftOver tells an offer as an effect that nobody asked for.
func (o Offer) LeftOver() LeftOver {
	l := LeftOver{CarriedFrom: o.From, Connector: o.Connector, Method: o.Method, Revertable: o.Revertable}
	l.Args = o.Args
	if len(o.Edited) > 0 {
		l.Args = o.Edited
	}
	if l.Omitted = len(l.Args) > maxLeftOverArgs; l.Omitted {
		l.Args = nil
	}
	if o.Error != nil {
		l.Error, l.Revertable = Cut(o.Error.Message, maxLeftOverArgs), false
	}
	return l
}

// LeftOver lists the effects of the earlier execution that this one has not asked for.
func (l *Log) LeftOver() []LeftOver {
	var list []LeftOver
	for _, o := range l.Unused() {
		if o.Effect() {
			list = append(list, o.LeftOver())
		}
	}
	return list
}

// Shelf hands the offers out to the calls of one pass: each once, to equal calls in their order.
type Shelf struct {
	earlier *Earlier
	used    map[int]bool
	taken   map[int]int // offer by seq of the call that took it in this pass
	oldest  int64       // a read that settled before is made anew
	// newest is the last of the effects that were taken over, in the order in which the earlier program issued them;
	// acted says that the program has caused an effect of its own. What was read before either is no longer so.
	newest int
	acted  bool
}

// Shelf is that of the pass after the log; nil where nothing is offered. Reads may be so old.
func (l *Log) Shelf(now time.Time, reads time.Duration) *Shelf {
	if l.Earlier == nil || len(l.Earlier.Offers) == 0 {
		return nil
	}
	return &Shelf{earlier: l.Earlier, used: map[int]bool{}, taken: map[int]int{}, oldest: now.Add(-reads).UnixMilli(),
		newest: l.Earlier.newest, acted: l.Earlier.acted}
}

// callKey is equal for calls that are: of connector, method and canonical arguments.
func callKey(connector, method string, args json.RawMessage) string {
	canonical, err := Canonical(args)
	if err != nil {
		canonical = args
	}
	return fmt.Sprintf("%q %q %s", connector, method, canonical)
}

func (s *Shelf) use(i int) {
	s.used[i] = true
	if s.earlier.Offers[i].Effect() {
		s.newest = max(s.newest, i)
	}
}

// Has reports whether calls of a method are offered at all.
func (s *Shelf) Has(connector, method string) bool {
	return s != nil && s.earlier.methods[connector+"."+method]
}

// Take finds the offer for a call that the program issues now; ok is false where the call has to be made. The same call
// gets the same offer again. What was read is offered only where reads are.
func (s *Shelf) Take(seq int, connector, method string, args json.RawMessage, reads bool) (o Offer, ok bool) {
	if s == nil || !s.Has(connector, method) {
		return o, false
	}
	candidates := s.earlier.byCall[callKey(connector, method, args)]
	if i, again := s.taken[seq]; again {
		if slices.Contains(candidates, i) {
			return s.earlier.Offers[i], true
		}
		delete(s.used, i)
		delete(s.taken, seq)
	}
	for _, i := range candidates {
		if !s.used[i] && !s.earlier.used[s.earlier.Offers[i].From] && s.stands(i, reads) {
			s.taken[seq] = i
			s.use(i)
			return s.earlier.Offers[i], true
		}
	}
	return o, false
}

// stands reports whether what an offer says still holds: effects do, reads while they are young and nothing has
// happened to the program since that came later in the earlier one.
func (s *Shelf) stands(i int, reads bool) bool {
	o := s.earlier.Offers[i]
	return o.Effect() || reads && !s.earlier.Fresh && !s.acted && o.At >= s.oldest && i > s.newest
}

// Acts notes that the program causes an effect of its own.
func (s *Shelf) Acts() {
	if s != nil {
		s.acted = true
	}
}

// Taken is the offer that a call of this pass took over; nil if it did not.
func (s *Shelf) Taken(seq int) *Offer {
	if s == nil {
		return nil
	}
	if i, ok := s.taken[seq]; ok {
		return &s.earlier.Offers[i]
	}
	return nil
}

// OffersOf are what a closed execution offers to the next: its calls, as its record has them at the end, and what it
// was itself offered and did not take. known tells of calls with an error whether they took effect all the same.
func (l *Log) OffersOf(executionID string, calls []Call, known func(Call) *CallError) []Offer {
	var list []Offer
	for _, c := range calls {
		if o, ok := l.offerOf(executionID, c, known); ok {
			list = append(list, o)
		}
	}
	order := len(l.Order)
	for _, o := range l.Unused() {
		o.Order += order
		list = append(list, o)
	}
	return list
}

// maxOfferedDecision is how many bytes of a decision go with an offer; longer ones are shortened.
const maxOfferedDecision = 2048

func (l *Log) offerOf(executionID string, c Call, known func(Call) *CallError) (o Offer, ok bool) {
	if c.Connector == StepConnector || c.Ephemeral || c.Class == "" {
		return o, false
	}
	b := l.Blocked[c.Seq]
	o = Offer{
		From: CarriedFrom{ExecutionID: executionID, Seq: c.Seq}, Connector: c.Connector, Method: c.Method,
		Args: c.Args, Edited: c.EditedArgs, Value: c.Result, At: c.SettledAt, Class: c.Class,
		Approval: c.RequiresApproval, Revertable: c.Revertable, Attempts: c.Attempts, TimeoutMs: b.TimeoutMs,
		Queue: b.Queue, Order: cmp.Or(c.SettleOrder, len(l.Order)+1),
	}
	for _, d := range c.Decisions {
		if d.Bytes() > maxOfferedDecision {
			d = d.Short()
		}
		o.Decisions = append(o.Decisions, d)
	}
	if earlier, carried := l.Earlier.offer(c.CarriedFrom); carried && b.Earlier == nil {
		o.From, o.TimeoutMs, o.Queue = earlier.From, earlier.TimeoutMs, earlier.Queue
	}
	if c.State == Applied {
		return o, true
	}
	o.Error = known(c)
	return o, o.Error != nil && o.Effect()
}

// acts notes that the program issued a call of its own that has an effect.
func (l *Log) acts(b Blocked) {
	if l.Earlier != nil && b.Class != Read && b.Earlier == nil {
		l.Earlier.acted = true
	}
}

func (b Blocked) from() *CarriedFrom {
	if b.Earlier == nil {
		return nil
	}
	return &b.Earlier.From
}

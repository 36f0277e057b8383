package signals

import (
	"encoding/json"
	"errors"
	"fmt"
)

// What a pending call waits for beside approval.
const (
	// ByClient is the resolution of a call that is never made by us.
	ByClient = "client"
	// ReasonUnknown is why a call is pending that was interrupted while it ran.
	ReasonUnknown = "outcome unknown"
)

// Message is a decision as clients send it: an Approve, Reject, Retry or Resolve.
type Message interface {
	// Signal names the signal and update that carries it.
	Signal() string
	// Check refuses what could never apply, whatever the state of the execution.
	Check() error
	// Each lists the decisions of the message: itself, or those in its field decisions.
	Each() []Message
	// Request is its RequestID.
	Request() string
}

// Retry makes a call again whose outcome is unknown, with the same idempotency key.
type Retry struct {
	Seq int `json:"seq"`
	// By is a claim, AssertedBy is who the front door authenticated.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	Note       string `json:"note,omitempty"`
	Decisions  Mixed  `json:"decisions,omitempty"`
	// RequestID is as in Approve.
	RequestID string `json:"requestId,omitempty"`
}

// Resolve gives the result of a call that clients resolve, or whose outcome is unknown. A missing result is undefined.
type Resolve struct {
	Seq    int             `json:"seq"`
	Result json.RawMessage `json:"result,omitempty"`
	// By is a claim, AssertedBy is who the front door authenticated.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	Note       string `json:"note,omitempty"`
	Decisions  Mixed  `json:"decisions,omitempty"`
	// RequestID is as in Approve.
	RequestID string `json:"requestId,omitempty"`
}

// Mixed are several decisions in one message, of whatever kind; either all apply or none. A message that has them has
// nothing else.
type Mixed []OneDecision

// OneDecision is one of several: exactly one field is set.
type OneDecision struct {
	Approve *Approve `json:"approve,omitempty"`
	Reject  *Reject  `json:"reject,omitempty"`
	Retry   *Retry   `json:"retry,omitempty"`
	Resolve *Resolve `json:"resolve,omitempty"`
}

// Signal names the signal and update that carries it.
func (a Approve) Signal() string { return SignalApprove }

// Signal names the signal and update that carries it.
func (r Reject) Signal() string { return SignalReject }

// Signal names the signal and update that carries it.
func (r Retry) Signal() string { return SignalRetry }

// Signal names the signal and update that carries it.
func (r Resolve) Signal() string { return SignalResolve }

// Each lists the decisions of the message.
func (a Approve) Each() []Message { return a.Decisions.or(a) }

// Each lists the decisions of the message.
func (r Reject) Each() []Message { return r.Decisions.or(r) }

// Each lists the decisions of the message.
func (r Retry) Each() []Message { return r.Decisions.or(r) }

// Each lists the decisions of the message.
func (r Resolve) Each() []Message { return r.Decisions.or(r) }

// Request is the message's RequestID.
func (a Approve) Request() string { return a.RequestID }

// Request is the message's RequestID.
func (r Reject) Request() string { return r.RequestID }

// Request is the message's RequestID.
func (r Retry) Request() string { return r.RequestID }

// Request is the message's RequestID.
func (r Resolve) Request() string { return r.RequestID }

func (m Mixed) or(self Message) []Message {
	if len(m) == 0 {
		return []Message{self}
	}
	var list []Message
	for _, d := range m {
		list = append(list, d.messages()...)
	}
	return list
}

func (d OneDecision) messages() []Message {
	var list []Message
	if d.Approve != nil {
		list = append(list, *d.Approve)
	}
	if d.Reject != nil {
		list = append(list, *d.Reject)
	}
	if d.Retry != nil {
		list = append(list, *d.Retry)
	}
	if d.Resolve != nil {
		list = append(list, *d.Resolve)
	}
	return list
}

// maxMixed bounds the decisions in one message.
const maxMixed = 1000

// check refuses nesting, and two decisions about one call.
func (m Mixed) check() error {
	if len(m) > maxMixed {
		return fmt.Errorf("%d decisions are too many for one message: %d is the most", len(m), maxMixed)
	}
	seen := map[int]bool{}
	for i, d := range m {
		list := d.messages()
		if len(list) != 1 {
			return fmt.Errorf("decision %d of the message must be one of approve, reject, retry and resolve", i+1)
		}
		if err := list[0].Check(); err != nil {
			return fmt.Errorf("decision %d of the message: %w", i+1, err)
		}
		if err := d.checkAmong(seen); err != nil {
			return fmt.Errorf("decision %d of the message: %w", i+1, err)
		}
	}
	return nil
}

func (d OneDecision) checkAmong(seen map[int]bool) error {
	var seqs []int
	switch {
	case d.Approve != nil:
		seqs = d.Approve.Seqs
	case d.Reject != nil && d.Reject.Seq != nil:
		seqs = []int{*d.Reject.Seq}
	case d.Retry != nil:
		seqs = []int{d.Retry.Seq}
	case d.Resolve != nil:
		seqs = []int{d.Resolve.Seq}
	}
	if len(seqs) == 0 {
		return errors.New("it must say the seq of the call")
	}
	for _, seq := range seqs {
		if seen[seq] {
			return fmt.Errorf("call %d is decided twice", seq)
		}
		seen[seq] = true
	}
	if len(d.messages()[0].Each()) != 1 || len(d.nested()) > 0 {
		return errors.New("it cannot hold decisions itself")
	}
	return nil
}

func (d OneDecision) nested() Mixed {
	switch {
	case d.Approve != nil:
		return d.Approve.Decisions
	case d.Reject != nil:
		return d.Reject.Decisions
	case d.Retry != nil:
		return d.Retry.Decisions
	}
	return d.Resolve.Decisions
}

// Check refuses what could never apply, whatever the state of the execution.
func (r Retry) Check() error {
	if len(r.Decisions) > 0 {
		return r.Decisions.check()
	}
	if r.Seq < 0 {
		return fmt.Errorf("seq %d is negative: seqs count from 0", r.Seq)
	}
	return checkTexts(r.By, r.AssertedBy, r.Note)
}

// Check refuses what could never apply, whatever the state of the execution.
func (r Resolve) Check() error {
	if len(r.Decisions) > 0 {
		return r.Decisions.check()
	}
	if r.Seq < 0 {
		return fmt.Errorf("seq %d is negative: seqs count from 0", r.Seq)
	}
	if len(r.Result) > 0 && !json.Valid(r.Result) {
		return errors.New("result is not valid JSON")
	}
	if message := CheckSize("The result", r.Result); message != "" {
		return errors.New(message)
	}
	return checkTexts(r.By, r.AssertedBy, r.Note)
}

package signals

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Approve lets pending calls run. Without seqs it covers every call that was pending in the newest outcome. All fields
// but the sender's own are optional.
type Approve struct {
	Seqs []int `json:"seqs,omitempty"`
	// Args replace the arguments that the program issued, for exactly one call.
	Args json.RawMessage `json:"args,omitempty"`
	// ArgsDigest must be that of the pending action; anything else is refused as stale. For exactly one call.
	ArgsDigest string `json:"argsDigest,omitempty"`
	// By is who says to decide: a claim. AssertedBy is who the front door authenticated, where it did.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	// AssertedGroups are those groups of that person which the call's rule asks for, AssertedSubject is the digest of
	// who it is at the provider. Doors send them for calls that have such a rule.
	AssertedGroups  []string `json:"assertedGroups,omitempty"`
	AssertedSubject string   `json:"assertedSubject,omitempty"`
	Note            string   `json:"note,omitempty"`
	// AsOf is the pass number of the outcome that was looked at; if given it must be the newest.
	AsOf int `json:"asOf,omitempty"`
	// Always approves the method for the rest of the execution: what else waits for the same is let go too.
	Always bool `json:"always,omitempty"`
	// Decisions are several in one message, of whatever kind; all else is left out then.
	Decisions Mixed `json:"decisions,omitempty"`
	// RequestID lets the sender of a signal ask for its verdict, which the query of that name tells.
	RequestID string `json:"requestId,omitempty"`
}

// Reject refuses a pending call: it ends the execution, or with Continue throws a RejectedError into the program there.
// Without seq it stands for the only pending call.
type Reject struct {
	Seq      *int   `json:"seq,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Continue bool   `json:"continue,omitempty"`
	// All ends the execution whether or not anything is pending.
	All bool `json:"all,omitempty"`
	// By is a claim, AssertedBy is who the front door authenticated.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	Decisions  Mixed  `json:"decisions,omitempty"`
	// RequestID is as in Approve.
	RequestID string `json:"requestId,omitempty"`
}

// Expire ends a paused execution, as its time limit would.
type Expire struct {
	// Before is the time, in epoch milliseconds, since which it must have been paused; 0 takes any paused one.
	Before int64 `json:"before,omitempty"`
	// RequestID is as in Approve.
	RequestID string `json:"requestId,omitempty"`
}

// Cancellation says who cancels an execution, and why, for the record. It is no message: Temporal's own request to
// cancel carries it.
type Cancellation struct {
	// By is a claim, AssertedBy is who the front door authenticated.
	By         string `json:"by,omitempty"`
	AssertedBy string `json:"assertedBy,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// Verdict is the answer to a decision sent as an update.
type Verdict struct {
	Accepted bool `json:"accepted"`
	// Error says why nothing was changed.
	Error string `json:"error,omitempty"`
	Seqs  []int  `json:"seqs,omitempty"`
	// Pass is the one to wait after for the outcome that follows the decision.
	Pass int `json:"pass"`
	// Status is the execution's when the decision was taken.
	Status Status `json:"status,omitempty"`
	// Invalid says that edited arguments or a given result do not match their schema, so that nothing was sent.
	Invalid bool `json:"invalid,omitempty"`
}

// VerdictOf asks the verdict query what became of a decision that was sent as a signal.
type VerdictOf struct {
	RequestID string `json:"requestId"`
}

// Wait asks for the next outcome after a pass; 0 asks for any.
type Wait struct {
	After int `json:"after,omitempty"`
}

// Page asks the state query for calls from Offset on, at most Limit (0: 1000).
type Page struct {
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
}

// Most that a decision may carry in a free text, and in an identity, in bytes.
const (
	maxText     = 4096
	maxIdentity = 256
)

// Check refuses what could never apply, whatever the state of the execution.
func (a Approve) Check() error {
	if len(a.Decisions) > 0 {
		return a.Decisions.check()
	}
	if a.Always && len(a.Args) > 0 {
		return errors.New("always approves the arguments that the program issues: it does not go with edited ones")
	}
	if len(a.Args) > 0 && len(a.Seqs) > 1 {
		return errors.New("args can only be edited for one call: send one seq with them")
	}
	if a.ArgsDigest != "" && len(a.Seqs) > 1 {
		return errors.New("argsDigest belongs to one call: send one seq with it")
	}
	for _, seq := range a.Seqs {
		if seq < 0 {
			return fmt.Errorf("seq %d is negative: seqs count from 0", seq)
		}
	}
	if len(a.Args) > 0 {
		if !json.Valid(a.Args) {
			return errors.New("args is not valid JSON")
		}
		if message := CheckSize("The edited arguments", a.Args); message != "" {
			return errors.New(message)
		}
	}
	for _, name := range append(slices.Clone(a.AssertedGroups), a.AssertedSubject) {
		if err := checkTexts(name, ""); err != nil {
			return err
		}
	}
	return checkTexts(a.By, a.AssertedBy, a.Note, a.ArgsDigest)
}

// Check refuses what could never apply, whatever the state of the execution.
func (r Reject) Check() error {
	if len(r.Decisions) > 0 {
		return r.Decisions.check()
	}
	if r.Seq != nil && *r.Seq < 0 {
		return fmt.Errorf("seq %d is negative: seqs count from 0", *r.Seq)
	}
	if r.All && (r.Seq != nil || r.Continue) {
		return errors.New("all ends the execution: it goes with neither seq nor continue")
	}
	return checkTexts(r.By, r.AssertedBy, r.Reason)
}

func checkTexts(by, assertedBy string, texts ...string) error {
	for _, name := range []string{by, assertedBy} {
		if len(name) > maxIdentity {
			return fmt.Errorf("a name of %d bytes is too long for a decision: %d is the most", len(name), maxIdentity)
		}
		if strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("the name %q has control characters", name)
		}
	}
	for _, t := range texts {
		if len(t) > maxText {
			return fmt.Errorf("a text of %d bytes is too long for a decision: %d is the most", len(t), maxText)
		}
	}
	return nil
}

// Decision is one taken decision about one call, as history keeps it for the audit record.
type Decision struct {
	// Kind is the name of the signal: approve, reject, retry, resolve, rollback or expire; or cancel.
	Kind       string          `json:"kind,omitempty"`
	Approved   bool            `json:"approved"`
	By         string          `json:"by,omitempty"`
	AssertedBy string          `json:"assertedBy,omitempty"`
	At         int64           `json:"at"`
	Note       string          `json:"note,omitempty"`
	EditedArgs json.RawMessage `json:"editedArgs,omitempty"`
	// ArgsDigest names the arguments that were asked about; what was approved with EditedArgs ran with those.
	ArgsDigest string `json:"argsDigest,omitempty"`
	// Always: the method was approved for the rest of the execution. Remembered: by an earlier decision that said so.
	Always     bool `json:"always,omitempty"`
	Remembered bool `json:"remembered,omitempty"`
	// Void says that the decision led to nothing: it reached a worker without the execution's connectors, and the call
	// waits again.
	Void bool `json:"void,omitempty"`
	// Shortened says that there were so many or so large decisions that this one's note is cut, and its edited
	// arguments are left out where they are large. The signal or update that brought it has the whole.
	Shortened bool `json:"shortened,omitempty"`
}

// Bytes is what the decision takes in history.
func (d Decision) Bytes() int {
	text, _ := Marshal(d)
	return len(text)
}

// Short is the decision where there is no room for all of it.
func (d Decision) Short() Decision {
	d.Shortened, d.Note = true, Cut(d.Note, 64)
	if len(d.EditedArgs) > 64 {
		d.EditedArgs = nil
	}
	return d
}

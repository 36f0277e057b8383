package ledger

import "encoding/json"

// Entry is one call that reached the ledger.
type Entry struct {
	At        int64  `json:"at"` // epoch milliseconds
	Execution string `json:"execution"`
	// Key is the idempotency key; reads have none.
	Key    string          `json:"key,omitempty"`
	Method string          `json:"method"` // <connector>.<method>
	Class  string          `json:"class"`
	Args   json.RawMessage `json:"args"`
	// Caller is the process that made the call.
	Caller int `json:"caller"`
	// Refusal says why there was no effect.
	Refusal string `json:"refusal,omitempty"`
	// Result is what the call was answered, or would have been, had its caller lived.
	Result json.RawMessage `json:"result,omitempty"`
}

// Args is what the generated programs pass. Tag tells the calls of one execution apart.
type Args struct {
	Tag string `json:"tag"`
	// Fails asks the ledger to refuse that many attempts, to be tried again.
	Fails int `json:"fails,omitempty"`
	// Broken asks it to refuse for good.
	Broken bool `json:"broken,omitempty"`
	// Edited marks arguments that a person changed.
	Edited bool `json:"edited,omitempty"`
}

// Refusals.
const (
	TryAgain = "try again"
	Broken   = "broken"
)

// Trap kills the caller of an execution's call number At, before or after the effect is written down.
type Trap struct {
	Execution string `json:"execution"`
	At        int    `json:"at"`
	After     bool   `json:"after"`
}

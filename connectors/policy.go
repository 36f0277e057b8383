package connectors

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

// Policy is what a [Method] or a [Rule] says of how calls are decided and
// repeated. Its zero value says nothing.
type Policy struct {
	// Approvals is how many different people must approve a call. A method or
	// rule that says so requires approval, unless it also says which calls do
	// ([Method.ApprovalFor]). Zero: one, where approval is required.
	Approvals int
	// Approvers says who may approve. A method or rule that says so requires
	// approval, as with Approvals. Nil: everybody who may decide at a door.
	Approvers *signals.ApproverRule
	// ApprovalNames are the names that [Method.ApprovalFor] looks for in arguments,
	// at any depth. Keys that differ from one of them only in case are refused, as
	// are those that differ so from a property of the input schema.
	ApprovalNames []string
	// AllowAdditional lets arguments through that neither the input schema nor
	// ApprovalNames name, where ApprovalFor decides. Otherwise they are refused,
	// unless the method declares no schema at all.
	AllowAdditional bool
	// ResolvedByClient makes a method that is never executed: each call waits
	// until a client gives its result, which must match the output schema. It
	// needs no Execute, and no approval.
	ResolvedByClient bool
	// AskWhenUnknown leaves a call whose outcome is unknown to a person, instead
	// of failing it.
	AskWhenUnknown bool
	// Preflight is what follows from mistakes about the method that are found before a program runs. Empty: what the
	// runtime says.
	Preflight signals.PreflightMode
	// NoLearning keeps workers from learning what results look like.
	NoLearning bool
	// Retry bounds the attempts of a call that fails with a [*RetryableError].
	Retry RetryLimits
}

// RetryLimits bound the attempts of a call.
type RetryLimits struct {
	// Attempts in all, the first included. Zero: 3.
	Attempts int
	// Backoff is the first pause, doubled each time, where the error names none. Zero: 1 s.
	Backoff time.Duration
	// MaxBackoff bounds it. Zero: 30 s.
	MaxBackoff time.Duration
}

// over lays what a rule says over what the method says.
func (p Policy) over(m Policy) Policy {
	if p.Approvals > 0 {
		m.Approvals = p.Approvals
	}
	if p.Approvers != nil {
		m.Approvers = p.Approvers
	}
	if len(p.ApprovalNames) > 0 {
		m.ApprovalNames = p.ApprovalNames
	}
	m.AllowAdditional = m.AllowAdditional || p.AllowAdditional
	m.ResolvedByClient = m.ResolvedByClient || p.ResolvedByClient
	m.AskWhenUnknown = m.AskWhenUnknown || p.AskWhenUnknown
	m.Preflight = cmp.Or(p.Preflight, m.Preflight)
	m.NoLearning = m.NoLearning || p.NoLearning
	if p.Retry != (RetryLimits{}) {
		m.Retry = p.Retry
	}
	return m
}

// MaxAttempts is the most that retries may be set to.
const MaxAttempts = 100

// check refuses what cannot be meant.
func (p Policy) check(what string) error {
	switch {
	case p.Approvals < 0:
		return fmt.Errorf("%s asks for %d approvals", what, p.Approvals)
	case p.Approvers != nil && !p.Approvers.NotRequester && len(p.Approvers.Groups) == 0:
		return fmt.Errorf("%s restricts approvers, but names neither notRequester nor groups", what)
	case p.Retry.Attempts < 0 || p.Retry.Attempts > MaxAttempts:
		return fmt.Errorf("%s asks for %d attempts — use 1 to %d", what, p.Retry.Attempts, MaxAttempts)
	case p.Retry.Backoff < 0 || p.Retry.MaxBackoff < 0:
		return fmt.Errorf("%s asks for a negative pause between attempts", what)
	}
	return nil
}

// RetryPolicy decides what follows a failed attempt of a call that the workflow
// makes. It is asked in the worker, after each attempt but those of writes whose
// outcome is unknown, which are never repeated. A policy that panics, or asks
// for what [RetryDecision] does not allow, ends the call.
type RetryPolicy func(ctx context.Context, f FailedAttempt) RetryDecision

// FailedAttempt is what a [RetryPolicy] decides about.
type FailedAttempt struct {
	ExecutionID, Connector, Method string

	Seq   int
	Class Class
	// Attempt counts from 1.
	Attempt int
	Err     error
	// Unknown says that the call may have taken effect, as after a timeout. Such a call is idempotent or a read.
	Unknown bool
	// Retryable says that without a policy the call would be made again.
	Retryable bool
}

// RetryDecision is what a [RetryPolicy] wants.
type RetryDecision struct {
	Retry bool
	// After is the pause before the next attempt. Zero: the method's backoff.
	After time.Duration
	// Attempts bounds the attempts in all, at most [MaxAttempts]. Zero: the method's.
	Attempts int
}

// Check refuses what a policy may not ask for.
func (d RetryDecision) Check() error {
	if d.Attempts < 0 || d.Attempts > MaxAttempts {
		return fmt.Errorf("the retry policy asked for %d attempts: 1 to %d are allowed", d.Attempts, MaxAttempts)
	}
	if d.After < 0 {
		return fmt.Errorf("the retry policy asked for a pause of %v", d.After)
	}
	return nil
}

// ValidateResult checks a result that a client gave, as wire JSON, against the
// output schema; undefined counts as null.
func (b *Bound) ValidateResult(result json.RawMessage) error {
	schema, err := validate.Compile(b.OutputSchema)
	if schema == nil || err != nil {
		return nil
	}
	plain := json.RawMessage("null")
	if len(result) > 0 {
		if plain, err = wire.Plain(result); err != nil {
			return fmt.Errorf("invalid result for %s: it is %w", b.Path(), err)
		}
	}
	problems := validate.Problems(schema, plain)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("invalid result for %s: %s", b.Path(),
		strings.Join(problems[:min(len(problems), validate.MaxProblems)], "; "))
}

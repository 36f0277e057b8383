package connectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/temporal-codemode/codemode/connectors/wire"
	"github.com/temporal-codemode/codemode/internal/validate"
	"github.com/temporal-codemode/codemode/signals"
)

// Bound is a method of a [Set]: its connector, and the method with the rules
// applied. Its Class is never empty.
type Bound struct {
	Connector string
	Method
	// Rule is the pattern of the rule that was applied, empty when none was.
	Rule string

	original string // the name before any rename
	limit    *limiter
	// revertReads says that a rule makes the undoing call from the arguments of this one.
	revertReads bool
	compile     func() (*validate.Compiled, error)
	undoing     func(args, result json.RawMessage) (*Bound, json.RawMessage, error) // nil where no rule names one
}

// bind leaves the schema for later: a large catalogue is rarely used as a whole.
func bind(connector, original string, m Method) *Bound {
	b := &Bound{Connector: connector, Method: m, original: original}
	b.compile = sync.OnceValues(func() (*validate.Compiled, error) {
		if m.Arguments != nil {
			return validate.Compile(m.Arguments())
		}
		return validate.Compile(m.InputSchema)
	})
	return b
}

// Original is the method's name before any rename, by which a [RevertRule] names it.
func (b *Bound) Original() string { return b.original }

// Path is the method as programs write it, such as "store.get_item".
func (b *Bound) Path() string { return b.Connector + "." + b.Method.Name }

// SchemaError says why the input schema cannot be used; the method then takes any argument.
func (b *Bound) SchemaError() error {
	_, err := b.compile()
	return err
}

// Validate checks arguments, given as wire JSON, against the input schema in
// their plain form; absent arguments count as {}. It refuses repeated keys, and
// where [Method.ApprovalFor] looks at the arguments, keys that could be taken for
// others. Its error is an [*InvalidArgumentsError].
func (b *Bound) Validate(args json.RawMessage) error {
	plain, err := wire.Arguments(args)
	if err != nil {
		return b.invalid([]string{"arguments are " + err.Error()})
	}
	if problems := b.checkKeys(plain); len(problems) > 0 {
		return b.invalid(problems)
	}
	schema, err := b.compile()
	if schema == nil || err != nil {
		if problem := validate.Shape(plain); problem != "" { // rules and connectors read it, too
			return b.invalid([]string{problem})
		}
		return nil
	}
	if problems := validate.Problems(schema, plain); len(problems) > 0 {
		return b.invalid(problems)
	}
	return nil
}

func (b *Bound) invalid(problems []string) error {
	shown := problems[:min(len(problems), validate.MaxProblems)]
	return &InvalidArgumentsError{
		Connector: b.Connector, Method: b.Method.Name,
		Problems: shown, More: len(problems) - len(shown),
	}
}

// MayNeedApproval tells whether any call of the method may have to be approved.
func (b *Bound) MayNeedApproval() bool {
	return !b.ResolvedByClient && (b.RequiresApproval || b.ApprovalFor != nil)
}

// NeedsApproval decides about one call of an execution of which asked tells, its arguments given as wire JSON. When
// that fails the answer is true beside the error.
func (b *Bound) NeedsApproval(asked Asked, args json.RawMessage) (needed bool, err error) {
	if b.ResolvedByClient {
		return false, nil // nothing is done here
	}
	if b.ApprovalFor == nil {
		return b.RequiresApproval, nil
	}
	defer func() {
		if r := recover(); r != nil {
			needed, err = true, b.approvalError(b.panicked(r))
		}
	}()
	plain, err := wire.Arguments(args)
	if err != nil {
		return true, b.approvalError(err)
	}
	if needed, err = b.ApprovalFor(asked, plain); err != nil {
		return true, b.approvalError(err)
	}
	return needed, nil
}

func (b *Bound) approvalError(err error) error {
	return fmt.Errorf("cannot tell whether this call of %s needs approval: %w", b.Path(), err)
}

// Invoke does one attempt of a call and gives its result as wire JSON, nil for
// undefined. A panic, and a context that ended while the method ran, are an
// [*OutcomeUnknownError]. It waits for the limits of its rule, and neither
// validates nor applies the timeout.
func (b *Bound) Invoke(ctx Context, args json.RawMessage) (result json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, &OutcomeUnknownError{Err: b.panicked(r)}
		}
	}()
	leave, err := b.limit.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	value, err := b.Execute(ctx, args)
	if err != nil {
		return nil, b.typed(err)
	}
	if result, err = wire.Encode(value); err != nil {
		return nil, &ResultError{Connector: b.Connector, Method: b.Method.Name, Err: err}
	}
	return result, nil
}

// Undo reverts a call that took effect.
func (b *Bound) Undo(ctx Context, args, result json.RawMessage) (err error) {
	if b.Revert == nil {
		return fmt.Errorf("%s cannot be undone: it has no revert", b.Path())
	}
	defer func() {
		if r := recover(); r != nil {
			err = &OutcomeUnknownError{Err: b.panicked(r)}
		}
	}()
	if err := b.Revert(ctx, args, result); err != nil {
		return b.typed(err)
	}
	return nil
}

// TargetOf is the team's own activity or workflow that makes a call; nil if Execute does. It finds early what the
// server would refuse.
func (b *Bound) TargetOf(args json.RawMessage) (*signals.Target, error) {
	if b.Target == nil {
		return nil, nil
	}
	t, err := b.Target(args)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be scheduled with these arguments: %w", b.Path(), err)
	case len(t.ID) > signals.MaxTargetID:
		return nil, fmt.Errorf("%s cannot be scheduled with these arguments: they give a workflow id of %d bytes, "+
			"more than %d", b.Path(), len(t.ID), signals.MaxTargetID)
	}
	return t, nil
}

// Undoing is the method by which a rule undoes a call, with its arguments; nil if no rule names one.
func (b *Bound) Undoing(args, result json.RawMessage) (*Bound, json.RawMessage, error) {
	if b.undoing == nil {
		return nil, nil, nil
	}
	return b.undoing(args, result)
}

func (b *Bound) panicked(value any) error {
	return &PanicError{Path: b.Path(), Value: value, Stack: debug.Stack()}
}

// typed makes an error say what callers go by, where the method did not say so itself.
func (b *Bound) typed(err error) error {
	var (
		retryable *RetryableError
		unknown   *OutcomeUnknownError
		invalid   *InvalidArgumentsError
	)
	switch {
	case errors.As(err, &retryable), errors.As(err, &unknown):
		return err
	case errors.As(err, &invalid) && invalid.Connector == "":
		named := *invalid
		named.Connector, named.Method = b.Connector, b.Method.Name
		return &named
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &OutcomeUnknownError{Err: err}
	}
	return err
}

package connectors

import (
	"fmt"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// RetryableError is returned by Execute to ask for another attempt of the same
// call: it took no effect, and may succeed later.
type RetryableError struct {
	Message string
	// RetryAfter is how long to wait before the next attempt. Zero: the caller's backoff.
	RetryAfter time.Duration
	Err        error
}

func (e *RetryableError) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Err != nil:
		return e.Err.Error()
	}
	return "temporary failure"
}

func (e *RetryableError) Unwrap() error { return e.Err }

// OutcomeUnknownError says that a call may or may not have taken effect: the
// connection was lost after sending, the deadline passed, the method panicked.
type OutcomeUnknownError struct{ Err error }

func (e *OutcomeUnknownError) Error() string {
	if e.Err == nil {
		return "outcome unknown"
	}
	return "outcome unknown: " + e.Err.Error()
}

func (e *OutcomeUnknownError) Unwrap() error { return e.Err }

// PanicError is what an [OutcomeUnknownError] holds after a method panicked.
type PanicError struct {
	// Path is the method as programs write it.
	Path  string
	Value any
	// Stack is the goroutine's, for logs. It is not part of the message.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic in %s: %v", e.Path, e.Value) }

// ConfigError is a mistake in how connectors were put together, which only the
// operator can correct.
type ConfigError struct{ Message string }

func (e *ConfigError) Error() string { return e.Message }

func ConfigErrorf(format string, args ...any) *ConfigError {
	return &ConfigError{Message: fmt.Sprintf(format, args...)}
}

// NotFoundError says that a connector has no such method.
type NotFoundError struct {
	Connector, Method string
	// Near lists existing names that are close, the closest first.
	Near []string
}

func (e *NotFoundError) Error() string {
	text := signals.ToolNotFound(e.Method, e.Connector)
	switch {
	case len(e.Near) > 0:
		text += ". Did you mean: " + strings.Join(e.Near, ", ") + "?"
	case e.Connector != platform:
		text += `. Find it with codemode.search("what it does").`
	}
	return text
}

// platform is the namespace that has search; a connector of that name takes its place.
const platform = "codemode"

// UnavailableError says that a connector's methods could not be loaded.
type UnavailableError struct {
	Connector string
	Err       error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("Connector %q is not available: %v", e.Connector, e.Err)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// WaitingError says that a call waited for its turn under a limit, in vain: it was not made, and may be at any time.
type WaitingError struct {
	Rule, Limit string
}

func (e *WaitingError) Error() string {
	return fmt.Sprintf("the call was not made: too many others are under the %s of the rule %q", e.Limit, e.Rule)
}

// InvalidArgumentsError lists what is wrong with the arguments of a call, in
// words that a model can act on.
type InvalidArgumentsError struct {
	Connector, Method string
	// Problems holds texts such as "id: expected number, but got string", five at most.
	Problems []string
	// More counts the problems that were left out.
	More int
}

func (e *InvalidArgumentsError) Error() string {
	text := fmt.Sprintf("Invalid arguments for %s.%s: %s", e.Connector, e.Method, strings.Join(e.Problems, "; "))
	if e.More > 0 {
		text += fmt.Sprintf("; and %d more", e.More)
	}
	return text
}

// ResultError says that a call took effect but its result cannot be encoded.
type ResultError struct {
	Connector, Method string
	Err               error
}

func (e *ResultError) Error() string {
	return fmt.Sprintf("The result of %s.%s could not be recorded durably (not serializable: %v). "+
		"Only JSON-compatible values (plus binary and bigint) can cross a durable replay boundary.",
		e.Connector, e.Method, e.Err)
}

func (e *ResultError) Unwrap() error { return e.Err }

// InvalidArgumentf is a problem with an argument that schemas do not show.
func InvalidArgumentf(format string, args ...any) error {
	return &InvalidArgumentsError{Problems: []string{fmt.Sprintf(format, args...)}}
}

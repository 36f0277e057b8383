package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// MaxMessage cuts the texts of errors, in bytes.
const MaxMessage = 8192

// MaxName bounds the names of connectors, methods, steps and errors, in bytes.
const MaxName = 256

// Refuse is the admission of a call that is not made.
func Refuse(err error) Admission {
	return Admission{Refused: callError(err), Class: signals.Read}
}

// Fail is the settlement of a call that failed.
func Fail(err error) Settlement { return Settlement{Err: callError(err)} }

func callError(err error) *signals.CallError {
	return &signals.CallError{Message: signals.Cut(err.Error(), MaxMessage)}
}

// An executor in one process and one in two record the same of a call that does not end with its method's own answer.

// DroppedError is what is recorded of a call that was cut off.
func DroppedError() *signals.CallError {
	return &signals.CallError{Message: "The pass was stopped before this call settled."}
}

// UnawaitedError is what is recorded of a read that was cancelled because the program had ended without it.
func UnawaitedError() *signals.CallError {
	return &signals.CallError{Message: "The program ended without waiting for this call, so it was cancelled."}
}

// TooLargeToRecordError is what is recorded of a call whose value no log can hold.
func TooLargeToRecordError() *signals.CallError {
	return &signals.CallError{Message: "The result was too large to record"}
}

// NotReadAgainError is what is recorded of a read that was to be made anew and that its connector would not make
// inline.
func NotReadAgainError(c Call) *signals.CallError {
	return &signals.CallError{Message: fmt.Sprintf("%s.%s could not be read again", c.Connector, c.Method)}
}

// PassFailure words the failure of a pass as outcomes show it; nil for one that did not fail.
func (r Result) PassFailure() *signals.PassFailure {
	f := r.Failure
	if f == nil {
		return nil
	}
	out := &signals.PassFailure{Message: f.Message, Position: f.Position, Stopped: r.Stopped}
	switch f.Kind {
	case Diverged:
		out.Diverged = &f.Seq
	case BudgetExceeded:
	case TooLarge:
		out.Message = signals.TooLarge(f.Subject, f.Size, f.Limit)
	case NotSerializable:
		out.Message = signals.NotSerializable(f.Subject, f.Message)
	default:
		out.Message = "Code execution failed: " + f.Message
	}
	return out
}

// TimeUp is the failure of a program that took longer than its limit.
func TimeUp(limit time.Duration) *Failure {
	return &Failure{Kind: TimedOut, Message: fmt.Sprintf("%s: it took more than %s (limits.passTimeout)",
		signals.ErrTimedOut, seconds(limit))}
}

// seconds writes a limit as configurations do.
func seconds(limit time.Duration) string {
	if limit%time.Second != 0 {
		return limit.String()
	}
	return fmt.Sprintf("%ds", limit/time.Second)
}

// WaitedFor tells where a program stood that only waited when its time was up.
func (f *Failure) WaitedFor(c Call) *Failure {
	f.Message += fmt.Sprintf(", and waited for %s.%s", c.Connector, c.Method)
	f.Position = c.Position
	return f
}

// CPUUsed is the failure of a program that computed for too long.
func CPUUsed(limit time.Duration) *Failure {
	return &Failure{Kind: TimedOut, Message: fmt.Sprintf("%s: the program used more than %s of processor time. "+
		"Do less computing in it.", signals.ErrTimedOut, seconds(limit))}
}

// OnlyGlobals goes after what a program is told of a name that nothing defines.
func OnlyGlobals(connectors []string) string {
	return fmt.Sprintf(" (the only globals available in the sandbox are: %s)",
		strings.Join(append(slices.Clone(connectors), PlatformConnector), ", "))
}

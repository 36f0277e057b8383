package sandbox

import (
	"github.com/temporal-codemode/codemode/signals"
)

// MaxMessage cuts the texts of errors, in bytes.
const MaxMessage = 8192

// Refuse is the admission of a call that is not made.
func Refuse(err error) Admission {
	return Admission{Refused: callError(err), Class: signals.Read}
}

// Fail is the settlement of a call that failed.
func Fail(err error) Settlement { return Settlement{Err: callError(err)} }

func callError(err error) *signals.CallError {
	return &signals.CallError{Message: signals.Cut(err.Error(), MaxMessage)}
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

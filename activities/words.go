package activities

import (
	"fmt"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// WireFailure words a failure as outcomes show it.
func WireFailure(r sandbox.Result) *signals.PassFailure {
	f := r.Failure
	if f == nil {
		return nil
	}
	out := &signals.PassFailure{Message: f.Message, Position: (*signals.Position)(f.Position), Stopped: r.Stopped}
	switch f.Kind {
	case sandbox.Diverged:
		out.Diverged = &f.Seq
	case sandbox.BudgetExceeded:
	case sandbox.TooLarge:
		out.Message = signals.TooLarge(f.Subject, f.Size, f.Limit)
	case sandbox.NotSerializable:
		out.Message = signals.NotSerializable(f.Subject, f.Message)
	default:
		out.Message = fmt.Sprintf("Code execution failed: %s", f.Message)
	}
	return out
}

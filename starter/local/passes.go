package local

import (
	"context"
	"errors"
	"time"

	"github.com/temporal-codemode/codemode/internal/wait"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// errNothingToWaitFor would be an engine's mistake: here no call blocks a pass, only timers do.
var errNothingToWaitFor = errors.New("a pass ended without a reason")

// Passes runs a program to its end in this process: one pass after the other, while it waits for timers of its own. The
// log grows in Pass.
type Passes struct {
	Executor sandbox.Executor
	Host     sandbox.Host
	Pass     sandbox.Pass
	// Timeout is the time of the whole run, which is up at Ends.
	Timeout time.Duration
	Ends    time.Time
	// Logs is the console output so far.
	Logs []string
}

// Run gives the result of the last pass, which completed or failed.
func (p *Passes) Run(ctx context.Context) (sandbox.Result, error) {
	for {
		left := time.Until(p.Ends)
		if left <= 0 {
			return sandbox.Result{}, signals.ErrTimedOut
		}
		p.Pass.Limits.Timeout, p.Pass.Limits.Told = left, p.Timeout
		result, err := p.Executor.Run(ctx, p.Pass, p.Host)
		if err != nil {
			return sandbox.Result{}, err
		}
		p.Pass.Log = append(p.Pass.Log, result.Entries...)
		p.Logs, p.Pass.Lines = append(p.Logs, result.Logs...), result.Lines
		switch result.End {
		case sandbox.Completed, sandbox.Failed:
			return result, nil
		case sandbox.Blocked:
			if err := p.sleep(ctx, result.Timers); err != nil {
				return sandbox.Result{}, err
			}
		}
	}
}

// sleep waits for the next timer of the program, but not past the end of its time.
func (p *Passes) sleep(ctx context.Context, timers []signals.Timer) error {
	if len(timers) == 0 {
		return errNothingToWaitFor
	}
	next := timers[0]
	until := time.UnixMilli(next.Due)
	if until.After(p.Ends) {
		until = p.Ends
	}
	if err := wait.For(ctx, time.Until(until)); err != nil {
		return err
	}
	p.Pass.Log = append(p.Pass.Log, signals.Entry{Timer: true, ID: next.ID, At: next.Due})
	return nil
}

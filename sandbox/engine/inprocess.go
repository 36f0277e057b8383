package engine

import (
	"context"
	"fmt"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/preflight"
)

// InProcess runs passes in the calling process, without isolation: for tests, and for embedders whose programs are
// trusted. The zero value is ready, and safe for concurrent use. Programs see dates in UTC, whatever the process's own
// zone; the first pass takes away regexp2's bound on backtracking, for all that the process compiles from then on.
type InProcess struct {
	programs compile.Cache
}

// Version names the engine.
func (x *InProcess) Version() string { return Version() }

// Run runs one pass. A panic of the engine is an error, never the process's end.
func (x *InProcess) Run(ctx context.Context, pass sandbox.Pass, host sandbox.Host) (result sandbox.Result, err error) {
	if pass.Survey {
		return preflight.Result(pass), nil
	}
	liftBacktracking()
	p, failure := x.programs.Get(pass.Code, pass.Modules, compile.ProgramSource)
	if failure != nil {
		return sandbox.Result{End: sandbox.Failed, Failure: failure}, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("sandbox engine: %v", r)
		}
	}()
	e := New(ctx, pass, host)
	e.Programs = &x.programs
	return e.Run(p)
}

// Survey reads a program and runs nothing.
func (x *InProcess) Survey(ctx context.Context, pass sandbox.Pass) (*preflight.Survey, error) {
	return preflight.Through(ctx, x, pass)
}

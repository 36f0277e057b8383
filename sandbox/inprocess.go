package sandbox

import (
	"context"
	"fmt"
)

// InProcess runs passes in the calling process, without isolation: for tests, and for embedders whose programs are
// trusted. The zero value is ready, and safe for concurrent use.
type InProcess struct {
	programs programs
}

// Version names the engine.
func (x *InProcess) Version() string { return engineVersion() }

// Run runs one pass. A panic of the engine is an error, never the process's end.
func (x *InProcess) Run(ctx context.Context, pass Pass, host Host) (result Result, err error) {
	p, failure := x.programs.get(pass.Code, pass.Modules, sourceName)
	if failure != nil {
		return Result{End: Failed, Failure: failure}, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("sandbox engine: %v", r)
		}
	}()
	e := newEngine(ctx, pass, host)
	e.Programs = &x.programs
	return e.run(p)
}

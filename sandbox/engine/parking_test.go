package engine

import (
	"context"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
)

// Parking runs passes in this process and goes on with parked runtimes, as a child does.
type Parking struct {
	programs compile.Cache
	parked   *Engine
	state    string
	seen     int
	fresh    int
}

// engine is built ahead for every other pass, as in a child that has served one alike.
func (x *Parking) engine(ctx context.Context, pass sandbox.Pass, host sandbox.Host) *Engine {
	if x.fresh++; x.fresh%2 == 1 {
		return New(ctx, pass, host)
	}
	e := Ahead(pass, host)
	e.Take(ctx, pass)
	return e
}

func (x *Parking) Run(ctx context.Context, pass sandbox.Pass, host sandbox.Host) (sandbox.Result, error) {
	e, state := x.parked, x.state
	x.parked, x.state = nil, ""
	var r sandbox.Result
	var err error
	if e != nil && pass.After == state && !pass.Refresh {
		e.host = host
		e.Renew(ctx, NextOf(pass, x.seen))
		r, err = e.Resume()
	} else {
		p, failure := x.programs.Get(pass.Code, pass.Modules, compile.ProgramSource)
		if failure != nil {
			return sandbox.Result{End: sandbox.Failed, Failure: failure}, nil
		}
		e = x.engine(ctx, pass, host)
		e.Programs = &x.programs
		r, err = e.Run(p)
	}
	if err == nil && e.Parkable() {
		x.parked, x.state, x.seen = e, pass.As, len(pass.Log)+len(r.Entries)
	}
	return r, err
}

// Forget makes the next pass replay.
func (x *Parking) Forget() { x.parked = nil }

// Name begins the names of its states.
func (x *Parking) Name() string { return "state" }

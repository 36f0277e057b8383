package engine

import (
	"context"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
)

// Parking runs passes in this process and goes on with parked runtimes, as a child does. Passes leave as Leaving says.
type Parking struct {
	Leaving  Leaving
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
	p, failure := x.programs.Get(pass.Code, pass.Modules, compile.ProgramSource)
	if failure != nil {
		return sandbox.Result{End: sandbox.Failed, Failure: failure}, nil
	}
	l := newLasting(host)
	anew := func(pass sandbox.Pass) *Engine {
		e := x.engine(ctx, pass, l)
		e.Programs = &x.programs
		return e
	}
	run := func() (sandbox.Result, error) { return e.Run(p) }
	if e != nil && pass.After == state && !pass.Refresh {
		e.host = l
		e.Renew(ctx, NextOf(pass, x.seen))
		run = e.Resume
	} else {
		e = anew(pass)
	}
	e, r, err := x.Leaving.run(e, pass, l, anew, p, run)
	if err == nil && e.Parkable() {
		x.parked, x.state, x.seen = e, pass.As, len(pass.Log)+len(r.Entries)
	}
	return r, err
}

// Forget makes the next pass replay.
func (x *Parking) Forget() { x.parked = nil }

// Name begins the names of its states.
func (x *Parking) Name() string { return "state" }

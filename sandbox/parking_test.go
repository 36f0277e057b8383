package sandbox

import (
	"context"
)

// Parking runs passes in this process and goes on with parked runtimes, as a child does.
type Parking struct {
	programs programs
	parked   *engine
	state    string
	seen     int
	fresh    int
}

// engine is built ahead for every other pass, as in a child that has served one alike.
func (x *Parking) engine(ctx context.Context, pass Pass, host Host) *engine {
	if x.fresh++; x.fresh%2 == 1 {
		return newEngine(ctx, pass, host)
	}
	e := ahead(pass, host)
	e.take(ctx, pass)
	return e
}

func (x *Parking) Run(ctx context.Context, pass Pass, host Host) (Result, error) {
	e, state := x.parked, x.state
	x.parked, x.state = nil, ""
	var r Result
	var err error
	if e != nil && pass.After == state && !pass.Refresh {
		e.host = host
		r, err = e.resume(ctx, nextOf(pass, x.seen))
	} else {
		p, failure := x.programs.get(pass.Code, pass.Modules, sourceName)
		if failure != nil {
			return Result{End: Failed, Failure: failure}, nil
		}
		e = x.engine(ctx, pass, host)
		e.Programs = &x.programs
		r, err = e.run(p)
	}
	if err == nil && e.parkable() {
		x.parked, x.state, x.seen = e, pass.As, len(pass.Log)+len(r.Entries)
	}
	return r, err
}

// Forget makes the next pass replay.
func (x *Parking) Forget() { x.parked = nil }

// Name begins the names of its states.
func (x *Parking) Name() string { return "state" }

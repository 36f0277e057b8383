package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// kills counts what was killed.
type kills struct {
	Workers  int `json:"workers"`
	Children int `json:"sandboxChildren"`
	Depots   int `json:"connectorServers"`
	Temporal int `json:"temporal"`
	// Callers were killed by the ledger in the middle of a call.
	Callers int `json:"callersInACall,omitempty"`
}

// killer kills at random until it is stopped, and starts again what it killed. Each kind of victim has a loop and
// random numbers of its own.
type killer struct {
	cluster     *cluster
	every       time.Duration // between two kills of a worker, on average
	workersOnly bool
	count       kills
}

func (k *killer) run(ctx context.Context, seed uint64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	loop := func(purpose string, every time.Duration, strike func(context.Context, *rand.Rand) error) {
		random := stream(seed, 0, purpose)
		group.Go(func() {
			for {
				wait(ctx, time.Duration(random.ExpFloat64()*float64(every)))
				if ctx.Err() != nil {
					return
				}
				if err := strike(ctx, random); err != nil {
					cancel(err)
				}
			}
		})
	}
	loop("workers", k.every, k.worker)
	if !k.workersOnly {
		loop("children", k.every/3, k.child(isSandboxChild, &k.count.Children))
		loop("depots", k.every/2, k.child(isDepot, &k.count.Depots))
		loop("temporal", 5*k.every, k.temporal)
	}
	group.Wait()
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause
	}
	return nil
}

func (k *killer) worker(ctx context.Context, random *rand.Rand) error {
	k.count.Workers++
	return k.bounce(ctx, k.cluster.workers[random.IntN(len(k.cluster.workers))], random.IntN(1000))
}

// temporal is away for a moment, and now and then for longer than the heartbeat timeout.
func (k *killer) temporal(ctx context.Context, random *rand.Rand) error {
	k.count.Temporal++
	away := random.IntN(1500)
	if random.IntN(6) == 0 {
		away += 11_000
	}
	return k.bounce(ctx, k.cluster.temporal, away)
}

// bounce kills a process and starts it again after some milliseconds. The start outlives ctx, or nothing could end.
func (k *killer) bounce(ctx context.Context, p *process, away int) error {
	p.kill()
	wait(ctx, time.Duration(away)*time.Millisecond)
	return k.cluster.again(context.WithoutCancel(ctx), p)
}

// child kills one child of a worker that is of a kind.
func (k *killer) child(kind func(procInfo) bool, count *int) func(context.Context, *rand.Rand) error {
	return func(_ context.Context, random *rand.Rand) error {
		worker := k.cluster.workers[random.IntN(len(k.cluster.workers))]
		if found := descendants(worker.pid(), kind); len(found) > 0 {
			*count += killPID(found[random.IntN(len(found))].pid)
		}
		return nil
	}
}

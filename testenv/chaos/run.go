package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/testenv/chaos/ledger"
)

// options of a run. Everything drawn at random comes from the seed: programs, decisions, and what is killed when.
type options struct {
	Executions  int           `json:"executions"`
	Seed        uint64        `json:"seed"`
	Concurrency int           `json:"concurrency"`
	Workers     int           `json:"workers"`
	Every       time.Duration `json:"killEvery"`
	// OnlyWorkers spares all but the workers.
	OnlyWorkers bool `json:"onlyWorkers,omitempty"`
	// Paused executions are kept waiting for their first decision until For is over.
	Paused int           `json:"paused,omitempty"`
	For    time.Duration `json:"for,omitempty"`
	// Patience is how long an execution may take once nothing is killed any more, before it counts as stuck.
	Patience time.Duration `json:"patience"`
	// HistoryEvents is after how many events runs continue as new; 0 is the default.
	HistoryEvents int `json:"historyEvents,omitempty"`
	// Keep leaves the ledger and Temporal's database where they are.
	Keep     bool      `json:"-"`
	Progress io.Writer `json:"-"`
}

// run is one chaos run.
type run struct {
	options
	cluster *cluster
	hold    chan struct{}
	ended   atomic.Int64
	lastEnd atomic.Int64 // when an execution ended last, in Unix seconds

	mu       sync.Mutex
	findings findings
}

// result is what a run prints.
type result struct {
	Options  options  `json:"options"`
	Kills    kills    `json:"kills"`
	Findings findings `json:"findings"`
	Seconds  int      `json:"seconds"`
	Passed   bool     `json:"passed"`
}

func (o options) run(ctx context.Context, c *cluster) (result, error) {
	started := time.Now()
	r := &run{options: o, cluster: c, hold: make(chan struct{})}
	r.findings.Ended = map[signals.Status]int{}
	r.lastEnd.Store(started.Unix())
	k := &killer{cluster: c, every: o.Every, workersOnly: o.OnlyWorkers}
	killing, stopKilling := context.WithCancel(ctx)
	defer stopKilling()
	killed := make(chan error, 1)
	go func() { killed <- k.run(killing, o.Seed) }()

	living, giveUp := context.WithCancel(ctx)
	defer giveUp()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.startAll(living)
	}()
	go r.report(living)
	r.untilAlmostDone(living, done)
	stopKilling()
	if err := <-killed; err != nil {
		return result{}, err
	}
	select {
	case <-done:
	case <-time.After(o.Patience):
		giveUp()
		<-done
	}
	return result{o, k.count, r.findings, int(time.Since(started).Seconds()), r.findings.passed()}, ctx.Err()
}

// untilAlmostDone returns when so few executions are left that killing on would only delay the end, or when nothing
// moves any more.
func (r *run) untilAlmostDone(ctx context.Context, done <-chan struct{}) {
	opened := r.Paused == 0
	if opened {
		close(r.hold)
	}
	started := time.Now()
	for ctx.Err() == nil {
		select {
		case <-done:
			return
		case <-time.After(200 * time.Millisecond):
		}
		if !opened && time.Since(started) > r.For {
			opened = true
			close(r.hold)
			r.lastEnd.Store(time.Now().Unix())
		}
		idle := time.Since(time.Unix(r.lastEnd.Load(), 0))
		if opened && (r.Executions-int(r.ended.Load()) <= r.Concurrency/2 && time.Since(started) > r.For ||
			idle > r.Patience) {
			return
		}
	}
}

// startAll runs the executions, so many at a time; those kept paused take no place.
func (r *run) startAll(ctx context.Context) {
	var group sync.WaitGroup
	places := make(chan struct{}, r.Concurrency)
	for n := range r.Executions {
		kept := n < r.Paused
		if !kept {
			places <- struct{}{}
		}
		group.Go(func() {
			r.one(ctx, n, kept)
			if !kept {
				<-places
			}
		})
	}
	group.Wait()
}

func (r *run) one(ctx context.Context, n int, kept bool) {
	a := newActor(r.cluster.raw, r.cluster.client, r.Seed, n)
	code := program(r.Seed, n)
	if kept {
		a.hold = r.hold
		code = "await shop.ask({tag: 'first'}).catch(() => 0);\n" + code
	}
	err := a.live(ctx, code)
	r.ended.Add(1)
	r.lastEnd.Store(time.Now().Unix())
	r.check(context.WithoutCancel(ctx), mainRuntime, a, err)
}

// check compares record and ledger of an execution that has ended, or should have.
func (r *run) check(ctx context.Context, runtime string, a *actor, lifeErr error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var record *signals.Record
	var entries []ledger.Entry
	failed := 0
	err := insist(ctx, func(ctx context.Context) (err error) {
		if record, err = a.client.Show(ctx, a.id); err != nil {
			return err
		}
		if entries, err = r.cluster.truth.Entries(ctx, a.id); err != nil {
			return err
		}
		failed, err = failedTasks(ctx, r.cluster.raw, runtime, a.id)
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	known := len(r.findings.Problems)
	defer func() {
		for _, p := range r.findings.Problems[known:] {
			_, _ = fmt.Fprintln(r.Progress, p)
		}
	}()
	switch f := &r.findings; {
	case err != nil || record == nil:
		f.problem(&f.Stuck, a.id, "has no record: %v (%v)", err, lifeErr)
	case lifeErr != nil:
		f.problem(&f.Stuck, a.id,
			"did not get to its end: %v; it is %s after %d passes; what happened: %s; the last events: %s", lifeErr,
			record.Status, record.Passes, strings.Join(a.trail, "; "),
			lastEvents(ctx, r.cluster.raw, runtime, a.id))
	default:
		if failed > 0 {
			f.problem(&f.Divergences, a.id, "%d workflow tasks failed", failed)
		}
		f.judge(record, entries, a)
	}
}

// report prints how far the run is.
func (r *run) report(ctx context.Context) {
	for {
		wait(ctx, 10*time.Second)
		if ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		problems := len(r.findings.Problems)
		r.mu.Unlock()
		_, _ = fmt.Fprintf(r.Progress, "%d of %d executions ended, %d problems\n", r.ended.Load(), r.Executions,
			problems)
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// parts of a run, by their names for --only.
var parts = []string{"reads", "writes", "resume", "throughput", "long"}

// samples are the values that the rounds gave, in their order.
type samples []float64

func (s samples) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func (s samples) smallest() float64 { return slices.Min(s) }

// over is the ratio pair by pair: neighbours in time saw the same load.
func (s samples) over(other samples) samples {
	var ratios samples
	for i := range min(len(s), len(other)) {
		ratios = append(ratios, s[i]/other[i])
	}
	return ratios
}

// side is what was measured of one of the two. Processor times are milliseconds; the server's are those of this
// process, with the client in it.
type side struct{ ms, events, bytes, actions, worker, server samples }

// comparison is the same work done by both.
type comparison struct {
	work           work
	baseline, ours side
}

// resumption is the time from an approval to the end, with calls in the log.
type resumption struct {
	calls     int
	restarted bool // the worker was, while the execution was paused: nothing but history knows the log
	ms        samples
}

// load is many executions of ten reads, some of them at the same time.
type load struct {
	concurrent, executions int
	baseline, ours         rate
}

// rate is in executions per second, processor times in milliseconds of one execution.
type rate struct{ perSecond, worker, server samples }

// answers are how long an execution whose pass takes long lets a client wait, in milliseconds.
type answers struct{ query, decision, cancel samples }

// suite is all that a run measures.
type suite struct {
	site     *site
	options  options
	progress io.Writer
	round    int
	swap     bool

	reads, writes []*comparison
	resume        []*resumption
	throughput    []*load
	long          *answers
}

// sizes of the parts, for full and quick runs. The quick ones keep what the goals compare. Without reads the baseline
// is what no workflow can do without: to be started and to end.
type sizes struct {
	reads, writes, resume []int
	throughput            [][2]int // concurrent, executions
}

func sizesOf(o options) sizes {
	if o.quick {
		return sizes{reads: []int{10, 100}, writes: []int{5, 50}, resume: []int{0, 1000},
			throughput: [][2]int{{1, 4}, {8, 16}}}
	}
	return sizes{
		reads: []int{0, 1, 10, 100, 1000}, writes: []int{1, 10, 50, 500}, resume: []int{0, 100, 1000},
		throughput: [][2]int{{1, 12}, {8, 40}, {32, 192}},
	}
}

func newSuite(s *site, o options, progress io.Writer) *suite {
	b := &suite{site: s, options: o, progress: progress}
	z := sizesOf(o)
	for _, n := range z.reads {
		b.reads = append(b.reads, &comparison{work: work{Reads: n}})
	}
	for _, n := range z.writes {
		b.writes = append(b.writes, &comparison{work: work{Writes: n}})
	}
	for _, restarted := range []bool{false, true} {
		for _, n := range z.resume {
			b.resume = append(b.resume, &resumption{calls: n, restarted: restarted})
		}
	}
	for _, l := range z.throughput {
		b.throughput = append(b.throughput, &load{concurrent: l[0], executions: l[1]})
	}
	b.long = &answers{}
	b.keep(o.chosen())
	return b
}

// keep drops the parts that were not asked for.
func (b *suite) keep(chosen []string) {
	if !slices.Contains(chosen, "reads") {
		b.reads = nil
	}
	if !slices.Contains(chosen, "writes") {
		b.writes = nil
	}
	if !slices.Contains(chosen, "resume") {
		b.resume = nil
	}
	if !slices.Contains(chosen, "throughput") {
		b.throughput = nil
	}
	if !slices.Contains(chosen, "long") {
		b.long = nil
	}
}

// warmUp fills caches and pools with a little of everything.
func (b *suite) warmUp(ctx context.Context) error {
	b.say("warm-up")
	warm := &suite{site: b.site, progress: io.Discard}
	for range 3 {
		warm.reads = append(warm.reads, &comparison{work: work{Reads: 10}})
		warm.writes = append(warm.writes, &comparison{work: work{Writes: 5}})
	}
	warm.resume = []*resumption{{calls: 10}}
	return warm.one(ctx)
}

func (b *suite) run(ctx context.Context) error {
	for b.round = range b.options.rounds {
		b.swap = b.round%2 == 1 // what is measured once a round alternates too, whatever parts were chosen
		if err := b.one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// one round of everything. What ends children or workers comes last.
func (b *suite) one(ctx context.Context) error {
	if err := b.settle(ctx); err != nil {
		return err
	}
	for _, c := range append(append([]*comparison{}, b.reads...), b.writes...) {
		b.say("%s", c.work)
		if err := b.compare(ctx, c); err != nil {
			return err
		}
	}
	for _, l := range b.throughput {
		b.say("%d executions, %d at once", l.executions, l.concurrent)
		if err := b.loads(ctx, l); err != nil {
			return err
		}
	}
	for _, r := range b.resume {
		b.say("resume with %d calls, %s", r.calls, r.when())
		if err := b.timeResume(ctx, r); err != nil {
			return err
		}
	}
	if b.long == nil {
		return nil
	}
	b.say("answers during a long pass")
	return b.timeAnswers(ctx)
}

// settle gives a worker that the round before has left without sandbox children those that it needs.
func (b *suite) settle(ctx context.Context) error {
	return b.loads(ctx, &load{concurrent: 8, executions: 16})
}

func (b *suite) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "round %d/%d: %s\n", b.round+1, b.options.rounds, fmt.Sprintf(format, args...))
}

// both runs the two in an order that changes every time.
func (b *suite) both(baseline, ours func() error) error {
	first, second := baseline, ours
	if b.swap = !b.swap; !b.swap {
		first, second = ours, baseline
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// compare measures short work more than once a round: it is over before the machine's mood changes.
func (b *suite) compare(ctx context.Context, c *comparison) error {
	for range c.work.times() {
		err := b.both(
			func() error { return b.take(ctx, &c.baseline, c.work, b.site.baseline, b.site.runBaseline) },
			func() error { return b.take(ctx, &c.ours, c.work, b.site.ours, b.site.runOurs) },
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w work) times() int {
	switch calls := w.calls(); {
	case calls <= 10:
		return 5
	case calls <= 100:
		return 3
	}
	return 1
}

// rest waits until the server has done what the execution before left it to do, and collected its garbage: that is no
// part of what the next one takes.
func rest(ctx context.Context) {
	const look, most = 20 * time.Millisecond, 500 * time.Millisecond
	defer runtime.GC()
	for until := time.Now().Add(most); ctx.Err() == nil && time.Now().Before(until); {
		used := ownCPU()
		time.Sleep(look)
		if ownCPU()-used < look/10 {
			return
		}
	}
}

// take measures one execution, from its start to its outcome.
func (b *suite) take(ctx context.Context, to *side, w work, p *process,
	execute func(context.Context, work) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rest(ctx)
	var id string
	u, err := measured(p, func() (err error) { id, err = execute(ctx, w); return err })
	if err != nil {
		return err
	}
	h, err := b.site.weigh(ctx, id)
	to.ms, to.worker, to.server = append(to.ms, u.ms), append(to.worker, u.worker), append(to.server, u.server)
	to.events, to.bytes, to.actions = append(to.events, h.events), append(to.bytes, h.bytes),
		append(to.actions, h.actions)
	return err
}

// usage is what a piece of work took, in milliseconds: time, processor time of a worker and of this process.
type usage struct{ ms, worker, server float64 }

func measured(p *process, work func() error) (usage, error) {
	worker, server := p.processorTime(), ownCPU()
	ms, err := timed(work)
	return usage{ms, millis(p.processorTime() - worker), millis(ownCPU() - server)}, err
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func timed(work func() error) (ms float64, err error) {
	started := time.Now()
	err = work()
	return millis(time.Since(started)), err
}

// when says when the approval comes.
func (r *resumption) when() string {
	if r.restarted {
		return "worker restarted"
	}
	return "at once"
}

// restartOurs replaces our worker, and warms the new one up.
func (s *site) restartOurs(ctx context.Context) error {
	s.ours.stop()
	var err error
	if s.ours, err = s.worker(s.ours.config); err != nil {
		return err
	}
	for range 3 {
		if _, err = s.runOurs(ctx, work{Reads: 10}); err != nil {
			return err
		}
	}
	return nil
}

func (b *suite) timeResume(ctx context.Context, r *resumption) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w := work{Reads: r.calls}
	id, err := b.site.pause(ctx, w)
	if err == nil && r.restarted {
		err = b.site.restartOurs(ctx)
	}
	if err != nil {
		return err
	}
	rest(ctx)
	ms, err := timed(func() error { return b.site.resume(ctx, id, w) })
	r.ms = append(r.ms, ms)
	return err
}

// timeAnswers asks three executions, just started and in a read that takes long, for one answer each.
func (b *suite) timeAnswers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, a := range []struct {
		to  *samples
		ask func(context.Context, string) error
	}{{&b.long.query, b.site.query}, {&b.long.decision, b.site.decide}, {&b.long.cancel, b.site.cancel}} {
		id, err := b.site.startLong(ctx)
		if err != nil {
			return err
		}
		ms, err := timed(func() error { return a.ask(ctx, id) })
		if err != nil {
			return err
		}
		*a.to = append(*a.to, ms)
		if err := b.site.cancel(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (b *suite) loads(ctx context.Context, l *load) error {
	return b.both(
		func() error { return takeRate(ctx, l, &l.baseline, b.site.baseline, b.site.runBaseline) },
		func() error { return takeRate(ctx, l, &l.ours, b.site.ours, b.site.runOurs) },
	)
}

// takeRate measures many executions at once.
func takeRate(ctx context.Context, l *load, to *rate, p *process,
	execute func(context.Context, work) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	rest(ctx)
	u, err := measured(p, func() error {
		return together(l.concurrent, l.executions,
			func() error { _, err := execute(ctx, work{Reads: 10}); return err })
	})
	n := float64(l.executions)
	to.perSecond = append(to.perSecond, n/u.ms*1000)
	to.worker, to.server = append(to.worker, u.worker/n), append(to.server, u.server/n)
	return err
}

// together calls work count times, as many at once as said, and returns the first error.
func together(concurrent, count int, work func() error) error {
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(count))
	errs := make(chan error, concurrent)
	for range concurrent {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := work(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(errs)
	return <-errs
}

package main

import (
	"fmt"
	"slices"
)

// goal is a figure that a run must reach. Sizes of histories hardly vary; times do, so theirs are ratios of one run.
type goal struct {
	Name string  `json:"name"`
	Want string  `json:"want"`
	Got  float64 `json:"got"`
	Pass bool    `json:"pass"`
	// Timed goals depend on the machine and its load.
	Timed bool `json:"timed"`
}

func atMost(name string, limit, got float64, timed bool) goal {
	return goal{Name: name, Want: fmt.Sprintf("≤ %g", limit), Got: got, Pass: got <= limit, Timed: timed}
}

func atLeast(name string, limit, got float64, timed bool) goal {
	return goal{Name: name, Want: fmt.Sprintf("≥ %g", limit), Got: got, Pass: got >= limit, Timed: timed}
}

// goals judges what was measured; parts that were not run are left out. Events count as timed, since a busy machine
// pushes passes out of their workflow tasks.
func (b *suite) goals() []goal {
	var list []goal
	for _, limit := range []struct {
		calls int
		ratio float64
	}{{10, 0.12}, {100, 0.03}, {1000, 0.01}} {
		if c := find(b.reads, work{Reads: limit.calls}); c != nil {
			list = append(list, atMost(fmt.Sprintf("%d reads: time / baseline's", limit.calls), limit.ratio,
				c.ours.ms.over(c.baseline.ms).median(), true))
		}
	}
	if c := find(b.reads, work{Reads: 10}); c != nil {
		list = append(list, atMost("events of 10 reads", 8, c.ours.events.median(), true))
	}
	list = append(list, b.growth("reads", find(b.reads, work{Reads: 100}), find(b.reads, work{Reads: 1000}))...)
	list = append(list, b.growth("writes", find(b.writes, work{Writes: 50}), find(b.writes, work{Writes: 500}))...)
	if c := find(b.writes, work{Writes: 50}); c != nil {
		list = append(list,
			atMost("50 writes: time / baseline's", 1.1, c.ours.ms.over(c.baseline.ms).median(), true),
			atMost("events a write", 8, c.ours.events.median()/50, true))
	}
	if none, thousand := b.resumed(0), b.resumed(1000); none != nil && thousand != nil {
		list = append(list, atMost("resume with 1000 calls / with none", 1.5, thousand.ms.over(none.ms).median(), true))
	}
	for _, l := range b.throughput {
		if l.concurrent == 32 {
			list = append(list,
				atLeast("32 at once: executions a second / baseline's", 5,
					l.ours.perSecond.over(l.baseline.perSecond).median(), true),
				atMost("processor time of worker and sandbox, ms an execution", 6, l.ours.worker.median(), true))
		}
	}
	return append(list, b.long.goals()...)
}

// growth: ten times the calls may take no more than about ten times the bytes and the processor time.
func (b *suite) growth(name string, n, tenN *comparison) []goal {
	if n == nil || tenN == nil {
		return nil
	}
	return []goal{
		atMost(fmt.Sprintf("bytes of %d %s / of %d", tenN.work.calls(), name, n.work.calls()), 11,
			tenN.ours.bytes.median()/n.ours.bytes.median(), false),
		atMost(fmt.Sprintf("worker's processor time of %d %s / of %d", tenN.work.calls(), name, n.work.calls()), 11,
			tenN.ours.worker.median()/max(1, n.ours.worker.median()), true),
	}
}

func (a *answers) goals() []goal {
	if a == nil {
		return nil
	}
	return []goal{
		atMost("query during a long pass, longest, ms", 1000, slices.Max(a.query), true),
		atMost("decision during a long pass, longest, ms", 1000, slices.Max(a.decision), true),
		atMost("cancel during a long pass, longest, ms", 1000, slices.Max(a.cancel), true),
	}
}

func find(list []*comparison, w work) *comparison {
	for _, c := range list {
		if c.work == w {
			return c
		}
	}
	return nil
}

func (b *suite) resumed(calls int) *resumption {
	for _, r := range b.resume {
		if r.calls == calls && !r.restarted {
			return r
		}
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/temporal-codemode/codemode/signals"
)

// sample is what was held at one moment, in MiB.
type sample struct {
	Seconds     int     `json:"seconds"`
	Executions  int64   `json:"executions"` // ended so far
	Worker      float64 `json:"workerMiB"`
	Children    int     `json:"children"`
	ChildrenMiB float64 `json:"childrenMiB"`
	Temporal    float64 `json:"temporalMiB"`
}

// soakResult is the curve and what it says.
type soakResult struct {
	Options  options  `json:"options"`
	Curve    []sample `json:"curve"`
	Findings findings `json:"findings"`
	// Growth compares the medians of the second and the last quarter: 1 is flat. The first quarter warms up.
	WorkerGrowth float64 `json:"workerGrowth"`
	// ChildGrowth is that of one sandbox child; how many there are follows the load, up to a bound.
	ChildGrowth float64 `json:"childGrowth"`
	// UsualChildren is the median.
	UsualChildren int  `json:"usualChildren"`
	MostChildren  int  `json:"mostChildren"`
	Passed        bool `json:"passed"`
}

// flat is the growth that a soak may show: a garbage collector's noise, not a leak over an hour.
const flat = 1.25

// childBound is how many sandbox children a worker has by default; for a moment each may have a successor.
var childBound = max(4, 2*runtime.NumCPU())

// soak keeps a constant number of executions going, kills nothing, and measures memory every so often.
func (o options) soak(ctx context.Context, c *cluster, every time.Duration, w io.Writer) (soakResult, error) {
	r := &run{options: o, cluster: c}
	r.findings.Ended = map[signals.Status]int{}
	loading, stop := context.WithCancel(ctx)
	var next atomic.Int64
	var group sync.WaitGroup
	for range o.Concurrency {
		group.Go(func() {
			for loading.Err() == nil {
				r.one(ctx, int(next.Add(1)), false)
			}
		})
	}
	curve := r.measure(ctx, every, w)
	stop()
	group.Wait()
	if ctx.Err() != nil {
		return soakResult{}, ctx.Err()
	}
	result := soakResult{Options: o, Curve: curve, Findings: r.findings}
	result.WorkerGrowth = growth(curve, func(s sample) float64 { return s.Worker })
	result.ChildGrowth = growth(curve, func(s sample) float64 { return s.ChildrenMiB / float64(max(1, s.Children)) })
	for _, s := range curve {
		result.MostChildren = max(result.MostChildren, s.Children)
	}
	if len(curve) > 0 {
		result.UsualChildren = int(median(curve, func(s sample) float64 { return float64(s.Children) }))
	}
	bound := o.Workers * childBound
	result.Passed = r.findings.passed() && result.WorkerGrowth < flat && result.ChildGrowth < flat &&
		result.UsualChildren <= bound && result.MostChildren <= 2*bound
	return result, nil
}

func (r *run) measure(ctx context.Context, every time.Duration, w io.Writer) []sample {
	var curve []sample
	started := time.Now()
	_, _ = fmt.Fprintln(w, "seconds  executions  worker MiB  children  children MiB  Temporal MiB")
	for time.Since(started) < r.For && ctx.Err() == nil {
		wait(ctx, every)
		s := r.sample()
		s.Seconds = int(time.Since(started).Seconds())
		curve = append(curve, s)
		_, _ = fmt.Fprintf(w, "%7d  %10d  %10.1f  %8d  %12.1f  %12.1f\n", s.Seconds, s.Executions, s.Worker, s.Children,
			s.ChildrenMiB, s.Temporal)
	}
	return curve
}

func (r *run) sample() sample {
	const mib = 1 << 20
	s := sample{Executions: r.ended.Load(), Temporal: float64(memory(r.cluster.temporal.pid())) / mib}
	for _, worker := range r.cluster.workers {
		s.Worker += float64(memory(worker.pid())) / mib
		for _, child := range descendants(worker.pid(), isSandboxChild) {
			s.Children++
			s.ChildrenMiB += float64(memory(child.pid)) / mib
		}
	}
	return s
}

// growth is 1 where there is nothing to compare.
func growth(curve []sample, of func(sample) float64) float64 {
	quarter := len(curve) / 4
	if quarter == 0 {
		return 1
	}
	before, after := median(curve[quarter:2*quarter], of), median(curve[len(curve)-quarter:], of)
	if before == 0 {
		return 1
	}
	return after / before
}

func median(curve []sample, of func(sample) float64) float64 {
	var values []float64
	for _, s := range curve {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (r soakResult) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, _ = fmt.Fprintf(w,
		"soak: last quarter beside the second: worker × %.2f, one sandbox child × %.2f; %d children, at most %d; "+
			"bound %d; %d problems\n",
		r.WorkerGrowth, r.ChildGrowth, r.UsualChildren, r.MostChildren, r.Options.Workers*childBound,
		len(r.Findings.Problems))
	for _, p := range r.Findings.Problems {
		_, _ = fmt.Fprintln(w, "  "+p)
	}
	verdict := "FAILED"
	if r.Passed {
		verdict = "passed"
	}
	_, err := fmt.Fprintln(w, "verdict:", verdict)
	return err
}

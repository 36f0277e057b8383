package sandbox

import (
	"context"
	"syscall"
	"testing"
)

// cpu runs f n times and tells the mean processor time in microseconds, which noise from neighbours leaves alone.
func cpu(n int, f func()) float64 {
	before := processorTime()
	for range n {
		f()
	}
	return float64(processorTime()-before) / float64(n)
}

func processorTime() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}

// BenchmarkPrelude tells what a fresh runtime costs, and what each part that is loaded on first use adds.
func BenchmarkPrelude(b *testing.B) {
	fresh := func(touch string) func() {
		p, _ := compile(touch, nil)
		return func() {
			e := newEngine(context.Background(), Pass{Seed: "s"}, &testHost{})
			if err := e.newRuntime(); err != nil {
				b.Fatal(err)
			}
			if err := e.startMain(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() { // its first round resets the metrics
	}
	base := fresh("return 1")
	cpu(50, base)
	b.ReportMetric(cpu(300, base), "cpu-µs/runtime")
	for name, touch := range map[string]string{
		"url": "URL", "events": "AbortController", "text": "TextEncoder", "http": "Headers", "clone": "structuredClone", "crypto": "crypto",
		"intl": "Intl", "iterator": "Iterator", "disposable": "DisposableStack", "es": "Array.fromAsync",
	} {
		run := fresh("return typeof " + touch)
		cpu(10, run)
		b.ReportMetric(cpu(100, run), "cpu-µs/"+name)
	}
}

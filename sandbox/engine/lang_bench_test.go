//go:build unix

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
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
		p, _ := (&compile.Cache{}).Get(touch, nil, compile.ProgramSource)
		return func() {
			e := New(context.Background(), sandbox.Pass{Seed: "s"}, &sandboxtest.Host{})
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
		"url": "URL", "events": "AbortController", "text": "TextEncoder", "http": "Headers", "clone": "structuredClone",
		"crypto": "crypto",
		"intl":   "Intl", "iterator": "Iterator", "disposable": "DisposableStack", "es": "Array.fromAsync",
	} {
		run := fresh("return typeof " + touch)
		cpu(10, run)
		b.ReportMetric(cpu(100, run), "cpu-µs/"+name)
	}
}

// sampleJSON is a result as tools give them: a list of records.
func sampleJSON(records int) json.RawMessage {
	var b strings.Builder
	b.WriteByte('[')
	for i := range records {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"ord_%d","customer":{"name":"Zoë \"Q\" %d","tags":["a","b"]},"total":%d.25,"paid":true,"note":null,"createdAt":"2024-01-%02dT10:00:00.000Z"}`, i, i, i, i%28+1)
	}
	b.WriteByte(']')
	return json.RawMessage(b.String())
}

func BenchmarkDecode(b *testing.B) {
	raw := sampleJSON(7000)
	b.SetBytes(int64(len(raw)))
	e := New(context.Background(), sandbox.Pass{Seed: "s"}, &sandboxtest.Host{})
	if err := e.newRuntime(); err != nil {
		b.Fatal(err)
	}
	native, _ := goja.AssertFunction(goja.New().Get("JSON").ToObject(nil).Get("parse"))
	text := e.vm.ToValue(string(raw))
	b.Run("engine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.decode(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("goja", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := native(goja.Undefined(), text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

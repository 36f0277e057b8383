package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

// seconds are the buckets of durations: from a quick call to an approval after a week.
var seconds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 4 * 3600,
	24 * 3600, 3 * 24 * 3600, 7 * 24 * 3600}

// helps explain the metrics that the project's packages count. The SDK has no texts for its own.
var helps = map[string]string{
	"codemode_executions":       "Executions that ended, by status.",
	"codemode_passes":           "Passes that ended, by how: blocked ones wait for calls, missing ones ran nothing.",
	"codemode_calls":            "Calls that settled, by connector, class and outcome.",
	"codemode_approval_wait":    "How long calls waited for a person, by decision.",
	"codemode_passes_elsewhere": "Passes that this worker had to leave to another, by reason.",
}

// stream gives durations their buckets, and every metric of ours its explanation.
func stream(i metric.Instrument) (metric.Stream, bool) {
	s := metric.Stream{Name: i.Name, Unit: i.Unit, Description: cmp.Or(i.Description, helps[i.Name])}
	if i.Kind == metric.InstrumentKindHistogram {
		s.Aggregation = metric.AggregationExplicitBucketHistogram{Boundaries: seconds}
	}
	return s, true
}

// metrics is what the metrics address serves.
type metrics struct {
	registry *prometheus.Registry
	sandbox  atomic.Pointer[child.Pool]
	serving  atomic.Bool
}

// measure has the SDK count into a Prometheus registry, beside what Go and the process tell of themselves.
func measure(o *client.Options, log *slog.Logger) (*metrics, error) {
	m := &metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.gauge("codemode_sandboxes", "Sandbox children that may run passes at once.",
			func(u child.Usage) int { return u.Children }),
		m.gauge("codemode_sandboxes_busy", "Sandbox children that run a pass now.",
			func(u child.Usage) int { return u.Busy }),
		m.gauge("codemode_sandboxes_awaited", "Passes that wait for a sandbox child now.",
			func(u child.Usage) int { return u.Awaited }))
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(m.registry), otelprometheus.WithoutScopeInfo(),
		otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("export metrics to Prometheus: %w", err)
	}
	provider := metric.NewMeterProvider(metric.WithReader(exporter), metric.WithView(stream))
	o.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: provider.Meter("temporal-sdk-go"), UseMonotonicCounters: true,
		OnError: func(err error) { log.Warn("a metric cannot be recorded", "error", err) },
	})
	return m, nil
}

// gauge tells how the sandbox is used when it is asked.
func (m *metrics) gauge(name, help string, value func(child.Usage) int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
		if pool := m.sandbox.Load(); pool != nil {
			return float64(value(pool.Usage()))
		}
		return 0
	})
}

// watch is told of the worker that serves.
func (m *metrics) watch(w *codemodeworker.Worker) {
	if pool, ok := w.Executor.(*child.Pool); ok {
		m.sandbox.Store(pool)
	}
	m.serving.Store(true)
}

// handler serves the metrics, and whether the worker serves: not while it starts or stops.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !m.serving.Load() {
			http.Error(w, "the worker is starting or stopping", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
	return mux
}

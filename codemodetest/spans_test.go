package codemodetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"github.com/temporal-codemode/codemode/codemodetest"
)

// With Temporal's tracing interceptor an execution is one trace: passes and calls of the workflow, and reads in their
// pass.
func TestSpansOfAnExecution(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("sdk")})
	require.NoError(t, err)
	shop := codemodetest.NewConnector("shop")
	shop.Read("status", "open")
	shop.Write("close", true)
	o := with(shop)
	o.Worker.Interceptors = []interceptor.WorkerInterceptor{tracing}
	run := codemodetest.Run(t, `await shop.status({ id: 1 }); return await shop.close({ id: 1 })`, o)
	require.Equal(t, "true", string(run.Outcome.Result), run.Outcome.Error)

	names, parents := map[string]int{}, map[string]string{}
	byID := map[string]string{}
	for _, span := range recorder.Ended() {
		names[span.Name()]++
		byID[span.SpanContext().SpanID().String()] = span.Name()
		require.Equal(t, recorder.Ended()[0].SpanContext().TraceID(), span.SpanContext().TraceID(), span.Name())
	}
	for _, span := range recorder.Ended() {
		parents[span.Name()] = byID[span.Parent().SpanID().String()]
	}
	require.GreaterOrEqual(t, names["RunActivity:codemode.Pass"], 2)
	require.Equal(t, 1, names["RunActivity:shop.close"])
	require.Equal(t, 1, names["shop.status"], "replay makes no span")
	require.Equal(t, "RunActivity:codemode.Pass", parents["shop.status"])
	require.Equal(t, "RunWorkflow:codemode.Execution", parents["StartActivity:codemode.Pass"])
}

package activities

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

func TestInlineCallsAreSpansOfTheirPass(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	ctx, pass := provider.Tracer("sdk").Start(t.Context(), "RunActivity:codemode.Pass")
	for _, s := range []sandbox.Settlement{{}, {Err: &signals.CallError{Message: "a secret"}}, {Escalate: true}} {
		_, span := startSpan(ctx, "exec_1",
			sandbox.Call{Connector: "shop", Method: "status", Seq: 3, Args: []byte(`"a secret"`)})
		endSpan(span, s)
	}
	pass.End()
	spans := recorder.Ended()
	require.Len(t, spans, 4)
	for i, status := range []codes.Code{codes.Unset, codes.Error, codes.Unset} {
		require.Equal(t, "shop.status", spans[i].Name())
		require.Equal(t, pass.SpanContext().SpanID(), spans[i].Parent().SpanID())
		require.Equal(t, status, spans[i].Status().Code)
		require.NotContains(t, spans[i].Status().Description, "secret")
		require.Len(t, spans[i].Attributes(), 2)
	}
	require.Len(t, spans[2].Events(), 1)
	_, silent := startSpan(t.Context(), "exec_1", sandbox.Call{Connector: "shop", Method: "status"})
	require.False(t, silent.IsRecording(), "without a tracing interceptor nothing is kept")
}

package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

func TestTracesOnlyWhereTheEnvironmentSays(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	var o client.Options
	traces, err := Trace(t.Context(), &o, "worker")
	require.NoError(t, err)
	require.Empty(t, o.Interceptors)
	_, span := traces.Start(t.Context(), "run")
	require.False(t, span.IsRecording())
	traces.Stop()

	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1")
	traces, err = Trace(t.Context(), &o, "worker")
	require.NoError(t, err)
	require.Len(t, o.Interceptors, 1)
	_, span = traces.Start(t.Context(), "run")
	require.True(t, span.IsRecording())
	traces.Stop()
}

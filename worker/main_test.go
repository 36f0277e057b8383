package main

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/temporal-codemode/codemode/worker/codemodeworker"
)

func TestParse(t *testing.T) {
	f, err := parse([]string{"--config", "x.yaml", "--metrics-addr", ":1", "--codec-addr", ":2", "--codec-origins",
		"http://ui"})
	require.NoError(t, err)
	require.Equal(t, flags{config: "x.yaml", metricsAddr: ":1", codecAddr: ":2", codecOrigins: "http://ui"}, f)
	_, err = parse([]string{"--port", "1"})
	require.ErrorContains(t, err, "the worker takes only --codec-addr, --codec-origins, --config, --metrics-addr")
	_, err = parse([]string{"x.yaml"})
	require.ErrorContains(t, err, `unexpected argument "x.yaml"`)
}

func TestBuildOf(t *testing.T) {
	build, err := buildOf("codemode", "7")
	require.NoError(t, err)
	require.Equal(t, []string{"codemode", "7"}, []string{build.DeploymentName, build.BuildID})
	build, err = buildOf("", "")
	require.NoError(t, err)
	require.Zero(t, build)
	_, err = buildOf("codemode", "")
	require.ErrorContains(t, err, "needs both")
}

func TestMeasure(t *testing.T) {
	var o client.Options
	m, err := measure(&o, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	o.MetricsHandler.WithTags(map[string]string{"status": "completed"}).Counter("codemode_executions").Inc(2)
	o.MetricsHandler.Timer("codemode_approval_wait").Record(2 * time.Hour)
	answer := httptest.NewRecorder()
	m.handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `codemode_executions_total{status="completed"} 2`)
	require.Contains(t, string(text), `codemode_approval_wait_seconds_bucket{le="3600"} 0`)
	require.Contains(t, string(text), `codemode_approval_wait_seconds_bucket{le="14400"} 1`)
	require.Contains(t, string(text), "# HELP codemode_approval_wait_seconds How long calls waited")
}

func TestHealth(t *testing.T) {
	var o client.Options
	m, err := measure(&o, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, code := range []int{503, 200} {
		answer := httptest.NewRecorder()
		m.handler().ServeHTTP(answer, httptest.NewRequest("GET", "/healthz", nil))
		require.Equal(t, code, answer.Code)
		m.watch(&codemodeworker.Worker{})
	}
}

package cli

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"io"

	"github.com/temporal-codemode/codemode/signals"
)

// spans is a collector of OpenTelemetry's.
type spans struct {
	collector.UnimplementedTraceServiceServer
	mu   sync.Mutex
	all  []*tracepb.Span
	from map[string]string // by span id, the service
}

func (s *spans) Export(_ context.Context, in *collector.ExportTraceServiceRequest) (
	*collector.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range in.ResourceSpans {
		service := ""
		for _, a := range r.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range r.ScopeSpans {
			for _, span := range scope.Spans {
				s.all = append(s.all, span)
				s.from[string(span.SpanId)] = service
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func collect(t *testing.T) (s *spans, env string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s = &spans{from: map[string]string{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s, "OTEL_EXPORTER_OTLP_ENDPOINT=http://" + listener.Addr().String()
}

// TestOneTraceFromTheCommandToTheTool: what ran a program, its workflow, passes, reads and writes are one trace.
func TestOneTraceFromTheCommandToTheTool(t *testing.T) {
	got, env := collect(t)
	w := tracked(t, "traced", env)
	cmd := command("starter", "run", "-", "--json", "--runtime", "traced")
	cmd.Env = append(cmd.Env, env, "OTEL_SERVICE_NAME=ada's laptop")
	r := finish(t, cmd, `await tracker.list_issues({}); return await tracker.delete_issue({id: 1})`)
	require.Equal(t, 0, r.code, r.stdout+r.stderr)
	decode[signals.Outcome](t, r)
	require.NoError(t, w.stop(), "which sends what is left")

	got.mu.Lock()
	defer got.mu.Unlock()
	names, traces := map[string]string{}, map[string]bool{}
	apart := map[string]bool{} // what is learnt of results belongs to no execution
	for _, span := range got.all {
		if strings.HasSuffix(span.Name, ":codemode.Learnt") {
			apart[string(span.TraceId)] = true
		}
	}
	for _, span := range got.all {
		if !apart[string(span.TraceId)] {
			names[span.Name] = got.from[string(span.SpanId)]
			traces[string(span.TraceId)] = true
		}
	}
	require.Len(t, traces, 1, "%v", names)
	for name, service := range map[string]string{
		"codemode run": "ada's laptop", "UpdateWithStartWorkflow:wait": "ada's laptop",
		"RunWorkflow:codemode.Execution": "codemode-worker", "RunActivity:codemode.Pass": "codemode-worker",
		"tracker.list_issues": "codemode-worker", "RunActivity:tracker.delete_issue": "codemode-worker",
	} {
		require.Equal(t, service, names[name], "%s in %v", name, names)
	}
}

var metricsAt = regexp.MustCompile(`msg="serving the metrics" address=(\S+)`)

func TestMetricsExplainThemselves(t *testing.T) {
	config := filepath.Join(t.TempDir(), "codemode.yaml")
	require.NoError(t, os.WriteFile(config, []byte("runtime: measured"), 0o600))
	w, err := startCommand(command("worker", "--config", config, "--metrics-addr", "127.0.0.1:0"), "CODEMODE_LOG=info")
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.stop() })
	at := metricsAt.FindStringSubmatch(w.stderr.String())
	require.NotNil(t, at, w.stderr)
	require.Equal(t, 0, finish(t, command("starter", "run", "-", "--runtime", "measured"), `return 1`).code)

	get := func(path string) (int, string) {
		answer, err := http.Get("http://" + at[1] + path)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
	code, text := get("/healthz")
	require.Equal(t, []any{200, "ok\n"}, []any{code, text})
	require.Eventually(t, func() bool {
		_, text = get("/metrics")
		return regexp.MustCompile(`(?m)^codemode_executions_total\{.*status="completed".*\} 1$`).MatchString(text)
	}, 30*time.Second, 20*time.Millisecond)
	for _, line := range []string{
		`# HELP codemode_executions_total Executions that ended, by status.`,
		`# HELP codemode_sandboxes Sandbox children that may run passes at once.`,
		`# HELP codemode_sandboxes_busy Sandbox children that run a pass now.`,
		`# HELP codemode_sandboxes_awaited Passes that wait for a sandbox child now.`,
		`codemode_sandboxes_busy 0`, `codemode_sandboxes_awaited 0`, `# TYPE process_resident_memory_bytes gauge`,
		`# TYPE go_goroutines gauge`,
	} {
		require.Contains(t, text, line)
	}
	dashboard, err := os.ReadFile("../../deploy/grafana/codemode.json")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`\b(temporal|process)_[a-z_]+`).FindAllString(string(dashboard), -1) {
		require.Contains(t, text, name)
	}
	require.Regexp(t, `(?m)^codemode_sandboxes [1-9]`, text)
	require.NotRegexp(t, `(?m)^# HELP codemode_\S+ ?$`, text, "nothing of ours goes without an explanation")
}

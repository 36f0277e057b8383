package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/temporal-codemode/codemode/signals"
	"github.com/temporal-codemode/codemode/worker/codemodeworker"
	"github.com/temporal-codemode/codemode/worker/config"
)

// The secrets of the configuration below. Each is given away by its server in every way that servers have.
var configuredSecrets = map[string]string{
	"SECRET_ENV": "env-4be1f0c7", "SECRET_ARG": "arg-90cc1d2e", "SECRET_HEADER": "header-7719ab03",
	"SECRET_QUERY": "query-52d0e9f1",
	"SECRET_KEY":   "key-d3a84c11", "SECRET_PASSWORD": "password-0f6be2a9", "SECRET_API": "api-header-c41b",
}

const leakingConfig = `
connectors:
  local:
    mcp: { command: node, args: [%[1]q, "--token=${SECRET_ARG}"], env: { TOKEN: "${SECRET_ENV}" } }
  dead:
    mcp: { command: node, args: ["-e", "console.error(process.argv, process.env.TOKEN); process.exit(1)", "${SECRET_ARG}"], env: { TOKEN: "${SECRET_ENV}" } }
  remote:
    mcp: { url: "%[2]s/mcp?token=${SECRET_QUERY}", headers: { Authorization: "Bearer ${SECRET_HEADER}" } }
  shop:
    openapi:
      document: ./shop.json
      baseURL: %[2]q
      headers: { X-Api: "${SECRET_API}" }
      credentials: { key: { token: "${SECRET_KEY}" }, basic: { username: ada, password: "${SECRET_PASSWORD}" } }
`

const leakingServer = `
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
const leak = process.argv.join(' ') + ' ' + process.env.TOKEN;
process.stderr.write(leak + '\n');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'leak', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: ['fails', 'refuses', 'dies', 'tells'].map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  else if (method === 'tools/call' && params.name === 'fails') say({ id, result: { isError: true, content: [{ type: 'text', text: leak }] } });
  else if (method === 'tools/call' && params.name === 'refuses') say({ id, error: { code: -32000, message: leak } });
  else if (method === 'tools/call' && params.name === 'dies') { process.stderr.write(leak); process.exit(3); }
  else if (method === 'tools/call') {
    say({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1, message: leak } });
    setTimeout(() => say({ id, result: { isError: true, content: [{ type: 'text', text: 'told' }] } }), 200);
  }
});
`

const leakingDocument = `{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},"security":[{"key":[]},{"basic":[]}],
	"components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"key"},"basic":{"type":"http","scheme":"basic"}}},
	"paths":{"/orders":{"get":{"operationId":"list"},"post":{"operationId":"buy"}},"/gone":{"get":{"operationId":"gone"}},"/login":{"get":{"operationId":"login","security":[{"basic":[]}]}}}}`

// leakyWeb answers everything with an error that repeats the request.
func leakyWeb(t *testing.T) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			panic(http.ErrAbortHandler)
		}
		user, password, _ := r.BasicAuth()
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "%s %v %s %s", r.URL, r.Header, user, password)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// TestSecretsStaySecret looks for every configured secret in the whole history, the logs, what the Web UI shows, and
// all that a program or a model gets to see.
func TestSecretsStaySecret(t *testing.T) {
	for name, secret := range configuredSecrets {
		t.Setenv(name, secret)
	}
	dir, runtime := t.TempDir(), "secrets"
	script := filepath.Join(dir, "server.js")
	require.NoError(t, os.WriteFile(script, []byte(leakingServer), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(leakingDocument), 0o600))
	file := filepath.Join(dir, "codemode.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "runtime: "+runtime+leakingConfig, script, leakyWeb(t)),
		0o600))

	cfg, err := config.Load(file)
	require.NoError(t, err)
	options, err := cfg.Options()
	require.NoError(t, err)
	var log safeBuffer
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- codemodeworker.Run(ctx, options, codemodeworker.RunOptions{
			Client: client.Options{HostPort: shared.server.Address()},
			Log:    slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Ready:  func(line string) { ready <- line },
		})
	}()
	seen := []string{<-ready}
	b := &bench{t: t, runtime: runtime}
	b.client = b.clientFor(shared.client)
	o := b.run(`
		const seen = [];
		for (const [c, m] of [['local', 'fails'], ['local', 'refuses'], ['local', 'tells'], ['local', 'dies'], ['local', 'fails'], ['dead', 'x'], ['remote', 'x'], ['shop', 'list'], ['shop', 'buy'], ['shop', 'gone'], ['shop', 'login']]) {
			try { seen.push(await globalThis[c][m]({})) } catch (e) { seen.push(e); console.log(c, m, e) }
		}
		for (const c of ['local', 'dead', 'remote', 'shop']) seen.push(await codemode.describe(c));
		seen.push(await codemode.search('list'));
		return seen.map((e) => e instanceof Error ? [e.name, e.message, e.stack, String(e)] : e)`)
	require.Equal(t, signals.Completed, o.Status, o.Error)
	require.Equal(t, 11,
		strings.Count(string(o.Result), `["Error",`)+strings.Count(string(o.Result), `["OutcomeUnknown",`),
		"every call failed: %s", o.Result)
	whole, err := json.Marshal(o)
	require.NoError(t, err)
	seen = append(seen, string(whole))

	record, err := json.Marshal(b.show(o.ExecutionID))
	require.NoError(t, err)
	seen = append(seen, string(record))
	for _, e := range b.events(o.ExecutionID) { // summaries and details of the Web UI are in them
		raw, err := proto.Marshal(e)
		require.NoError(t, err)
		seen = append(seen, string(raw))
	}
	metadata, err := shared.client.QueryWorkflow(b.context(), signals.WorkflowID(runtime, o.ExecutionID), "",
		"__temporal_workflow_metadata")
	require.NoError(t, err)
	var shown converter.RawValue
	require.NoError(t, metadata.Get(&shown))
	policies, warnings, err := cfg.Policies(t.Context())
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
	seen = append(seen, string(shown.Payload().GetData()), fmt.Sprint(policies, warnings), log.String())

	for name, secret := range configuredSecrets {
		for _, text := range seen {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s is visible: %s", name, text[max(0, at-300):min(len(text), at+100)])
			}
		}
	}
}

// safeBuffer is written by many goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
